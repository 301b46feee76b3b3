/* SPDX-License-Identifier: BSD-3-Clause
 * lazy_account.h: what every communicator costs, at its creation and at its first blocking operation (LUCID_STARTUP=1 under
 * liblucid, which writes the report). With LUCID_LAZY=off the books are kept of Open MPI's own way: modules are selected at
 * the creation, but put aside until the first operation, so that it can be told from the others.
 */
#ifndef LUCID_LAZY_ACCOUNT_H
#define LUCID_LAZY_ACCOUNT_H

#include "lazy.h"

/** Whether books are to be kept; from the component's start. */
bool lucid_account_wanted(void);
/** Begins to keep them; at MPI_COMM_WORLD's creation. */
void lucid_account_open(void);
void lucid_account_close(void);

/** comm has a table. aside: NULL, or the one that it gets at its first operation. False if there is no record of it; nothing
 *  must be put aside then. */
bool lucid_account_created(ompi_communicator_t *comm, mca_coll_base_comm_coll_t *aside);
/** The table that was put aside for comm, or NULL. It is the caller's. */
mca_coll_base_comm_coll_t *lucid_account_aside(ompi_communicator_t *comm);
/** comm has been made ready for an operation, with modules of its own or shared ones. */
void lucid_account_ready(ompi_communicator_t *comm, int slot, bool shared);
void lucid_account_freed(ompi_communicator_t *comm);

/** Around an operation on a waiting communicator. */
void lucid_account_use_begin(ompi_communicator_t *comm, struct lazy_use *use);
void lucid_account_use_end(ompi_communicator_t *comm, struct lazy_use *use);

#endif
