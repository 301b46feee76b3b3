/* SPDX-License-Identifier: BSD-3-Clause
 * pml_source.h: the parts of the PML source.
 */
#ifndef LUCID_PML_SOURCE_H
#define LUCID_PML_SOURCE_H

#include LUCID_COMPAT_HEADER

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <lucid_types.h>

#include "../core/visibility.h"

/** A message that is not to be booked: Lucid's own, or one whose cause has been booked already. */
#define LUCID_PML_NONE (-1)

/** Whether the program's MPI calls come through the wrappers. */
extern bool lucid_pml_interposed;

/** How many communicators the MPI library itself has. */
extern _Atomic size_t lucid_pml_library_count;

/** The kind of a message with this tag that is being sent on `comm` by the calling thread, or LUCID_PML_NONE. */
int lucid_pml_kind(int tag, const ompi_communicator_t *comm);

/** Remembers that the tags (after, before] of comm's nonblocking collectives belong to `kind`. pinned: for good. */
void lucid_pml_nbc_remember(const ompi_communicator_t *comm, int32_t before, int32_t after, int kind, bool pinned);
/** The kind of a nonblocking collective's tag, or LUCID_PML_NONE if it is not known. */
int lucid_pml_nbc_kind(uint32_t comm_number, int tag);

/** Communicators that appear between the two are the MPI library's own; those that vanish are forgotten. They nest not. */
void lucid_pml_library_begin(void);
void lucid_pml_library_end(void);
/** Whether messages on comm's user tags are the library's. */
bool lucid_pml_is_library(const ompi_communicator_t *comm);

/** Requests made by isend_init for a start through the table (some collectives' linear algorithms). key: LUCID_CELL_KEY. */
void lucid_pml_remember_request(const void *request, uint32_t key, uint64_t bytes);
/** Takes a request out. False if it is not known. */
bool lucid_pml_take_request(const void *request, uint32_t *key, uint64_t *bytes);

/** See source.h. */
void lucid_pml_blind(ompi_communicator_t *comm, char *text, size_t size);

#endif
