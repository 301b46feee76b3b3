/* SPDX-License-Identifier: BSD-3-Clause
 * fortran_mpi_m.c: what module MPI_Monitoring calls. Every argument comes by reference; an ierror that the program left
 * out is NULL.
 */
#include <MPI_Monitoring.h>

/* Recognised by their address. */
LUCID_PUBLIC long lucid_f_data_ignore[1];
LUCID_PUBLIC MPI_Fint lucid_f_int_ignore;

LUCID_PUBLIC void lucid_f_mpi_m_init(MPI_Fint *ierror);
LUCID_PUBLIC void lucid_f_mpi_m_finalize(MPI_Fint *ierror);
LUCID_PUBLIC void lucid_f_mpi_m_start(const MPI_Fint *comm, MPI_Fint *msid, MPI_Fint *ierror);
LUCID_PUBLIC void lucid_f_mpi_m_start_f08(const MPI_Fint *comm, MPI_Fint *msid, MPI_Fint *ierror);
LUCID_PUBLIC void lucid_f_mpi_m_suspend(const MPI_Fint *msid, MPI_Fint *ierror);
LUCID_PUBLIC void lucid_f_mpi_m_continue(const MPI_Fint *msid, MPI_Fint *ierror);
LUCID_PUBLIC void lucid_f_mpi_m_reset(const MPI_Fint *msid, MPI_Fint *ierror);
LUCID_PUBLIC void lucid_f_mpi_m_free(const MPI_Fint *msid, MPI_Fint *ierror);
LUCID_PUBLIC void lucid_f_mpi_m_get_info(const MPI_Fint *msid, MPI_Fint *provided, MPI_Fint *array_size,
                                         MPI_Fint *ierror);
LUCID_PUBLIC void lucid_f_mpi_m_get_data(const MPI_Fint *msid, long *counts, long *sizes, const MPI_Fint *flags,
                                         MPI_Fint *ierror);
LUCID_PUBLIC void lucid_f_mpi_m_allgather_data(const MPI_Fint *msid, long *counts, long *sizes, const MPI_Fint *flags,
                                               MPI_Fint *ierror);
LUCID_PUBLIC void lucid_f_mpi_m_rootgather_data(const MPI_Fint *msid, const MPI_Fint *root, long *counts, long *sizes,
                                                const MPI_Fint *flags, MPI_Fint *ierror);
LUCID_PUBLIC void lucid_f_mpi_m_flush(const MPI_Fint *msid, const char *filename, const MPI_Fint *flags,
                                      MPI_Fint *ierror);
LUCID_PUBLIC void lucid_f_mpi_m_rootflush(const MPI_Fint *msid, const MPI_Fint *root, const char *filename,
                                          const MPI_Fint *flags, MPI_Fint *ierror);

static void give(MPI_Fint *ierror, int code)
{
    if (ierror != NULL) *ierror = code;
}

static unsigned long *data(long *array)
{
    return array == lucid_f_data_ignore ? MPI_M_DATA_IGNORE : (unsigned long *)array;
}

void lucid_f_mpi_m_init(MPI_Fint *ierror)
{
    give(ierror, MPI_M_init());
}

void lucid_f_mpi_m_finalize(MPI_Fint *ierror)
{
    give(ierror, MPI_M_finalize());
}

void lucid_f_mpi_m_start(const MPI_Fint *comm, MPI_Fint *msid, MPI_Fint *ierror)
{
    MPI_M_msid id;
    int code = MPI_M_start(MPI_Comm_f2c(*comm), &id);
    if (code == MPI_SUCCESS) *msid = id;
    give(ierror, code);
}

/* type(MPI_Comm) is a structure of one integer. A name of its own, because the Fortran interfaces differ. */
void lucid_f_mpi_m_start_f08(const MPI_Fint *comm, MPI_Fint *msid, MPI_Fint *ierror)
{
    lucid_f_mpi_m_start(comm, msid, ierror);
}

void lucid_f_mpi_m_suspend(const MPI_Fint *msid, MPI_Fint *ierror)
{
    give(ierror, MPI_M_suspend(*msid));
}

void lucid_f_mpi_m_continue(const MPI_Fint *msid, MPI_Fint *ierror)
{
    give(ierror, MPI_M_continue(*msid));
}

void lucid_f_mpi_m_reset(const MPI_Fint *msid, MPI_Fint *ierror)
{
    give(ierror, MPI_M_reset(*msid));
}

void lucid_f_mpi_m_free(const MPI_Fint *msid, MPI_Fint *ierror)
{
    give(ierror, MPI_M_free(*msid));
}

void lucid_f_mpi_m_get_info(const MPI_Fint *msid, MPI_Fint *provided, MPI_Fint *array_size, MPI_Fint *ierror)
{
    int level, size;
    int code = MPI_M_get_info(*msid, &level, &size);
    if (code == MPI_SUCCESS && provided != &lucid_f_int_ignore) *provided = level;
    if (code == MPI_SUCCESS && array_size != &lucid_f_int_ignore) *array_size = size;
    give(ierror, code);
}

void lucid_f_mpi_m_get_data(const MPI_Fint *msid, long *counts, long *sizes, const MPI_Fint *flags, MPI_Fint *ierror)
{
    give(ierror, MPI_M_get_data(*msid, data(counts), data(sizes), *flags));
}

void lucid_f_mpi_m_allgather_data(const MPI_Fint *msid, long *counts, long *sizes, const MPI_Fint *flags,
                                  MPI_Fint *ierror)
{
    give(ierror, MPI_M_allgather_data(*msid, data(counts), data(sizes), *flags));
}

void lucid_f_mpi_m_rootgather_data(const MPI_Fint *msid, const MPI_Fint *root, long *counts, long *sizes,
                                   const MPI_Fint *flags, MPI_Fint *ierror)
{
    give(ierror, MPI_M_rootgather_data(*msid, *root, data(counts), data(sizes), *flags));
}

void lucid_f_mpi_m_flush(const MPI_Fint *msid, const char *filename, const MPI_Fint *flags, MPI_Fint *ierror)
{
    give(ierror, MPI_M_flush(*msid, filename, *flags));
}

void lucid_f_mpi_m_rootflush(const MPI_Fint *msid, const MPI_Fint *root, const char *filename, const MPI_Fint *flags,
                             MPI_Fint *ierror)
{
    give(ierror, MPI_M_rootflush(*msid, *root, filename, *flags));
}
