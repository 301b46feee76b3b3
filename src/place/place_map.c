/* SPDX-License-Identifier: BSD-3-Clause
 * place_map.c: the mapper numbers processes by leaf, communicators by rank.
 */
#include <stdlib.h>

#include "log.h"
#include "place_job.h"

/** The mapper numbers processes by leaf; the matrix with rows and columns so numbered. */
static int by_leaf(const struct lucid_matrix *matrix, const int *leaf, struct lucid_matrix *result)
{
    int n = matrix->size;
    int *rank = malloc((size_t)n * sizeof *rank);
    if (!rank || lucid_matrix_make(result, n, matrix->entries) != 0) {
        free(rank);
        return -1;
    }
    for (int r = 0; r < n; r++) rank[leaf[r]] = r;
    size_t out = 0;
    for (int row = 0; row < n; row++) {
        for (size_t i = matrix->row_start[rank[row]]; i < matrix->row_start[rank[row] + 1]; i++, out++) {
            result->column[out] = leaf[matrix->column[i]];
            result->count[out] = matrix->count[i];
            result->bytes[out] = matrix->bytes[i];
        }
        result->row_start[row + 1] = out;
    }
    free(rank);
    return 0;
}

int place_map(const struct lucid_matrix *matrix, const lucid_topology_t *tree, const int *leaf,
               const lucid_map_options_t *options, int *k, lucid_map_result_t *result)
{
    char why[200] = "";
    int n = matrix->size, status = LUCID_ERR_INTERNAL;
    struct lucid_matrix renumbered = {0};
    int *by = malloc((size_t)n * 2 * sizeof *by), *rank = by ? by + n : NULL;
    if (by && (!leaf || by_leaf(matrix, leaf, &renumbered) == 0))
        status = lucid_map(leaf ? &renumbered : matrix, tree, options, by, result, why, sizeof why);
    if (status == LUCID_ERR_ARG) lucid_error("%s", why);
    for (int r = 0; status == LUCID_SUCCESS && r < n; r++) rank[leaf ? leaf[r] : r] = r;
    /* process on leaf l takes the role of the process on leaf by[l] */
    for (int r = 0; status == LUCID_SUCCESS && r < n; r++) k[r] = rank[by[leaf ? leaf[r] : r]];
    lucid_matrix_free(&renumbered);
    free(by);
    return status;
}
