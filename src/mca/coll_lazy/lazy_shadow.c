/* SPDX-License-Identifier: BSD-3-Clause
 * lazy_shadow.c: what a communicator has before its first collective operation: a table that all share.
 *
 * Open MPI allocates a table for every new communicator and lets it be filled; here it is given back at once and replaced by
 * a shared one. When the communicator is freed unused, the first slot that is closed tells (coll_module_disable), and
 * a small table takes the shared one's place, which Open MPI then takes apart.
 *
 * In the partial table nonblocking and persistent operations are real: one libnbc module serves them for all communicators,
 * because it holds no state of a communicator. So the agreement on the context id of a child, which uses the parent's
 * nonblocking allreduce (also from the progress engine, in any thread), selects nothing, ever. That it is libnbc that Open
 * MPI would select is found out by a selection on the first communicator, whose result is thrown away.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lazy.h"
#include "lazy_account.h"
#include "lazy_counters.h"
#include "mca_settled.h"

mca_coll_base_comm_coll_t lucid_lazy_shadow, lucid_lazy_partial;
mca_coll_base_module_t lucid_lazy_module, lucid_lazy_keeper;

static opal_list_t no_modules;
static mca_coll_base_module_t *nonblocking;
/* Whether libnbc serves nonblocking operations on communicators of one process, and of more. */
static pthread_mutex_t trial_lock = PTHREAD_MUTEX_INITIALIZER;
enum answer { UNKNOWN, YES, NO };
static _Atomic(enum answer) is_libnbc[2];

/** Called for the first slot of a shared table: what is closed from here on is a table of comm's own with this one slot. */
static int shadow_ends(mca_coll_base_module_t *module, ompi_communicator_t *comm)
{
    if (!lazy_is_waiting(comm)) return OMPI_SUCCESS;
    mca_coll_base_comm_coll_t *aside = lucid_account_aside(comm);
    if (aside == NULL) lazy_count(waiting, -1);
    lucid_account_freed(comm);
    if (comm == &ompi_mpi_comm_world.comm) lucid_lazy_share_end(comm);
    if (aside != NULL) { /* a complete table: Open MPI goes on with it */
        comm->c_coll = aside;
        return OMPI_SUCCESS;
    }
    mca_coll_base_comm_coll_t *own = lucid_lazy_table_new();
    if (own == NULL) abort(); /* Open MPI would take the shared table apart */
    for (int slot = 0; slot < LAZY_SLOT_COUNT; slot++) {
        if (*lazy_table_owner(comm->c_coll, slot) != module) continue;
        *lazy_table_owner(own, slot) = module; /* the slot that is being closed is the table's first with an owner */
        OBJ_RETAIN(module);
        break;
    }
    comm->c_coll = own;
    return OMPI_SUCCESS;
}

static int keeper_ends(mca_coll_base_module_t *module, ompi_communicator_t *comm)
{
    lucid_account_freed(comm);
    if (comm == &ompi_mpi_comm_world.comm) lucid_lazy_share_end(comm);
    return OMPI_SUCCESS;
}

/** Open MPI has just allocated comm's table. The error code that is returned keeps it from filling the slots once more and from
 *  listing our module; it finds a complete table all the same, and is content. */
static int begin(mca_coll_base_module_t *module, ompi_communicator_t *comm)
{
    (void)lucid_lazy_begin(comm);
    return OMPI_ERROR;
}

static void fill_with_trampolines(mca_coll_base_comm_coll_t *table)
{
    memset(table, 0, sizeof *table);
    table->module_list = &no_modules;
    lucid_lazy_install(table, &lucid_lazy_module, -1);
}

void lucid_lazy_shadow_open(void)
{
    OBJ_CONSTRUCT(&no_modules, opal_list_t);
    OBJ_CONSTRUCT(&lucid_lazy_module, mca_coll_base_module_t);
    OBJ_CONSTRUCT(&lucid_lazy_keeper, mca_coll_base_module_t);
#define X(name, class, scope) *lazy_module_function(&lucid_lazy_module, LAZY_##name) = (lazy_function)LAZY_TRAMPOLINE_##class(name);
#define LAZY_TRAMPOLINE_BLOCKING(name) lazy_##name
#define LAZY_TRAMPOLINE_NONBLOCKING(name) lazy_##name
#define LAZY_TRAMPOLINE_AGREEMENT(name) lazy_##name
#define LAZY_TRAMPOLINE_LOCAL(name) mca_coll_base_reduce_local
    LAZY_SLOTS(X)
#undef X
    lucid_lazy_module.coll_module_enable = begin;
    lucid_lazy_module.coll_module_disable = shadow_ends;
    lucid_lazy_keeper.coll_module_disable = keeper_ends;
    fill_with_trampolines(&lucid_lazy_shadow);
    fill_with_trampolines(&lucid_lazy_partial);
}

void lucid_lazy_shadow_close(void)
{
    lucid_lazy_agree_close();
    if (nonblocking != NULL) OBJ_RELEASE(nonblocking);
    nonblocking = NULL;
    is_libnbc[0] = is_libnbc[1] = UNKNOWN;
}

mca_coll_base_module_t *lucid_lazy_nonblocking(void)
{
    return nonblocking;
}

/** The module of libnbc in a table if it serves all that is nonblocking and nothing else, else NULL. What settles later counts as
 *  libnbc's: until then it hands on. */
static mca_coll_base_module_t *only_libnbc(mca_coll_base_comm_coll_t *table)
{
    mca_coll_base_avail_coll_t *entry;
    mca_coll_base_module_t *libnbc = NULL, *settling = NULL;
    OPAL_LIST_FOREACH(entry, table->module_list, mca_coll_base_avail_coll_t) {
        if (strcmp(entry->ac_component_name, "libnbc") == 0) libnbc = entry->ac_module;
        if (strcmp(entry->ac_component_name, LUCID_SETTLING_COMPONENT) == 0) settling = entry->ac_module;
    }
    for (int slot = 0; libnbc != NULL && slot < LAZY_SLOT_COUNT; slot++) {
        bool is_nonblocking = lucid_lazy_slots[slot].class == LAZY_NONBLOCKING;
        mca_coll_base_module_t *owner = *lazy_table_owner(table, slot);
        bool is_served = owner == libnbc || (is_nonblocking && owner != NULL && owner == settling);
        if (is_nonblocking != is_served || is_nonblocking != (*lazy_module_function(libnbc, slot) != NULL)) return NULL;
    }
    return libnbc;
}

static bool same_functions(mca_coll_base_module_t *a, mca_coll_base_module_t *b)
{
    for (int slot = 0; slot < LAZY_SLOT_COUNT; slot++)
        if (*lazy_module_function(a, slot) != *lazy_module_function(b, slot)) return false;
    return true;
}

/** Selects for comm among the local components, to see whether libnbc serves what is nonblocking. */
static bool try_selection(ompi_communicator_t *comm)
{
    mca_coll_base_comm_coll_t *given = comm->c_coll, *trial = lucid_lazy_table_new();
    struct lazy_choice choice = {.local_only = true};
    if (trial == NULL) return false;
    mca_coll_base_module_t *found =
        lucid_lazy_select(comm, trial, &choice) == OMPI_SUCCESS ? only_libnbc(trial) : NULL;
    if (found != NULL && nonblocking != NULL && !same_functions(found, nonblocking)) found = NULL;
    if (found != NULL && nonblocking == NULL) {
        OBJ_RETAIN(found);
        nonblocking = found;
        lucid_lazy_install(&lucid_lazy_partial, found, LAZY_NONBLOCKING);
        if (lucid_lazy.level != LAZY_OFF) lucid_lazy_partial.coll_iallreduce = lucid_lazy_iallreduce;
    }
    (void)mca_coll_base_comm_unselect(comm);
    comm->c_coll = given;
    return found != NULL;
}

static bool libnbc_serves(ompi_communicator_t *comm)
{
    int more = ompi_comm_size(comm) > 1;
    enum answer known = is_libnbc[more];
    if (known != UNKNOWN) return known == YES;
    (void)pthread_mutex_lock(&trial_lock);
    if (is_libnbc[more] == UNKNOWN) is_libnbc[more] = try_selection(comm) ? YES : NO;
    (void)pthread_mutex_unlock(&trial_lock);
    return is_libnbc[more] == YES;
}

static bool has_preference(const ompi_communicator_t *comm)
{
    char value[LUCID_OMPI_INFO_VALUE_MAX + 1];
    if (!lucid_ompi_comm_has_info(comm)) return false;
    return lucid_ompi_comm_info(comm, "ompi_comm_coll_preference", value, sizeof value) ||
           lucid_ompi_comm_info(comm, "ompi_comm_coll_han_topo_level", value, sizeof value);
}

/** The shared table that comm may wait with, or NULL: then its modules are selected at once, as Open MPI does. With threads, or
 *  with components that communicate, only blocking operations may wait: those are ordered by the program. */
static mca_coll_base_comm_coll_t *table_to_wait_with(ompi_communicator_t *comm)
{
    if (OMPI_COMM_IS_INTRA(comm) && !has_preference(comm) && libnbc_serves(comm)) return &lucid_lazy_partial;
    return lazy_threads() || lucid_lazy.foreign || lucid_lazy.level == LAZY_OFF ? NULL : &lucid_lazy_shadow;
}

/** Open MPI's own way. Where books are kept, the modules are put aside until the first operation. */
static int select_at_once(ompi_communicator_t *comm, mca_coll_base_comm_coll_t *shared)
{
    struct lazy_choice choice = {0};
    mca_coll_base_comm_coll_t *given = comm->c_coll;
    int rc = lucid_lazy_select(comm, given, &choice);
    if (rc != OMPI_SUCCESS) return rc;
    lazy_count(selected_at_once, 1);
    if (shared != NULL) comm->c_coll = shared;
    if (!lucid_account_created(comm, shared != NULL ? given : NULL)) comm->c_coll = given;
    return rc;
}

int lucid_lazy_begin(ompi_communicator_t *comm)
{
    mca_coll_base_comm_coll_t *shared = table_to_wait_with(comm), *given = comm->c_coll;
    lazy_count(created, 1);
    if (shared == NULL || lucid_lazy.level == LAZY_OFF) return select_at_once(comm, shared);
    lazy_count(waiting, 1);
    comm->c_coll = shared;
    OBJ_RELEASE(given->module_list);
    free(given);
    (void)lucid_account_created(comm, NULL);
    return OMPI_SUCCESS;
}
