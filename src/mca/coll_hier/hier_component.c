/* SPDX-License-Identifier: BSD-3-Clause
 * hier_component.c: coll/hier as Open MPI's component system sees it: its variables, its counters.
 */
#include <string.h>

#include "../../core/params.h"
#include "hier.h"
#include "mca_release.h"

#include "opal/mca/base/mca_base_pvar.h"
#include "opal/mca/base/mca_base_var.h"

hier_settings_t lucid_hier = {
    .priority = 0,
    .topology = HIER_PREDICT,
    .radix = 8,
    .up_radix = 2,
    .sync_radix = 8,
    .window = 8,
    .sockets = true,
    .shared_map = true,
    .shared_layouts = 64,
    .nonblocking = true,
    .bcast_chain = 64 << 10,
    .bcast_segment = 48 << 10,
    .reduce_chain = 64 << 10,
    .reduce_segment = 48 << 10,
    .allreduce_tree = 2 << 10,
    .allreduce_ring = 64 << 10,
    .allreduce_piece = 48 << 10,
    .allgather_stream = 48 << 10,
    .allgather_segment = 48 << 10,
    .gather_direct = 8 << 10,
    .scatter_direct = 8 << 10,
    .first_limit = 4096,
    .test_fault = -1,
};
hier_counters_t lucid_hier_counters;

static void add(const char *name, const char *help, mca_base_var_type_t type, mca_base_var_enum_t *values,
                mca_base_var_info_lvl_t level, void *storage)
{
    (void)mca_base_component_var_register(&mca_coll_hier_component.collm_version, name, help, type, values, 0, 0, level,
                                          MCA_BASE_VAR_SCOPE_READONLY, storage);
}

static void add_int(const char *name, const char *help, mca_base_var_info_lvl_t level, int *storage)
{
    add(name, help, MCA_BASE_VAR_TYPE_INT, NULL, level, storage);
}

static void add_bytes(const char *name, const char *help, unsigned *storage)
{
    add(name, help, MCA_BASE_VAR_TYPE_UNSIGNED_INT, NULL, OPAL_INFO_LVL_5, storage);
}

static void register_topology(void)
{
    static mca_base_var_enum_value_t values[] = {{HIER_PREDICT, "predict"}, {HIER_DISCOVER, "discover"}, {0, NULL}};
    mca_base_var_enum_t *topology = NULL;
    (void)mca_base_var_enum_create("coll_hier_topology", values, &topology);
    add("topology", "Where a communicator's nodes are taken from: predict (from the job's map, without a message; its hash "
        "travels with the first operation, and where the ranks disagree it is discover) or discover (by messages, an "
        "allgather per level at the first operation of every communicator)",
        MCA_BASE_VAR_TYPE_INT, topology, OPAL_INFO_LVL_4, &lucid_hier.topology);
    if (topology) OBJ_RELEASE(topology);
    add("sockets", "Put sockets below nodes in the trees", MCA_BASE_VAR_TYPE_BOOL, NULL, OPAL_INFO_LVL_5, &lucid_hier.sockets);
    add("shared_map", "Keep the job's map once per node, in shared memory", MCA_BASE_VAR_TYPE_BOOL, NULL, OPAL_INFO_LVL_5,
        &lucid_hier.shared_map);
    add_int("shared_layouts", "Keep communicators' layouts once per node, too: room for so many of the job's size (0: none)",
            OPAL_INFO_LVL_5, &lucid_hier.shared_layouts);
    add("nonblocking", "Serve nonblocking barrier, broadcast and allreduce, too, once a blocking operation has settled the layout",
        MCA_BASE_VAR_TYPE_BOOL, NULL, OPAL_INFO_LVL_5, &lucid_hier.nonblocking);
}

static void register_sizes(void)
{
    add_bytes("bcast_chain", "Bytes from which a broadcast goes from leader to leader in a chain, in segments",
              &lucid_hier.bcast_chain);
    add_bytes("bcast_segment", "Bytes per segment of a broadcast in a chain", &lucid_hier.bcast_segment);
    add_bytes("reduce_chain", "Bytes from which a reduction goes from leader to leader in a chain, in segments",
              &lucid_hier.reduce_chain);
    add_bytes("reduce_segment", "Bytes per segment of a reduction in a chain", &lucid_hier.reduce_segment);
    add_bytes("allreduce_ring", "Bytes from which the leaders of an allreduce form a ring", &lucid_hier.allreduce_ring);
    add_bytes("allreduce_tree", "Bytes below which an allreduce goes up and down a tree over the leaders",
              &lucid_hier.allreduce_tree);
    add_bytes("allreduce_piece", "Bytes per message of an allreduce in a ring", &lucid_hier.allreduce_piece);
    add_bytes("allgather_stream", "Bytes per rank from which an allgather streams every block by itself",
              &lucid_hier.allgather_stream);
    add_bytes("allgather_segment", "Bytes per part of a block that streams", &lucid_hier.allgather_segment);
    add_bytes("gather_direct", "Bytes per rank from which a gather's blocks go straight to the root", &lucid_hier.gather_direct);
    add_bytes("scatter_direct", "Bytes per rank from which a scatter's blocks come straight from the root",
              &lucid_hier.scatter_direct);
    add_bytes("first_limit", "Bytes up to which a communicator's first operation travels with the agreement on its layout",
              &lucid_hier.first_limit);
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
    lucid_hier.priority = lucid_params()->hier_priority;
    add_int("priority", "Priority of the component; 0: not used. coll/tuned has 30, coll/han 35 where it is on", OPAL_INFO_LVL_2,
            &lucid_hier.priority);
    add_int("radix", "Fan-out of the tree in a node", OPAL_INFO_LVL_5, &lucid_hier.radix);
    add_int("up_radix", "Fan-out of the tree over the nodes' leaders for small messages", OPAL_INFO_LVL_5, &lucid_hier.up_radix);
    add_int("sync_radix", "Fan-out of the tree over the nodes' leaders for barrier and tiny allreduce", OPAL_INFO_LVL_5,
            &lucid_hier.sync_radix);
    add_int("window", "Chunks of one operation that are under way at a time", OPAL_INFO_LVL_5, &lucid_hier.window);
    register_topology();
    register_sizes();
    add("test_nodes", "For tests: the nodes of the job's ranks as a list such as 0,0,1,1, repeated as often as needed",
        MCA_BASE_VAR_TYPE_STRING, NULL, OPAL_INFO_LVL_9, &lucid_hier.test_nodes);
    add_int("test_fault", "For tests: a rank of the job that is told another map than the others", OPAL_INFO_LVL_9,
            &lucid_hier.test_fault);
    register_counters();
    return OMPI_SUCCESS;
}

/* Values that are the same on all ranks but make no sense. */
static int open_component(void)
{
    if (lucid_hier.test_nodes && lucid_hier.test_nodes[0] == '\0') lucid_hier.test_nodes = NULL;
    if (lucid_hier.radix < 1) lucid_hier.radix = 1;
    if (lucid_hier.up_radix < 1) lucid_hier.up_radix = 1;
    if (lucid_hier.window < 1) lucid_hier.window = 1;
    if (lucid_hier.shared_layouts < 0) lucid_hier.shared_layouts = 0;
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
