/* SPDX-License-Identifier: BSD-3-Clause
 * component_static.c: Lucid's components for an Open MPI that loads none (--disable-dlopen): preloaded, in the list of those
 * that are built in, before MPI_Init opens the framework. Open MPI then treats them like its own.
 */
#include LUCID_COMPAT_HEADER

#include <stddef.h>

extern const mca_coll_base_component_t mca_coll_lazy_component, mca_coll_hier_component, mca_coll_sparse_component;

enum { OWN = 3, MOST = 64 };

__attribute__((constructor)) static void enlist(void)
{
    static const mca_base_component_t *all[OWN + MOST + 1];
    const mca_base_component_t **built_in = ompi_coll_base_framework.framework_static_components;
    size_t n = 0;
    all[n++] = &mca_coll_lazy_component.collm_version;
    all[n++] = &mca_coll_hier_component.collm_version;
    all[n++] = &mca_coll_sparse_component.collm_version;
    for (size_t i = 0; built_in != NULL && built_in[i] != NULL; i++) {
        if (n == OWN + MOST) return; /* not a list that is known */
        all[n++] = built_in[i];
    }
    ompi_coll_base_framework.framework_static_components = all;
}
