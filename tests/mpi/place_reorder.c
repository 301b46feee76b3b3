/* SPDX-License-Identifier: BSD-3-Clause
 * place_reorder.c: a ring whose neighbours sit far apart is reordered, and computes the same afterwards.
 *
 * Run at any np. On one node nothing is to gain, and the communicator must come back untouched; in the lab (label lab) the
 * processes are dealt out round-robin, so neighbours are on different nodes, and reordering must reduce the bytes between
 * nodes to what a ring needs.
 */
#include <stdlib.h>
#include <string.h>

#include <lucid_place.h>

#include "api_check.h"

enum { COUNT = 5000 };

/** Every rank sends to its right neighbour; a checksum of what has arrived. */
static long ring(MPI_Comm comm, int rounds)
{
    int rank, size, data[COUNT];
    long sum = 0;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < COUNT; i++) data[i] = rank * 7 + i + round;
        MPI_Sendrecv_replace(data, COUNT, MPI_INT, (rank + 1) % size, 3, (rank + size - 1) % size, 3, comm, MPI_STATUS_IGNORE);
        for (int i = 0; i < COUNT; i++) sum += data[i];
    }
    long all;
    MPI_Allreduce(&sum, &all, 1, MPI_LONG, MPI_SUM, comm);
    return all;
}

static int count_nodes(void)
{
    MPI_Comm node;
    int rank, leader, nodes;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &rank);
    leader = rank == 0;
    MPI_Allreduce(&leader, &nodes, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm_free(&node);
    return nodes;
}

static void check_ranks(MPI_Comm comm, MPI_Comm newcomm, const int *k)
{
    int rank, new_rank, result;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_rank(newcomm, &new_rank);
    MPI_Comm_compare(comm, newcomm, &result);
    CHECK(new_rank == k[rank]);
    CHECK(result != MPI_UNEQUAL);
}

/** Data follow their rank, any datatype, and come back with the inverse. */
static void check_redistribution(MPI_Comm comm, MPI_Comm newcomm, const int *k)
{
    int rank, size, new_rank;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(newcomm, &new_rank);
    int grid[6] = {rank, -1, rank + 1, -1, rank + 2, -1}, *inverse = malloc((size_t)size * sizeof *inverse);
    MPI_Datatype every_second;
    MPI_Type_vector(3, 1, 2, MPI_INT, &every_second);
    MPI_Type_commit(&every_second);
    CHECK(lucid_redistribute(grid, 1, every_second, k, comm) == LUCID_SUCCESS);
    CHECK(grid[0] == new_rank && grid[2] == new_rank + 1 && grid[4] == new_rank + 2);
    CHECK(grid[1] == -1 && grid[3] == -1 && grid[5] == -1);
    for (int i = 0; i < size; i++) inverse[k[i]] = i;
    CHECK(lucid_redistribute(grid, 1, every_second, inverse, comm) == LUCID_SUCCESS);
    CHECK(grid[0] == rank && grid[4] == rank + 2);
    CHECK(lucid_redistribute(NULL, 0, MPI_INT, k, comm) == LUCID_SUCCESS);
    if (size > 1) {
        inverse[0] = inverse[1];
        CHECK(lucid_redistribute(grid, 1, every_second, inverse, comm) == LUCID_ERR_ARG);
    }
    MPI_Type_free(&every_second);
    free(inverse);
}

/** What is decided by itself agrees with the figures that it gives, whatever they are on this machine now. */
static void decide(MPI_Comm comm, lucid_session_t session)
{
    lucid_decision_t decision;
    MPI_Comm newcomm;
    for (uint64_t remaining = 0; remaining < 100000000; remaining = remaining * 100 + 1) {
        lucid_reorder_options_t options = {.recorded = 4, .remaining = remaining};
        CHECK(lucid_comm_reorder(comm, session, &options, &newcomm, &decision) == LUCID_SUCCESS);
        CHECK(decision.reordered == (newcomm != comm) && decision.reason[0] != '\0');
        if (decision.reordered) {
            CHECK(decision.after < decision.before && decision.break_even <= remaining);
            MPI_Comm_free(&newcomm);
        } else if (decision.after < decision.before) {
            CHECK(decision.break_even >= remaining);
        }
    }
}

static void reorder(MPI_Comm comm, int nodes, int everywhere)
{
    lucid_session_t before, after;
    lucid_decision_t decision;
    lucid_review_t review;
    MPI_Comm newcomm = MPI_COMM_NULL;
    int size, rounds = 4, result;
    MPI_Comm_size(comm, &size);
    int *k = malloc((size_t)size * sizeof *k);
    CHECK(lucid_session_start(comm, NULL, &before) == LUCID_SUCCESS);
    long sum = ring(comm, rounds);
    CHECK(lucid_session_suspend(before) == LUCID_SUCCESS);
    lucid_reorder_options_t options = {.recorded = (uint64_t)rounds, .remaining = 1000000, .always = 1,
                                       .everywhere = everywhere, .k = k};
    CHECK(lucid_comm_reorder(comm, before, &options, &newcomm, &decision) == LUCID_SUCCESS);
    if (nodes == 1) {
        CHECK(!decision.reordered && newcomm == comm && decision.break_even == UINT64_MAX);
        CHECK(strstr(decision.reason, "one node") != NULL);
    } else if (size / nodes > 1) {
        CHECK(decision.reordered); /* whether it pays depends on what was measured: see decide() */
        CHECK(decision.map.after.between_bytes < decision.map.before.between_bytes);
    }
    check_ranks(comm, newcomm, k);
    CHECK(lucid_session_start(newcomm, NULL, &after) == LUCID_SUCCESS);
    CHECK(ring(newcomm, rounds) == sum);
    CHECK(lucid_session_suspend(after) == LUCID_SUCCESS);
    check_redistribution(comm, newcomm, k);
    CHECK(lucid_reorder_review(comm, before, 4, &newcomm, after, 4, 0, &review) == LUCID_SUCCESS);
    CHECK(!review.taken_back);
    if (decision.reordered) CHECK(review.between_after < review.between_before);
    CHECK(lucid_reorder_review(comm, before, 4, &newcomm, after, 4, 1, &review) == LUCID_SUCCESS);
    CHECK(review.taken_back == (decision.reordered && review.after >= review.before));
    MPI_Comm_compare(comm, newcomm, &result);
    CHECK(result == (decision.reordered && !review.taken_back ? result : MPI_IDENT));
    if (decision.reordered && !review.taken_back) MPI_Comm_free(&newcomm);
    decide(comm, before);
    CHECK(lucid_session_free(before) == LUCID_SUCCESS && lucid_session_free(after) == LUCID_SUCCESS);
    free(k);
}

static void check_errors(int size)
{
    lucid_session_t session;
    MPI_Comm other, newcomm;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    CHECK(lucid_session_start(MPI_COMM_WORLD, NULL, &session) == LUCID_SUCCESS);
    CHECK(lucid_comm_reorder(MPI_COMM_WORLD, session, NULL, &newcomm, NULL) == LUCID_ERR_NOT_SUSPENDED);
    CHECK(lucid_session_suspend(session) == LUCID_SUCCESS);
    CHECK(lucid_comm_reorder(MPI_COMM_WORLD, session, NULL, &newcomm, NULL) == LUCID_SUCCESS); /* a matrix of zeros */
    CHECK(newcomm == MPI_COMM_WORLD);
    CHECK(lucid_comm_reorder(MPI_COMM_WORLD, session + 1000, NULL, &newcomm, NULL) == LUCID_ERR_SESSION);
    MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &other);
    if (size > 1) CHECK(lucid_comm_reorder(other, session, NULL, &newcomm, NULL) == LUCID_ERR_ARG);
    MPI_Comm_free(&other);
    CHECK(lucid_session_free(session) == LUCID_SUCCESS);
}

int main(int argc, char **argv)
{
    int size, rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int nodes = count_nodes();
    check_rank = rank;
    CHECK(lucid_init() == LUCID_SUCCESS);
    check_errors(size);
    reorder(MPI_COMM_WORLD, nodes, 0);
    reorder(MPI_COMM_WORLD, nodes, 1);
    if (size >= 4) { /* a subset, in another order */
        MPI_Comm part;
        MPI_Comm_split(MPI_COMM_WORLD, rank > 0 ? 0 : MPI_UNDEFINED, size - rank, &part);
        if (part != MPI_COMM_NULL) {
            reorder(part, nodes, 0);
            MPI_Comm_free(&part);
        }
    }
    CHECK(lucid_finalize() == LUCID_SUCCESS);
    int failed = check_outcome();
    MPI_Finalize();
    return failed;
}
