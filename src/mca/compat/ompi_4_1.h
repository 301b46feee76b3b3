/* SPDX-License-Identifier: BSD-3-Clause
 * ompi_4_1.h: what Lucid needs of Open MPI 4.1's inside, where the series differ. One such header per series; no
 * other file of Lucid tells versions apart.
 */
#ifndef LUCID_COMPAT_H
#define LUCID_COMPAT_H

#include "ompi_internals.h"

/** The number of a communicator in this process. */
static inline uint32_t lucid_ompi_comm_number(const ompi_communicator_t *comm)
{
    return (uint32_t)comm->c_contextid;
}

/** Tags of the communicator creation's own messages: none in this series, it uses nonblocking collectives. */
#define LUCID_OMPI_COMM_TAG_FIRST 0
#define LUCID_OMPI_COMM_TAG_LAST 0

/** Components of framework coll: the interface's version, and what counts are in it. */
#define LUCID_OMPI_COLL_VERSION MCA_COLL_BASE_VERSION_2_0_0
typedef int lucid_ompi_count_t;
typedef const int *lucid_ompi_counts_t;
#define lucid_ompi_counts_get(counts, i) ((counts)[i])

/** Keeps what a communicator's table (c_coll) has in slot `api` in `saved`, a table too, before `module` takes that slot. In this
 *  series the framework installs the functions of a module that was enabled, and needs no giving back. */
#define LUCID_OMPI_COLL_TAKE(comm, saved, module, api)                                                        \
    do {                                                                                                      \
        (saved)->coll_##api = (comm)->c_coll->coll_##api;                                                     \
        (saved)->coll_##api##_module = (comm)->c_coll->coll_##api##_module;                                   \
        if ((saved)->coll_##api##_module) OBJ_RETAIN((saved)->coll_##api##_module);                           \
    } while (0)
#define LUCID_OMPI_COLL_GIVE_BACK(comm, saved, module, api) ((void)0)

/** Says that a component may be checkpointed, which this series asks for. */
#define LUCID_OMPI_COLL_DATA {MCA_BASE_METADATA_PARAM_CHECKPOINT}

#define LUCID_OMPI_INFO_VALUE_MAX OPAL_MAX_INFO_VAL

/** The value of an info key of a communicator. False if it has none. */
static inline bool lucid_ompi_comm_info(const ompi_communicator_t *comm, const char *key, char *value, size_t size)
{
    int found = 0;
    if (comm->super.s_info != NULL) (void)opal_info_get(comm->super.s_info, key, (int)size - 1, value, &found);
    return found;
}

/** Whether the library looks after failed processes. */
static inline bool lucid_ompi_ft_enabled(void)
{
    return false;
}

static inline bool lucid_ompi_comm_is_revoked(ompi_communicator_t *comm)
{
    return false;
}

#endif
