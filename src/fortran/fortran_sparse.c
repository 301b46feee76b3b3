/* SPDX-License-Identifier: BSD-3-Clause
 * fortran_sparse.c: what module lucid_sparse calls. Arguments come by reference; what the program left out is NULL.
 */
#include <stddef.h>

#include <lucid_sparse.h>

LUCID_PUBLIC void lucid_f_op_set_elementwise(const MPI_Fint *op, MPI_Fint *ierror);

void lucid_f_op_set_elementwise(const MPI_Fint *op, MPI_Fint *ierror)
{
    int code = lucid_op_set_elementwise(PMPI_Op_f2c(*op));
    if (ierror != NULL) *ierror = code;
}
