/* SPDX-License-Identifier: BSD-3-Clause
 * coll_sparse_measure.c: the rates of the machine for a communicator, measured in its first call that is long enough to be looked at.
 */
#include "coll_sparse.h"

#include "log.h"
#include "opal/runtime/opal_progress.h"
#include "sparse_measure.h"

static bool on_my_node(void *context, int rank)
{
    const ompi_proc_t *proc = ompi_comm_peer_lookup(context, rank);
    return proc && OPAL_PROC_ON_LOCAL_NODE(proc->super.proc_flags);
}

static void progress(void *context)
{
    opal_progress();
}

void coll_sparse_measure(coll_sparse_module_t *module)
{
    const struct sparse_surroundings surroundings = {on_my_node, progress, module->comm};
    struct sparse_rates rates;
    module->measured = true; /* or never */
    if (!module->parameters.clock) return;
    if (sparse_measure(&module->transport, COLL_SPARSE_TAG, &surroundings, &rates) != OMPI_SUCCESS) return;
    module->parameters.rates = rates;
    if (module->transport.rank != 0) return;
    lucid_info("coll/sparse: %d ranks, %d a node: scan %.3g, merge %.3g, add %.3g, copy %.3g B/s; within a node %.3g s, %.3g B/s; "
               "between nodes %.3g s, %.3g B/s", module->transport.size, rates.ranks_per_node, rates.scan, rates.merge, rates.add,
               rates.copy, rates.latency_node, rates.bandwidth_node, rates.latency_network, rates.bandwidth_network);
}

bool coll_sparse_settle(coll_sparse_module_t *module, size_t bytes)
{
    const struct sparse_surroundings surroundings = {on_my_node, progress, module->comm};
    if (!sparse_short_begin(&module->brief, bytes, module->parameters.clock())) return false;
    (void)sparse_short_settle(&module->brief, &module->transport, COLL_SPARSE_TAG, &surroundings, &module->parameters);
    module->short_bytes = module->short_begun = module->parameters.short_bytes;
    if (module->transport.rank == 0)
        lucid_info("coll/sparse: %d ranks: vectors are looked at from %zu bytes on", module->transport.size, module->short_bytes);
    return true;
}

void coll_sparse_locate(coll_sparse_module_t *module)
{
    const int size = module->transport.size;
    int near = 0;
    if (module->located) return;
    module->located = true;
    while (near < size && on_my_node(module->comm, near)) near++;
    if (near < size) return; /* which is so at all processes or at none */
    module->plain.rates.ranks_per_node = size;
    if (!module->measured) module->parameters.rates.ranks_per_node = size;
}
