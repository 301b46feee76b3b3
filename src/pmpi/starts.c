/* SPDX-License-Identifier: BSD-3-Clause
 * starts.c: what is around MPI_Start and MPI_Startall, in C and in Fortran.
 */
#include "fortran.h"
#include "wrappers.h"

#include <stdlib.h>
#include <string.h>

#include "../core/log.h"
#include "../reduce/reduce.h"

/* Room for n handles, or n = 0 where there is nothing to do or no memory. */
static void prepare(struct lucid_starts *starts, int n)
{
    starts->all = n;
    starts->n = n > 0 && lucid_call_requests_known() ? n : 0;
    starts->before = starts->few;
    if (starts->n <= (int)(sizeof starts->few / sizeof starts->few[0])) return;
    starts->before = malloc((size_t)n * sizeof *starts->before);
    if (starts->before != NULL) return;
    lucid_error("out of memory in MPI_Startall of %d requests: they are not counted", n);
    starts->n = 0;
    starts->before = starts->few;
}

static void release(struct lucid_starts *starts)
{
    if (starts->before != starts->few) free(starts->before);
}

void lucid_starts_begin(struct lucid_starts *starts, int n, const MPI_Request *requests)
{
    prepare(starts, n);
    if (starts->n > 0) memcpy(starts->before, requests, (size_t)starts->n * sizeof *requests);
}

int lucid_starts_kind(const struct lucid_starts *starts)
{
    if (starts->n == 0 || atomic_load_explicit(&lucid_listening, memory_order_relaxed) == 0) return LUCID_KIND_P2P;
    return lucid_call_start_kind(starts->n, starts->before);
}

void lucid_starts_end(struct lucid_starts *starts, bool entered, int rc, const MPI_Request *requests)
{
    if (starts->n > 0 && rc == MPI_SUCCESS) lucid_call_start(entered, starts->n, starts->before, requests);
    if (rc == MPI_SUCCESS && lucid_reduce_wanted()) lucid_reduce_started(starts->all, requests);
    release(starts);
}

void lucid_fortran_starts_begin(struct lucid_starts *starts, int n, const MPI_Fint *requests)
{
    prepare(starts, n);
    for (int i = 0; i < starts->n; i++) starts->before[i] = PMPI_Request_f2c(requests[i]);
    starts->nests = lucid_reduce_wanted();
    if (starts->nests) lucid_reduce_nest(true);
}

void lucid_fortran_starts_end(struct lucid_starts *starts, bool entered, int rc, const MPI_Fint *requests)
{
    if (starts->nests) lucid_reduce_nest(false);
    for (int i = 0; i < starts->n && rc == MPI_SUCCESS; i++) {
        const MPI_Request after = PMPI_Request_f2c(requests[i]);
        lucid_call_start(entered, 1, &starts->before[i], &after);
    }
    for (int i = 0; starts->nests && i < starts->all && rc == MPI_SUCCESS; i++) {
        const MPI_Request started = PMPI_Request_f2c(requests[i]);
        lucid_reduce_started(1, &started);
    }
    release(starts);
}
