/* SPDX-License-Identifier: BSD-3-Clause
 * lazy_counters.h: how many communicators went which way, as MPI_T performance variables coll_lazy_NAME.
 */
#ifndef LUCID_LAZY_COUNTERS_H
#define LUCID_LAZY_COUNTERS_H

#include "lazy.h"

/* LAZY_COUNTER(name, MPI_T class, description) */
#define LAZY_COUNTERS(LAZY_COUNTER)                                                                                        \
    LAZY_COUNTER(created, LEVEL, "communicators created")                                                                \
    LAZY_COUNTER(waiting, LEVEL, "communicators without modules of their own, now")                                        \
    LAZY_COUNTER(selected_at_once, LEVEL, "communicators whose modules were selected at their creation")                 \
    LAZY_COUNTER(selected_later, LEVEL, "communicators whose modules were selected at their first operation")            \
    LAZY_COUNTER(shared, LEVEL, "communicators that got the modules of another one of their group")                      \
    LAZY_COUNTER(groups, LEVEL, "groups whose modules are kept to be shared")                                              \
    LAZY_COUNTER(groups_refused, LEVEL, "groups whose modules are not kept: a process has LUCID_LAZY_GROUPS of them")

struct lazy_counters {
#define X(name, class, description) unsigned long long name;
    LAZY_COUNTERS(X)
#undef X
};
extern struct lazy_counters lucid_lazy_counters;

#define lazy_count(name, n) ((void)__atomic_add_fetch(&lucid_lazy_counters.name, (unsigned long long)(n), __ATOMIC_RELAXED))

/** Registers the performance variables. */
void lucid_lazy_counters_register(void);

#endif
