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

/** Whether a communicator has an info key at all. */
static inline bool lucid_ompi_comm_has_info(const ompi_communicator_t *comm)
{
    return comm->super.s_info != NULL && !opal_list_is_empty(&comm->super.s_info->super);
}

/** Whether several threads may be in the library at once, by what it says now: MPI_T_init_thread may lower that again. */
static inline bool lucid_ompi_threads(void)
{
    return ompi_mpi_thread_multiple;
}

static inline bool lucid_ompi_comm_is_revoked(ompi_communicator_t *comm)
{
    return false;
}

#ifdef LUCID_WANT_JOB_MAP
#include "opal/mca/pmix/pmix.h"

/** The name of a process's node, to be freed, or NULL: only what is here, the server is not asked. */
static inline char *lucid_ompi_host_of(opal_vpid_t rank)
{
    opal_process_name_t process = {.jobid = OPAL_PROC_MY_NAME.jobid, .vpid = rank};
    char *host = NULL;
    int rc;
    OPAL_MODEX_RECV_VALUE_OPTIONAL(rc, OPAL_PMIX_HOSTNAME, &process, &host, OPAL_STRING);
    return rc == OPAL_SUCCESS ? host : NULL;
}

/** Whether the runtime numbers this process's node as the list of nodes does. Where it does not, as with a rankfile that names the
 *  nodes in another order, PMIx has put this node's record in the place of another's; asked for that one, it waits for ever. */
static inline bool lucid_ompi_in_order(const char *list)
{
    opal_process_name_t self = OPAL_PROC_MY_NAME;
    uint32_t number = 0, *found = &number;
    int rc;
    OPAL_MODEX_RECV_VALUE_OPTIONAL(rc, OPAL_PMIX_NODEID, &self, &found, OPAL_UINT32);
    if (rc != OPAL_SUCCESS) return false;
    for (; list && number > 0; number--) {
        list = strchr(list, ',');
        if (list) list++;
    }
    char *own = lucid_ompi_host_of(self.vpid);
    const char *host = own ? own : opal_process_info.nodename; /* large jobs' processes are not told names */
    bool same = list && host && strncmp(list, host, strlen(host)) == 0 && strchr(",", list[strlen(host)]) != NULL;
    free(own);
    return same;
}

/** The node of each process by its name: a question per process, of what is here. */
static inline bool lucid_ompi_map_by_names(int *node, int size)
{
    char **names = calloc((size_t)size, sizeof *names);
    int count = 0, rank = 0;
    for (; names && rank < size; rank++) {
        char *host = lucid_ompi_host_of((opal_vpid_t)rank);
        int k = 0;
        if (!host) break;
        while (k < count && strcmp(names[k], host) != 0) k++;
        node[rank] = k;
        if (k < count) free(host);
        else names[count++] = host;
    }
    for (int k = 0; k < count; k++) free(names[k]);
    free(names);
    return rank == size;
}

/** The same by the lists of every node's processes: two questions per node. */
static inline void lucid_ompi_map_by_nodes(int *node, int size, char *list)
{
    char *rest = NULL;
    int number = 0;
    for (char *name = strtok_r(list, ",", &rest); name; name = strtok_r(NULL, ",", &rest), number++) {
        opal_list_t peers;
        opal_namelist_t *peer;
        OBJ_CONSTRUCT(&peers, opal_list_t);
        if (opal_pmix.resolve_peers(name, OPAL_PROC_MY_NAME.jobid, &peers) == OPAL_SUCCESS) {
            OPAL_LIST_FOREACH(peer, &peers, opal_namelist_t) {
                if (peer->name.vpid < (opal_vpid_t)size) node[peer->name.vpid] = number;
            }
        }
        OPAL_LIST_DESTRUCT(&peers);
    }
}

/** Numbers the nodes of this job and fills in the node of each of its `size` processes that is known. False: not to be had. */
static inline bool lucid_ompi_job_map(int *node, int size)
{
    char *list = NULL;
    if (opal_pmix.resolve_nodes == NULL || opal_pmix.resolve_peers == NULL) return false;
    if (opal_pmix.resolve_nodes(OPAL_PROC_MY_NAME.jobid, &list) != OPAL_SUCCESS || list == NULL) return false;
    bool had = true;
    if (lucid_ompi_in_order(list)) lucid_ompi_map_by_nodes(node, size, list);
    else had = lucid_ompi_map_by_names(node, size);
    free(list);
    return had;
}

/** Whether this process is bound to processors: only then is it known which others share its socket. */
static inline bool lucid_ompi_is_bound(void)
{
    char *place = NULL;
    int rc;
    OPAL_MODEX_RECV_VALUE_OPTIONAL(rc, OPAL_PMIX_LOCALITY_STRING, &OPAL_PROC_MY_NAME, &place, OPAL_STRING);
    bool bound = rc == OPAL_SUCCESS && place != NULL;
    free(place);
    return bound;
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
