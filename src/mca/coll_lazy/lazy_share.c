/* SPDX-License-Identifier: BSD-3-Clause
 * lazy_share.c: communicators of one group share their modules (DISP's sharing in time).
 *
 * Shared are the modules of components that keep nothing in them that belongs to one communicator (lazy_select.c); of han's that
 * means its sub-communicators, which are made once for a group. That is sound because blocking operations on
 * communicators of one group are called in the same order by all its processes, one after the other: programs for which that is
 * not so have threads (then nothing is shared) or are erroneous.
 *
 * For han, all processes of the group must come to the same answer, whether there is an entry: one that finds none would
 * make sub-communicators with others that do not. So the decision is made when a communicator makes its first
 * blocking operation, which all do in the same order; an entry stays for the life of the process; and whether there is room for
 * one more is agreed upon, by an allreduce of one number when the entry is made.
 */
#include <stdlib.h>
#include <string.h>

#include "lazy.h"
#include "lazy_counters.h"

/* Entries whose modules are local to the process: no agreement is needed, each decides for itself. There is always room for
 * those of coll/hier, which may have discovered its layout by messages: on all processes or on none. */
#define LOCAL_LIMIT 4096
#define BUCKETS 256

struct entry {
    struct entry *next;
    uint64_t hash;
    ompi_group_t *group;
    mca_coll_base_comm_coll_t *table;
    bool grouped;
};

static struct entry *buckets[BUCKETS];
static int grouped_count, local_count;

/* By names, not by pointers to processes: those of processes that were never talked to are placeholders. */
static uint64_t hash_of(ompi_group_t *group)
{
    uint64_t hash = 14695981039346656037u ^ (uint64_t)group->grp_proc_count;
    for (int i = 0; i < group->grp_proc_count; i++) {
        opal_process_name_t name = ompi_group_get_proc_name(group, i);
        hash = (hash ^ name.vpid ^ (uint64_t)name.jobid << 32) * 1099511628211u;
        hash ^= hash >> 29;
    }
    return hash;
}

static bool same_group(ompi_group_t *a, ompi_group_t *b)
{
    if (a == b) return true;
    if (a->grp_proc_count != b->grp_proc_count) return false;
    for (int i = 0; i < a->grp_proc_count; i++) {
        opal_process_name_t first = ompi_group_get_proc_name(a, i), second = ompi_group_get_proc_name(b, i);
        if (first.jobid != second.jobid || first.vpid != second.vpid) return false;
    }
    return true;
}

mca_coll_base_comm_coll_t *lucid_lazy_shared(ompi_communicator_t *comm)
{
    uint64_t hash = hash_of(comm->c_local_group);
    for (struct entry *entry = buckets[hash % BUCKETS]; entry != NULL; entry = entry->next)
        if (entry->hash == hash && same_group(entry->group, comm->c_local_group)) return entry->table;
    return NULL;
}

opal_list_t *lucid_lazy_modules(ompi_communicator_t *comm)
{
    opal_list_t *own = comm->c_coll->module_list;
    mca_coll_base_comm_coll_t *shared = opal_list_is_empty(own) && !lazy_is_waiting(comm) ? lucid_lazy_shared(comm) : NULL;
    return shared != NULL ? shared->module_list : own;
}

mca_coll_base_comm_coll_t *lucid_lazy_table_copy(mca_coll_base_comm_coll_t *table, bool with_list)
{
    mca_coll_base_avail_coll_t *listed;
    mca_coll_base_comm_coll_t *copy = lucid_lazy_table_new();
    if (copy == NULL) return NULL;
    opal_list_t *own_list = copy->module_list;
    *copy = *table;
    copy->module_list = own_list;
    for (int slot = 0; slot < LAZY_SLOT_COUNT; slot++)
        if (*lazy_table_owner(copy, slot) != NULL) OBJ_RETAIN(*lazy_table_owner(copy, slot));
    if (!with_list) return copy; /* who shares modules holds them by the slots, and the entry holds them for good */
    OPAL_LIST_FOREACH(listed, table->module_list, mca_coll_base_avail_coll_t) {
        OBJ_RETAIN(listed->ac_module);
        (void)lucid_lazy_list_module(copy, listed->ac_module, listed->ac_component_name, listed->ac_priority);
    }
    return copy;
}

/** Whether every process of comm can keep one more entry. */
static int agree_on_room(ompi_communicator_t *comm, const struct lazy_choice *choice, int *room)
{
    int mine = *room;
    mca_coll_base_module_allreduce_fn_t allreduce = (mca_coll_base_module_allreduce_fn_t)choice->allreduce;
    return allreduce(&mine, room, 1, &ompi_mpi_int.dt, &ompi_mpi_op_min.op, comm, choice->allreduce_owner);
}

/** Modules that are shared do not end with one of their communicators. */
static void outlive(mca_coll_base_comm_coll_t *table)
{
    mca_coll_base_avail_coll_t *listed;
    OPAL_LIST_FOREACH(listed, table->module_list, mca_coll_base_avail_coll_t) {
        listed->ac_module->coll_module_disable = NULL;
    }
}

static void add(ompi_communicator_t *comm, bool grouped)
{
    struct entry *entry = calloc(1, sizeof *entry);
    mca_coll_base_comm_coll_t *table = lucid_lazy_table_copy(comm->c_coll, true);
    if (entry == NULL || table == NULL) abort(); /* the others have been promised that it will be there */
    entry->hash = hash_of(comm->c_local_group);
    entry->group = comm->c_local_group;
    entry->table = table;
    entry->grouped = grouped;
    OBJ_RETAIN(entry->group);
    entry->next = buckets[entry->hash % BUCKETS];
    buckets[entry->hash % BUCKETS] = entry;
    outlive(table);
    lazy_count(groups, 1);
    if (grouped) grouped_count++;
    else local_count++;
}

int lucid_lazy_keep(ompi_communicator_t *comm, const struct lazy_choice *choice)
{
    int room = choice->grouped ? grouped_count < lucid_lazy.groups : choice->settles || local_count < LOCAL_LIMIT;
    if (choice->grouped && lucid_lazy.groups == 0) return OMPI_SUCCESS;
    int rc = choice->grouped ? agree_on_room(comm, choice, &room) : OMPI_SUCCESS;
    if (rc == OMPI_SUCCESS && room) add(comm, choice->grouped);
    if (rc == OMPI_SUCCESS && !room) lazy_count(groups_refused, 1);
    return rc;
}

static void release_modules(mca_coll_base_comm_coll_t *table)
{
    mca_coll_base_avail_coll_t *listed;
    for (int slot = 0; slot < LAZY_SLOT_COUNT; slot++)
        if (*lazy_table_owner(table, slot) != NULL) OBJ_RELEASE(*lazy_table_owner(table, slot));
    OPAL_LIST_FOREACH(listed, table->module_list, mca_coll_base_avail_coll_t) OBJ_RELEASE(listed->ac_module);
}

static bool lists(mca_coll_base_comm_coll_t *table, const mca_coll_base_module_t *module)
{
    mca_coll_base_avail_coll_t *listed;
    OPAL_LIST_FOREACH(listed, table->module_list, mca_coll_base_avail_coll_t) {
        if (listed->ac_module == module) return true;
    }
    return false;
}

/** Whether a module has other users than the entry, and `last`, which ends. */
static bool in_use(const struct entry *entry, mca_coll_base_module_t *module, ompi_communicator_t *last)
{
    int references = 1 + (last != NULL && !lazy_is_waiting(last) && lists(last->c_coll, module));
    for (int slot = 0; slot < LAZY_SLOT_COUNT; slot++) references += *lazy_table_owner(entry->table, slot) == module;
    return module->super.obj_reference_count != references;
}

/** han frees its sub-communicators with its last reference. When communicators that the program has not freed are still there
 *  then, or when communicators are gone altogether, Open MPI has been quicker: so that han must not end any more. */
static bool may_end(const struct entry *entry, ompi_communicator_t *last)
{
    mca_coll_base_avail_coll_t *listed;
    if (!entry->grouped) return true;
    if (last == NULL) return false;
    OPAL_LIST_FOREACH(listed, entry->table->module_list, mca_coll_base_avail_coll_t) {
        if (strcmp(listed->ac_component_name, "han") == 0 && in_use(entry, listed->ac_module, last)) return false;
    }
    return true;
}

static void end_entry(struct entry *entry, ompi_communicator_t *last)
{
    if (may_end(entry, last)) release_modules(entry->table);
    OPAL_LIST_RELEASE(entry->table->module_list);
    free(entry->table);
    OBJ_RELEASE(entry->group);
    free(entry);
}

void lucid_lazy_share_end(ompi_communicator_t *last)
{
    for (int i = 0; i < BUCKETS; i++) {
        struct entry *entry = buckets[i];
        buckets[i] = NULL;
        while (entry != NULL) {
            struct entry *next = entry->next;
            end_entry(entry, last);
            entry = next;
        }
    }
    lazy_count(groups, -(grouped_count + local_count));
    grouped_count = local_count = 0;
}
