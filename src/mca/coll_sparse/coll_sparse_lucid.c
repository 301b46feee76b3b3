/* SPDX-License-Identifier: BSD-3-Clause
 * coll_sparse_lucid.c: what the component and liblucid have to tell each other, where the program has loaded that.
 */
#include "coll_sparse.h"

#include <dlfcn.h>

void *coll_sparse_lucid(const char *name, _Atomic(void *) *found)
{
    void *function = atomic_load_explicit(found, memory_order_relaxed);
    if (function) return function;
    function = dlsym(RTLD_DEFAULT, name);
    atomic_store_explicit(found, function, memory_order_relaxed);
    return function;
}

/* The source of the traffic knows the tags that a call draws from the communicator's counter, but not those that are used again. */
void coll_sparse_tell_tags(ompi_communicator_t *comm, int first, int count)
{
    typedef void (*tell_fn)(ompi_communicator_t *, int, int);
    static _Atomic(void *) found;
    tell_fn tell = (tell_fn)coll_sparse_lucid("lucid_nbc_tags", &found);
    if (tell) tell(comm, first, count);
}

/* Where the program has not loaded liblucid, that is looked for again when somebody puts other functions into the PML's table, as it does. */
void coll_sparse_tell_shown(void *comm, size_t bytes, int peer, int tag)
{
    typedef void (*shown_fn)(ompi_communicator_t *, int, int, uint64_t);
    static _Atomic(void *) found;
    static _Atomic(mca_pml_base_module_isend_fn_t) without;
    const mca_pml_base_module_isend_fn_t now = mca_pml.pml_isend;
    if (atomic_load_explicit(&without, memory_order_relaxed) == now) return;
    const shown_fn tell = (shown_fn)coll_sparse_lucid("lucid_coll_shown", &found);
    if (tell) tell(comm, peer, tag, bytes);
    else atomic_store_explicit(&without, now, memory_order_relaxed);
}
