/* SPDX-License-Identifier: BSD-3-Clause
 * session_data.c: what this process recorded in a session (lucid.h).
 */
#include <stdlib.h>
#include <string.h>

#include "counters.h"
#include "session.h"

static bool valid_kinds(uint64_t kinds)
{
    return kinds != 0 && (kinds & ~LUCID_KINDS_ALL) == 0;
}

int lucid_row(const struct lucid_session_data *data, const struct lucid_members *members, uint64_t kinds, bool merge,
              bool outside, struct lucid_cells *row)
{
    for (size_t i = 0; i < data->cells.n; i++) {
        struct lucid_cell cell = data->cells.cell[i];
        if (!(kinds >> cell.kind & 1) || (cell.peer == LUCID_PEER_OUTSIDE) != outside) continue;
        int rank = outside ? 0 : lucid_members_rank(members, cell.peer);
        if (rank < 0) continue;
        cell.peer = (uint32_t)rank;
        if (merge) cell.kind = 0;
        if (lucid_cells_append(row, cell) != 0) {
            lucid_cells_clear(row);
            return LUCID_ERR_INTERNAL;
        }
    }
    lucid_cells_normalize(row);
    return LUCID_SUCCESS;
}

/** This process's merged row of a suspended session. */
static int my_row(lucid_session_t session, uint64_t kinds, bool outside, struct lucid_members **members,
                  struct lucid_cells *row)
{
    struct lucid_session_data data;
    int status = lucid_session_members(session, true, members);
    if (status != LUCID_SUCCESS) return status;
    if (!valid_kinds(kinds)) return LUCID_ERR_ARG;
    status = lucid_table_copy(session, &data);
    if (status != LUCID_SUCCESS) return status;
    status = lucid_row(&data, *members, kinds, true, outside, row);
    lucid_session_data_clear(&data);
    return status;
}

int lucid_session_get(lucid_session_t session, uint64_t kinds, uint64_t *counts, uint64_t *bytes)
{
    struct lucid_members *members;
    struct lucid_cells row = {0};
    int status = my_row(session, kinds, false, &members, &row);
    if (status != LUCID_SUCCESS) return status;
    if (counts) memset(counts, 0, (size_t)members->size * sizeof *counts);
    if (bytes) memset(bytes, 0, (size_t)members->size * sizeof *bytes);
    for (size_t i = 0; i < row.n; i++) {
        if (counts) counts[row.cell[i].peer] = row.cell[i].count;
        if (bytes) bytes[row.cell[i].peer] = row.cell[i].bytes;
    }
    lucid_cells_clear(&row);
    return LUCID_SUCCESS;
}

int lucid_session_outside(lucid_session_t session, uint64_t kinds, uint64_t *count, uint64_t *bytes)
{
    struct lucid_members *members;
    struct lucid_cells row = {0};
    int status = my_row(session, kinds, true, &members, &row);
    if (status != LUCID_SUCCESS) return status;
    if (count) *count = row.n ? row.cell[0].count : 0;
    if (bytes) *bytes = row.n ? row.cell[0].bytes : 0;
    lucid_cells_clear(&row);
    return LUCID_SUCCESS;
}

int lucid_session_histogram(lucid_session_t session, uint64_t kinds, uint64_t *bins)
{
    struct lucid_session_data data;
    int status = lucid_ready();
    if (status == LUCID_SUCCESS) status = lucid_table_copy(session, &data);
    if (status != LUCID_SUCCESS) return status;
    if (!bins || !valid_kinds(kinds)) {
        lucid_session_data_clear(&data);
        return LUCID_ERR_ARG;
    }
    memset(bins, 0, LUCID_HISTOGRAM_BINS * sizeof *bins);
    for (size_t i = 0; i < data.sizes.n; i++)
        if (kinds >> data.sizes.cell[i].kind & 1) bins[data.sizes.cell[i].peer] += data.sizes.cell[i].count;
    lucid_session_data_clear(&data);
    return LUCID_SUCCESS;
}

int lucid_gather_matrix(lucid_session_t session, int root, int mine, uint64_t kinds, struct lucid_matrix *matrix,
                        struct lucid_members **members)
{
    struct lucid_cells row = {0};
    struct lucid_rows rows = {0};
    int status = lucid_session_members(session, true, members);
    if (status != LUCID_SUCCESS) return status; /* the same at all members: nobody waits */
    struct lucid_members *m = *members;
    if (root != LUCID_TO_ALL && (root < 0 || root >= m->size)) return LUCID_ERR_ROOT;
    status = mine != LUCID_SUCCESS ? mine : my_row(session, kinds, false, members, &row);
    if (status == LUCID_SUCCESS && (root == LUCID_TO_ALL || root == m->rank) && !matrix) status = LUCID_ERR_ARG;
    status = root == LUCID_TO_ALL ? lucid_gather_rows(m, root, status, &row, &rows) : lucid_rows_up(m, root, status, &row, &rows);
    lucid_cells_clear(&row);
    if (status == LUCID_SUCCESS && rows.start && lucid_matrix_from_rows(matrix, m->size, rows.cell, rows.start, 1) != 0)
        status = LUCID_ERR_INTERNAL;
    lucid_rows_free(&rows);
    return root == LUCID_TO_ALL ? lucid_agree(m, status) : lucid_follow(m, root, status);
}

int lucid_session_gather(lucid_session_t session, int root, uint64_t kinds, lucid_matrix_t *matrix)
{
    struct lucid_members *members;
    struct lucid_matrix gathered = {0};
    int status = lucid_session_members(session, true, &members);
    if (status != LUCID_SUCCESS) return status;
    if (root < 0 || root >= members->size) return LUCID_ERR_ROOT;
    status = lucid_gather_matrix(session, root, LUCID_SUCCESS, kinds, members->rank == root && !matrix ? NULL : &gathered, &members);
    if (status == LUCID_SUCCESS && members->rank == root) *matrix = gathered;
    return status;
}

double lucid_session_seconds(lucid_session_t session)
{
    struct lucid_session_data data;
    if (lucid_table_copy(session, &data) != LUCID_SUCCESS) return 0;
    double seconds = data.seconds;
    lucid_session_data_clear(&data);
    return seconds;
}
