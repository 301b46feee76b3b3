/* SPDX-License-Identifier: BSD-3-Clause
 * session_write.c: a session as a file, by extension (lucid.h).
 */
#include <string.h>

#include "log.h"
#include "outfile.h"
#include "session.h"

static int write_matrix(lucid_session_t session, const char *path, void (*write)(const struct lucid_matrix *, FILE *))
{
    struct lucid_members *m;
    struct lucid_matrix matrix = {0};
    struct lucid_outfile file;
    int status = lucid_gather_matrix(session, 0, LUCID_SUCCESS, LUCID_KINDS_ALL, &matrix, &m);
    if (status != LUCID_SUCCESS) return status;
    if (m->rank == 0) {
        status = lucid_outfile_open(&file, path) == 0 ? LUCID_SUCCESS : LUCID_ERR_IO;
        if (status == LUCID_SUCCESS) {
            write(&matrix, file.stream);
            if (lucid_outfile_commit(&file) != 0) status = LUCID_ERR_IO;
        }
    }
    lucid_matrix_free(&matrix);
    return lucid_follow(m, 0, status);
}

static int write_json(lucid_session_t session, const char *path)
{
    struct lucid_members *m;
    struct lucid_session_data data = {0};
    int status = lucid_session_members(session, true, &m);
    if (status != LUCID_SUCCESS) return status;
    status = lucid_agree(m, lucid_table_copy(session, &data));
    if (status == LUCID_SUCCESS) status = lucid_write_json(m, &data, path);
    lucid_session_data_clear(&data);
    return status;
}

int lucid_session_write(lucid_session_t session, const char *path)
{
    struct lucid_members *m;
    int status = lucid_session_members(session, true, &m);
    if (status != LUCID_SUCCESS) return status;
    const char *dot = path ? strrchr(path, '.') : NULL;
    if (dot && strcmp(dot, ".json") == 0) return write_json(session, path);
    if (dot && strcmp(dot, ".mtx") == 0) return write_matrix(session, path, lucid_matrix_write_mtx);
    if (dot && strcmp(dot, ".prof") == 0) return write_matrix(session, path, lucid_matrix_write_prof);
    if (m->rank == 0) lucid_error("cannot write %s: the name must end in .json, .mtx or .prof", path ? path : "(null)");
    return LUCID_ERR_ARG;
}
