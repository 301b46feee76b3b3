/* SPDX-License-Identifier: BSD-3-Clause
 * api_states.c: every MPI_M_ function, with every sort of argument, in every state: the table of codes.
 *
 * Every cell starts from a fresh environment. `id` is the session that the state speaks of; where there is none any
 * more it is the identifier of one that has been. MIXED: `id` is active, a second session is suspended.
 */
#include <MPI_Monitoring.h>

#include "api_check.h"

enum state { NO_INIT, EMPTY, ACTIVE, SUSPENDED, FREED, FINALIZED, MIXED, STATES };
static const char *const state_names[] = {"no init", "no session", "active", "suspended",
                                          "freed",   "finalized",  "mixed"};

/* The codes, short enough for a table. */
enum {
    ok = MPI_SUCCESS,
    in = MPI_M_INTERNAL_FAIL,
    mp = MPI_M_MPIT_FAIL,
    mi = MPI_M_MISSING_INIT,
    sa = MPI_M_SESSION_STILL_ACTIVE,
    ns = MPI_M_SESSION_NOT_SUSPENDED,
    id = MPI_M_INVALID_MSID,
    mc = MPI_M_MULTIPLE_CALL,
    ro = MPI_M_INVALID_ROOT
};

#define GARBAGE 123456789
static int size;
static unsigned long *counts, *sizes;
static MPI_Comm inter = MPI_COMM_NULL;
static char directory[4096]; /* exists */

static int start_world(MPI_M_msid m)
{
    MPI_M_msid new;
    return MPI_M_start(MPI_COMM_WORLD, &new);
}
static int start_no_pointer(MPI_M_msid m) { return MPI_M_start(MPI_COMM_WORLD, NULL); }
static int start_null_comm(MPI_M_msid m)
{
    MPI_M_msid new = GARBAGE;
    int code = MPI_M_start(MPI_COMM_NULL, &new);
    CHECK_EQUAL(new, GARBAGE); /* set on success only */
    return code;
}
static int start_inter(MPI_M_msid m)
{
    MPI_M_msid new = GARBAGE;
    return inter == MPI_COMM_NULL ? start_null_comm(m) : MPI_M_start(inter, &new);
}
static int init(MPI_M_msid m) { return MPI_M_init(); }
static int finalize(MPI_M_msid m) { return MPI_M_finalize(); }
static int get_info(MPI_M_msid m)
{
    int provided = -1, elements = -1;
    int code = MPI_M_get_info(m, &provided, &elements);
    CHECK_EQUAL(elements, code == MPI_SUCCESS ? size : -1);
    CHECK((provided >= MPI_THREAD_SINGLE && provided <= MPI_THREAD_MULTIPLE) == (code == MPI_SUCCESS));
    return code;
}
static int get_info_ignored(MPI_M_msid m) { return MPI_M_get_info(m, MPI_M_INT_IGNORE, MPI_M_INT_IGNORE); }
static int get_data(MPI_M_msid m) { return MPI_M_get_data(m, counts, sizes, MPI_M_ALL_COMM); }
static int get_ignored(MPI_M_msid m)
{
    return MPI_M_get_data(m, MPI_M_DATA_IGNORE, MPI_M_DATA_IGNORE, MPI_M_OSC_ONLY | MPI_M_COLL_ONLY);
}
static int get_no_flags(MPI_M_msid m) { return MPI_M_get_data(m, counts, sizes, 0); }
static int get_bad_flags(MPI_M_msid m) { return MPI_M_get_data(m, counts, sizes, MPI_M_ALL_COMM | 8); }
static int get_negative_flags(MPI_M_msid m) { return MPI_M_get_data(m, counts, sizes, -1); }
static int allgather(MPI_M_msid m) { return MPI_M_allgather_data(m, counts, sizes, MPI_M_P2P_ONLY); }
static int allgather_ignored(MPI_M_msid m)
{
    return MPI_M_allgather_data(m, MPI_M_DATA_IGNORE, MPI_M_DATA_IGNORE, MPI_M_P2P_ONLY);
}
static int allgather_bad_flags(MPI_M_msid m) { return MPI_M_allgather_data(m, counts, sizes, 1 << 20); }
static int rootgather(MPI_M_msid m)
{
    int root = size - 1;
    unsigned long *c = check_rank == root ? counts : NULL, *s = check_rank == root ? sizes : NULL;
    return MPI_M_rootgather_data(m, root, c, s, MPI_M_ALL_COMM);
}
static int rootgather_low(MPI_M_msid m) { return MPI_M_rootgather_data(m, -1, counts, sizes, MPI_M_ALL_COMM); }
static int rootgather_high(MPI_M_msid m) { return MPI_M_rootgather_data(m, size, counts, sizes, MPI_M_ALL_COMM); }
static int rootgather_bad_flags(MPI_M_msid m) { return MPI_M_rootgather_data(m, 0, counts, sizes, 0); }

static const char *path(const char *name)
{
    static char text[4200];
    snprintf(text, sizeof(text), "%s/%s", directory, name);
    return text;
}
static int flush(MPI_M_msid m) { return MPI_M_flush(m, path("flush"), MPI_M_ALL_COMM); }
static int flush_no_name(MPI_M_msid m) { return MPI_M_flush(m, NULL, MPI_M_ALL_COMM); }
static int flush_nowhere(MPI_M_msid m) { return MPI_M_flush(m, path("missing/flush"), MPI_M_ALL_COMM); }
static int flush_bad_flags(MPI_M_msid m) { return MPI_M_flush(m, path("bad"), 16); }
static int rootflush(MPI_M_msid m) { return MPI_M_rootflush(m, 0, path("root"), MPI_M_ALL_COMM); }
static int rootflush_no_name(MPI_M_msid m) { return MPI_M_rootflush(m, 0, NULL, MPI_M_ALL_COMM); }
static int rootflush_nowhere(MPI_M_msid m) { return MPI_M_rootflush(m, 0, path("missing/root"), MPI_M_ALL_COMM); }
static int rootflush_low(MPI_M_msid m) { return MPI_M_rootflush(m, -1, path("bad"), MPI_M_ALL_COMM); }
static int rootflush_high(MPI_M_msid m) { return MPI_M_rootflush(m, size, path("bad"), MPI_M_ALL_COMM); }
static int rootflush_bad_flags(MPI_M_msid m) { return MPI_M_rootflush(m, 0, path("bad"), 0); }

enum which { THIS, UNKNOWN, ZERO, ALL };
static const char *const which_names[] = {"the session", "an unknown session", "session 0", "MPI_M_ALL_MSID"};

#define NOT_A_SESSION(call) \
    {#call, call, UNKNOWN, {mi, id, id, id, id, mi, id}}, {#call, call, ZERO, {mi, id, id, id, id, mi, id}}
#define NEEDS_ONE(call) {#call, call, ALL, {mi, id, id, id, id, mi, id}}, NOT_A_SESSION(call)

static const struct row {
    const char *name;
    int (*call)(MPI_M_msid);
    enum which which;
    int code[STATES];
} table[] = {
    /*                                        no init, empty, active, suspended, freed, finalized, mixed */
    {"init", init, THIS,                      {ok, mc, mc, mc, mc, ok, mc}},
    {"finalize", finalize, THIS,              {mi, ok, sa, ok, ok, mi, sa}},
    {"start", start_world, THIS,              {mi, ok, ok, ok, ok, mi, ok}},
    {"start, no pointer", start_no_pointer, THIS,  {mi, id, id, id, id, mi, id}},
    {"start, MPI_COMM_NULL", start_null_comm, THIS, {mi, mp, mp, mp, mp, mi, mp}},
    {"start, inter-communicator", start_inter, THIS, {mi, mp, mp, mp, mp, mi, mp}},

    {"suspend", MPI_M_suspend, THIS,          {mi, id, ok, mc, id, mi, ok}},
    {"suspend", MPI_M_suspend, ALL,           {mi, id, ok, mc, id, mi, ok}},
    NOT_A_SESSION(MPI_M_suspend),
    {"continue", MPI_M_continue, THIS,        {mi, id, mc, ok, id, mi, mc}},
    {"continue", MPI_M_continue, ALL,         {mi, id, mc, ok, id, mi, ok}},
    NOT_A_SESSION(MPI_M_continue),
    {"reset", MPI_M_reset, THIS,              {mi, id, ns, ok, id, mi, ns}},
    {"reset", MPI_M_reset, ALL,               {mi, id, sa, ok, id, mi, sa}},
    NOT_A_SESSION(MPI_M_reset),
    {"free", MPI_M_free, THIS,                {mi, id, ns, ok, id, mi, ns}},
    {"free", MPI_M_free, ALL,                 {mi, id, sa, ok, id, mi, sa}},
    NOT_A_SESSION(MPI_M_free),

    {"get_info", get_info, THIS,              {mi, id, ok, ok, id, mi, ok}},
    {"get_info, ignored", get_info_ignored, THIS, {mi, id, ok, ok, id, mi, ok}},
    NEEDS_ONE(get_info),
    {"get_data", get_data, THIS,              {mi, id, ns, ok, id, mi, ns}},
    {"get_data, ignored", get_ignored, THIS,  {mi, id, ns, ok, id, mi, ns}},
    {"get_data, flags 0", get_no_flags, THIS, {mi, id, ns, in, id, mi, ns}},
    {"get_data, flags 15", get_bad_flags, THIS, {mi, id, ns, in, id, mi, ns}},
    {"get_data, flags -1", get_negative_flags, THIS, {mi, id, ns, in, id, mi, ns}},
    NEEDS_ONE(get_data),

    {"allgather_data", allgather, THIS,       {mi, id, ns, ok, id, mi, ns}},
    {"allgather_data, ignored", allgather_ignored, THIS, {mi, id, ns, ok, id, mi, ns}},
    {"allgather_data, bad flags", allgather_bad_flags, THIS, {mi, id, ns, in, id, mi, ns}},
    NEEDS_ONE(allgather),
    {"rootgather_data", rootgather, THIS,     {mi, id, ns, ok, id, mi, ns}},
    {"rootgather_data, root -1", rootgather_low, THIS, {mi, id, ns, ro, id, mi, ns}},
    {"rootgather_data, root = size", rootgather_high, THIS, {mi, id, ns, ro, id, mi, ns}},
    {"rootgather_data, flags 0", rootgather_bad_flags, THIS, {mi, id, ns, in, id, mi, ns}},
    NEEDS_ONE(rootgather),

    {"flush", flush, THIS,                    {mi, id, ns, ok, id, mi, ns}},
    {"flush, no name", flush_no_name, THIS,   {mi, id, ns, in, id, mi, ns}},
    {"flush, no such directory", flush_nowhere, THIS, {mi, id, ns, in, id, mi, ns}},
    {"flush, bad flags", flush_bad_flags, THIS, {mi, id, ns, in, id, mi, ns}},
    NEEDS_ONE(flush),
    {"rootflush", rootflush, THIS,            {mi, id, ns, ok, id, mi, ns}},
    {"rootflush, no name", rootflush_no_name, THIS, {mi, id, ns, in, id, mi, ns}},
    {"rootflush, no such directory", rootflush_nowhere, THIS, {mi, id, ns, in, id, mi, ns}},
    {"rootflush, root -1", rootflush_low, THIS, {mi, id, ns, ro, id, mi, ns}},
    {"rootflush, root = size", rootflush_high, THIS, {mi, id, ns, ro, id, mi, ns}},
    {"rootflush, flags 0", rootflush_bad_flags, THIS, {mi, id, ns, in, id, mi, ns}},
    NEEDS_ONE(rootflush),
};

/* Brings the environment into a state; returns the session that it is about. */
static MPI_M_msid enter(enum state state)
{
    MPI_M_msid session = 1, other;
    if (state == NO_INIT) return session;
    CHECK_OK(MPI_M_init());
    if (state == EMPTY) return session;
    CHECK_OK(MPI_M_start(MPI_COMM_WORLD, &session));
    CHECK(session > 0);
    if (state == ACTIVE) return session;
    if (state == MIXED) {
        CHECK_OK(MPI_M_start(MPI_COMM_WORLD, &other));
        CHECK(other != session);
        CHECK_OK(MPI_M_suspend(other));
        return session;
    }
    CHECK_OK(MPI_M_suspend(session));
    if (state == FREED) CHECK_OK(MPI_M_free(session));
    if (state == FINALIZED) CHECK_OK(MPI_M_finalize());
    return session;
}

static void leave(void)
{
    (void)MPI_M_suspend(MPI_M_ALL_MSID);
    (void)MPI_M_finalize();
    CHECK_EQUAL(MPI_M_finalize(), MPI_M_MISSING_INIT);
}

static void try_cell(const struct row *row, enum state state)
{
    MPI_M_msid session = enter(state);
    const MPI_M_msid argument[] = {session, GARBAGE, 0, MPI_M_ALL_MSID};
    int code = row->call(argument[row->which]);
    if (code != row->code[state]) {
        char text[256];
        snprintf(text, sizeof(text), "%s of %s, %s: %d, should be %d", row->name, which_names[row->which],
                 state_names[state], code, row->code[state]);
        check_that(0, __FILE__, __LINE__, text);
    }
    leave();
}

/* One directory for all, made by rank 0. */
static void make_directory(void)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(directory, sizeof(directory), "%s/lucid-states-XXXXXX", tmp != NULL ? tmp : "/tmp");
    if (check_rank == 0) CHECK(mkdtemp(directory) != NULL);
    MPI_Bcast(directory, sizeof(directory), MPI_CHAR, 0, MPI_COMM_WORLD);
}

/* Exactly the files that were asked for have come to be; removes them. */
static void clean_directory(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank != 0) return;
    for (int i = 0; i < size; i++) {
        char name[64];
        snprintf(name, sizeof(name), "flush.%d.prof", i);
        CHECK_OK(remove(path(name)));
    }
    CHECK_OK(remove(path("root_counts.0.prof")));
    CHECK_OK(remove(path("root_sizes.0.prof")));
    CHECK_OK(remove(directory)); /* fails if anything else is in it */
}

static void make_inter(void)
{
    MPI_Comm half;
    if (size < 2) return;
    MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, 0, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, check_rank % 2 ? 0 : 1, 0, &inter);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    counts = calloc((size_t)size * (size_t)size, sizeof(*counts));
    sizes = calloc((size_t)size * (size_t)size, sizeof(*sizes));
    make_directory();
    make_inter();
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        for (int state = 0; state < STATES; state++) try_cell(&table[i], state);
    }
    clean_directory();
    if (inter != MPI_COMM_NULL) MPI_Comm_free(&inter);
    free(counts);
    free(sizes);
    int outcome = check_outcome();
    MPI_Finalize();
    return outcome;
}
