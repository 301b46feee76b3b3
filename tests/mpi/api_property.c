/* SPDX-License-Identifier: BSD-3-Clause
 * api_property.c: random sequences of start, suspend, continue, reset, free and sends over several sessions that
 * overlap and nest, against a model that adds up by hand. Fixed seeds. Every process suspends, continues and resets on
 * its own.
 */
#include <lucid.h>
#include <stdbool.h>
#include <stdint.h>

#include "api_check.h"

#define SESSIONS 6
#define STEPS 80
#define SEEDS 12
#define MAX_BYTES 3000

enum { WORLD, REVERSED, HALF, SELF, COMMS };
static MPI_Comm comms[COMMS];
static int world_size;
static char buffer[MAX_BYTES];

/* What a session should hold. */
struct model {
    bool alive, active;
    lucid_session_t id;
    int comm, size;
    int *rank_of;              /* by world rank; -1: no member */
    uint64_t *count, *bytes;   /* by session rank */
};
static struct model models[SESSIONS];

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static int pick(uint64_t *state, int n)
{
    return (int)((next_random(state) >> 20) % (uint64_t)n);
}

static void translate(int comm, int n, const int *ranks, int *world)
{
    MPI_Group group, all;
    MPI_Comm_group(comms[comm], &group);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_translate_ranks(group, n, ranks, all, world);
    MPI_Group_free(&group);
    MPI_Group_free(&all);
}

static void start(struct model *m, int comm)
{
    CHECK_OK(lucid_session_start(comms[comm], NULL, &m->id));
    m->alive = m->active = true;
    m->comm = comm;
    MPI_Comm_size(comms[comm], &m->size);
    memset(m->count, 0, (size_t)world_size * sizeof(*m->count));
    memset(m->bytes, 0, (size_t)world_size * sizeof(*m->bytes));
    for (int i = 0; i < world_size; i++) m->rank_of[i] = -1;
    for (int i = 0; i < m->size; i++) {
        int world;
        translate(comm, 1, &i, &world);
        m->rank_of[world] = i;
    }
}

/* A message has left this process for `world`: every active session with both as members holds it. */
static void book(int world, int bytes)
{
    for (int i = 0; i < SESSIONS; i++) {
        struct model *m = &models[i];
        if (!m->alive || !m->active || m->rank_of[world] < 0) continue;
        m->count[m->rank_of[world]]++;
        m->bytes[m->rank_of[world]] += (uint64_t)bytes;
    }
}

static void compare(const struct model *m, uint64_t kinds)
{
    uint64_t count[64], bytes[64];
    int code = lucid_session_get(m->id, kinds, count, bytes);
    CHECK_EQUAL(code, m->active ? LUCID_ERR_NOT_SUSPENDED : LUCID_SUCCESS);
    for (int i = 0; code == LUCID_SUCCESS && i < m->size; i++) {
        CHECK_EQUAL(count[i], m->count[i]);
        CHECK_EQUAL(bytes[i], m->bytes[i]);
    }
}

static void suspend(struct model *m)
{
    CHECK_EQUAL(lucid_session_suspend(m->id), m->active ? LUCID_SUCCESS : LUCID_ERR_MULTIPLE_CALL);
    m->active = false;
}

static void resume(struct model *m)
{
    CHECK_EQUAL(lucid_session_continue(m->id), m->active ? LUCID_ERR_MULTIPLE_CALL : LUCID_SUCCESS);
    m->active = true;
}

static void reset(struct model *m)
{
    CHECK_EQUAL(lucid_session_reset(m->id), m->active ? LUCID_ERR_NOT_SUSPENDED : LUCID_SUCCESS);
    if (m->active) return;
    memset(m->count, 0, (size_t)world_size * sizeof(*m->count));
    memset(m->bytes, 0, (size_t)world_size * sizeof(*m->bytes));
}

static void finish(struct model *m, uint64_t kinds)
{
    if (m->active) suspend(m);
    compare(m, kinds);
    CHECK_OK(lucid_session_free(m->id));
    CHECK_EQUAL(lucid_session_suspend(m->id), LUCID_ERR_SESSION);
    m->alive = false;
}

static void send_one(int mode, int bytes, int to, MPI_Comm comm)
{
    MPI_Request request;
    switch (mode) {
    case 0: MPI_Send(buffer, bytes, MPI_BYTE, to, 1, comm); return;
    case 1: MPI_Ssend(buffer, bytes, MPI_BYTE, to, 1, comm); return;
    case 2: MPI_Bsend(buffer, bytes, MPI_BYTE, to, 1, comm); return;
    case 3: MPI_Issend(buffer, bytes, MPI_BYTE, to, 1, comm, &request); break;
    case 4: MPI_Send_init(buffer, bytes, MPI_BYTE, to, 1, comm, &request); MPI_Start(&request); break;
    default: MPI_Isend(buffer, bytes, MPI_BYTE, to, 1, comm, &request); break;
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (mode == 4) MPI_Request_free(&request);
}

/* Everybody sends `n` messages `shift` ranks further, and one to nobody. */
static void exchange(int which, int shift, int n, int bytes, int mode)
{
    static char in[MAX_BYTES];
    MPI_Comm comm = comms[which];
    int rank, size, to, world;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    to = (rank + shift) % size;
    translate(which, 1, &to, &world);
    for (int i = 0; i < n; i++) {
        MPI_Request request;
        MPI_Irecv(in, MAX_BYTES, MPI_BYTE, (rank + size - shift % size) % size, 1, comm, &request);
        send_one(mode, bytes, to, comm);
        book(world, bytes);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    send_one(mode == 2 ? 0 : mode, bytes, MPI_PROC_NULL, comm);
}

static void collective(int which)
{
    double x = 1, y;
    if (which == 0) MPI_Barrier(MPI_COMM_WORLD);
    if (which == 1) MPI_Allreduce(&x, &y, 1, MPI_DOUBLE, MPI_SUM, comms[REVERSED]);
    if (which == 2) MPI_Bcast(buffer, MAX_BYTES, MPI_BYTE, 0, comms[HALF]);
}

/* `all` is the same everywhere and decides what all do together, `mine` what this process does. */
static void step(uint64_t *all, uint64_t *mine, bool collectives, uint64_t kinds)
{
    struct model *m = &models[pick(all, SESSIONS)], *own = &models[pick(mine, SESSIONS)];
    int what = pick(all, 8), comm = pick(all, COMMS), shift = pick(all, 9), n = 1 + pick(all, 3);
    int bytes = pick(all, MAX_BYTES), mode = pick(all, 6), local = pick(mine, 4);
    if (what == 0 && m->alive) {
        finish(m, kinds);
    } else if (what <= 2 && !m->alive) {
        start(m, comm);
    } else if (what <= 5) {
        exchange(comm, shift, n, bytes, mode);
    } else if (collectives) {
        collective(what - 5);
    }
    if (!own->alive) return;
    if (local == 0) suspend(own);
    if (local == 1) resume(own);
    if (local == 2) reset(own);
    if (local == 3) compare(own, kinds);
}

/* With collectives only the user's own messages are compared; without, nothing else may have been recorded at all. */
static void sequence(int seed)
{
    bool collectives = seed % 2 == 1;
    uint64_t kinds = collectives ? LUCID_KINDS_USER : LUCID_KINDS_ALL;
    uint64_t all = UINT64_C(0x9E3779B97F4A7C15) * (uint64_t)(seed + 1);
    uint64_t mine = UINT64_C(0xD1B54A32D192ED03) * (uint64_t)(seed * 64 + check_rank + 1);
    CHECK_OK(lucid_init());
    for (int i = 0; i < STEPS; i++) step(&all, &mine, collectives, kinds);
    for (int i = 0; i < SESSIONS; i++)
        if (models[i].alive) finish(&models[i], kinds);
    CHECK_OK(lucid_finalize());
}

static void make_comms(void)
{
    comms[WORLD] = MPI_COMM_WORLD;
    comms[SELF] = MPI_COMM_SELF;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &comms[REVERSED]);
    MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, 0, &comms[HALF]);
}

int main(int argc, char **argv)
{
    static char attached[64 * (MAX_BYTES + MPI_BSEND_OVERHEAD)];
    unsigned sees = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    if (source_is_not_for_this_mpi()) return skip_test("the source is not for this MPI");
    MPI_Buffer_attach(attached, sizeof(attached));
    make_comms();
    for (int i = 0; i < SESSIONS; i++) {
        models[i].rank_of = calloc((size_t)world_size, sizeof(int));
        models[i].count = calloc((size_t)world_size, sizeof(uint64_t));
        models[i].bytes = calloc((size_t)world_size, sizeof(uint64_t));
    }
    CHECK_OK(lucid_init());
    CHECK_OK(lucid_source_info(NULL, &sees));
    CHECK(sees & LUCID_SEES_USER);
    CHECK_OK(lucid_finalize());
    for (int seed = 0; seed < SEEDS; seed++) sequence(seed);
    MPI_Comm_free(&comms[REVERSED]);
    MPI_Comm_free(&comms[HALF]);
    int outcome = check_outcome();
    MPI_Finalize();
    return outcome;
}
