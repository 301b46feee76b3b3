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

static int enable(mca_coll_base_module_t *base, ompi_communicator_t *comm)
{
    hier_module_t *module = (hier_module_t *)base;
#define X(slot)                                                                                                  \
    if (!comm->c_coll->coll_##slot || !comm->c_coll->coll_##slot##_module) return OMPI_ERROR;
    HIER_SLOTS(X) /* whoever serves what is handed on must be there */
#undef X
#define X(slot)                                                                                                  \
    if (base->coll_##slot) LUCID_OMPI_COLL_TAKE(comm, &module->previous, base, slot);
    HIER_SLOTS(X)
#undef X
    return OMPI_SUCCESS;
}

/* In 4.1 and 5.0 once per slot; what is below must go before the communicator does, since modules may refer to each other. */
static int disable(mca_coll_base_module_t *base, ompi_communicator_t *comm)
{
    hier_module_t *module = (hier_module_t *)base;
#define X(slot) LUCID_OMPI_COLL_GIVE_BACK(comm, &module->previous, base, slot);
    HIER_SLOTS(X)
#undef X
    release_previous(module);
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
    module->super.coll_module_enable = enable;
    module->super.coll_module_disable = disable;
    lucid_hier_fill(&module->super);
    if (lucid_hier.nonblocking) lucid_hier_fill_nonblocking(&module->super);
    *priority = lucid_hier.priority;
    return &module->super;
}
