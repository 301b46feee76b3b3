/* SPDX-License-Identifier: BSD-3-Clause
 * exact_sends.c: every way to send a message, with every sort of buffer, counts once with the bytes of its data:
 * derived types by what they hold, not by what they span; self-sends count; MPI_PROC_NULL does not.
 */
#include <lucid.h>
#include <stddef.h>

#include "api_check.h"

#define LARGE (1 << 20)

static int size, right, left;
static char *out, *in;
static lucid_session_t session;
static uint64_t sizes_seen[LUCID_HISTOGRAM_BINS];

static int bin(uint64_t bytes)
{
    int b = 0;
    for (; bytes > 0; bytes >>= 1) b++;
    return b;
}

static void begin(void)
{
    CHECK_OK(lucid_session_reset(session));
    CHECK_OK(lucid_session_continue(session));
}

/* `count` messages of `bytes` bytes each went to `peer` since begin(), and nothing else to anybody. */
static void expect(int peer, uint64_t count, uint64_t bytes, const char *what)
{
    uint64_t counts[64], sums[64];
    CHECK_OK(lucid_session_suspend(session));
    CHECK_OK(lucid_session_get(session, LUCID_KINDS_ALL, counts, sums));
    CHECK_OK(lucid_session_histogram(session, LUCID_KINDS_ALL, sizes_seen));
    for (int i = 0; i < size; i++) {
        char text[256];
        uint64_t wanted = i == peer ? count : 0;
        if (counts[i] == wanted && sums[i] == wanted * bytes) continue;
        snprintf(text, sizeof(text), "%s: to %d: %llu messages, %llu bytes, should be %llu of %llu", what, i,
                 (unsigned long long)counts[i], (unsigned long long)sums[i], (unsigned long long)wanted,
                 (unsigned long long)bytes);
        check_that(0, __FILE__, __LINE__, text);
    }
    for (int i = 0; i < LUCID_HISTOGRAM_BINS; i++) CHECK_EQUAL(sizes_seen[i], i == bin(bytes) ? count : 0);
}

/* Sends one message with tag 3. */
typedef int (*way)(const void *buffer, int count, MPI_Datatype type, int to);

static int send(const void *b, int n, MPI_Datatype t, int to) { return MPI_Send(b, n, t, to, 3, MPI_COMM_WORLD); }
static int ssend(const void *b, int n, MPI_Datatype t, int to) { return MPI_Ssend(b, n, t, to, 3, MPI_COMM_WORLD); }
static int bsend(const void *b, int n, MPI_Datatype t, int to) { return MPI_Bsend(b, n, t, to, 3, MPI_COMM_WORLD); }
static int rsend(const void *b, int n, MPI_Datatype t, int to) { return MPI_Rsend(b, n, t, to, 3, MPI_COMM_WORLD); }

static int finish(MPI_Request *request) { return MPI_Wait(request, MPI_STATUS_IGNORE); }
static int isend(const void *b, int n, MPI_Datatype t, int to)
{
    MPI_Request r;
    return MPI_Isend(b, n, t, to, 3, MPI_COMM_WORLD, &r) || finish(&r);
}
static int issend(const void *b, int n, MPI_Datatype t, int to)
{
    MPI_Request r;
    return MPI_Issend(b, n, t, to, 3, MPI_COMM_WORLD, &r) || finish(&r);
}
static int ibsend(const void *b, int n, MPI_Datatype t, int to)
{
    MPI_Request r;
    return MPI_Ibsend(b, n, t, to, 3, MPI_COMM_WORLD, &r) || finish(&r);
}
static int irsend(const void *b, int n, MPI_Datatype t, int to)
{
    MPI_Request r;
    return MPI_Irsend(b, n, t, to, 3, MPI_COMM_WORLD, &r) || finish(&r);
}
static int started(MPI_Request r) { return MPI_Start(&r) || MPI_Wait(&r, MPI_STATUS_IGNORE) || MPI_Request_free(&r); }
static int persistent(const void *b, int n, MPI_Datatype t, int to)
{
    MPI_Request r;
    return MPI_Send_init(b, n, t, to, 3, MPI_COMM_WORLD, &r) || started(r);
}
static int persistent_ssend(const void *b, int n, MPI_Datatype t, int to)
{
    MPI_Request r;
    return MPI_Ssend_init(b, n, t, to, 3, MPI_COMM_WORLD, &r) || started(r);
}
static int persistent_bsend(const void *b, int n, MPI_Datatype t, int to)
{
    MPI_Request r;
    return MPI_Bsend_init(b, n, t, to, 3, MPI_COMM_WORLD, &r) || started(r);
}

static const struct {
    const char *name;
    way send;
} ways[] = {{"send", send},     {"ssend", ssend},   {"bsend", bsend},   {"rsend", rsend},
            {"isend", isend},   {"issend", issend}, {"ibsend", ibsend}, {"irsend", irsend},
            {"send_init", persistent}, {"ssend_init", persistent_ssend}, {"bsend_init", persistent_bsend}};

/* One message to the right, one from the left, received as bytes of the packed size. A ready send needs the receive to
 * be there: the barrier sees to that, outside of what is counted. */
static void exchange(way send_it, const char *name, const void *buffer, int count, MPI_Datatype type, int packed)
{
    MPI_Request request;
    MPI_Irecv(in, packed, MPI_BYTE, left, 3, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    begin();
    CHECK_OK(send_it(buffer, count, type, right));
    finish(&request);
    expect(right, 1, (uint64_t)packed, name);
}

static void every_way(const void *buffer, int count, MPI_Datatype type, int packed)
{
    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
        exchange(ways[i].send, ways[i].name, buffer, count, type, packed);
        begin();
        CHECK_OK(ways[i].send(buffer, count, type, MPI_PROC_NULL));
        expect(right, 0, 0, "to MPI_PROC_NULL");
    }
}

struct gaps {
    char letter;
    double number;
    short last;
};

/* Types with gaps, overlaps in extent, and absolute addresses. */
static void derived_types(void)
{
    MPI_Datatype vector, structure, resized, absolute, nested, nothing;
    MPI_Aint where[3] = {offsetof(struct gaps, letter), offsetof(struct gaps, number), offsetof(struct gaps, last)};
    MPI_Datatype parts[3] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT};
    int ones[3] = {1, 1, 1}, length = 40, none = 0;
    MPI_Aint address;
    MPI_Type_vector(10, 3, 7, MPI_INT, &vector); /* 120 bytes in a span of 264 */
    MPI_Type_create_struct(3, ones, where, parts, &structure);
    MPI_Type_create_resized(structure, 0, 64, &resized); /* 11 bytes in an extent of 64 */
    MPI_Type_contiguous(5, resized, &nested);
    MPI_Get_address(out, &address);
    MPI_Type_create_hindexed(1, &length, &address, MPI_BYTE, &absolute);
    MPI_Type_create_hindexed(1, &none, &address, MPI_BYTE, &nothing);
    MPI_Datatype *const all[] = {&vector, &structure, &resized, &nested, &absolute, &nothing};
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) MPI_Type_commit(all[i]);
    every_way(out, 2, vector, 240);
    every_way(out, 3, resized, 33);
    every_way(out, 2, nested, 110);
    every_way(MPI_BOTTOM, 1, absolute, 40);
    exchange(send, "a type of no bytes", MPI_BOTTOM, 7, nothing, 0);
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) MPI_Type_free(all[i]);
}

/* A persistent request counts when it is started, as often as it is, and not when it is made or freed. */
static void persistent_requests(void)
{
    MPI_Request r[4];
    MPI_Send_init(out, 100, MPI_BYTE, right, 4, MPI_COMM_WORLD, &r[0]);
    MPI_Recv_init(in, 100, MPI_BYTE, left, 4, MPI_COMM_WORLD, &r[1]);
    MPI_Ssend_init(out, 100, MPI_BYTE, right, 5, MPI_COMM_WORLD, &r[2]);
    MPI_Recv_init(in + 100, 100, MPI_BYTE, left, 5, MPI_COMM_WORLD, &r[3]);
    begin();
    expect(right, 0, 0, "never started");
    begin();
    for (int i = 0; i < 5; i++) {
        MPI_Startall(4, r);
        MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    }
    expect(right, 10, 100, "started ten times");
    MPI_Startall(4, r);
    MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    begin();
    expect(right, 0, 0, "started while the session was suspended");
    begin();
    for (int i = 0; i < 4; i++) MPI_Request_free(&r[i]);
    expect(right, 0, 0, "freed");
}

static void both_directions(void)
{
    MPI_Status status;
    begin();
    MPI_Sendrecv(out, 50, MPI_SHORT, right, 6, in, 50, MPI_SHORT, left, 6, MPI_COMM_WORLD, &status);
    MPI_Sendrecv_replace(out, 100, MPI_BYTE, right, 6, left, 6, MPI_COMM_WORLD, &status);
    expect(right, 2, 100, "sendrecv and sendrecv_replace");
    begin();
    MPI_Sendrecv(out, 9, MPI_BYTE, right, 6, in, 9, MPI_BYTE, left, 6, MPI_COMM_WORLD, &status);
    MPI_Sendrecv(out, 9, MPI_BYTE, MPI_PROC_NULL, 6, in, 9, MPI_BYTE, MPI_PROC_NULL, 6, MPI_COMM_WORLD, &status);
    expect(right, 1, 9, "sendrecv with nobody");
    begin();
    MPI_Sendrecv(out, 11, MPI_BYTE, check_rank, 6, in, 11, MPI_BYTE, check_rank, 6, MPI_COMM_WORLD, &status);
    MPI_Sendrecv(out, 11, MPI_BYTE, 0, 6, in, 11, MPI_BYTE, 0, 6, MPI_COMM_SELF, &status);
    expect(check_rank, 2, 11, "to oneself");
}

int main(int argc, char **argv)
{
    unsigned sees = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (source_is_not_for_this_mpi()) return skip_test("the source is not for this MPI");
    right = (check_rank + 1) % size;
    left = (check_rank + size - 1) % size;
    out = calloc(2, LARGE);
    in = calloc(2, LARGE);
    void *attached = malloc(2 * LARGE + 64 * MPI_BSEND_OVERHEAD);
    MPI_Buffer_attach(attached, 2 * LARGE + 64 * MPI_BSEND_OVERHEAD);
    CHECK_OK(lucid_init());
    CHECK_OK(lucid_source_info(NULL, &sees));
    CHECK(sees & LUCID_SEES_PERSISTENT);
    CHECK_OK(lucid_session_start(MPI_COMM_WORLD, NULL, &session));
    CHECK_OK(lucid_session_suspend(session));
    every_way(NULL, 0, MPI_INT, 0);
    every_way(out, 1, MPI_DOUBLE, 8);
    every_way(out, LARGE, MPI_BYTE, LARGE);
    derived_types();
    persistent_requests();
    both_directions();
    CHECK_OK(lucid_session_free(session));
    CHECK_OK(lucid_finalize());
    MPI_Buffer_detach(&attached, &(int){0});
    free(attached);
    free(out);
    free(in);
    int outcome = check_outcome();
    MPI_Finalize();
    return outcome;
}
