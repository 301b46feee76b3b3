/* SPDX-License-Identifier: BSD-3-Clause
 * ompi_5_0.h: what Lucid needs of Open MPI 5.0's inside, where the series differ. One such header per series; no
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
#define LUCID_OMPI_COLL_VERSION MCA_COLL_BASE_VERSION_2_4_0
typedef int lucid_ompi_count_t;
typedef const int *lucid_ompi_counts_t;
#define lucid_ompi_counts_get(counts, i) ((counts)[i])

/** So many counts in that form; `room` is for as many. */
static inline lucid_ompi_counts_t lucid_ompi_counts_of(const size_t *counts, int *room, int many)
{
    for (int i = 0; i < many; i++) room[i] = (int)counts[i];
    return room;
}

/** Keeps what a communicator's table (c_coll) has in slot `api` in `saved`, a table too, before `module` takes that slot. In this
 *  series the framework installs the functions of a module that was enabled, and needs no giving back. */
#define LUCID_OMPI_COLL_TAKE(comm, saved, module, api)                                                        \
    do {                                                                                                      \
        (saved)->coll_##api = (comm)->c_coll->coll_##api;                                                     \
        (saved)->coll_##api##_module = (comm)->c_coll->coll_##api##_module;                                   \
        if ((saved)->coll_##api##_module) OBJ_RETAIN((saved)->coll_##api##_module);                           \
    } while (0)
#define LUCID_OMPI_COLL_GIVE_BACK(comm, saved, module, api) ((void)0)

#define LUCID_OMPI_COLL_DATA {MCA_BASE_METADATA_PARAM_NONE}

#define LUCID_OMPI_INFO_VALUE_MAX OPAL_MAX_INFO_VAL

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

/** Whether a communicator has an info key at all. */
static inline bool lucid_ompi_comm_has_info(const ompi_communicator_t *comm)
{
    return comm->super.s_info != NULL && !opal_list_is_empty(&comm->super.s_info->super);
}

/** Whether several threads may be in the library at once, by what it says now: MPI_T_init_thread may lower that again. */
static inline bool lucid_ompi_threads(void)
{
    return ompi_mpi_thread_multiple || opal_using_threads();
}

static inline bool lucid_ompi_comm_is_revoked(ompi_communicator_t *comm)
{
#if OPAL_ENABLE_FT_MPI
    return ompi_comm_is_revoked(comm);
#else
    return false;
#endif
}

#ifdef LUCID_WANT_JOB_MAP
#include <pmix.h>
#include <stdlib.h>
#include <string.h>

/** What the job's description, which every process has, says of the job or of one of its nodes; to be freed. NULL: nothing.
 * PMIx_Resolve_nodes and PMIx_Resolve_peers would ask the daemon, and PRRTE's complains that it does not know that question. */
static inline char *lucid_ompi_described(const char *key, const char *node)
{
    pmix_proc_t job;
    pmix_info_t about[3];
    pmix_value_t *value = NULL;
    char *text = NULL;
    PMIX_LOAD_PROCID(&job, opal_process_info.myprocid.nspace, PMIX_RANK_WILDCARD);
    PMIX_INFO_LOAD(&about[0], PMIX_OPTIONAL, NULL, PMIX_BOOL);
    PMIX_INFO_LOAD(&about[1], PMIX_NODE_INFO, NULL, PMIX_BOOL);
    PMIX_INFO_LOAD(&about[2], PMIX_HOSTNAME, node ? node : "", PMIX_STRING);
    if (PMIx_Get(&job, key, about, node ? 3 : 1, &value) == PMIX_SUCCESS && value && value->type == PMIX_STRING && value->data.string)
        text = strdup(value->data.string);
    if (value) PMIX_VALUE_RELEASE(value);
    for (int i = 0; i < 3; i++) PMIX_INFO_DESTRUCT(&about[i]);
    return text;
}

/** Numbers the nodes of this job and fills in the node of each of its `size` processes that is known. False: not to be had. */
static inline bool lucid_ompi_job_map(int *node, int size)
{
    char *list = lucid_ompi_described(PMIX_NODE_LIST, NULL), *rest = NULL;
    int number = 0;
    if (!list) return false;
    for (char *name = strtok_r(list, ",", &rest); name; name = strtok_r(NULL, ",", &rest), number++) {
        char *peers = lucid_ompi_described(PMIX_LOCAL_PEERS, name), *others = NULL;
        for (char *peer = peers ? strtok_r(peers, ",", &others) : NULL; peer; peer = strtok_r(NULL, ",", &others)) {
            unsigned long rank = strtoul(peer, NULL, 10);
            if (rank < (unsigned long)size) node[rank] = number;
        }
        free(peers);
    }
    free(list);
    return true;
}

/** Whether this process is bound to processors: only then is it known which others share its socket. */
static inline bool lucid_ompi_is_bound(void)
{
    return opal_process_info.locality != NULL;
}
#endif

static inline const char *lucid_ompi_session_dir(void)
{
    return opal_process_info.job_session_dir;
}

/** Processes of this job, and those of them on this node. */
static inline int lucid_ompi_job_size(void)
{
    return (int)ompi_process_info.num_procs;
}
static inline int lucid_ompi_local_size(void)
{
    return (int)ompi_process_info.num_local_peers + 1;
}

#endif
