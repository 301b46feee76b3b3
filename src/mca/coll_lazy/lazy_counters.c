/* SPDX-License-Identifier: BSD-3-Clause
 * lazy_counters.c: see lazy_counters.h.
 */
#include "lazy_counters.h"

#include "opal/mca/base/mca_base_pvar.h"

struct lazy_counters lucid_lazy_counters;

static void add(const char *name, const char *description, int class, unsigned long long *value)
{
    (void)mca_base_component_pvar_register(&mca_coll_lazy_component.collm_version, name, description, OPAL_INFO_LVL_4, class,
                                           MCA_BASE_VAR_TYPE_UNSIGNED_LONG_LONG, NULL, MCA_BASE_VAR_BIND_NO_OBJECT,
                                           MCA_BASE_PVAR_FLAG_READONLY | MCA_BASE_PVAR_FLAG_CONTINUOUS, NULL, NULL, NULL, value);
}

void lucid_lazy_counters_register(void)
{
#define X(name, class, description) add(#name, description, MCA_BASE_PVAR_CLASS_##class, &lucid_lazy_counters.name);
    LAZY_COUNTERS(X)
#undef X
}
