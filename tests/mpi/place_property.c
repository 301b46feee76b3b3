/* SPDX-License-Identifier: BSD-3-Clause
 * place_property.c: what holds for every permutation and every reordering, tried with random ones.
 *
 * Redistribution brings rank k[i]'s data to process i and its inverse brings them back, whatever the permutation, the datatype and
 * the communicator; collectives on a permuted communicator give the same; a mapping is a permutation, and what does not fit is
 * one error at all processes.
 */
#include <lucid_place.h>
#include <stdint.h>

#include "api_check.h"

enum { COUNT = 137, TRIALS = 12 };

static uint32_t next(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static void shuffle(int *k, int n, uint32_t *seed)
{
    for (int i = 0; i < n; i++) k[i] = i;
    for (int i = n - 1; i > 0; i--) {
        int j = (int)(next(seed) % (uint32_t)(i + 1)), other = k[i];
        k[i] = k[j];
        k[j] = other;
    }
}

static void check_redistribution(MPI_Comm comm, const int *k, int size, int rank)
{
    int *inverse = malloc((size_t)size * sizeof *inverse), wrong = 0;
    double data[COUNT];
    struct {
        double d;
        char c;
    } mixed = {rank + 0.5, (char)('a' + rank % 26)};
    for (int i = 0; i < size; i++) inverse[k[i]] = i;
    for (int i = 0; i < COUNT; i++) data[i] = 1000.0 * rank + i;
    CHECK_OK(lucid_redistribute(data, COUNT, MPI_DOUBLE, k, comm));
    CHECK_OK(lucid_redistribute(&mixed, (int)sizeof mixed, MPI_BYTE, k, comm));
    for (int i = 0; i < COUNT; i++) wrong += data[i] != 1000.0 * k[rank] + i;
    CHECK(mixed.d == k[rank] + 0.5 && mixed.c == (char)('a' + k[rank] % 26));
    CHECK_OK(lucid_redistribute(data, COUNT, MPI_DOUBLE, inverse, comm));
    for (int i = 0; i < COUNT; i++) wrong += data[i] != 1000.0 * rank + i;
    CHECK_EQUAL(wrong, 0);
    free(inverse);
}

/** Process of rank i in comm has rank k[i] in the permuted one: every collective sees the ranks there, and nothing else. */
static void check_collectives(MPI_Comm permuted, int size)
{
    int rank, sum = 0, prefix = -1, wrong = 0, root = size / 2, value;
    MPI_Comm_rank(permuted, &rank);
    int *all = malloc((size_t)size * sizeof *all), *to = malloc((size_t)size * sizeof *to);
    MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, permuted);
    for (int i = 0; i < size; i++) wrong += all[i] != i;
    for (int i = 0; i < size; i++) to[i] = rank * size + i;
    MPI_Alltoall(to, 1, MPI_INT, all, 1, MPI_INT, permuted);
    for (int i = 0; i < size; i++) wrong += all[i] != i * size + rank;
    MPI_Scan(&rank, &prefix, 1, MPI_INT, MPI_SUM, permuted);
    wrong += prefix != rank * (rank + 1) / 2;
    MPI_Reduce(&rank, &sum, 1, MPI_INT, MPI_SUM, root, permuted);
    wrong += rank == root && sum != size * (size - 1) / 2;
    value = rank;
    MPI_Bcast(&value, 1, MPI_INT, root, permuted);
    wrong += value != root;
    CHECK_EQUAL(wrong, 0);
    free(all);
    free(to);
}

static void try_permutations(MPI_Comm comm)
{
    int size, rank;
    uint32_t seed = 20;
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    int *k = malloc((size_t)size * sizeof *k);
    for (int trial = 0; trial < TRIALS; trial++) {
        MPI_Comm permuted;
        shuffle(k, size, &seed);
        check_redistribution(comm, k, size, rank);
        MPI_Comm_split(comm, 0, k[rank], &permuted);
        check_collectives(permuted, size);
        MPI_Comm_free(&permuted);
    }
    free(k);
}

/** Random traffic, from the same seed everywhere. */
static lucid_session_t record(MPI_Comm comm, uint32_t seed)
{
    lucid_session_t session;
    int size, rank;
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    CHECK_OK(lucid_session_start(comm, NULL, &session));
    for (int i = 0; i < 3 * size; i++) {
        int from = (int)(next(&seed) % (uint32_t)size), to = (int)(next(&seed) % (uint32_t)size), bytes = (int)(next(&seed) % 4000);
        char buffer[4000] = {0};
        if (from == to) continue;
        if (rank == from) MPI_Send(buffer, bytes, MPI_CHAR, to, 5, comm);
        if (rank == to) MPI_Recv(buffer, bytes, MPI_CHAR, from, 5, comm, MPI_STATUS_IGNORE);
    }
    CHECK_OK(lucid_session_suspend(session));
    return session;
}

static void check_permutation(const int *k, int size)
{
    int *seen = calloc((size_t)size, sizeof *seen), missing = 0;
    for (int i = 0; i < size; i++)
        if (k[i] >= 0 && k[i] < size) seen[k[i]] = 1;
    for (int i = 0; i < size; i++) missing += !seen[i];
    CHECK_EQUAL(missing, 0);
    free(seen);
}

/** The topology is rank 0's; elsewhere it is not looked at. */
static lucid_topology_t *make_topology(int places, int rank)
{
    char text[64], why[200];
    lucid_topology_t *topology = NULL;
    snprintf(text, sizeof text, "node:%d core:1", places);
    if (rank == 0) CHECK_OK(lucid_topology_read(text, &topology, why, sizeof why));
    return topology;
}

static void try_mappings(MPI_Comm comm)
{
    int size, rank;
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    int *k = malloc((size_t)size * sizeof *k);
    for (uint32_t seed = 1; seed <= 3; seed++) {
        lucid_session_t session = record(comm, seed);
        MPI_Comm made;
        lucid_decision_t decision;
        lucid_reorder_options_t options = {.recorded = 1, .remaining = 1000, .always = 1, .k = k, .seed = seed};
        lucid_topology_t *fits = make_topology(size, rank), *other = make_topology(size + 1, rank);
        CHECK_OK(lucid_mapping(fits, session, k));
        check_permutation(k, size);
        CHECK_EQUAL(lucid_mapping(other, session, k), LUCID_ERR_ARG); /* a topology of another size */
        CHECK_EQUAL(lucid_mapping(fits, session, NULL), LUCID_ERR_ARG);
        CHECK_OK(lucid_comm_reorder(comm, session, &options, &made, &decision));
        check_permutation(k, size);
        CHECK(decision.map.after.cost <= decision.map.before.cost);
        check_collectives(made, size);
        if (decision.reordered) MPI_Comm_free(&made);
        CHECK_OK(lucid_session_free(session));
        if (rank == 0) lucid_topology_free(fits);
        if (rank == 0) lucid_topology_free(other);
    }
    free(k);
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Comm part;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_rank = rank;
    CHECK_OK(lucid_init());
    try_permutations(MPI_COMM_WORLD);
    try_mappings(MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, size - rank, &part); /* both halves at the same time, in another order */
    try_permutations(part);
    try_mappings(part);
    MPI_Comm_free(&part);
    CHECK_OK(lucid_finalize());
    int failed = check_outcome();
    MPI_Finalize();
    return failed;
}
