/* SPDX-License-Identifier: BSD-3-Clause
 * fortran.h: what the generated Fortran wrappers need.
 */
#ifndef LUCID_PMPI_FORTRAN_H
#define LUCID_PMPI_FORTRAN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <mpi.h>

#include "../core/visibility.h"

struct lucid_starts;

/** The definition of `name` that would be called if Lucid were not there. Found once, kept in *slot; never NULL. */
void *lucid_fortran_find(_Atomic(void *) *slot, const char *name);

#define LUCID_FORTRAN_NEXT(name)                                                         \
    ({                                                                                   \
        static _Atomic(void *) lucid_slot;                                               \
        void *lucid_found = atomic_load_explicit(&lucid_slot, memory_order_acquire);     \
        LUCID_LIKELY(lucid_found != NULL) ? lucid_found : lucid_fortran_find(&lucid_slot, name); \
    })

/** Whether a buffer argument is Fortran's MPI_IN_PLACE. `descriptor`: it comes as an array descriptor. */
bool lucid_fortran_in_place(const void *buffer, bool descriptor);

/** An argument of edge weights, with C's MPI_UNWEIGHTED and MPI_WEIGHTS_EMPTY where it is Fortran's. */
const int *lucid_fortran_weights(const void *weights);

void lucid_fortran_starts_begin(struct lucid_starts *starts, int n, const MPI_Fint *requests);
void lucid_fortran_starts_end(struct lucid_starts *starts, bool entered, int rc, const MPI_Fint *requests);

#endif
