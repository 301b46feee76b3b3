/* SPDX-License-Identifier: BSD-3-Clause
 * pml_source.c: the traffic source that sees every message: while a session is active, the entries of Open MPI's PML
 * function table that send are replaced by counting ones, which book the message and call the original.
 *
 * The table holds the user's messages and all that PML-based collectives send, decomposed. It is the original, byte for
 * byte, while no session is active. Peers are named by their process name, whose vpid is the rank in MPI_COMM_WORLD: no
 * table of ranks, right for every communicator, and a process of another job is known as such.
 */
#include "pml_source.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "../core/counters.h"
#include "../monitor/calls.h"
#include "../monitor/source.h"

bool lucid_pml_interposed;

static mca_pml_base_module_t original;
static _Atomic bool hooked;
static opal_jobid_t my_job;

static inline uint32_t rank_of(opal_process_name_t name)
{
    return LUCID_LIKELY(name.jobid == my_job && name.vpid < LUCID_PEER_LIMIT) ? name.vpid : LUCID_PEER_OUTSIDE;
}

/** The process of a rank of comm's (remote) group where the group's array simply holds it, else NULL. */
static inline const ompi_proc_t *plain_proc(const ompi_communicator_t *comm, int rank)
{
    const ompi_group_t *group = comm->c_remote_group;
    if (LUCID_UNLIKELY(rank < 0 || !OMPI_GROUP_IS_DENSE(group))) return NULL;
    const ompi_proc_t *proc = group->grp_proc_pointers[rank];
    return LUCID_LIKELY(!ompi_proc_is_sentinel((ompi_proc_t *)proc)) ? proc : NULL;
}

/** World rank of a process of comm's (remote) group. */
static inline uint32_t peer_of(const ompi_communicator_t *comm, int rank)
{
    const ompi_proc_t *proc = plain_proc(comm, rank);
    return rank_of(proc != NULL ? proc->super.proc_name : ompi_group_get_proc_name(comm->c_remote_group, rank));
}

static inline uint64_t packed_size(const struct ompi_datatype_t *type, size_t count)
{
    return (uint64_t)type->super.size * count;
}

/** Books what most messages are: the user's, in a wrapped call, to a peer that is known by now. False, and nothing is done,
 *  for all others. */
static inline bool book_usual(size_t count, const struct ompi_datatype_t *type, int dst, int tag,
                              const ompi_communicator_t *comm)
{
    if (LUCID_UNLIKELY((tag | dst) < 0 || lucid_thread.kind_plus_one != LUCID_KIND_P2P + 1 ||
                       atomic_load_explicit(&lucid_pml_library_count, memory_order_relaxed) != 0))
        return false;
    const ompi_proc_t *proc = plain_proc(comm, dst);
    return LUCID_LIKELY(proc != NULL) &&
           lucid_count_known(rank_of(proc->super.proc_name), LUCID_KIND_P2P, packed_size(type, count));
}

/** Books any message. */
static void book(size_t count, const struct ompi_datatype_t *type, int dst, int tag, const ompi_communicator_t *comm)
{
    int kind = lucid_pml_kind(tag, comm);
    if (kind != LUCID_PML_NONE && dst >= 0) lucid_count_one(peer_of(comm, dst), (unsigned)kind, packed_size(type, count));
}

/* The usual way holds nothing but jumps, so that it saves no register: the rest stands in functions of its own. */
static __attribute__((noinline)) int book_isend(const void *buf, size_t count, struct ompi_datatype_t *type, int dst, int tag,
                                                mca_pml_base_send_mode_t mode, struct ompi_communicator_t *comm,
                                                struct ompi_request_t **request)
{
    book(count, type, dst, tag, comm);
    return original.pml_isend(buf, count, type, dst, tag, mode, comm, request);
}

static int counting_isend(const void *buf, size_t count, struct ompi_datatype_t *type, int dst, int tag,
                          mca_pml_base_send_mode_t mode, struct ompi_communicator_t *comm, struct ompi_request_t **request)
{
    if (LUCID_UNLIKELY(!book_usual(count, type, dst, tag, comm)))
        return book_isend(buf, count, type, dst, tag, mode, comm, request);
    return original.pml_isend(buf, count, type, dst, tag, mode, comm, request);
}

static __attribute__((noinline)) int book_send(const void *buf, size_t count, struct ompi_datatype_t *type, int dst, int tag,
                                               mca_pml_base_send_mode_t mode, struct ompi_communicator_t *comm)
{
    book(count, type, dst, tag, comm);
    return original.pml_send(buf, count, type, dst, tag, mode, comm);
}

static int counting_send(const void *buf, size_t count, struct ompi_datatype_t *type, int dst, int tag,
                         mca_pml_base_send_mode_t mode, struct ompi_communicator_t *comm)
{
    if (LUCID_UNLIKELY(!book_usual(count, type, dst, tag, comm)))
        return book_send(buf, count, type, dst, tag, mode, comm);
    return original.pml_send(buf, count, type, dst, tag, mode, comm);
}

/* User persistent and partitioned sends are started through their request, past the table, and are counted from the
 * wrapped calls; so only what collectives make is remembered here. */
static int counting_isend_init(const void *buf, size_t count, struct ompi_datatype_t *type, int dst, int tag,
                               mca_pml_base_send_mode_t mode, struct ompi_communicator_t *comm,
                               struct ompi_request_t **request)
{
    int rc = original.pml_isend_init(buf, count, type, dst, tag, mode, comm, request);
    int kind = lucid_pml_kind(tag, comm);
    if (rc == OMPI_SUCCESS && dst >= 0 && kind != LUCID_PML_NONE && kind != LUCID_KIND_P2P && kind != LUCID_KIND_LIBRARY)
        lucid_pml_remember_request(*request, LUCID_CELL_KEY(peer_of(comm, dst), kind), packed_size(type, count));
    return rc;
}

static int counting_start(size_t n, struct ompi_request_t **requests)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t key;
        uint64_t bytes;
        if (lucid_pml_take_request(requests[i], &key, &bytes)) lucid_count(key >> 6, key & 63, 1, bytes);
    }
    return original.pml_start(n, requests);
}

/** Writes one entry of the table; other threads may be reading it. */
#define SET(entry, value) __atomic_store_n(&mca_pml.entry, (value), __ATOMIC_RELEASE)

static int activate(void)
{
    if (hooked) return 0;
    original = mca_pml;
    hooked = true;
    SET(pml_isend_init, counting_isend_init);
    SET(pml_start, counting_start);
    SET(pml_send, counting_send);
    SET(pml_isend, counting_isend);
    return 0;
}

/** Somebody else may have put a layer of his own on top meanwhile: then ours must stay below it. */
static bool on_top(void)
{
    return mca_pml.pml_isend == counting_isend && mca_pml.pml_send == counting_send &&
           mca_pml.pml_isend_init == counting_isend_init && mca_pml.pml_start == counting_start;
}

static void deactivate(void)
{
    if (!hooked || !on_top()) return;
    SET(pml_isend, original.pml_isend);
    SET(pml_send, original.pml_send);
    SET(pml_start, original.pml_start);
    SET(pml_isend_init, original.pml_isend_init);
    hooked = false;
}

static unsigned sees(bool interposed)
{
    unsigned always = LUCID_SEES_DECOMPOSED | LUCID_SEES_KINDS | LUCID_SEES_USER;
    return interposed ? always | LUCID_SEES_ONE_SIDED | LUCID_SEES_PERSISTENT : always;
}

/** Whether the structures are laid out as the headers say, on facts that are known otherwise. */
static bool layout_is_right(void)
{
    const ompi_communicator_t *world = &ompi_mpi_comm_world.comm;
    const ompi_group_t *group = world->c_local_group;
    if (!group || group != world->c_remote_group || world->c_my_rank != group->grp_my_rank) return false;
    if (world->c_my_rank < 0 || world->c_my_rank >= group->grp_proc_count) return false;
    if (strcmp(world->c_name, "MPI_COMM_WORLD") != 0 && world->c_name[0] == '\0') return false;
    if (ompi_group_get_proc_name(world->c_local_group, world->c_my_rank).vpid != (opal_vpid_t)world->c_my_rank) return false;
    return ompi_mpi_byte.dt.super.size == 1 && ompi_mpi_double.dt.super.size == sizeof(double);
}

static int open_source(bool interposed, char *why, size_t size)
{
    if (!layout_is_right()) {
        snprintf(why, size, "this Open MPI's structures are laid out otherwise than the headers say it was built with");
        return -1;
    }
    if (!mca_pml.pml_send || !mca_pml.pml_isend || !mca_pml.pml_isend_init || !mca_pml.pml_start) {
        snprintf(why, size, "this Open MPI calls its PML directly (built with --enable-mca-direct)");
        return -1;
    }
    lucid_pml_interposed = interposed;
    my_job = ompi_group_get_proc_name(ompi_mpi_comm_world.comm.c_local_group, ompi_mpi_comm_world.comm.c_my_rank).jobid;
    return 0;
}

static void nbc_begin(MPI_Comm comm, int kind, bool persistent, int64_t *token)
{
    *token = comm != MPI_COMM_NULL ? comm->c_nbc_tag : 0;
}

static void nbc_end(MPI_Comm comm, int kind, bool persistent, int64_t token)
{
    if (comm != MPI_COMM_NULL) lucid_pml_nbc_remember(comm, (int32_t)token, comm->c_nbc_tag, kind, persistent);
}

static void nbc_tags(MPI_Comm comm, int kind, int first, int count)
{
    lucid_pml_nbc_remember(comm, first + count - 1, first - 1, kind, false);
}

static void shown(MPI_Comm comm, int peer, int tag, uint64_t bytes)
{
    if (atomic_load_explicit(&hooked, memory_order_relaxed)) book(bytes, &ompi_mpi_byte.dt, peer, tag, comm);
}

__attribute__((visibility("default"))) const struct lucid_source lucid_source_pml = {
    .name = "pml",
    .built_for = LUCID_OMPI_VERSION,
    .sees = sees,
    .open = open_source,
    .activate = activate,
    .deactivate = deactivate,
    .nbc_begin = nbc_begin,
    .nbc_end = nbc_end,
    .nbc_tags = nbc_tags,
    .shown = shown,
    .window_begin = lucid_pml_library_begin,
    .window_end = lucid_pml_library_end,
    .blind = lucid_pml_blind,
};
