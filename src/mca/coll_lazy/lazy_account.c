/* SPDX-License-Identifier: BSD-3-Clause
 * lazy_account.c: see lazy_account.h.
 */
#include "lazy_account.h"

void lucid_account_created(ompi_communicator_t *comm) {}
void lucid_account_ready(ompi_communicator_t *comm, int slot, bool shared, int rc) {}
void lucid_account_freed(ompi_communicator_t *comm) {}
void lucid_account_use_begin(ompi_communicator_t *comm, struct lazy_use *use) {}
void lucid_account_use_end(ompi_communicator_t *comm, struct lazy_use *use) {}
