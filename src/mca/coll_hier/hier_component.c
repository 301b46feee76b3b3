/* SPDX-License-Identifier: BSD-3-Clause
 * hier_component.c: coll/hier as Open MPI's component system sees it: its variables, its counters.
 */
#include <string.h>

#include "hier.h"
#include "mca_parameters.h"
#include "mca_release.h"

#include "opal/mca/base/mca_base_pvar.h"
#include "opal/mca/base/mca_base_var.h"

hier_settings_t lucid_hier = {.test_fault = -1};
hier_counters_t lucid_hier_counters;

/* What only tests set is no parameter of Lucid's. */
static void add(const char *name, const char *help, mca_base_var_type_t type, void *storage)
{
    (void)mca_base_component_var_register(&mca_coll_hier_component.collm_version, name, help, type, NULL, 0, 0, OPAL_INFO_LVL_9,
                                          MCA_BASE_VAR_SCOPE_READONLY, storage);
}

static void register_counters(void)
{
    static const struct {
        const char *name, *help;
        unsigned long long *value;
    } counters[] = {
#define X(name, help) {#name, help, &lucid_hier_counters.name},
        HIER_COUNTERS(X)
#undef X
    };
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
        (void)mca_base_component_pvar_register(&mca_coll_hier_component.collm_version, counters[i].name, counters[i].help,
                                               OPAL_INFO_LVL_4, MCA_BASE_PVAR_CLASS_COUNTER,
                                               MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG, NULL, MCA_BASE_VAR_BIND_NO_OBJECT,
                                               MCA_BASE_PVAR_FLAG_READONLY | MCA_BASE_PVAR_FLAG_CONTINUOUS, NULL, NULL, NULL,
                                               counters[i].value);
}

static int register_parameters(void)
{
    struct lucid_params params;
    lucid_mca_parameters(&mca_coll_hier_component.collm_version, "LUCID_HIER_", &params);
    lucid_hier.topology = strcmp(params.hier_topology, "discover") == 0 ? HIER_DISCOVER : HIER_PREDICT;
#define X(setting) lucid_hier.setting = params.hier_##setting;
    HIER_SETTINGS(X)
#undef X
    add("test_nodes", "For tests: the nodes of the job's ranks as a list such as 0,0,1,1, repeated as often as needed",
        MCA_BASE_VAR_TYPE_STRING, &lucid_hier.test_nodes);
    add("test_fault", "For tests: a rank of the job that is told another map than the others", MCA_BASE_VAR_TYPE_INT,
        &lucid_hier.test_fault);
    register_counters();
    return OMPI_SUCCESS;
}

static int open_component(void)
{
    if (lucid_hier.test_nodes && lucid_hier.test_nodes[0] == '\0') lucid_hier.test_nodes = NULL;
    const char *without = lucid_hier.priority > 0 ? "collective operations run without coll/hier" : NULL;
    return lucid_mca_fits(without) ? OMPI_SUCCESS : OMPI_ERR_NOT_AVAILABLE;
}

static int close_component(void)
{
    lucid_hier_start_close();
    lucid_hier_layouts_close();
    lucid_hier_map_close();
    return OMPI_SUCCESS;
}

static int init_query(bool progress_threads, bool mpi_threads)
{
    return OMPI_SUCCESS;
}

const mca_coll_base_component_t mca_coll_hier_component = {
    .collm_version = {
        LUCID_OMPI_COLL_VERSION,
        .mca_component_name = "hier",
        MCA_BASE_MAKE_VERSION(component, OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION),
        .mca_open_component = open_component,
        .mca_close_component = close_component,
        .mca_register_component_params = register_parameters,
    },
    .collm_data = LUCID_OMPI_COLL_DATA,
    .collm_init_query = init_query,
    .collm_comm_query = lucid_hier_query,
};
