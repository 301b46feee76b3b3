/* SPDX-License-Identifier: BSD-3-Clause
 * mpi_m_flush.c: MPI_Monitoring.h, the paper's API, over lucid.h: files.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "mpi_m.h"
#include "outfile.h"
#include "session.h"

static char *file_name(const char *base, const char *what, int rank)
{
    size_t size = strlen(base) + strlen(what) + 32;
    char *name = malloc(size);
    if (name) snprintf(name, size, "%s%s.%d.prof", base, what, rank);
    return name;
}

/** What this process sent, a line per peer, in the grammar of Open MPI's own .prof files. */
static int write_row(const struct lucid_members *m, const uint64_t *counts, const uint64_t *bytes, const char *name)
{
    struct lucid_outfile file;
    if (lucid_outfile_open(&file, name) != 0) return LUCID_ERR_IO;
    for (int i = 0; i < m->size; i++)
        if (counts[i] || bytes[i])
            fprintf(file.stream, "E\t%d\t%d\t%" PRIu64 " bytes\t%" PRIu64 " msgs sent\n", m->rank, i, bytes[i], counts[i]);
    return lucid_outfile_commit(&file) == 0 ? LUCID_SUCCESS : LUCID_ERR_IO;
}

int MPI_M_flush(MPI_M_msid msid, const char *filename, int flags)
{
    struct lucid_members *m;
    uint64_t kinds;
    int status = lucid_session_members(msid, true, &m);
    if (status == LUCID_SUCCESS) status = lucid_m_kinds(flags, &kinds);
    if (status == LUCID_SUCCESS && !filename) status = LUCID_ERR_ARG;
    if (status != LUCID_SUCCESS) return lucid_m_code(status);
    uint64_t *counts = malloc((size_t)m->size * sizeof *counts), *bytes = malloc((size_t)m->size * sizeof *bytes);
    char *name = file_name(filename, "", m->rank);
    status = counts && bytes && name ? lucid_session_get(msid, kinds, counts, bytes) : LUCID_ERR_INTERNAL;
    if (status == LUCID_SUCCESS) status = write_row(m, counts, bytes, name);
    free(counts);
    free(bytes);
    free(name);
    return lucid_m_code(status);
}

static int open_pair(struct lucid_outfile files[2], char *const names[2])
{
    if (!names[0] || !names[1]) return LUCID_ERR_INTERNAL;
    if (lucid_outfile_open(&files[0], names[0]) != 0) return LUCID_ERR_IO;
    if (lucid_outfile_open(&files[1], names[1]) == 0) return LUCID_SUCCESS;
    lucid_outfile_abandon(&files[0]);
    return LUCID_ERR_IO;
}

/** Both matrices, or neither. */
static int write_pair(const struct lucid_matrix *matrix, const char *filename)
{
    struct lucid_outfile files[2];
    int world = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &world);
    char *names[2] = {file_name(filename, "_counts", world), file_name(filename, "_sizes", world)};
    int status = open_pair(files, names);
    for (int i = 0; status == LUCID_SUCCESS && i < 2; i++) {
        lucid_matrix_write_dense(matrix, i, files[i].stream);
        (void)fflush(files[i].stream);
    }
    if (status == LUCID_SUCCESS && ferror(files[1].stream)) { /* a full disk, most likely: keep the first from appearing */
        lucid_outfile_abandon(&files[0]);
        (void)lucid_outfile_commit(&files[1]);
        status = LUCID_ERR_IO;
    } else if (status == LUCID_SUCCESS && lucid_outfile_commit(&files[0]) != 0) {
        lucid_outfile_abandon(&files[1]);
        status = LUCID_ERR_IO;
    } else if (status == LUCID_SUCCESS && lucid_outfile_commit(&files[1]) != 0) {
        (void)remove(names[0]);
        status = LUCID_ERR_IO;
    }
    free(names[0]);
    free(names[1]);
    return status;
}

int MPI_M_rootflush(MPI_M_msid msid, int root, const char *filename, int flags)
{
    struct lucid_members *m;
    struct lucid_matrix matrix = {0};
    uint64_t kinds;
    int status = lucid_session_members(msid, true, &m);
    if (status != LUCID_SUCCESS) return lucid_m_code(status);
    if (root < 0 || root >= m->size) return MPI_M_INVALID_ROOT;
    status = lucid_m_kinds(flags, &kinds);
    if (status == LUCID_SUCCESS && !filename) status = LUCID_ERR_ARG;
    if (status != LUCID_SUCCESS) return lucid_m_code(status);
    status = lucid_gather_matrix(msid, root, LUCID_SUCCESS, kinds, &matrix, &m);
    if (status != LUCID_SUCCESS) return lucid_m_code(status);
    if (root == m->rank) status = write_pair(&matrix, filename);
    lucid_matrix_free(&matrix);
    return lucid_m_code(lucid_follow(m, root, status));
}
