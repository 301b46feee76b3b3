/* SPDX-License-Identifier: BSD-3-Clause
 * mca_request.h: requests of nonblocking operations that Lucid's components perform, of the kind that Open MPI's MPI layer expects
 * from libnbc: it keeps the operator and the types there. Who completes one calls ompi_request_complete.
 */
#ifndef LUCID_MCA_REQUEST_H
#define LUCID_MCA_REQUEST_H

#include LUCID_COMPAT_HEADER

/** To be derived from; freed by the MPI layer when it is complete, never cancelled. */
typedef ompi_coll_base_nbc_request_t lucid_request_t;
OBJ_CLASS_DECLARATION(lucid_request_t);

/** An operation on comm begins. */
void lucid_request_begin(lucid_request_t *request, ompi_communicator_t *comm);

#endif
