/* SPDX-License-Identifier: BSD-3-Clause
 * coll_sparse_below.c: a nonblocking call that turned out to be dense goes on in libnbc.
 *
 * That module draws its tags from the communicator's counter when it starts, which is at another moment at every process. So they are
 * reserved when the program makes the call, and the counter is set to them while the module starts. With threads another one could
 * draw from it meanwhile: such a process keeps calls here that were looked at, and by the agreement so do its peers (struct sparse_terms). What
 * is to be the module's without a look, but behind calls of which that is not known yet, has a request of the module's with the tags that that draws
 * in the program's call.
 */
#include "coll_sparse.h"

#include <stdlib.h>
#include <string.h>

/* Libnbc looks at nothing but the call, its tag and its settings. Another may decide by what it knows at that moment, as coll/hier
 * does by whether the communicator has had a blocking call: its processes would not do the same. So it is libnbc that runs the call,
 * also where the slot below is another's. */
void coll_sparse_below_look(coll_sparse_module_t *module)
{
    const mca_coll_base_avail_coll_t *one;
    module->libnbc = NULL;
    OPAL_LIST_FOREACH(one, module->comm->c_coll->module_list, mca_coll_base_avail_coll_t) {
        if (strcmp(one->ac_component_name, "libnbc") == 0) module->libnbc = one->ac_module;
    }
}

/* Malloc has what is so long from the kernel in each call, whatever it has learned (DEFAULT_MMAP_THRESHOLD_MAX): on 4 ranks of a node a
 * Reduce of 12 MiB takes 5 ms, of 16 MiB 28. */
enum { ALWAYS_NEW = 32 << 20 };

struct sparse_library coll_sparse_below_known(const coll_sparse_module_t *module, enum sparse_kind kind, size_t bytes)
{
    const bool scatter = kind == SPARSE_REDUCE_SCATTER, reduce = kind == SPARSE_REDUCE && module->size > 2;
    const size_t buffer = scatter || reduce ? 2 * bytes : bytes;
    return (struct sparse_library){.fresh = buffer >= ALWAYS_NEW ? buffer : 0, .at_root = scatter};
}

/* One that is started at once, or one that is yet to be. */
#define MAKE(api, ...)                                                                                      \
    (lasts ? module->libnbc->coll_##api##_init(__VA_ARGS__, MPI_INFO_NULL, request, module->libnbc) \
           : module->libnbc->coll_i##api(__VA_ARGS__, request, module->libnbc))

/* Libnbc reads the counts meanwhile. */
static int make_scatter(coll_sparse_module_t *module, const struct coll_sparse_call *c, bool lasts, ompi_request_t **request)
{
    int *room = malloc((size_t)module->size * sizeof *room);
    if (!room) return OMPI_ERR_OUT_OF_RESOURCE;
    int rc = MAKE(reduce_scatter, c->input, c->output, lucid_ompi_counts_of(c->counts, room, module->size), c->type, c->op, module->comm);
    free(room);
    return rc;
}

static int make(coll_sparse_module_t *module, const struct coll_sparse_call *c, bool lasts, ompi_request_t **request)
{
    const lucid_ompi_count_t n = (lucid_ompi_count_t)c->count;
    switch (c->kind) {
    case SPARSE_REDUCE: return MAKE(reduce, c->input, c->output, n, c->type, c->op, c->root, module->comm);
    case SPARSE_ALLREDUCE: return MAKE(allreduce, c->input, c->output, n, c->type, c->op, module->comm);
    case SPARSE_SCAN: return MAKE(scan, c->input, c->output, n, c->type, c->op, module->comm);
    case SPARSE_EXSCAN: return MAKE(exscan, c->input, c->output, n, c->type, c->op, module->comm);
    default: break;
    }
    if (c->counts) return make_scatter(module, c, lasts, request);
    return MAKE(reduce_scatter_block, c->input, c->output, n, c->type, c->op, module->comm);
}

int coll_sparse_below_make(coll_sparse_module_t *module, const struct coll_sparse_call *call, bool lasts, int tag, ompi_request_t **request)
{
    const int32_t next = module->comm->c_nbc_tag;
    if (tag == 0) return make(module, call, lasts, request);
    module->comm->c_nbc_tag = tag;
    int rc = make(module, call, lasts, request);
    module->comm->c_nbc_tag = next;
    return rc;
}

/* Its tags are those that it draws. */
int coll_sparse_below_now(coll_sparse_module_t *module, const struct coll_sparse_call *call, ompi_request_t **request)
{
    coll_sparse_count_passed();
    return make(module, call, false, request);
}
