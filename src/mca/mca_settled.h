/* SPDX-License-Identifier: BSD-3-Clause
 * mca_settled.h: what coll/lazy has to know of coll/hier's modules: nonblocking operations are theirs only when a blocking one, which
 * all processes call at the same place, has settled the layout. So coll/lazy puts them into a communicator's table then.
 */
#ifndef LUCID_MCA_SETTLED_H
#define LUCID_MCA_SETTLED_H

#include LUCID_COMPAT_HEADER

#include <stdbool.h>

#define LUCID_SETTLING_COMPONENT "hier"

typedef struct lucid_settling_module {
    mca_coll_base_module_t super;
    bool settled; /* on all processes of the group, by the same blocking operation */
} lucid_settling_module_t;

#endif
