/* SPDX-License-Identifier: BSD-3-Clause
 * pmpi_row.h: says what a piece of a program should be seen to send, and compares: for every kind and every peer,
 * messages and bytes, nothing more and nothing less. Synchronise with PMPI_ functions: they are not seen.
 */
#ifndef PMPI_ROW_H
#define PMPI_ROW_H

#include <lucid.h>

#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h> /* persistent collectives before MPI 4 */
#endif

#include "api_check.h"

#ifdef PMPI_PRELOADED /* the program is not linked with liblucid, it gets it at run time */
#pragma weak lucid_init
#pragma weak lucid_finalize
#pragma weak lucid_session_start
#pragma weak lucid_session_suspend
#pragma weak lucid_session_continue
#pragma weak lucid_session_reset
#pragma weak lucid_session_free
#pragma weak lucid_session_get
#pragma weak lucid_session_outside
#pragma weak lucid_kind_name
#endif

static lucid_session_t row_session;
static int row_size, row_rank;
static uint64_t *row_count[LUCID_KIND_COUNT], *row_bytes[LUCID_KIND_COUNT]; /* what should be seen: [kind][peer] */
static uint64_t row_outside_count, row_outside_bytes;

/* A session over MPI_COMM_WORLD, suspended. */
static inline void row_open(void)
{
    MPI_Comm_size(MPI_COMM_WORLD, &row_size);
    MPI_Comm_rank(MPI_COMM_WORLD, &row_rank);
    check_rank = row_rank;
    for (int kind = 0; kind < LUCID_KIND_COUNT; kind++) {
        row_count[kind] = calloc((size_t)row_size, sizeof(uint64_t));
        row_bytes[kind] = calloc((size_t)row_size, sizeof(uint64_t));
    }
    CHECK_OK(lucid_init());
    CHECK_OK(lucid_session_start(MPI_COMM_WORLD, "row", &row_session));
    CHECK_OK(lucid_session_suspend(row_session));
}

static inline void row_close(void)
{
    CHECK_OK(lucid_session_free(row_session));
    CHECK_OK(lucid_finalize());
    for (int kind = 0; kind < LUCID_KIND_COUNT; kind++) {
        free(row_count[kind]);
        free(row_bytes[kind]);
    }
}

/* From here on every message must be announced with row_expect(). */
static inline void row_begin(void)
{
    for (int kind = 0; kind < LUCID_KIND_COUNT; kind++) {
        memset(row_count[kind], 0, (size_t)row_size * sizeof(uint64_t));
        memset(row_bytes[kind], 0, (size_t)row_size * sizeof(uint64_t));
    }
    row_outside_count = row_outside_bytes = 0;
    CHECK_OK(lucid_session_reset(row_session));
    CHECK_OK(lucid_session_continue(row_session));
}

/* peer: rank in MPI_COMM_WORLD; MPI_PROC_NULL stands for no message. */
static inline void row_expect(int kind, int peer, uint64_t messages, uint64_t bytes)
{
    if (peer == MPI_PROC_NULL) return;
    row_count[kind][peer] += messages;
    row_bytes[kind][peer] += bytes;
}

static inline void row_expect_outside(uint64_t messages, uint64_t bytes)
{
    row_outside_count += messages;
    row_outside_bytes += bytes;
}

static inline void row_compare(const char *what, int kind, int peer, uint64_t count, uint64_t bytes)
{
    char message[256];
    if (count == row_count[kind][peer] && bytes == row_bytes[kind][peer]) return;
    snprintf(message, sizeof message, "%s: %s to %d is %llu messages of %llu bytes, should be %llu of %llu", what,
             lucid_kind_name(kind), peer, (unsigned long long)count, (unsigned long long)bytes,
             (unsigned long long)row_count[kind][peer], (unsigned long long)row_bytes[kind][peer]);
    check_that(0, "row", 0, message);
}

static inline void row_end(const char *what)
{
    uint64_t *count = malloc((size_t)row_size * sizeof *count), *bytes = malloc((size_t)row_size * sizeof *bytes);
    uint64_t outside_count = 0, outside_bytes = 0;
    CHECK_OK(lucid_session_suspend(row_session));
    for (int kind = 0; kind < LUCID_KIND_COUNT; kind++) {
        CHECK_OK(lucid_session_get(row_session, LUCID_KIND_BIT(kind), count, bytes));
        for (int peer = 0; peer < row_size; peer++) row_compare(what, kind, peer, count[peer], bytes[peer]);
    }
    CHECK_OK(lucid_session_outside(row_session, LUCID_KINDS_ALL, &outside_count, &outside_bytes));
    CHECK_EQUAL(outside_count, row_outside_count);
    CHECK_EQUAL(outside_bytes, row_outside_bytes);
    free(count);
    free(bytes);
    PMPI_Barrier(MPI_COMM_WORLD);
}

#endif
