/* SPDX-License-Identifier: BSD-3-Clause
 * mpit_source.c: what the mpit source says of itself, and that Open MPI's monitoring does no harm: shared windows can
 * be queried, one-sided calls are counted once, the environment is as the user set it once MPI_Init is over.
 *
 * Arguments: what OMPI_MCA_osc must be now ("-": not set), and "1" if the monitoring holds collectives, else "2".
 */
#include <lucid.h>

#include "api_check.h"

static int size;

static void environment(const char *osc)
{
    const char *now = getenv("OMPI_MCA_osc");
    CHECK(strcmp(now != NULL ? now : "-", osc) == 0);
    CHECK(getenv("OMPI_MCA_coll") == NULL);
}

static void tells_what_it_sees(int mode)
{
    const char *name = "";
    unsigned sees = 0, wanted = LUCID_SEES_ONE_SIDED | LUCID_SEES_PERSISTENT | LUCID_SEES_USER;
    CHECK_OK(lucid_source_info(&name, &sees));
    CHECK(strcmp(name, "mpit") == 0);
    CHECK_EQUAL(sees, mode == 1 ? wanted | LUCID_SEES_DECOMPOSED : wanted);
}

static void shared_window(void)
{
    MPI_Comm node;
    MPI_Win win;
    int *base, *theirs = NULL, rank, disp = 0;
    MPI_Aint bytes = 0;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &rank);
    MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, node, &base, &win);
    *base = 1000 + rank;
    MPI_Win_fence(0, win);
    CHECK_OK(MPI_Win_shared_query(win, 0, &bytes, &disp, &theirs));
    CHECK_EQUAL(bytes, sizeof(int));
    if (theirs != NULL) CHECK_EQUAL(*theirs, 1000);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
    MPI_Comm_free(&node);
}

static void one_sided(void)
{
    lucid_session_t session;
    uint64_t count[64], bytes[64];
    char *base, data[300] = {0};
    int right = (check_rank + 1) % size;
    MPI_Win win;
    MPI_Win_allocate(300, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    CHECK_OK(lucid_session_start(MPI_COMM_WORLD, NULL, &session));
    MPI_Win_fence(0, win);
    for (int i = 0; i < 3; i++) MPI_Put(data, 300, MPI_BYTE, right, 0, 300, MPI_BYTE, win);
    MPI_Win_fence(0, win);
    CHECK_OK(lucid_session_suspend(session));
    CHECK_OK(lucid_session_get(session, LUCID_KINDS_OSC, count, bytes));
    for (int i = 0; i < size; i++) CHECK_EQUAL(bytes[i], i == right ? 900 : 0);
    CHECK_OK(lucid_session_get(session, LUCID_KINDS_USER, count, bytes));
    for (int i = 0; i < size; i++) CHECK_EQUAL(count[i], 0);
    CHECK_OK(lucid_session_free(session));
    MPI_Win_free(&win);
}

/* A large MPI_Alltoall on 4.1 carries the user's tag 1. It is the collectives' all the same. */
static void user_and_collective(int mode)
{
    const int block = 1 << 17;
    lucid_session_t session;
    uint64_t count[64], bytes[64];
    char *out = calloc((size_t)size, (size_t)block), *in = calloc((size_t)size, (size_t)block);
    int right = (check_rank + 1) % size, left = (check_rank + size - 1) % size;
    CHECK_OK(lucid_session_start(MPI_COMM_WORLD, NULL, &session));
    MPI_Sendrecv(out, 70, MPI_BYTE, right, 1, in, 70, MPI_BYTE, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Alltoall(out, block, MPI_BYTE, in, block, MPI_BYTE, MPI_COMM_WORLD);
    CHECK_OK(lucid_session_suspend(session));
    CHECK_OK(lucid_session_get(session, LUCID_KINDS_USER, count, bytes));
    for (int i = 0; i < size; i++) CHECK_EQUAL(bytes[i], i == right ? 70 : 0);
    CHECK_OK(lucid_session_get(session, LUCID_KINDS_COLL, count, bytes));
    for (int i = 0; i < size && mode == 1; i++) CHECK_EQUAL(bytes[i], i == check_rank ? 0 : block);
    CHECK_OK(lucid_session_free(session));
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (source_is_not_for_this_mpi()) return skip_test("the source is not for this MPI");
    int mode = argc > 2 ? atoi(argv[2]) : 1;
    environment(argc > 1 ? argv[1] : "-");
    CHECK_OK(lucid_init());
    tells_what_it_sees(mode);
    shared_window();
    one_sided();
    user_and_collective(mode);
    CHECK_OK(lucid_finalize());
    int outcome = check_outcome();
    MPI_Finalize();
    return outcome;
}
