/* SPDX-License-Identifier: BSD-3-Clause
 * session_gather.c: brings the members' sparse rows together. Traffic and memory follow the entries, not P x P.
 *
 * Cost to one root: a gather of P counts, a broadcast of an int, and a gatherv of 24 bytes per entry; beyond FEW members also an
 * allreduce of an int. Every step that can fail on one member is agreed on before the next, so that no member is left waiting.
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

enum { FEW = 1024 }; /* members for which a receiver needs no memory of its own to hear from all of them */

/** What a receiver needs beside the rows. */
struct plan {
    int *count; /* of every member's entries, or its error, which is negative */
    int *displacement;
    int few[2 * FEW];
};

static void plan_free(struct plan *plan)
{
    if (plan->count != plan->few) free(plan->count);
}

static int plan_make(struct plan *plan, int size)
{
    plan->count = size <= FEW ? plan->few : malloc(2 * (size_t)size * sizeof *plan->count);
    plan->displacement = plan->count ? plan->count + size : NULL;
    for (int i = 0; plan->count && i < size; i++) plan->count[i] = LUCID_ERR_MPI; /* until it has been heard of */
    return plan->count ? LUCID_SUCCESS : LUCID_ERR_INTERNAL;
}

/** Lays the rows out behind each other now that their lengths are known. */
static int plan_rows(struct plan *plan, struct lucid_rows *rows, int size)
{
    size_t total = 0;
    for (int i = 0; i < size; i++)
        if (plan->count[i] < 0) return plan->count[i];
    rows->start = malloc(((size_t)size + 1) * sizeof *rows->start);
    if (!rows->start) return LUCID_ERR_INTERNAL;
    for (int i = 0; i < size; i++) {
        rows->start[i] = total;
        if (total > INT_MAX) return LUCID_ERR_TOO_LARGE;
        plan->displacement[i] = (int)total;
        total += (size_t)plan->count[i];
    }
    rows->start[size] = total;
    rows->cell = malloc((total ? total : 1) * sizeof *rows->cell);
    return rows->cell ? LUCID_SUCCESS : LUCID_ERR_INTERNAL;
}

static int exchange_counts(const struct lucid_members *m, int root, int n, struct plan *plan)
{
    int rc = root == LUCID_TO_ALL ? PMPI_Allgather(&n, 1, MPI_INT, plan->count, 1, MPI_INT, m->own)
                                  : PMPI_Gather(&n, 1, MPI_INT, plan->count, 1, MPI_INT, root, m->own);
    return rc == MPI_SUCCESS ? LUCID_SUCCESS : LUCID_ERR_MPI;
}

static int exchange_cells(const struct lucid_members *m, int root, const struct lucid_cells *row, struct plan *plan,
                          struct lucid_rows *rows)
{
    MPI_Datatype type;
    int rc = PMPI_Type_contiguous((int)sizeof(struct lucid_cell), MPI_BYTE, &type);
    if (rc == MPI_SUCCESS) rc = PMPI_Type_commit(&type);
    if (rc != MPI_SUCCESS) return LUCID_ERR_MPI;
    if (root == LUCID_TO_ALL)
        rc = PMPI_Allgatherv(row->cell, (int)row->n, type, rows->cell, plan->count, plan->displacement, type, m->own);
    else
        rc = PMPI_Gatherv(row->cell, (int)row->n, type, rows->cell, plan->count, plan->displacement, type, root, m->own);
    PMPI_Type_free(&type);
    return rc == MPI_SUCCESS ? LUCID_SUCCESS : LUCID_ERR_MPI;
}

int lucid_gather_rows(const struct lucid_members *m, int root, int status, const struct lucid_cells *row,
                      struct lucid_rows *rows)
{
    struct plan plan;
    bool receiver = root == LUCID_TO_ALL || root == m->rank;
    *rows = (struct lucid_rows){0};
    plan.count = NULL;
    lucid_own_begin();
    if (status == LUCID_SUCCESS && row->n > INT_MAX) status = LUCID_ERR_TOO_LARGE;
    int room = receiver ? plan_make(&plan, m->size) : LUCID_SUCCESS;
    if (m->size > FEW) room = status = lucid_agree(m, status == LUCID_SUCCESS ? room : status);
    if (room == LUCID_SUCCESS) {
        int told = exchange_counts(m, root, status == LUCID_SUCCESS ? (int)row->n : status, &plan);
        if (told == LUCID_SUCCESS && receiver) told = plan_rows(&plan, rows, m->size);
        status = root == LUCID_TO_ALL ? lucid_agree(m, told) : lucid_follow(m, root, told);
    }
    if (status == LUCID_SUCCESS) status = exchange_cells(m, root, row, &plan, rows);
    lucid_own_end();
    plan_free(&plan);
    if (status != LUCID_SUCCESS) lucid_rows_free(rows);
    return status;
}
