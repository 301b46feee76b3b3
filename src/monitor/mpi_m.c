/* SPDX-License-Identifier: BSD-3-Clause
 * mpi_m.c: MPI_Monitoring.h, the paper's API, over lucid.h: states and data.
 */
#include "mpi_m.h"

#include <stdlib.h>

#include "params.h"
#include "session.h"

int lucid_m_code(int status)
{
    return status < LUCID_ERR_ROOT ? MPI_M_INTERNAL_FAIL : status;
}

int lucid_m_kinds(int flags, uint64_t *kinds)
{
    if (flags == 0 || (flags & ~MPI_M_ALL_COMM) != 0) return MPI_M_INTERNAL_FAIL;
    *kinds = (flags & MPI_M_P2P_ONLY ? LUCID_KINDS_P2P : 0) | (flags & MPI_M_COLL_ONLY ? LUCID_KINDS_COLL : 0) |
             (flags & MPI_M_OSC_ONLY ? LUCID_KINDS_OSC : 0);
    return MPI_SUCCESS;
}

int MPI_M_init(void)
{
    return lucid_m_code(lucid_init());
}

int MPI_M_finalize(void)
{
    return lucid_m_code(lucid_finalize());
}

int MPI_M_start(MPI_Comm comm, MPI_M_msid *msid)
{
    return lucid_m_code(lucid_session_start(comm, NULL, msid));
}

int MPI_M_suspend(MPI_M_msid msid)
{
    return lucid_m_code(lucid_session_suspend(msid));
}

int MPI_M_continue(MPI_M_msid msid)
{
    return lucid_m_code(lucid_session_continue(msid));
}

int MPI_M_reset(MPI_M_msid msid)
{
    return lucid_m_code(lucid_session_reset(msid));
}

int MPI_M_free(MPI_M_msid msid)
{
    return lucid_m_code(lucid_session_free(msid));
}

int MPI_M_get_info(MPI_M_msid msid, int *provided, int *array_size)
{
    int size, level = MPI_THREAD_SINGLE;
    int status = lucid_session_size(msid, &size);
    if (status != LUCID_SUCCESS) return lucid_m_code(status);
    if (PMPI_Query_thread(&level) != MPI_SUCCESS) return MPI_M_MPIT_FAIL;
    if (provided != MPI_M_INT_IGNORE) *provided = level;
    if (array_size != MPI_M_INT_IGNORE) *array_size = size;
    return MPI_SUCCESS;
}

int MPI_M_get_data(MPI_M_msid msid, unsigned long *msg_counts, unsigned long *msg_sizes, int flags)
{
    struct lucid_members *m;
    uint64_t kinds;
    int status = lucid_session_members(msid, true, &m);
    if (status == LUCID_SUCCESS) status = lucid_m_kinds(flags, &kinds);
    if (status != LUCID_SUCCESS) return lucid_m_code(status);
    uint64_t *counts = malloc((size_t)m->size * sizeof *counts), *bytes = malloc((size_t)m->size * sizeof *bytes);
    status = counts && bytes ? lucid_session_get(msid, kinds, counts, bytes) : LUCID_ERR_INTERNAL;
    for (int i = 0; status == LUCID_SUCCESS && i < m->size; i++) {
        if (msg_counts != MPI_M_DATA_IGNORE) msg_counts[i] = (unsigned long)counts[i];
        if (msg_sizes != MPI_M_DATA_IGNORE) msg_sizes[i] = (unsigned long)bytes[i];
    }
    free(counts);
    free(bytes);
    return lucid_m_code(status);
}

/** Gathers to root, or to all, and fills the dense matrices there. */
static int gather_dense(MPI_M_msid msid, int root, unsigned long *counts, unsigned long *sizes, int flags)
{
    struct lucid_members *m;
    struct lucid_matrix matrix = {0};
    uint64_t kinds;
    int status = lucid_session_members(msid, true, &m);
    if (status != LUCID_SUCCESS) return lucid_m_code(status);
    if (root != LUCID_TO_ALL && (root < 0 || root >= m->size)) return MPI_M_INVALID_ROOT;
    status = lucid_m_kinds(flags, &kinds);
    if (status != MPI_SUCCESS) return status;
    if (lucid_dense_fits(m->size, sizeof(unsigned long), lucid_params()->dense_limit) != 0) return MPI_M_INTERNAL_FAIL;
    status = lucid_gather_matrix(msid, root, LUCID_SUCCESS, kinds, &matrix, &m);
    if (status != LUCID_SUCCESS) return lucid_m_code(status);
    if (root == LUCID_TO_ALL || root == m->rank) lucid_matrix_to_dense(&matrix, counts, sizes);
    lucid_matrix_free(&matrix);
    return MPI_SUCCESS;
}

int MPI_M_allgather_data(MPI_M_msid msid, unsigned long *matrix_counts, unsigned long *matrix_sizes, int flags)
{
    return gather_dense(msid, LUCID_TO_ALL, matrix_counts, matrix_sizes, flags);
}

int MPI_M_rootgather_data(MPI_M_msid msid, int root, unsigned long *matrix_counts, unsigned long *matrix_sizes, int flags)
{
    return gather_dense(msid, root == LUCID_TO_ALL ? -2 : root, matrix_counts, matrix_sizes, flags);
}
