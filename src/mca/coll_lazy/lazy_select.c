/* SPDX-License-Identifier: BSD-3-Clause
 * lazy_select.c: which module serves which operation of a communicator. Open MPI's rules, on the private list of components:
 * every component that is not excluded is asked; lower priorities are enabled first, so that higher ones find what they
 * stand on and win the slot; the info key "ompi_comm_coll_preference" ("tuned,^han") puts components last, or leaves them
 * out. Neighbour slots may stay empty: whether a communicator has a topology is not known yet when it is made.
 */
#include "lazy.h"

#include <stdlib.h>
#include <string.h>

#include "mca_settled.h"

#define PREFERENCE "ompi_comm_coll_preference"
#define NAMES_LIMIT 64

const struct lazy_slot_info lucid_lazy_slots[LAZY_SLOT_COUNT] = {
#define X(slot, class_, scope_)                                                                                            \
    [LAZY_##slot] = {.name = #slot,                                                                                        \
                     .class = LAZY_##class_,                                                                               \
                     .scope = LAZY_##scope_,                                                                               \
                     .in_module = offsetof(mca_coll_base_module_t, coll_##slot),                                           \
                     .in_table = offsetof(mca_coll_base_comm_coll_t, coll_##slot),                                         \
                     .owner_in_table = offsetof(mca_coll_base_comm_coll_t, coll_##slot##_module)},
    LAZY_SLOTS(X)
#undef X
};

/* Components whose query and enable neither send nor wait, in every version of the series that are supported. */
static const char *const local_components[] = {"self", "basic",      "tuned", "libnbc",  "inter", "sm",    "adapt", "han",
                                               "sync", "monitoring", "cuda",  "ftagree", "xhc",   "acoll", "demo",
                                               "sparse", "hier"};
/* Components whose modules hold nothing that belongs to one communicator, apart from its group. */
static const char *const shareable_components[] = {"self", "basic", "tuned", "libnbc", "han", "hier"};

static bool is_among(const char *name, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

bool lucid_lazy_is_local(const char *component)
{
    return is_among(component, local_components, sizeof local_components / sizeof *local_components);
}

static bool is_shareable(const char *component)
{
    return is_among(component, shareable_components, sizeof shareable_components / sizeof *shareable_components);
}

mca_coll_base_comm_coll_t *lucid_lazy_table_new(void)
{
    mca_coll_base_comm_coll_t *table = calloc(1, sizeof *table);
    if (table == NULL) return NULL;
    table->module_list = OBJ_NEW(opal_list_t);
    if (table->module_list == NULL) {
        free(table);
        return NULL;
    }
    return table;
}

int lucid_lazy_list_module(mca_coll_base_comm_coll_t *table, mca_coll_base_module_t *module, const char *name, int priority)
{
    mca_coll_base_avail_coll_t *entry = OBJ_NEW(mca_coll_base_avail_coll_t);
    if (entry == NULL) {
        OBJ_RELEASE(module);
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    entry->ac_module = module;
    entry->ac_component_name = name;
    entry->ac_priority = priority;
    opal_list_append(table->module_list, &entry->super);
    return OMPI_SUCCESS;
}

void lucid_lazy_install(mca_coll_base_comm_coll_t *table, mca_coll_base_module_t *module, int class)
{
    for (int slot = 0; slot < LAZY_SLOT_COUNT; slot++) {
        lazy_function function = *lazy_module_function(module, slot);
        mca_coll_base_module_t **owner = lazy_table_owner(table, slot);
        if (function == NULL || (class >= 0 && lucid_lazy_slots[slot].class != (enum lazy_class)class)) continue;
        OBJ_RETAIN(module);
        if (*owner != NULL) OBJ_RELEASE(*owner);
        *owner = module;
        *lazy_table_function(table, slot) = function;
    }
}

/** What a communicator's info key asks for: its names in one string, included ones first, then those excluded. */
struct preference {
    char text[LUCID_OMPI_INFO_VALUE_MAX + 1];
    const char *included[NAMES_LIMIT], *excluded[NAMES_LIMIT];
    int included_count, excluded_count;
};

static void read_preference(const ompi_communicator_t *comm, struct preference *preference)
{
    char *rest = preference->text, *name;
    preference->included_count = preference->excluded_count = 0;
    if (!lucid_ompi_comm_info(comm, PREFERENCE, preference->text, sizeof preference->text)) return;
    bool excluding = false;
    while ((name = strsep(&rest, ",")) != NULL) {
        if (name[0] == '\0') continue;
        if (name[0] == '^' && !excluding) {
            excluding = true;
            name++;
        }
        if (excluding && preference->excluded_count < NAMES_LIMIT) preference->excluded[preference->excluded_count++] = name;
        if (!excluding && preference->included_count < NAMES_LIMIT) preference->included[preference->included_count++] = name;
    }
}

/** Asks a component for a module; whatever API version it speaks must be the one that this component speaks. */
static mca_coll_base_module_t *query(const mca_base_component_t *component, ompi_communicator_t *comm, int *priority)
{
    const mca_base_component_t *own = &mca_coll_lazy_component.collm_version;
    if (component->mca_type_major_version != own->mca_type_major_version ||
        component->mca_type_minor_version != own->mca_type_minor_version ||
        component->mca_type_release_version != own->mca_type_release_version)
        return NULL;
    *priority = -1;
    mca_coll_base_module_t *module = ((const mca_coll_base_component_t *)component)->collm_comm_query(comm, priority);
    if (module != NULL && *priority < 0) OBJ_RELEASE(module);
    return *priority < 0 ? NULL : module;
}

static bool is_asked(const char *name, const struct preference *preference, const struct lazy_choice *choice)
{
    if (is_among(name, preference->excluded, (size_t)preference->excluded_count)) return false;
    if (choice->nonblocking != NULL && strcmp(name, "libnbc") == 0) return false;
    return !choice->local_only || lucid_lazy_is_local(name);
}

static void collect(ompi_communicator_t *comm, const struct preference *preference, struct lazy_choice *choice,
                    opal_list_t *candidates)
{
    mca_base_component_list_item_t *item;
    OPAL_LIST_FOREACH(item, &lucid_lazy.components, mca_base_component_list_item_t) {
        const char *name = item->cli_component->mca_component_name;
        int priority = -1;
        if (!is_asked(name, preference, choice)) continue;
        if (!lucid_lazy_is_local(name)) choice->communicates = true;
        mca_coll_base_module_t *module = query(item->cli_component, comm, &priority);
        if (module == NULL) continue;
        mca_coll_base_avail_coll_t *candidate = OBJ_NEW(mca_coll_base_avail_coll_t);
        candidate->ac_module = module;
        candidate->ac_component_name = name;
        candidate->ac_priority = priority < 100 ? priority : 100;
        opal_list_append(candidates, &candidate->super);
    }
}

static int by_priority(opal_list_item_t **a, opal_list_item_t **b)
{
    int first = ((mca_coll_base_avail_coll_t *)*a)->ac_priority, second = ((mca_coll_base_avail_coll_t *)*b)->ac_priority;
    return (first > second) - (first < second);
}

static void order(opal_list_t *candidates, const struct preference *preference)
{
    mca_coll_base_avail_coll_t *candidate;
    (void)opal_list_sort(candidates, by_priority);
    for (int i = preference->included_count - 1; i >= 0; i--) {
        OPAL_LIST_FOREACH(candidate, candidates, mca_coll_base_avail_coll_t) {
            if (strcmp(candidate->ac_component_name, preference->included[i]) != 0) continue;
            opal_list_remove_item(candidates, &candidate->super);
            opal_list_append(candidates, &candidate->super);
            break;
        }
    }
}

static mca_coll_base_avail_coll_t *candidate_named(opal_list_t *candidates, const char *name)
{
    mca_coll_base_avail_coll_t *candidate;
    OPAL_LIST_FOREACH(candidate, candidates, mca_coll_base_avail_coll_t) {
        if (strcmp(candidate->ac_component_name, name) == 0) return candidate;
    }
    return NULL;
}

/** coll/han below coll/hier would never be called: hier hands nothing on to it. So it is left out, and with it what sharing its
 *  sub-communicators takes: an agreement on every group's first communicator. */
static void drop_han(opal_list_t *candidates)
{
    mca_coll_base_avail_coll_t *han = candidate_named(candidates, "han"), *hier = candidate_named(candidates, LUCID_SETTLING_COMPONENT);
    if (han == NULL || hier == NULL || hier->ac_priority <= han->ac_priority) return;
    for (int slot = 0; slot < LAZY_SLOT_COUNT; slot++)
        if (*lazy_module_function(han->ac_module, slot) != NULL && *lazy_module_function(hier->ac_module, slot) == NULL) return;
    opal_list_remove_item(candidates, &han->super);
    OBJ_RELEASE(han->ac_module);
    OBJ_RELEASE(han);
}

/** Enables a candidate on top of those that are there already. */
static void enable(ompi_communicator_t *comm, mca_coll_base_avail_coll_t *candidate, struct lazy_choice *choice)
{
    const char *name = candidate->ac_component_name;
    int rc = candidate->ac_module->coll_module_enable(candidate->ac_module, comm);
    opal_output_verbose(9, ompi_coll_base_framework.framework_output, "coll:lazy: selecting %10s, priority %3d, %s", name,
                        candidate->ac_priority, rc == OMPI_SUCCESS ? "Enabled" : "Disabled");
    if (rc != OMPI_SUCCESS) {
        OBJ_RELEASE(candidate->ac_module);
        OBJ_RELEASE(candidate);
        return;
    }
    if (!is_shareable(name)) choice->shareable = false;
    if (strcmp(name, LUCID_SETTLING_COMPONENT) == 0) choice->settles = true;
    if (strcmp(name, "han") == 0) {
        choice->grouped = true;
        choice->allreduce = (lazy_function)comm->c_coll->coll_allreduce;
        choice->allreduce_owner = comm->c_coll->coll_allreduce_module;
    }
    opal_list_append(comm->c_coll->module_list, &candidate->super);
    if (choice->nonblocking == NULL) {
        lucid_lazy_install(comm->c_coll, candidate->ac_module, -1);
        return;
    }
    lucid_lazy_install(comm->c_coll, candidate->ac_module, LAZY_BLOCKING);
    lucid_lazy_install(comm->c_coll, candidate->ac_module, LAZY_AGREEMENT);
    lucid_lazy_install(comm->c_coll, candidate->ac_module, LAZY_LOCAL);
}

void lucid_lazy_settle(ompi_communicator_t *comm)
{
    mca_coll_base_avail_coll_t *listed;
    OPAL_LIST_FOREACH(listed, lucid_lazy_modules(comm), mca_coll_base_avail_coll_t) {
        if (strcmp(listed->ac_component_name, LUCID_SETTLING_COMPONENT) != 0) continue;
        if (((const lucid_settling_module_t *)listed->ac_module)->settled)
            lucid_lazy_install(comm->c_coll, listed->ac_module, LAZY_NONBLOCKING);
    }
}

/** Whether every slot that comm needs is served. */
static bool is_complete(const ompi_communicator_t *comm)
{
    for (int slot = 0; slot < LAZY_SLOT_COUNT; slot++) {
        enum lazy_scope scope = lucid_lazy_slots[slot].scope;
        bool needed = scope == LAZY_ALWAYS || (scope == LAZY_INTRA && OMPI_COMM_IS_INTRA(comm));
        if (needed && *lazy_table_function(comm->c_coll, slot) == NULL) return false;
    }
    return true;
}

/** The slot of reduce_local is never one of a collective operation; its module is told when the communicator ends. */
static void put_keeper(mca_coll_base_comm_coll_t *table)
{
    if (table->coll_reduce_local != mca_coll_base_reduce_local) return;
    OBJ_RELEASE(table->coll_reduce_local_module);
    OBJ_RETAIN(&lucid_lazy_keeper);
    table->coll_reduce_local_module = &lucid_lazy_keeper;
}

int lucid_lazy_select(ompi_communicator_t *comm, mca_coll_base_comm_coll_t *table, struct lazy_choice *choice)
{
    struct preference preference;
    opal_list_t candidates;
    opal_list_item_t *item;
    choice->shareable = true;
    choice->grouped = choice->settles = choice->communicates = false;
    if (choice->nonblocking != NULL) {
        lucid_lazy_install(table, choice->nonblocking, LAZY_NONBLOCKING);
        table->coll_iallreduce = lucid_lazy_iallreduce;
        OBJ_RETAIN(choice->nonblocking);
        int rc = lucid_lazy_list_module(table, choice->nonblocking, "libnbc", 0);
        if (rc != OMPI_SUCCESS) return rc;
    }
    /* From here on other threads may find it: what they may call, nonblocking operations, is there. */
    __atomic_store_n(&comm->c_coll, table, __ATOMIC_RELEASE);
    read_preference(comm, &preference);
    OBJ_CONSTRUCT(&candidates, opal_list_t);
    collect(comm, &preference, choice, &candidates);
    order(&candidates, &preference);
    if (preference.included_count == 0) drop_han(&candidates);
    while ((item = opal_list_remove_first(&candidates)) != NULL) enable(comm, (mca_coll_base_avail_coll_t *)item, choice);
    OBJ_DESTRUCT(&candidates);
    if (!is_complete(comm)) return OMPI_ERR_NOT_FOUND;
    put_keeper(table);
    return OMPI_SUCCESS;
}
