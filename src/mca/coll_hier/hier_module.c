/* SPDX-License-Identifier: BSD-3-Clause
 * hier_module.c: one module per communicator. Making one sends nothing, asks for no context id and looks at no map: all of that
 * waits for the first operation.
 */
#include <string.h>

#include "hier.h"

static void construct(hier_module_t *module)
{
    memset(&module->previous, 0, sizeof module->previous);
    module->state = HIER_NEW;
    module->super.settled = false;
    module->layout = NULL;
}

static void release_previous(hier_module_t *module)
{
#define X(slot)                                                                                         \
    if (module->previous.coll_##slot##_module) OBJ_RELEASE(module->previous.coll_##slot##_module);      \
    module->previous.coll_##slot##_module = NULL;
    HIER_SLOTS(X)
#undef X
}

static void destruct(hier_module_t *module)
{
    release_previous(module);
    lucid_hier_layout_release(module->layout);
    module->layout = NULL;
}

OBJ_CLASS_INSTANCE(hier_module_t, mca_coll_base_module_t, construct, destruct);

/* Who is below for a slot: the last enabled module that has it. coll/han is passed over: where its own set-up fails it goes through
 * the communicator's table, which has this module on top, and that would call it again without end. What is handed on is what
 * coll/han would hand on itself. coll/lazy's function for the agreement on context ids stands in the table only. */
#define X(slot)                                                                                                  \
    static void find_##slot(hier_previous_t *previous, const ompi_communicator_t *comm)                          \
    {                                                                                                            \
        mca_coll_base_avail_coll_t *one;                                                                         \
        OPAL_LIST_FOREACH(one, comm->c_coll->module_list, mca_coll_base_avail_coll_t) {                          \
            if (!one->ac_module->coll_##slot || strcmp(one->ac_component_name, "han") == 0) continue;            \
            previous->coll_##slot = one->ac_module->coll_##slot;                                                 \
            previous->coll_##slot##_module = one->ac_module;                                                     \
        }                                                                                                        \
        if (previous->coll_##slot##_module == comm->c_coll->coll_##slot##_module)                                \
            previous->coll_##slot = comm->c_coll->coll_##slot;                                                   \
        if (previous->coll_##slot##_module) OBJ_RETAIN(previous->coll_##slot##_module);                          \
    }
HIER_SLOTS(X)
#undef X

static int enable(mca_coll_base_module_t *base, ompi_communicator_t *comm)
{
    hier_module_t *module = (hier_module_t *)base;
    bool all = true;
#define X(slot)                                                                                                  \
    find_##slot(&module->previous, comm);                                                                        \
    all &= module->previous.coll_##slot##_module != NULL;
    HIER_SLOTS(X) /* whoever serves what is handed on must be there */
#undef X
    if (all) return OMPI_SUCCESS;
    release_previous(module);
    return OMPI_ERROR;
}

/* In 4.1 and 5.0 once per slot; what is below must go before the communicator does, since modules may refer to each other. */
static int disable(mca_coll_base_module_t *base, ompi_communicator_t *comm)
{
    release_previous((hier_module_t *)base);
    return OMPI_SUCCESS;
}

/* coll/han's sub-communicators are levels of a hierarchy already. */
static bool is_level(const ompi_communicator_t *comm)
{
    char value[LUCID_OMPI_INFO_VALUE_MAX + 1];
    return lucid_ompi_comm_info(comm, "ompi_comm_coll_han_topo_level", value, sizeof value);
}

mca_coll_base_module_t *lucid_hier_query(ompi_communicator_t *comm, int *priority)
{
    if (lucid_hier.priority <= 0 || OMPI_COMM_IS_INTER(comm) || ompi_comm_size(comm) < 3) return NULL;
    if (!lucid_hier.test_nodes && !ompi_group_have_remote_peers(comm->c_local_group)) return NULL;
    if (is_level(comm)) return NULL;
    hier_module_t *module = OBJ_NEW(hier_module_t);
    if (!module) return NULL;
    mca_coll_base_module_t *base = &module->super.super;
    base->coll_module_enable = enable;
    base->coll_module_disable = disable;
    lucid_hier_fill(base);
    if (lucid_hier.nonblocking) lucid_hier_fill_nonblocking(base);
    *priority = lucid_hier.priority;
    return base;
}
