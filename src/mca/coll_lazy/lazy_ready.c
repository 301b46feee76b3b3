/* SPDX-License-Identifier: BSD-3-Clause
 * lazy_ready.c: the first collective operation of a communicator.
 *
 * One lock for the process, held only with MPI_THREAD_MULTIPLE, and then nothing below it communicates: with threads no
 * component that may do so is there (lazy_component.c). Without threads the progress engine may come back to a communicator that
 * is being made ready: it finds the nonblocking operations, which are there before anything else.
 */
#include <pthread.h>
#include <stdlib.h>

#include "../../core/log.h"
#include "lazy.h"
#include "lazy_account.h"
#include "lazy_counters.h"

static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;

/** Only what all processes of the group do in the same order may decide on sharing: blocking operations of one thread. A
 *  revoked communicator gets its modules without a message. */
static bool may_share(const ompi_communicator_t *comm, mca_coll_base_comm_coll_t *waiting, int slot)
{
    return lucid_lazy.level == LAZY_SHARE && waiting == &lucid_lazy_partial && !lazy_threads() && !lucid_lazy.foreign &&
           lucid_lazy_slots[slot].class == LAZY_BLOCKING && !lucid_ompi_ft_enabled();
}

static int fail(ompi_communicator_t *comm, mca_coll_base_comm_coll_t *waiting, int slot, int rc)
{
    lucid_error("no module can be selected for %s: %s is not possible there", comm->c_name, lucid_lazy_slots[slot].name);
    comm->c_coll = waiting;
    return rc;
}

static int select_modules(ompi_communicator_t *comm, mca_coll_base_comm_coll_t *waiting, int slot, bool share)
{
    bool blocking = lucid_lazy_slots[slot].class == LAZY_BLOCKING;
    struct lazy_choice choice = {.local_only = !blocking || lucid_ompi_comm_is_revoked(comm)};
    if (waiting == &lucid_lazy_partial) choice.nonblocking = lucid_lazy_nonblocking();
    mca_coll_base_comm_coll_t *table = lucid_lazy_table_new();
    if (table == NULL) return fail(comm, waiting, slot, OMPI_ERR_OUT_OF_RESOURCE);
    comm->c_coll = table;
    int rc = lucid_lazy_select(comm, table, &choice);
    if (rc != OMPI_SUCCESS) {
        (void)mca_coll_base_comm_unselect(comm);
        return fail(comm, waiting, slot, rc);
    }
    return share && choice.shareable ? lucid_lazy_keep(comm, &choice) : OMPI_SUCCESS;
}

static int make_ready(ompi_communicator_t *comm, int slot, struct lazy_use *use)
{
    mca_coll_base_comm_coll_t *waiting = comm->c_coll, *aside = lucid_account_aside(comm);
    if (aside != NULL) {
        comm->c_coll = aside;
        lucid_account_ready(comm, slot, false);
        return OMPI_SUCCESS;
    }
    bool share = may_share(comm, waiting, slot);
    mca_coll_base_comm_coll_t *shared = share ? lucid_lazy_shared(comm) : NULL;
    mca_coll_base_comm_coll_t *copy = shared != NULL ? lucid_lazy_table_copy(shared, false) : NULL;
    if (shared != NULL && copy == NULL) return OMPI_ERR_OUT_OF_RESOURCE;
    if (copy != NULL) comm->c_coll = copy;
    int rc = copy != NULL ? OMPI_SUCCESS : select_modules(comm, waiting, slot, share);
    if (rc != OMPI_SUCCESS) return rc;
    lazy_count(waiting, -1);
    use->settles = waiting == &lucid_lazy_partial && lucid_lazy_slots[slot].class == LAZY_BLOCKING;
    if (copy != NULL) lazy_count(shared, 1);
    else lazy_count(selected_later, 1);
    lucid_account_ready(comm, slot, copy != NULL);
    return OMPI_SUCCESS;
}

int lucid_lazy_ready(ompi_communicator_t *comm, int slot, struct lazy_use *use)
{
    int rc = OMPI_SUCCESS;
    use->record = NULL;
    use->settles = false;
    if (!lazy_is_waiting(comm)) return OMPI_SUCCESS;
    lucid_account_use_begin(comm, use);
    bool locks = lazy_threads() && !lucid_lazy.foreign;
    if (locks) (void)pthread_mutex_lock(&once);
    if (lazy_is_waiting(comm)) rc = make_ready(comm, slot, use);
    if (locks) (void)pthread_mutex_unlock(&once);
    if (rc != OMPI_SUCCESS) lucid_lazy_used(comm, use);
    return rc;
}

void lucid_lazy_used(ompi_communicator_t *comm, struct lazy_use *use)
{
    if (use->settles && !lazy_threads()) lucid_lazy_settle(comm); /* another thread may be reading the table */
    if (use->record != NULL) lucid_account_use_end(comm, use);
}
