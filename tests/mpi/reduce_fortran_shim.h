/* SPDX-License-Identifier: BSD-3-Clause
 * reduce_fortran_shim.h: see reduce_fortran_shim.c.
 */
#ifndef REDUCE_FORTRAN_SHIM_H
#define REDUCE_FORTRAN_SHIM_H

#include <stddef.h>

#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

/* MPI_Allreduce_init in C, and in Fortran by the name that needs no small letters. */
#if defined(TEST_PERSISTENT)
#define SHIM_GLUE(a, b) a##b
#define SHIM_NAMED(prefix, name) SHIM_GLUE(prefix, name)
#define SHIM_C_INIT SHIM_NAMED(TEST_PERSISTENT, Allreduce_init)
#define SHIM_INIT SHIM_NAMED(TEST_PERSISTENT, ALLREDUCE_INIT)
#endif

#pragma GCC visibility push(default)
void mpi_allreduce_(void *in, void *out, MPI_Fint *n, MPI_Fint *type, MPI_Fint *op, MPI_Fint *comm, MPI_Fint *ierror);
void mpi_iallreduce_(void *in, void *out, MPI_Fint *n, MPI_Fint *type, MPI_Fint *op, MPI_Fint *comm, MPI_Fint *request,
                     MPI_Fint *ierror);
/* As mpi_f08 has it: a descriptor begins with the address. Sections are not made here. */
struct shim_descriptor {
    void *address;
    size_t rest[8];
};
void mpi_allreduce_f08ts_(struct shim_descriptor *in, struct shim_descriptor *out, MPI_Fint *n, MPI_Fint *type, MPI_Fint *op,
                          MPI_Fint *comm, MPI_Fint *ierror);
void mpi_iallreduce_f08ts_(struct shim_descriptor *in, struct shim_descriptor *out, MPI_Fint *n, MPI_Fint *type, MPI_Fint *op,
                           MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror);
#if defined(TEST_PERSISTENT)
void SHIM_INIT(void *in, void *out, MPI_Fint *n, MPI_Fint *type, MPI_Fint *op, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request,
               MPI_Fint *ierror);
#endif
void mpi_start_(MPI_Fint *request, MPI_Fint *ierror);
void mpi_request_free_(MPI_Fint *request, MPI_Fint *ierror);
#pragma GCC visibility pop

#endif
