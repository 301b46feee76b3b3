/* SPDX-License-Identifier: BSD-3-Clause
 * Some distributions' Open MPI headers include this one, but do not ship it. Fortran's INTEGER is a C int in those builds.
 */
#ifndef LUCID_SHIM_FINT_2_INT_H
#define LUCID_SHIM_FINT_2_INT_H

#define OMPI_INT_2_FINT(a) (a)
#define OMPI_FINT_2_INT(a) (a)

#endif
