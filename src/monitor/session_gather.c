/* SPDX-License-Identifier: BSD-3-Clause
 * session_gather.c: brings the members' sparse rows together. Traffic and memory follow the entries, not P x P.
 *
 * Cost to one root: up the tree (session_tree.c), and a broadcast of an int; to all, to rank 0 and from there. Every step that can
 * fail on one member is agreed on before the next, so that no member is left waiting.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "session.h"

void lucid_rows_free(struct lucid_rows *rows)
{
    free(rows->cell);
    free(rows->start);
    *rows = (struct lucid_rows){0};
}

int lucid_agree(const struct lucid_members *m, int status)
{
    int worst = status;
    lucid_own_begin();
    if (PMPI_Allreduce(&status, &worst, 1, MPI_INT, MPI_MIN, m->own) != MPI_SUCCESS) worst = LUCID_ERR_MPI;
    lucid_own_end();
    return worst;
}

int lucid_follow(const struct lucid_members *m, int root, int status)
{
    lucid_own_begin();
    if (PMPI_Bcast(&status, 1, MPI_INT, root, m->own) != MPI_SUCCESS) status = LUCID_ERR_MPI;
    lucid_own_end();
    return status;
}

/** Rank 0's rows at all members. Collective. */
static int spread(const struct lucid_members *m, int status, struct lucid_rows *rows)
{
    MPI_Datatype type;
    if (m->rank != 0) rows->start = malloc(((size_t)m->size + 1) * sizeof *rows->start);
    status = lucid_agree(m, status == LUCID_SUCCESS && !rows->start ? LUCID_ERR_INTERNAL : status);
    if (status != LUCID_SUCCESS) return status;
    if (PMPI_Bcast(rows->start, (int)(((size_t)m->size + 1) * sizeof *rows->start), MPI_BYTE, 0, m->own) != MPI_SUCCESS)
        return LUCID_ERR_MPI;
    size_t total = rows->start[m->size];
    if (total > INT_MAX) return LUCID_ERR_TOO_LARGE; /* the same at all members */
    if (m->rank != 0) rows->cell = malloc((total ? total : 1) * sizeof *rows->cell);
    status = lucid_agree(m, rows->cell ? LUCID_SUCCESS : LUCID_ERR_INTERNAL);
    if (status != LUCID_SUCCESS) return status;
    int rc = PMPI_Type_contiguous((int)sizeof *rows->cell, MPI_BYTE, &type);
    if (rc == MPI_SUCCESS) rc = PMPI_Type_commit(&type);
    if (rc != MPI_SUCCESS) return LUCID_ERR_MPI;
    rc = PMPI_Bcast(rows->cell, (int)total, type, 0, m->own);
    PMPI_Type_free(&type);
    return rc == MPI_SUCCESS ? LUCID_SUCCESS : LUCID_ERR_MPI;
}

int lucid_gather_rows(const struct lucid_members *m, int root, int status, const struct lucid_cells *row, struct lucid_rows *rows)
{
    status = lucid_rows_up(m, root == LUCID_TO_ALL ? 0 : root, status, row, rows);
    lucid_own_begin();
    status = root == LUCID_TO_ALL ? spread(m, status, rows) : lucid_follow(m, root, status);
    lucid_own_end();
    if (status != LUCID_SUCCESS) lucid_rows_free(rows);
    return status;
}
