/* SPDX-License-Identifier: BSD-3-Clause
 * lazy.h: the parts of coll/lazy: communicators that cost nothing until they are used. docs/dev/lazy.md tells why it is built
 * this way; the idea is DISP's (delayed initialization and module sharing).
 *
 * A communicator is in one of these states, told by what its c_coll points to:
 *   partial   the one table lucid_lazy_partial: nonblocking and persistent operations are served by one libnbc module of the
 *             process, as Open MPI's selection would have it, blocking ones by trampolines
 *   shadow    the one table lucid_lazy_shadow: trampolines only (intercommunicators, communicators with a preference of their
 *             own, settings in which something else than libnbc serves nonblocking operations)
 *   ready     a table of its own, selected by lucid_lazy_select(); its modules may be shared with equal communicators
 */
#ifndef LUCID_LAZY_H
#define LUCID_LAZY_H

#include LUCID_COMPAT_HEADER

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lazy_slots.h"

enum lazy_slot {
#define X(name, class, scope) LAZY_##name,
    LAZY_SLOTS(X)
#undef X
        LAZY_SLOT_COUNT
};

enum lazy_class { LAZY_BLOCKING, LAZY_NONBLOCKING, LAZY_AGREEMENT, LAZY_LOCAL };
enum lazy_scope { LAZY_ALWAYS, LAZY_INTRA, LAZY_OPTIONAL };

struct lazy_slot_info {
    const char *name;
    enum lazy_class class;
    enum lazy_scope scope;
    size_t in_module, in_table, owner_in_table; /* offsets of the function in a module and a table, of the table's module */
};
extern const struct lazy_slot_info lucid_lazy_slots[LAZY_SLOT_COUNT];

typedef void (*lazy_function)(void);

static inline lazy_function *lazy_module_function(mca_coll_base_module_t *module, int slot)
{
    return (lazy_function *)((char *)module + lucid_lazy_slots[slot].in_module);
}

static inline lazy_function *lazy_table_function(mca_coll_base_comm_coll_t *table, int slot)
{
    return (lazy_function *)((char *)table + lucid_lazy_slots[slot].in_table);
}

static inline mca_coll_base_module_t **lazy_table_owner(mca_coll_base_comm_coll_t *table, int slot)
{
    return (mca_coll_base_module_t **)((char *)table + lucid_lazy_slots[slot].owner_in_table);
}

/* lazy_component.c ------------------------------------------------------------------------------------------------------------ */

enum lazy_level { LAZY_OFF, LAZY_DELAY, LAZY_SHARE };

struct lazy_process {
    opal_list_t components;  /* the other coll components, in Open MPI's order */
    bool taken;              /* whether they are there */
    bool foreign;            /* whether one of them may communicate when it is set up */
    bool threads;            /* whether several threads have ever been allowed */
    enum lazy_level level;
    int groups;              /* how many groups' hierarchical modules are kept to be shared */
};
extern struct lazy_process lucid_lazy;
static inline bool lazy_threads(void)
{
    if (lucid_ompi_threads()) lucid_lazy.threads = true;
    return lucid_lazy.threads;
}

OMPI_DECLSPEC extern const mca_coll_base_component_t mca_coll_lazy_component;

/** The trampolines' module, which is that of the shadow table, and the one that tells when a ready communicator ends. */
extern mca_coll_base_module_t lucid_lazy_module, lucid_lazy_keeper;

/* lazy_select.c --------------------------------------------------------------------------------------------------------------- */

struct lazy_choice {
    bool local_only;                     /* ask no component that may communicate when it is set up */
    mca_coll_base_module_t *nonblocking; /* NULL, or what serves nonblocking operations; its component is not asked then */
    /* what came out of it: */
    bool shareable, grouped;             /* all modules may be shared; one of them has communicators of its own (han) */
    bool settles;                        /* one of them settles later (mca_settled.h) */
    bool communicates;                   /* a component that may communicate has been asked */
    lazy_function allreduce;             /* below the one with communicators of its own */
    mca_coll_base_module_t *allreduce_owner;
};

/** An empty table. NULL if there is no memory. */
mca_coll_base_comm_coll_t *lucid_lazy_table_new(void);
/** Selects modules for comm into `table`, which becomes comm's. Where a slot that is needed stays empty, or no component
 *  wants to run, an Open MPI error code is returned; the table is comm's all the same, to be unselected. */
int lucid_lazy_select(ompi_communicator_t *comm, mca_coll_base_comm_coll_t *table, struct lazy_choice *choice);
/** Puts a module's functions of a class (or of every one: -1) into a table. */
void lucid_lazy_install(mca_coll_base_comm_coll_t *table, mca_coll_base_module_t *module, int class);
/** Adds to the list of a table's modules. Takes over one reference to `module`. */
int lucid_lazy_list_module(mca_coll_base_comm_coll_t *table, mca_coll_base_module_t *module, const char *name, int priority);
/** Nonblocking operations of comm become those of a module that has settled (mca_settled.h). */
void lucid_lazy_settle(ompi_communicator_t *comm);
/** Whether a component is known to be set up without communication. */
bool lucid_lazy_is_local(const char *component);

/* lazy_shadow.c --------------------------------------------------------------------------------------------------------------- */

extern mca_coll_base_comm_coll_t lucid_lazy_shadow, lucid_lazy_partial;

static inline bool lazy_is_waiting(const ompi_communicator_t *comm)
{
    return comm->c_coll == &lucid_lazy_shadow || comm->c_coll == &lucid_lazy_partial;
}

void lucid_lazy_shadow_open(void);
void lucid_lazy_shadow_close(void);
/** The module that serves nonblocking operations of partial communicators. */
mca_coll_base_module_t *lucid_lazy_nonblocking(void);
/** The selection for comm, at its creation: leaves comm with a table in one of the states. */
int lucid_lazy_begin(ompi_communicator_t *comm);

/* lazy_agree.c ---------------------------------------------------------------------------------------------------------------- */

/** The nonblocking allreduce of communicators that libnbc serves: the agreement on a context id by dissemination, all else by
 *  libnbc, whose module is passed. */
int lucid_lazy_iallreduce(const void *sbuf, void *rbuf, lucid_ompi_count_t count, ompi_datatype_t *type, ompi_op_t *op,
                          ompi_communicator_t *comm, ompi_request_t **request, mca_coll_base_module_t *libnbc);
void lucid_lazy_agree_close(void);

/* lazy_ready.c ---------------------------------------------------------------------------------------------------------------- */

/** What a collective operation on a waiting communicator costs, while it runs: see lazy_account.h. */
struct lazy_use {
    void *record; /* NULL: nobody wants to know */
    bool settles; /* nonblocking operations may get another module when it has been done */
};

/** Makes comm ready for an operation, if it is not. Thread-safe. An Open MPI error code. */
int lucid_lazy_ready(ompi_communicator_t *comm, int slot, struct lazy_use *use);
/** The operation for which lucid_lazy_ready() was called has been done. */
void lucid_lazy_used(ompi_communicator_t *comm, struct lazy_use *use);

/* lazy_share.c ---------------------------------------------------------------------------------------------------------------- */

/** The table that communicators of comm's group share modules with, or NULL. *users: how many there have been. */
mca_coll_base_comm_coll_t *lucid_lazy_shared(ompi_communicator_t *comm);
/** A table with the same modules; its list of them stays empty if the other one is to outlive it. NULL if there is no memory. */
mca_coll_base_comm_coll_t *lucid_lazy_table_copy(mca_coll_base_comm_coll_t *table, bool with_list);
/** The list of comm's modules: its own, or that of the table which it shares them with. */
opal_list_t *lucid_lazy_modules(ompi_communicator_t *comm);
/** Keeps the modules that were chosen for comm for later communicators of its group, if all its processes can. Collective if
 *  choice->grouped. An Open MPI error code. */
int lucid_lazy_keep(ompi_communicator_t *comm, const struct lazy_choice *choice);
/** The entries end: with MPI_COMM_WORLD, which is `last` (other communicators can still be freed then), or with the framework,
 *  when they cannot any more: NULL. */
void lucid_lazy_share_end(ompi_communicator_t *last);

#endif
