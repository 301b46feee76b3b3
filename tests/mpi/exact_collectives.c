/* SPDX-License-Identifier: BSD-3-Clause
 * exact_collectives.c: collectives at three sizes, message for message as derived from their algorithms.
 *
 * The algorithms are forced through Open MPI's parameters (see api.cmake); the program reads the same parameters to
 * know which derivation holds. Where the source tells kinds apart, the messages are all of the collective's kind.
 */
#include <lucid.h>

#include "api_check.h"
#include "exact_derive.h"

#define LARGEST 50000
static const int element_counts[] = {1, 333, LARGEST};

static int size;
static int *from, *to;

static void barrier(int n) { MPI_Barrier(MPI_COMM_WORLD); }
static void bcast(int n) { MPI_Bcast(from, n, MPI_INT, 0, MPI_COMM_WORLD); }
static void reduce(int n) { MPI_Reduce(from, to, n, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD); }
static void allreduce(int n) { MPI_Allreduce(from, to, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD); }
static void gather(int n) { MPI_Gather(from, n, MPI_INT, to, n, MPI_INT, 0, MPI_COMM_WORLD); }
static void scatter(int n) { MPI_Scatter(from, n, MPI_INT, to, n, MPI_INT, 0, MPI_COMM_WORLD); }
static void allgather(int n) { MPI_Allgather(from, n, MPI_INT, to, n, MPI_INT, MPI_COMM_WORLD); }
static void alltoall(int n) { MPI_Alltoall(from, n, MPI_INT, to, n, MPI_INT, MPI_COMM_WORLD); }

static const struct row {
    const char *name; /* in the parameter's name */
    int algorithm;
    int kind;
    void (*call)(int n);
    void (*derive)(struct derived *d, uint64_t n);
} table[] = {
    {"barrier", 1, LUCID_KIND_BARRIER, barrier, derive_barrier_linear},
    {"barrier", 3, LUCID_KIND_BARRIER, barrier, derive_barrier_doubling},
    {"barrier", 4, LUCID_KIND_BARRIER, barrier, derive_barrier_bruck},
    {"bcast", 1, LUCID_KIND_BCAST, bcast, derive_from_root},
    {"bcast", 6, LUCID_KIND_BCAST, bcast, derive_bcast_binomial},
    {"reduce", 1, LUCID_KIND_REDUCE, reduce, derive_to_root},
    {"reduce", 5, LUCID_KIND_REDUCE, reduce, derive_reduce_binomial},
    {"allreduce", 3, LUCID_KIND_ALLREDUCE, allreduce, derive_allreduce_doubling},
    {"allreduce", 4, LUCID_KIND_ALLREDUCE, allreduce, derive_allreduce_ring},
    {"gather", 1, LUCID_KIND_GATHER, gather, derive_to_root},
    {"scatter", 1, LUCID_KIND_SCATTER, scatter, derive_from_root},
    {"allgather", 2, LUCID_KIND_ALLGATHER, allgather, derive_allgather_bruck},
    {"allgather", 3, LUCID_KIND_ALLGATHER, allgather, derive_allgather_doubling},
    {"allgather", 4, LUCID_KIND_ALLGATHER, allgather, derive_allgather_ring},
    {"alltoall", 1, LUCID_KIND_ALLTOALL, alltoall, derive_everyone},
    {"alltoall", 2, LUCID_KIND_ALLTOALL, alltoall, derive_everyone},
    {"alltoall", 3, LUCID_KIND_ALLTOALL, alltoall, derive_alltoall_bruck},
};

static int forced_algorithm(const char *name)
{
    char variable[128];
    snprintf(variable, sizeof(variable), "OMPI_MCA_coll_tuned_%s_algorithm", name);
    const char *value = getenv(variable);
    return value != NULL ? atoi(value) : 0;
}

static void compare(lucid_session_t session, uint64_t kinds, const struct derived *d, const char *name, int n)
{
    uint64_t count[DERIVE_MAX], bytes[DERIVE_MAX];
    CHECK_OK(lucid_session_get(session, kinds, count, bytes));
    for (int i = 0; i < size; i++) {
        char text[256];
        if (count[i] == d->count[i] && bytes[i] == d->bytes[i]) continue;
        snprintf(text, sizeof(text), "%s of %d integers: to %d: %llu messages of %llu bytes, should be %llu of %llu",
                 name, n, i, (unsigned long long)count[i], (unsigned long long)bytes[i],
                 (unsigned long long)d->count[i], (unsigned long long)d->bytes[i]);
        check_that(0, __FILE__, __LINE__, text);
    }
}

static void measure(lucid_session_t session, const struct row *row, int n, unsigned sees)
{
    static const struct derived nothing;
    struct derived d = {.size = size, .rank = check_rank, .element = sizeof(int)};
    row->derive(&d, (uint64_t)n);
    CHECK_OK(lucid_session_reset(session));
    CHECK_OK(lucid_session_continue(session));
    row->call(n);
    CHECK_OK(lucid_session_suspend(session));
    compare(session, LUCID_KINDS_P2P, &d, row->name, n);
    if (sees & LUCID_SEES_USER) compare(session, LUCID_KINDS_COLL, &d, row->name, n);
    if (sees & LUCID_SEES_USER) compare(session, LUCID_KINDS_ALL & ~LUCID_KINDS_COLL, &nothing, row->name, n);
    if (sees & LUCID_SEES_KINDS) compare(session, LUCID_KIND_BIT(row->kind), &d, row->name, n);
}

/* Every row whose algorithm is forced; there must be one for each collective. */
static void measure_all(unsigned sees)
{
    lucid_session_t session;
    int measured = 0;
    CHECK_OK(lucid_session_start(MPI_COMM_WORLD, NULL, &session));
    CHECK_OK(lucid_session_suspend(session));
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        if (forced_algorithm(table[i].name) != table[i].algorithm) continue;
        measured++;
        for (size_t n = 0; n < sizeof(element_counts) / sizeof(*element_counts); n++)
            measure(session, &table[i], element_counts[n], sees);
    }
    CHECK_EQUAL(measured, 8);
    CHECK_OK(lucid_session_free(session));
}

int main(int argc, char **argv)
{
    unsigned sees = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!is_open_mpi()) return skip_test("the algorithms are chosen by parameters of Open MPI");
    if (source_is_not_for_this_mpi()) return skip_test("the source is not for this MPI");
    if (size > DERIVE_MAX) return skip_test("too many processes");
    from = calloc((size_t)size * LARGEST, sizeof(int));
    to = calloc((size_t)size * LARGEST, sizeof(int));
    CHECK_OK(lucid_init());
    CHECK_OK(lucid_source_info(NULL, &sees));
    CHECK(sees & LUCID_SEES_DECOMPOSED);
    measure_all(sees);
    CHECK_OK(lucid_finalize());
    free(from);
    free(to);
    int outcome = check_outcome();
    MPI_Finalize();
    return outcome;
}
