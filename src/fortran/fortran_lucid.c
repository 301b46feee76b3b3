/* SPDX-License-Identifier: BSD-3-Clause
 * fortran_lucid.c: what module lucid calls. Arguments come by reference; what the program left out is NULL.
 */
#include <string.h>

#include <lucid.h>

LUCID_PUBLIC void lucid_f_init(MPI_Fint *ierror);
LUCID_PUBLIC void lucid_f_finalize(MPI_Fint *ierror);
LUCID_PUBLIC void lucid_f_session_start(const MPI_Fint *comm, const char *name, MPI_Fint *session, MPI_Fint *ierror);
LUCID_PUBLIC void lucid_f_session_suspend(const MPI_Fint *session, MPI_Fint *ierror);
LUCID_PUBLIC void lucid_f_session_continue(const MPI_Fint *session, MPI_Fint *ierror);
LUCID_PUBLIC void lucid_f_session_reset(const MPI_Fint *session, MPI_Fint *ierror);
LUCID_PUBLIC void lucid_f_session_free(const MPI_Fint *session, MPI_Fint *ierror);
LUCID_PUBLIC void lucid_f_session_find(const char *name, MPI_Fint *session, MPI_Fint *ierror);
LUCID_PUBLIC void lucid_f_session_size(const MPI_Fint *session, MPI_Fint *size, MPI_Fint *ierror);
LUCID_PUBLIC void lucid_f_session_get(const MPI_Fint *session, const int64_t *kinds, int64_t *counts, int64_t *bytes,
                                      MPI_Fint *ierror);
LUCID_PUBLIC void lucid_f_session_outside(const MPI_Fint *session, const int64_t *kinds, int64_t *count, int64_t *bytes,
                                          MPI_Fint *ierror);
LUCID_PUBLIC void lucid_f_session_histogram(const MPI_Fint *session, const int64_t *kinds, int64_t *bins,
                                            MPI_Fint *ierror);
LUCID_PUBLIC void lucid_f_session_gather(const MPI_Fint *session, const MPI_Fint *root, const int64_t *kinds,
                                         MPI_Fint *filled, lucid_matrix_t *matrix, MPI_Fint *ierror);
LUCID_PUBLIC void lucid_f_session_write(const MPI_Fint *session, const char *path, MPI_Fint *ierror);
LUCID_PUBLIC void lucid_f_kind_name(int kind, int length, char *name);

static void give(MPI_Fint *ierror, int code)
{
    if (ierror != NULL) *ierror = code;
}

void lucid_f_init(MPI_Fint *ierror)
{
    give(ierror, lucid_init());
}

void lucid_f_finalize(MPI_Fint *ierror)
{
    give(ierror, lucid_finalize());
}

void lucid_f_session_start(const MPI_Fint *comm, const char *name, MPI_Fint *session, MPI_Fint *ierror)
{
    lucid_session_t id;
    int code = lucid_session_start(MPI_Comm_f2c(*comm), name[0] != '\0' ? name : NULL, &id);
    if (code == LUCID_SUCCESS) *session = id;
    give(ierror, code);
}

void lucid_f_session_suspend(const MPI_Fint *session, MPI_Fint *ierror)
{
    give(ierror, lucid_session_suspend(*session));
}

void lucid_f_session_continue(const MPI_Fint *session, MPI_Fint *ierror)
{
    give(ierror, lucid_session_continue(*session));
}

void lucid_f_session_reset(const MPI_Fint *session, MPI_Fint *ierror)
{
    give(ierror, lucid_session_reset(*session));
}

void lucid_f_session_free(const MPI_Fint *session, MPI_Fint *ierror)
{
    give(ierror, lucid_session_free(*session));
}

void lucid_f_session_find(const char *name, MPI_Fint *session, MPI_Fint *ierror)
{
    lucid_session_t id;
    int code = lucid_session_find(name, &id);
    if (code == LUCID_SUCCESS) *session = id;
    give(ierror, code);
}

void lucid_f_session_size(const MPI_Fint *session, MPI_Fint *size, MPI_Fint *ierror)
{
    int processes;
    int code = lucid_session_size(*session, &processes);
    if (code == LUCID_SUCCESS) *size = processes;
    give(ierror, code);
}

void lucid_f_session_get(const MPI_Fint *session, const int64_t *kinds, int64_t *counts, int64_t *bytes,
                         MPI_Fint *ierror)
{
    give(ierror, lucid_session_get(*session, (uint64_t)*kinds, (uint64_t *)counts, (uint64_t *)bytes));
}

void lucid_f_session_outside(const MPI_Fint *session, const int64_t *kinds, int64_t *count, int64_t *bytes,
                             MPI_Fint *ierror)
{
    give(ierror, lucid_session_outside(*session, (uint64_t)*kinds, (uint64_t *)count, (uint64_t *)bytes));
}

void lucid_f_session_histogram(const MPI_Fint *session, const int64_t *kinds, int64_t *bins, MPI_Fint *ierror)
{
    give(ierror, lucid_session_histogram(*session, (uint64_t)*kinds, (uint64_t *)bins));
}

/* filled: whether `matrix` holds arrays now, which is so at the root only. */
void lucid_f_session_gather(const MPI_Fint *session, const MPI_Fint *root, const int64_t *kinds, MPI_Fint *filled,
                            lucid_matrix_t *matrix, MPI_Fint *ierror)
{
    memset(matrix, 0, sizeof(*matrix));
    int code = lucid_session_gather(*session, *root, (uint64_t)*kinds, matrix);
    *filled = code == LUCID_SUCCESS && matrix->row_start != NULL;
    give(ierror, code);
}

void lucid_f_session_write(const MPI_Fint *session, const char *path, MPI_Fint *ierror)
{
    give(ierror, lucid_session_write(*session, path));
}

/* Padded with blanks, as Fortran wants it. */
void lucid_f_kind_name(int kind, int length, char *name)
{
    const char *text = lucid_kind_name(kind);
    size_t n = text != NULL ? strlen(text) : 0;
    memset(name, ' ', (size_t)length);
    if (n > 0) memcpy(name, text, n < (size_t)length ? n : (size_t)length);
}
