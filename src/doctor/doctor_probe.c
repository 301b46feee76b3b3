/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The Lucid authors
 *
 * doctor_probe.c: what `lucid doctor` runs with two processes per traffic source. Rank 0 sends rank 1 a known number of
 * messages of several sorts, each sort in a session of its own, and prints on one line of JSON what was sent and what
 * was counted. With a file name as argument a session over everything is written there; with --systems, see doctor_systems.c.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lucid.h>

#include "doctor_systems.h"

#define BLOCK 1000

static char out[BLOCK], in[BLOCK];
static int rank;

/** One sort of traffic: `run` sends it, and returns false where this MPI cannot. */
struct check {
    const char *name;
    uint64_t kinds;
    uint64_t messages, bytes; /* what rank 0 sends rank 1 */
    bool (*run)(const struct check *check);
};

static bool run_sends(const struct check *check)
{
    const int size = (int)(check->bytes / check->messages);
    int rc = MPI_SUCCESS;
    for (uint64_t i = 0; i < check->messages && rc == MPI_SUCCESS; i++) {
        if (rank == 0) rc = MPI_Send(out, size, MPI_BYTE, 1, 7, MPI_COMM_WORLD);
        if (rank == 1) rc = MPI_Recv(in, size, MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return rc == MPI_SUCCESS;
}

static bool run_persistent(const struct check *check)
{
    const int size = (int)(check->bytes / check->messages);
    MPI_Request request;
    if (rank > 1) return true;
    int rc = rank == 0 ? MPI_Send_init(out, size, MPI_BYTE, 1, 8, MPI_COMM_WORLD, &request)
                       : MPI_Recv_init(in, size, MPI_BYTE, 0, 8, MPI_COMM_WORLD, &request);
    for (uint64_t i = 0; i < check->messages && rc == MPI_SUCCESS; i++) {
        rc = MPI_Start(&request);
        if (rc == MPI_SUCCESS) rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (rc == MPI_SUCCESS) rc = MPI_Request_free(&request);
    return rc == MPI_SUCCESS;
}

static bool run_allreduce(const struct check *check)
{
    double mine = rank, sum;
    for (uint64_t i = 0; i < check->messages; i++)
        if (MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD) != MPI_SUCCESS) return false;
    return true;
}

static bool run_put(const struct check *check)
{
    const int size = (int)(check->bytes / check->messages);
    MPI_Win window;
    if (MPI_Win_create(in, BLOCK, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window) != MPI_SUCCESS) return false;
    (void)MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN);
    int rc = MPI_Win_fence(0, window);
    for (uint64_t i = 0; i < check->messages && rank == 0 && rc == MPI_SUCCESS; i++)
        rc = MPI_Put(out, size, MPI_BYTE, 1, 0, size, MPI_BYTE, window);
    if (rc == MPI_SUCCESS) rc = MPI_Win_fence(0, window);
    if (MPI_Win_free(&window) != MPI_SUCCESS) return false;
    return rc == MPI_SUCCESS;
}

/* With two processes every algorithm of an allreduce of 8 bytes sends rank 1 one message of 8 bytes per call. */
static const struct check checks[] = {
    {"point-to-point", LUCID_KINDS_USER | LUCID_KIND_BIT(LUCID_KIND_UNDIVIDED), 10, 10 * BLOCK, run_sends},
    {"persistent", LUCID_KINDS_USER | LUCID_KIND_BIT(LUCID_KIND_UNDIVIDED), 5, 5 * BLOCK / 2, run_persistent},
    {"collectives", LUCID_KINDS_COLL | LUCID_KIND_BIT(LUCID_KIND_UNDIVIDED), 4, 4 * sizeof(double), run_allreduce},
    {"one-sided", LUCID_KINDS_OSC, 3, 3 * BLOCK / 10, run_put},
};
enum { CHECKS = sizeof checks / sizeof *checks };

/** Runs a check in a session of its own; counted: messages and bytes to rank 1. */
static int run_check(const struct check *check, int size, bool *ran, uint64_t counted[2])
{
    lucid_session_t session;
    uint64_t *counts = calloc((size_t)size, sizeof *counts), *bytes = calloc((size_t)size, sizeof *bytes);
    int status = counts && bytes ? lucid_session_start(MPI_COMM_WORLD, NULL, &session) : LUCID_ERR_INTERNAL;
    if (status == LUCID_SUCCESS) {
        *ran = check->run(check);
        status = lucid_session_suspend(session);
        if (status == LUCID_SUCCESS) status = lucid_session_get(session, check->kinds, counts, bytes);
        counted[0] = counts[1];
        counted[1] = bytes[1];
        (void)lucid_session_free(session);
    }
    free(counts);
    free(bytes);
    return status;
}

static void print_check(const struct check *check, bool ran, const uint64_t counted[2])
{
    printf("%s{\"name\": \"%s\", \"ran\": %s, \"sent\": [%llu, %llu], \"counted\": [%llu, %llu]}",
           check == checks ? "" : ", ", check->name, ran ? "true" : "false", (unsigned long long)check->messages,
           (unsigned long long)check->bytes, (unsigned long long)counted[0], (unsigned long long)counted[1]);
}

static int run_all(const char *path, int size)
{
    lucid_session_t whole;
    const char *source = "";
    unsigned sees = 0;
    int status = lucid_session_start(MPI_COMM_WORLD, "doctor", &whole);
    if (status == LUCID_SUCCESS) status = lucid_source_info(&source, &sees);
    if (status != LUCID_SUCCESS) return status;
    if (rank == 0) printf("{\"source\": \"%s\", \"sees\": %u, \"checks\": [", source, sees);
    for (int i = 0; i < CHECKS && status == LUCID_SUCCESS; i++) {
        bool ran = false;
        uint64_t counted[2] = {0, 0};
        status = run_check(&checks[i], size, &ran, counted);
        if (rank == 0 && status == LUCID_SUCCESS) print_check(&checks[i], ran, counted);
    }
    if (rank == 0) puts("]}");
    (void)lucid_session_suspend(whole);
    if (status == LUCID_SUCCESS && path) status = lucid_session_write(whole, path);
    (void)lucid_session_free(whole);
    return status;
}

int main(int argc, char **argv)
{
    int size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    (void)MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (size < 2) {
        fprintf(stderr, "lucid: the probe needs two processes, and was started as %d\n", size);
        MPI_Finalize();
        return 1;
    }
    if (argc > 1 && strcmp(argv[1], "--systems") == 0) {
        int code = doctor_systems(rank);
        MPI_Finalize();
        return code;
    }
    int status = lucid_init();
    if (status == LUCID_SUCCESS) {
        status = run_all(argc > 1 ? argv[1] : NULL, size);
        (void)lucid_finalize();
    }
    if (status != LUCID_SUCCESS && rank == 0) fprintf(stderr, "lucid: %s\n", lucid_error_string(status));
    MPI_Finalize();
    return status == LUCID_SUCCESS ? 0 : 1;
}
