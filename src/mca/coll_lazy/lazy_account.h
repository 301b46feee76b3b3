/* SPDX-License-Identifier: BSD-3-Clause
 * lazy_account.h: what every communicator costs, at its creation and at its first blocking operation. Nothing is recorded
 * until somebody wants to know; docs/startup.md describes the figures.
 */
#ifndef LUCID_LAZY_ACCOUNT_H
#define LUCID_LAZY_ACCOUNT_H

#include "lazy.h"

/** comm has a table, one that waits or one that is ready. */
void lucid_account_created(ompi_communicator_t *comm);
/** comm has been made ready for an operation, with modules of its own or shared ones. */
void lucid_account_ready(ompi_communicator_t *comm, int slot, bool shared, int rc);
void lucid_account_freed(ompi_communicator_t *comm);

/** Around an operation on a waiting communicator. */
void lucid_account_use_begin(ompi_communicator_t *comm, struct lazy_use *use);
void lucid_account_use_end(ompi_communicator_t *comm, struct lazy_use *use);

#endif
