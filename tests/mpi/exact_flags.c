/* SPDX-License-Identifier: BSD-3-Clause
 * exact_flags.c: how the flags and the kinds divide the traffic: P2P_ONLY holds COLL_ONLY, ALL_COMM holds nothing
 * twice, one-sided traffic is apart, the kinds add up to the whole. Nonblocking and persistent collectives belong to
 * their kind, although their messages leave in somebody else's MPI_Wait.
 */
#include <MPI_Monitoring.h>

#include "api_check.h"

#define BYTES 6000

static int size, right, left;
static char out[BYTES], in[BYTES];
static lucid_session_t session;
static unsigned sees;

struct row {
    uint64_t count[64], bytes[64];
};

static void begin(void)
{
    CHECK_OK(lucid_session_reset(session));
    CHECK_OK(lucid_session_continue(session));
}

static struct row take(uint64_t kinds)
{
    struct row row = {0};
    CHECK_OK(lucid_session_get(session, kinds, row.count, row.bytes));
    return row;
}

static void user_messages(int n)
{
    for (int i = 0; i < n; i++)
        MPI_Sendrecv(out, 40, MPI_BYTE, right, 1, in, 40, MPI_BYTE, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static struct row take_flags(int flags)
{
    unsigned long counts[64], sizes[64];
    struct row row = {0};
    CHECK_OK(MPI_M_get_data(session, counts, sizes, flags));
    for (int i = 0; i < size; i++) {
        row.count[i] = counts[i];
        row.bytes[i] = sizes[i];
    }
    return row;
}

static struct row add(struct row a, struct row b)
{
    for (int i = 0; i < size; i++) {
        a.count[i] += b.count[i];
        a.bytes[i] += b.bytes[i];
    }
    return a;
}

static void check_same(struct row found, struct row wanted)
{
    for (int i = 0; i < size; i++) {
        CHECK_EQUAL(found.count[i], wanted.count[i]);
        CHECK_EQUAL(found.bytes[i], wanted.bytes[i]);
    }
}

static void everything(MPI_Win win)
{
    double x[100] = {0}, y[100];
    user_messages(3);
    MPI_Bcast(out, BYTES, MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Allreduce(x, y, 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Win_fence(0, win);
    MPI_Put(out, 500, MPI_BYTE, right, 0, 500, MPI_BYTE, win);
    MPI_Win_fence(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void flags(MPI_Win win)
{
    struct row sum = {0};
    begin();
    everything(win);
    CHECK_OK(lucid_session_suspend(session));
    struct row p2p = take_flags(MPI_M_P2P_ONLY), coll = take_flags(MPI_M_COLL_ONLY), osc = take_flags(MPI_M_OSC_ONLY);
    struct row all = take_flags(MPI_M_ALL_COMM), user = take(LUCID_KINDS_USER);
    check_same(add(p2p, osc), all);                                  /* the whole is these two */
    check_same(take_flags(MPI_M_P2P_ONLY | MPI_M_COLL_ONLY), p2p); /* collectives are in p2p already */
    check_same(take_flags(MPI_M_P2P_ONLY | MPI_M_OSC_ONLY), all);
    check_same(take_flags(MPI_M_COLL_ONLY | MPI_M_OSC_ONLY), add(coll, osc));
    check_same(take(LUCID_KINDS_P2P), p2p);
    for (int kind = 0; kind < LUCID_KIND_COUNT; kind++) sum = add(sum, take(LUCID_KIND_BIT(kind)));
    check_same(sum, all);
    for (int i = 0; i < size; i++) {
        CHECK(p2p.count[i] >= coll.count[i] + user.count[i]);
        CHECK(p2p.bytes[i] >= coll.bytes[i] + user.bytes[i]);
        if (sees & LUCID_SEES_ONE_SIDED) CHECK_EQUAL(osc.bytes[i], i == right ? 500 : 0);
        if (sees & LUCID_SEES_USER) CHECK_EQUAL(user.bytes[i], i == right ? 120 : 0);
    }
    for (int i = 1; check_rank == 0 && i < size; i++) coll.bytes[0] += coll.bytes[i];
    if (size > 1 && check_rank == 0) CHECK(coll.bytes[0] >= BYTES); /* the bcast */
}

/* What the members sent under `kind`: bytes and messages that each process was sent. At rank 0. */
static void receivers(int kind, struct row *got)
{
    lucid_matrix_t matrix;
    memset(got, 0, sizeof(*got));
    CHECK_OK(lucid_session_gather(session, 0, LUCID_KIND_BIT(kind), &matrix));
    if (check_rank != 0) return;
    for (size_t i = 0; i < matrix.entries; i++) {
        got->count[matrix.column[i]] += matrix.count[i];
        got->bytes[matrix.column[i]] += matrix.bytes[i];
    }
    lucid_matrix_free(&matrix);
}

/* What each process is sent by a collective, whatever the algorithm: exactly, or at least. */
struct shape {
    int kind;
    uint64_t root_least, root_most, others_least, others_most;
};

/* Besides `user` messages to the right, only those of the collective were sent. */
static void check_kind(struct shape shape, int user)
{
    struct row got, mine = take(LUCID_KINDS_USER);
    for (int i = 0; i < size && (sees & LUCID_SEES_USER); i++) CHECK_EQUAL(mine.bytes[i], i == right ? 40 * user : 0);
    if (!(sees & LUCID_SEES_KINDS)) return;
    check_same(take(LUCID_KINDS_ALL & ~LUCID_KINDS_USER & ~LUCID_KIND_BIT(shape.kind)), (struct row){0});
    receivers(shape.kind, &got);
    for (int i = 0; check_rank == 0 && size > 1 && i < size; i++) {
        CHECK(got.bytes[i] >= (i == 0 ? shape.root_least : shape.others_least));
        CHECK(got.bytes[i] <= (i == 0 ? shape.root_most : shape.others_most));
        CHECK(got.count[i] > 0 || shape.kind != LUCID_KIND_BARRIER); /* nobody leaves unheard */
    }
}

static double x[100], y[100];
static void ibcast(MPI_Request *r) { MPI_Ibcast(out, BYTES, MPI_BYTE, 0, MPI_COMM_WORLD, r); }
static void ibarrier(MPI_Request *r) { MPI_Ibarrier(MPI_COMM_WORLD, r); }
static void igather(MPI_Request *r) { MPI_Igather(out, 100, MPI_BYTE, in, 100, MPI_BYTE, 0, MPI_COMM_WORLD, r); }
static void iallreduce(MPI_Request *r) { MPI_Iallreduce(x, y, 100, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, r); }

/* User messages leave between the call and its end; the collective goes on in their calls. */
static void nonblocking(void)
{
    const uint64_t blocks = 100 * (uint64_t)(size - 1), vector = sizeof(x);
    const struct {
        struct shape shape;
        void (*call)(MPI_Request *);
    } table[] = {
        {{LUCID_KIND_BCAST, 0, 0, BYTES, BYTES}, ibcast},
        {{LUCID_KIND_BARRIER, 0, 0, 0, 0}, ibarrier},
        {{LUCID_KIND_GATHER, blocks, blocks, 0, blocks}, igather},
        {{LUCID_KIND_ALLREDUCE, vector, UINT64_MAX, vector, UINT64_MAX}, iallreduce},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        MPI_Request request;
        begin();
        table[i].call(&request);
        user_messages(2 + (int)i);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK_OK(lucid_session_suspend(session));
        check_kind(table[i].shape, 2 + (int)i);
    }
}

#ifdef TEST_HAS_BCAST_INIT
/* Counts when started, as a bcast, not when made. */
static void persistent(void)
{
    MPI_Request request;
    begin();
    MPI_Bcast_init(out, BYTES, MPI_BYTE, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    user_messages(1);
    CHECK_OK(lucid_session_suspend(session));
    check_same(take(LUCID_KIND_BIT(LUCID_KIND_BCAST)), (struct row){0});
    begin();
    for (int i = 0; i < 3; i++) {
        MPI_Start(&request);
        user_messages(1);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    CHECK_OK(lucid_session_suspend(session));
    check_kind((struct shape){LUCID_KIND_BCAST, 0, 0, 3 * BYTES, 3 * BYTES}, 3);
    MPI_Request_free(&request);
}
#endif

int main(int argc, char **argv)
{
    MPI_Win win;
    char *window;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (source_is_not_for_this_mpi()) return skip_test("the source is not for this MPI");
    right = (check_rank + 1) % size;
    left = (check_rank + size - 1) % size;
    MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window, &win);
    CHECK_OK(lucid_init());
    CHECK_OK(lucid_source_info(NULL, &sees));
    CHECK_OK(lucid_session_start(MPI_COMM_WORLD, NULL, &session));
    CHECK_OK(lucid_session_suspend(session));
    flags(win);
    nonblocking();
#ifdef TEST_HAS_BCAST_INIT
    persistent();
#endif
    CHECK_OK(lucid_session_free(session));
    CHECK_OK(lucid_finalize());
    MPI_Win_free(&win);
    int outcome = check_outcome();
    MPI_Finalize();
    return outcome;
}
