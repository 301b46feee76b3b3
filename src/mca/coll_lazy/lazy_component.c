/* SPDX-License-Identifier: BSD-3-Clause
 * lazy_component.c: coll/lazy as Open MPI's component system sees it, and how it takes the others' place.
 *
 * When components are asked whether they want to run at all, this one moves itself to the head of the framework's list.
 * When the first communicator is made, MPI_COMM_WORLD, it is the first one asked and moves all others to a list of its own: from
 * then on Open MPI asks nobody else. At the end they are closed from here, because the framework does not see them any more.
 */
#include <string.h>

#include "lazy.h"
#include "mca_parameters.h"
#include "mca_release.h"
#include "lazy_account.h"
#include "lazy_counters.h"

struct lazy_process lucid_lazy;
static bool aside; /* this process goes without */

static int open_component(void)
{
    aside = !lucid_mca_fits("communicators start without coll/lazy");
    return aside ? OMPI_ERR_NOT_AVAILABLE : OMPI_SUCCESS;
}

static int register_parameters(void)
{
    static const char *const names[] = {[LAZY_OFF] = "off", [LAZY_DELAY] = "delay", [LAZY_SHARE] = "share"};
    struct lucid_params params;
    lucid_mca_parameters(&mca_coll_lazy_component.collm_version, "LUCID_LAZY", &params);
    for (int level = LAZY_OFF; level <= LAZY_SHARE; level++)
        if (strcmp(params.lazy, names[level]) == 0) lucid_lazy.level = (enum lazy_level)level;
    lucid_lazy.groups = params.lazy_groups;
    lucid_lazy_counters_register();
    return OMPI_SUCCESS;
}

static mca_base_component_list_item_t *own_item(opal_list_t *components)
{
    mca_base_component_list_item_t *item;
    OPAL_LIST_FOREACH(item, components, mca_base_component_list_item_t) {
        if (item->cli_component == &mca_coll_lazy_component.collm_version) return item;
    }
    return NULL;
}

static int init_query(bool progress_threads, bool mpi_threads)
{
    opal_list_t *components = &ompi_coll_base_framework.framework_components;
    mca_base_component_list_item_t *own = own_item(components);
    if (aside || own == NULL || (lucid_lazy.level == LAZY_OFF && !lucid_account_wanted())) return OMPI_ERR_NOT_AVAILABLE;
    lucid_lazy.threads = mpi_threads;
    opal_list_remove_item(components, &own->super); /* the walk we are called from has the next item already */
    opal_list_prepend(components, &own->super);
    return OMPI_SUCCESS;
}

/** Whether to stand aside for good: with threads and components that may communicate when they are set up, nothing can wait;
 *  and where another component is asked before this one, the list is not ours to take. */
static bool stands_aside(opal_list_t *components)
{
    mca_base_component_list_item_t *item, *first = (mca_base_component_list_item_t *)opal_list_get_first(components);
    if (first->cli_component != &mca_coll_lazy_component.collm_version) return true;
    OPAL_LIST_FOREACH(item, components, mca_base_component_list_item_t) {
        if (item != first && !lucid_lazy_is_local(item->cli_component->mca_component_name)) lucid_lazy.foreign = true;
    }
    return lazy_threads() && lucid_lazy.foreign;
}

static void take_over(opal_list_t *components)
{
    mca_base_component_list_item_t *item, *next;
    OBJ_CONSTRUCT(&lucid_lazy.components, opal_list_t);
    OPAL_LIST_FOREACH_SAFE(item, next, components, mca_base_component_list_item_t) {
        if (item->cli_component == &mca_coll_lazy_component.collm_version) continue;
        opal_list_remove_item(components, &item->super);
        opal_list_append(&lucid_lazy.components, &item->super);
    }
    lucid_lazy.taken = true;
    lucid_lazy_shadow_open();
    lucid_account_open();
}

static mca_coll_base_module_t *comm_query(ompi_communicator_t *comm, int *priority)
{
    opal_list_t *components = &ompi_coll_base_framework.framework_components;
    if (!aside && !lucid_lazy.taken) {
        aside = stands_aside(components);
        if (!aside) take_over(components);
    }
    if (aside) return NULL;
    *priority = 100;
    OBJ_RETAIN(&lucid_lazy_module);
    return &lucid_lazy_module;
}

/** MPI-4's sessions close the framework and may open it again: everything starts anew then. */
static int close_component(void)
{
    opal_list_item_t *item;
    if (lucid_lazy.taken) {
        lucid_account_close();
        lucid_lazy_share_end(NULL);
        lucid_lazy_shadow_close();
        while ((item = opal_list_remove_first(&lucid_lazy.components)) != NULL) {
            mca_base_component_close(((mca_base_component_list_item_t *)item)->cli_component,
                                     ompi_coll_base_framework.framework_output);
            OBJ_RELEASE(item);
        }
        OBJ_DESTRUCT(&lucid_lazy.components);
    }
    lucid_lazy.taken = lucid_lazy.foreign = lucid_lazy.threads = aside = false;
    return OMPI_SUCCESS;
}

const mca_coll_base_component_t mca_coll_lazy_component = {
    .collm_version = {
        LUCID_OMPI_COLL_VERSION,
        .mca_component_name = "lazy",
        MCA_BASE_MAKE_VERSION(component, OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION),
        .mca_open_component = open_component,
        .mca_close_component = close_component,
        .mca_register_component_params = register_parameters,
    },
    .collm_data = LUCID_OMPI_COLL_DATA,
    .collm_init_query = init_query,
    .collm_comm_query = comm_query,
};
