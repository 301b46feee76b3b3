/* SPDX-License-Identifier: BSD-3-Clause
 * coll_sparse_calls.c: the functions of the slots. Each describes the call, and calls the module below where the core passes it on.
 */
#include "coll_sparse.h"

#include <stdlib.h>

typedef mca_coll_base_module_t module_t;
typedef lucid_ompi_count_t count_t;
typedef lucid_ompi_counts_t counts_t;

#define BELOW(api, ...) (sparse->below.coll_##api(__VA_ARGS__, sparse->below.coll_##api##_module))

/* A call that is not as one of the last two. In a function of its own: the slot's has few lines of code to be read. */
#define BLOCKING(call, api, ...)                                                                  \
    coll_sparse_module_t *sparse = (coll_sparse_module_t *)module;                                \
    int rc = is_brief(sparse, &(call)) ? COLL_SPARSE_PASS : coll_sparse_run(sparse, &(call));     \
    if (rc == COLL_SPARSE_PASS_TIMED) return coll_sparse_passed(sparse, BELOW(api, __VA_ARGS__)); \
    return rc != COLL_SPARSE_PASS ? rc : BELOW(api, __VA_ARGS__)

#define AGAIN(KIND, api, ...)                                                                                     \
    coll_sparse_module_t *sparse = (coll_sparse_module_t *)module;                                                \
    if (coll_sparse_again(sparse, KIND, (size_t)count, type, op)) return BELOW(api, __VA_ARGS__);                 \
    return other_##api(__VA_ARGS__, module)

#define BEGUN(call, persistent, api, ...)                                               \
    coll_sparse_module_t *sparse = (coll_sparse_module_t *)module;                      \
    int rc = coll_sparse_begin(sparse, &(call), persistent, request);                   \
    return rc != COLL_SPARSE_PASS ? rc : BELOW(api, __VA_ARGS__)

static bool is_brief(coll_sparse_module_t *sparse, const struct coll_sparse_call *call)
{
    if (!coll_sparse_short(sparse->short_bytes, coll_sparse_elements(sparse, call), call->type)) return false;
    coll_sparse_note(&sparse->brief_one, call, UINT_MAX);
    coll_sparse_count_passed();
    return true;
}

/* Reduce, Allreduce, Reduce_scatter_block, Scan and Exscan differ in whether there is a root. */
#define PLAIN(KIND, api)                                                                                                          \
    static __attribute__((noinline)) int other_##api(const void *in, void *out, count_t count, ompi_datatype_t *type,             \
                                                     ompi_op_t *op, ompi_communicator_t *comm, module_t *module)                  \
    {                                                                                                                             \
        struct coll_sparse_call call = {KIND, in, out, count, NULL, type, op, 0};                                                 \
        BLOCKING(call, api, in, out, count, type, op, comm);                                                                      \
    }                                                                                                                             \
    static int sparse_##api(const void *in, void *out, count_t count, ompi_datatype_t *type, ompi_op_t *op,                       \
                            ompi_communicator_t *comm, module_t *module)                                                          \
    {                                                                                                                             \
        AGAIN(KIND, api, in, out, count, type, op, comm);                                                                         \
    }                                                                                                                             \
    static int sparse_i##api(const void *in, void *out, count_t count, ompi_datatype_t *type, ompi_op_t *op,                      \
                             ompi_communicator_t *comm, ompi_request_t **request, module_t *module)                               \
    {                                                                                                                             \
        struct coll_sparse_call call = {KIND, in, out, count, NULL, type, op, 0};                                                 \
        BEGUN(call, false, i##api, in, out, count, type, op, comm, request);                                                      \
    }                                                                                                                             \
    static int sparse_##api##_init(const void *in, void *out, count_t count, ompi_datatype_t *type, ompi_op_t *op,                \
                                   ompi_communicator_t *comm, ompi_info_t *info, ompi_request_t **request, module_t *module)      \
    {                                                                                                                             \
        struct coll_sparse_call call = {KIND, in, out, count, NULL, type, op, 0};                                                 \
        BEGUN(call, true, api##_init, in, out, count, type, op, comm, info, request);                                             \
    }

PLAIN(SPARSE_ALLREDUCE, allreduce)
PLAIN(SPARSE_REDUCE_SCATTER, reduce_scatter_block)
PLAIN(SPARSE_SCAN, scan)
PLAIN(SPARSE_EXSCAN, exscan)

static __attribute__((noinline)) int other_reduce(const void *in, void *out, count_t count, ompi_datatype_t *type, ompi_op_t *op, int root,
                                                  ompi_communicator_t *comm, module_t *module)
{
    struct coll_sparse_call call = {SPARSE_REDUCE, in, out, count, NULL, type, op, root};
    BLOCKING(call, reduce, in, out, count, type, op, root, comm);
}

static int sparse_reduce(const void *in, void *out, count_t count, ompi_datatype_t *type, ompi_op_t *op, int root,
                         ompi_communicator_t *comm, module_t *module)
{
    AGAIN(SPARSE_REDUCE, reduce, in, out, count, type, op, root, comm);
}

static int sparse_ireduce(const void *in, void *out, count_t count, ompi_datatype_t *type, ompi_op_t *op, int root,
                          ompi_communicator_t *comm, ompi_request_t **request, module_t *module)
{
    struct coll_sparse_call call = {SPARSE_REDUCE, in, out, count, NULL, type, op, root};
    BEGUN(call, false, ireduce, in, out, count, type, op, root, comm, request);
}

static int sparse_reduce_init(const void *in, void *out, count_t count, ompi_datatype_t *type, ompi_op_t *op, int root,
                              ompi_communicator_t *comm, ompi_info_t *info, ompi_request_t **request, module_t *module)
{
    struct coll_sparse_call call = {SPARSE_REDUCE, in, out, count, NULL, type, op, root};
    BEGUN(call, true, reduce_init, in, out, count, type, op, root, comm, info, request);
}

/* The counts as the core has them, or NULL without memory: the call is then the library's at this process, which it may be only
 * if it is at all of them; so the caller gives an error. */
static size_t *copied(counts_t counts, int size)
{
    size_t *copy = malloc((size_t)size * sizeof *copy);
    for (int i = 0; copy && i < size; i++) copy[i] = (size_t)lucid_ompi_counts_get(counts, i);
    return copy;
}

static bool is_short(const coll_sparse_module_t *sparse, size_t bytes, counts_t counts, const ompi_datatype_t *type)
{
    size_t elements = 0;
    for (int i = 0; i < sparse->size; i++) elements += (size_t)lucid_ompi_counts_get(counts, i);
    return coll_sparse_short(bytes, elements, type);
}

static int sparse_reduce_scatter(const void *in, void *out, counts_t counts, ompi_datatype_t *type, ompi_op_t *op,
                                 ompi_communicator_t *comm, module_t *module)
{
    coll_sparse_module_t *sparse = (coll_sparse_module_t *)module;
    if (is_short(sparse, sparse->short_bytes, counts, type)) {
        coll_sparse_count_passed();
        return BELOW(reduce_scatter, in, out, counts, type, op, comm);
    }
    struct coll_sparse_call call = {SPARSE_REDUCE_SCATTER, in, out, 0, copied(counts, sparse->transport.size), type, op, 0};
    if (!call.counts) return OMPI_ERR_OUT_OF_RESOURCE;
    int rc = coll_sparse_run(sparse, &call);
    free(call.counts);
    if (rc == COLL_SPARSE_PASS_TIMED) return coll_sparse_passed(sparse, BELOW(reduce_scatter, in, out, counts, type, op, comm));
    return rc != COLL_SPARSE_PASS ? rc : BELOW(reduce_scatter, in, out, counts, type, op, comm);
}

static int begin_scatter(coll_sparse_module_t *sparse, const void *in, void *out, counts_t counts, ompi_datatype_t *type,
                         ompi_op_t *op, bool persistent, ompi_request_t **request)
{
    if (is_short(sparse, sparse->short_begun, counts, type)) return COLL_SPARSE_PASS;
    struct coll_sparse_call call = {SPARSE_REDUCE_SCATTER, in, out, 0, copied(counts, sparse->transport.size), type, op, 0};
    if (!call.counts) return OMPI_ERR_OUT_OF_RESOURCE;
    int rc = coll_sparse_begin(sparse, &call, persistent, request);
    if (rc != OMPI_SUCCESS) free(call.counts);
    return rc;
}

static int sparse_ireduce_scatter(const void *in, void *out, counts_t counts, ompi_datatype_t *type, ompi_op_t *op,
                                  ompi_communicator_t *comm, ompi_request_t **request, module_t *module)
{
    coll_sparse_module_t *sparse = (coll_sparse_module_t *)module;
    int rc = begin_scatter(sparse, in, out, counts, type, op, false, request);
    return rc != COLL_SPARSE_PASS ? rc : BELOW(ireduce_scatter, in, out, counts, type, op, comm, request);
}

static int sparse_reduce_scatter_init(const void *in, void *out, counts_t counts, ompi_datatype_t *type, ompi_op_t *op,
                                      ompi_communicator_t *comm, ompi_info_t *info, ompi_request_t **request, module_t *module)
{
    coll_sparse_module_t *sparse = (coll_sparse_module_t *)module;
    int rc = begin_scatter(sparse, in, out, counts, type, op, true, request);
    return rc != COLL_SPARSE_PASS ? rc : BELOW(reduce_scatter_init, in, out, counts, type, op, comm, info, request);
}

void coll_sparse_install(module_t *super)
{
#define INSTALL(api) super->coll_##api = sparse_##api;
    COLL_SPARSE_SLOTS(INSTALL)
#undef INSTALL
}
