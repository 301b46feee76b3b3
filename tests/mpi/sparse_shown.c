/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_shown.c: sessions count what ranks of a node read in each other's memory, where reductions would send it: from whom it comes, to whom it
 * goes, as that call's, and as many bytes as sparse reductions say themselves. LUCID_SPARSE_ALGORITHM says which one runs.
 */
#include <lucid.h>
#include <lucid_sparse.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "api_check.h"
#include "sparse_figures.h"
#include "sparse_mapped.h"

enum { CALLS = 5, MOST = 16, TENTH = 10 };
enum { TERMS = 1024 }; /* more than what ranks agree by takes in a call */

static int rank, size;
static int each = 6000; /* elements of a share; SPARSE_EACH */
static double *in, *out;

/* What a rank shows another one in a call: so many bytes at least, and at most, but for what they agree by. */
struct range {
    double least, most;
};

static struct range shares(int to)
{
    const double bytes = each * sizeof(double);
    return (struct range){bytes, bytes};
}

static struct range to_root(int to)
{
    const double bytes = (double)size * each * sizeof(double);
    return to == 0 ? (struct range){bytes / TENTH, bytes / 2} : (struct range){0, 0};
}

static struct range vectors(int to)
{
    return to_root(0);
}

static struct range parts(int to)
{
    const double bytes = each * sizeof(double);
    return (struct range){bytes / TENTH, bytes / 2};
}

/* Of this rank's vector, and the sum of all ranks'. */
static struct range parts_and_sums(int to)
{
    const double bytes = each * sizeof(double);
    return (struct range){2 * bytes / TENTH, 2 * bytes};
}

static void reduce(void)
{
    MPI_Reduce(in, out, size * each, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}

static void allreduce(void)
{
    MPI_Allreduce(in, out, size * each, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void scatter(void)
{
    MPI_Reduce_scatter_block(in, out, each, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static const struct sort {
    const char *algorithm;
    bool disjoint;
    int kind;
    void (*call)(void);
    struct range (*shown)(int to);
} sorts[] = {
    {"allreduce_shares", true, LUCID_KIND_ALLREDUCE, allreduce, shares},
    {"reduce_direct", false, LUCID_KIND_REDUCE, reduce, to_root},
    {"allreduce_ring", false, LUCID_KIND_ALLREDUCE, allreduce, vectors},
    {"allreduce_halving", false, LUCID_KIND_ALLREDUCE, allreduce, parts_and_sums},
    {"scatter_pairwise", false, LUCID_KIND_REDUCE_SCATTER_BLOCK, scatter, parts},
};

static const struct sort *find(const char *algorithm)
{
    for (size_t i = 0; algorithm && i < sizeof sorts / sizeof *sorts; i++)
        if (strcmp(sorts[i].algorithm, algorithm) == 0) return &sorts[i];
    return NULL;
}

static void fill(bool disjoint)
{
    for (int i = 0; i < size * each; i++) in[i] = (disjoint ? i / each == rank : i % TENTH == rank % TENTH) ? 1 + i % 7 : 0;
}

/* By the component, or the preloaded library. */
static long long bytes_sent(void)
{
    struct lucid_sparse_figures own;
    if (!getenv("LUCID_SPARSE")) return figure("coll_sparse_bytes_sent");
    lucid_sparse_get_figures(&own);
    return (long long)own.sent;
}

/* Returns all bytes. */
static uint64_t check_counts(lucid_session_t session, const struct sort *sort)
{
    uint64_t bytes[MOST], messages[MOST], all[MOST], sum = 0;
    CHECK_OK(lucid_session_get(session, LUCID_KIND_BIT(sort->kind), messages, bytes));
    CHECK_OK(lucid_session_get(session, LUCID_KINDS_ALL, NULL, all));
    for (int to = 0; to < size; to++) {
        const struct range range = sort->shown(to);
        const double found = (double)bytes[to] / CALLS;
        CHECK_EQUAL(all[to], bytes[to]);
        if (to == rank || (sort->call == reduce && rank == 0)) CHECK(found <= TERMS);
        else CHECK(found >= range.least && found <= range.most + TERMS);
        if (to != rank && rank > 0 && range.least > 0) CHECK(messages[to] >= CALLS);
        sum += bytes[to];
    }
    return sum;
}

/* Windows are opened in the first calls. */
static void check(const struct sort *sort)
{
    lucid_session_t session;
    fill(sort->disjoint);
    for (int i = 0; i < CALLS; i++) sort->call();
    CHECK_EQUAL(sparse_mapped(), getenv("SPARSE_SENT") ? 0 : size);
    CHECK_OK(lucid_session_start(MPI_COMM_WORLD, "shown", &session));
    const long long before = bytes_sent();
    for (int i = 0; i < CALLS; i++) sort->call();
    const long long sent = bytes_sent() - before;
    CHECK_OK(lucid_session_suspend(session));
    CHECK_EQUAL(check_counts(session, sort), sent);
    CHECK_OK(lucid_session_free(session));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_rank = rank;
    const struct sort *sort = find(getenv("LUCID_SPARSE_ALGORITHM"));
    if (getenv("SPARSE_EACH")) each = atoi(getenv("SPARSE_EACH"));
    in = malloc((size_t)(size * each) * sizeof *in), out = malloc((size_t)(size * each) * sizeof *out);
    CHECK(sort && in && out && size <= MOST);
    CHECK_OK(init_mpi_t());
    watch();
    CHECK_OK(lucid_init());
    if (check_failures == 0) check(sort);
    CHECK_OK(lucid_finalize());
    unwatch();
    MPI_T_finalize();
    free(in), free(out);
    const int outcome = check_outcome();
    MPI_Finalize();
    return outcome;
}
