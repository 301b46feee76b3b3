/* SPDX-License-Identifier: BSD-3-Clause
 * place_review.c: what reordering has brought (lucid_place.h).
 */
#include <stdlib.h>

#include "place_job.h"

static uint64_t between_nodes(const struct place_job *job, const struct lucid_matrix *matrix)
{
    uint64_t bytes = 0;
    for (int row = 0; row < matrix->size; row++)
        for (size_t i = matrix->row_start[row]; i < matrix->row_start[row + 1]; i++)
            if (job->node[row] != job->node[matrix->column[i]]) bytes += matrix->bytes[i];
    return bytes;
}

/** Time and bytes between nodes of an iteration of a session, on its own members' places. Everywhere. Collective. */
static int assess(lucid_session_t session, uint64_t recorded, double *time, uint64_t *between)
{
    struct lucid_matrix matrix = {0};
    struct lucid_members *m;
    struct place_job job = {0};
    int status = lucid_gather_matrix(session, 0, LUCID_SUCCESS, LUCID_KINDS_P2P, &matrix, &m);
    if (status != LUCID_SUCCESS) return status;
    recorded = recorded ? recorded : 1;
    lucid_own_begin();
    status = place_job_open(m, &job);
    if (status == LUCID_SUCCESS) status = place_job_measure(m, &job);
    if (status == LUCID_SUCCESS) {
        if (m->rank == 0) {
            *time = place_predict(&job, &matrix, NULL) / (double)recorded;
            *between = between_nodes(&job, &matrix) / recorded;
        }
        if (PMPI_Bcast(time, 1, MPI_DOUBLE, 0, m->own) != MPI_SUCCESS ||
            PMPI_Bcast(between, 1, MPI_UINT64_T, 0, m->own) != MPI_SUCCESS)
            status = LUCID_ERR_MPI;
    }
    place_job_close(&job);
    lucid_own_end();
    lucid_matrix_free(&matrix);
    return status;
}

int lucid_reorder_review(MPI_Comm original, lucid_session_t before, uint64_t recorded_before, MPI_Comm *newcomm,
                         lucid_session_t after, uint64_t recorded_after, int take_back, lucid_review_t *review)
{
    lucid_review_t result = {0};
    if (!newcomm || !review) return LUCID_ERR_ARG;
    int status = assess(before, recorded_before, &result.before, &result.between_before);
    if (status == LUCID_SUCCESS) status = assess(after, recorded_after, &result.after, &result.between_after);
    if (status != LUCID_SUCCESS) return status;
    if (take_back && result.after >= result.before && *newcomm != original) {
        if (PMPI_Comm_free(newcomm) != MPI_SUCCESS) return LUCID_ERR_MPI;
        *newcomm = original;
        result.taken_back = 1;
    }
    *review = result;
    return LUCID_SUCCESS;
}
