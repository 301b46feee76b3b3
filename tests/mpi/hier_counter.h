/* SPDX-License-Identifier: BSD-3-Clause
 * hier_counter.h: reads counters of coll/hier by MPI_T. They count from hier_counters_open on.
 */
#ifndef HIER_COUNTER_H
#define HIER_COUNTER_H

#include <mpi.h>
#include <stdio.h>
#include <string.h>

static MPI_T_pvar_session hier_session;
static struct {
    char name[64];
    MPI_T_pvar_handle handle;
} hier_handles[16];
static int hier_handle_count;

/** 0: the component is there. After MPI_Init. */
static inline int hier_counters_open(void)
{
    static const char *const names[] = {"predicted", "discovered", "aside", "agreements", "calls", "passed",
                                        "messages", "setup_messages", "in_space"};
    int index, count, provided;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_T_pvar_session_create(&hier_session);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(hier_handles[i].name, sizeof hier_handles[i].name, "coll_hier_%s", names[i]);
        if (MPI_T_pvar_get_index(hier_handles[i].name, MPI_T_PVAR_CLASS_COUNTER, &index) != MPI_SUCCESS) return 1;
        if (MPI_T_pvar_handle_alloc(hier_session, index, NULL, &hier_handles[i].handle, &count) != MPI_SUCCESS) return 1;
        hier_handle_count++;
    }
    return 0;
}

/** The value so far in this process, or -1. */
static inline long hier_counter(const char *name)
{
    unsigned long long value;
    for (int i = 0; i < hier_handle_count; i++)
        if (strcmp(hier_handles[i].name + sizeof "coll_hier_" - 1, name) == 0 &&
            MPI_T_pvar_read(hier_session, hier_handles[i].handle, &value) == MPI_SUCCESS)
            return (long)value;
    return -1;
}

static inline void hier_counters_close(void)
{
    MPI_T_pvar_session_free(&hier_session);
    MPI_T_finalize();
}

#endif
