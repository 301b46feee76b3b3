/* SPDX-License-Identifier: BSD-3-Clause
 * reduce_fortran_shim.c: Fortran's entry points as MPICH has them: they call MPI_ functions. For any MPI library,
 * without a Fortran compiler.
 */
#include "reduce_fortran_shim.h"

void mpi_allreduce_(void *in, void *out, MPI_Fint *n, MPI_Fint *type, MPI_Fint *op, MPI_Fint *comm, MPI_Fint *ierror)
{
    *ierror = MPI_Allreduce(in, out, *n, MPI_Type_f2c(*type), MPI_Op_f2c(*op), MPI_Comm_f2c(*comm));
}

void mpi_iallreduce_(void *in, void *out, MPI_Fint *n, MPI_Fint *type, MPI_Fint *op, MPI_Fint *comm, MPI_Fint *request,
                     MPI_Fint *ierror)
{
    MPI_Request made;
    *ierror = MPI_Iallreduce(in, out, *n, MPI_Type_f2c(*type), MPI_Op_f2c(*op), MPI_Comm_f2c(*comm), &made);
    *request = MPI_Request_c2f(made);
}

/* ierror is optional here, and may be NULL. */
void mpi_allreduce_f08ts_(struct shim_descriptor *in, struct shim_descriptor *out, MPI_Fint *n, MPI_Fint *type, MPI_Fint *op,
                          MPI_Fint *comm, MPI_Fint *ierror)
{
    const int rc = MPI_Allreduce(in->address, out->address, *n, MPI_Type_f2c(*type), MPI_Op_f2c(*op), MPI_Comm_f2c(*comm));
    if (ierror) *ierror = rc;
}

void mpi_iallreduce_f08ts_(struct shim_descriptor *in, struct shim_descriptor *out, MPI_Fint *n, MPI_Fint *type, MPI_Fint *op,
                           MPI_Fint *comm, MPI_Fint *request, MPI_Fint *ierror)
{
    MPI_Request made;
    const int rc = MPI_Iallreduce(in->address, out->address, *n, MPI_Type_f2c(*type), MPI_Op_f2c(*op), MPI_Comm_f2c(*comm), &made);
    *request = MPI_Request_c2f(made);
    if (ierror) *ierror = rc;
}

#if defined(TEST_PERSISTENT)
void SHIM_INIT(void *in, void *out, MPI_Fint *n, MPI_Fint *type, MPI_Fint *op, MPI_Fint *comm, MPI_Fint *info, MPI_Fint *request,
               MPI_Fint *ierror)
{
    MPI_Request made;
    *ierror = SHIM_C_INIT(in, out, *n, MPI_Type_f2c(*type), MPI_Op_f2c(*op), MPI_Comm_f2c(*comm), MPI_Info_f2c(*info), &made);
    *request = MPI_Request_c2f(made);
}
#endif

void mpi_start_(MPI_Fint *request, MPI_Fint *ierror)
{
    MPI_Request started = MPI_Request_f2c(*request);
    *ierror = MPI_Start(&started);
    *request = MPI_Request_c2f(started);
}

void mpi_request_free_(MPI_Fint *request, MPI_Fint *ierror)
{
    MPI_Request freed = MPI_Request_f2c(*request);
    *ierror = MPI_Request_free(&freed);
    *request = MPI_Request_c2f(freed);
}
