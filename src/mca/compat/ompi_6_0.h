/* SPDX-License-Identifier: BSD-3-Clause
 * ompi_6_0.h: what Lucid needs of Open MPI 6.0's inside, where the series differ. One such header per series; no
 * other file of Lucid tells versions apart.
 */
#ifndef LUCID_COMPAT_H
#define LUCID_COMPAT_H

#include "ompi_internals.h"

/** The number of a communicator in this process. */
static inline uint32_t lucid_ompi_comm_number(const ompi_communicator_t *comm)
{
    return (uint32_t)comm->c_index;
}

/** Tags of the communicator creation's own messages. */
#define LUCID_OMPI_COMM_TAG_FIRST OMPI_COMM_ALLGATHER_TAG
#define LUCID_OMPI_COMM_TAG_LAST OMPI_COMM_ALLREDUCE_TAG

/** Components of framework coll: the interface's version, and what counts are in it. */
#define LUCID_OMPI_COLL_VERSION MCA_COLL_BASE_VERSION_3_0_0
typedef size_t lucid_ompi_count_t;
typedef ompi_count_array_t lucid_ompi_counts_t;
#define lucid_ompi_counts_get(counts, i) ompi_count_array_get(counts, i)

/** So many counts in that form; `room` is for as many. */
static inline lucid_ompi_counts_t lucid_ompi_counts_of(const size_t *counts, int *room, int many)
{
    return ompi_count_array_create_c(counts);
}

/** Keeps what a communicator's table (c_coll) has in slot `api` in `saved`, a table too, before `module` takes that slot. In this
 *  series the module itself installs its function, and takes it out. */
#define LUCID_OMPI_COLL_TAKE(comm, saved, module, api)                                                        \
    do {                                                                                                      \
        (saved)->coll_##api = (comm)->c_coll->coll_##api;                                                     \
        (saved)->coll_##api##_module = (comm)->c_coll->coll_##api##_module;                                   \
        if ((saved)->coll_##api##_module) OBJ_RETAIN((saved)->coll_##api##_module);                           \
        (comm)->c_coll->coll_##api = (module)->coll_##api;                                                    \
        (comm)->c_coll->coll_##api##_module = (module);                                                       \
    } while (0)
#define LUCID_OMPI_COLL_GIVE_BACK(comm, saved, module, api)                                                   \
    do {                                                                                                      \
        if ((comm)->c_coll->coll_##api##_module == (module)) {                                                \
            (comm)->c_coll->coll_##api = (saved)->coll_##api;                                                 \
            (comm)->c_coll->coll_##api##_module = (saved)->coll_##api##_module;                               \
        }                                                                                                     \
    } while (0)

/** What a component says of itself besides its version: nothing in this series. */
#define LUCID_OMPI_COLL_DATA {MCA_BASE_METADATA_PARAM_NONE}

/** Whether several threads may be in the library at once, by what it says now: MPI_T_init_thread may lower that again. */
static inline bool lucid_ompi_threads(void)
{
    return ompi_mpi_thread_multiple || opal_using_threads();
}

/** The value of an info key of a communicator. False if it has none. */
static inline bool lucid_ompi_comm_info(const ompi_communicator_t *comm, const char *key, char *value, size_t size)
{
    opal_cstring_t *text = NULL;
    int found = 0;
    if (comm->super.s_info != NULL) (void)opal_info_get(comm->super.s_info, key, &text, &found);
    if (!found) return false;
    snprintf(value, size, "%s", text->string);
    OBJ_RELEASE(text);
    return true;
}

#endif
