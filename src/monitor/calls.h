/* SPDX-License-Identifier: BSD-3-Clause
 * calls.h: what the wrapped MPI calls (src/pmpi, generated) tell the monitor.
 *
 * A wrapper calls lucid_call_enter(kind) first and lucid_call_leave() last; enter returns true for the outermost call of
 * the thread while somebody listens, and only then the wrapper reports what the call sends. The kind that the outermost
 * call has set is what the PML source books the call's messages under.
 */
#ifndef LUCID_CALLS_H
#define LUCID_CALLS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <lucid.h>

#include "../core/visibility.h"

/** Number of active sessions: nobody listens while it is 0. */
extern LUCID_INTERNAL _Atomic int lucid_listening;

struct lucid_thread {
    int kind_plus_one; /* of the outermost wrapped call, 0 outside any */
    int own;           /* > 0 while Lucid itself communicates on this thread */
};
extern LUCID_INTERNAL_TLS _Thread_local struct lucid_thread lucid_thread;

static inline bool lucid_call_enter(int kind)
{
    if (LUCID_LIKELY(atomic_load_explicit(&lucid_listening, memory_order_relaxed) == 0)) return false;
    if (lucid_thread.kind_plus_one != 0 || lucid_thread.own != 0) return false;
    lucid_thread.kind_plus_one = kind + 1;
    return true;
}

/** `entered`: what lucid_call_enter() returned. */
static inline void lucid_call_leave(bool entered)
{
    if (entered) lucid_thread.kind_plus_one = 0;
}

/** A blocking or nonblocking user send, once it has succeeded. Any destination; MPI_PROC_NULL counts nothing. */
LUCID_INTERNAL void lucid_call_send(MPI_Count count, MPI_Datatype type, int dest, MPI_Comm comm);

/** Persistent sends. `init` is called always (also while nobody listens), start for each outermost MPI_Start(all). */
LUCID_INTERNAL void lucid_call_send_init(MPI_Request request, MPI_Count count, MPI_Datatype type, int dest, MPI_Comm comm);
LUCID_INTERNAL void lucid_call_start(int n, const MPI_Request *requests);
/** A request is about to be freed by MPI_Request_free. Always called. */
LUCID_INTERNAL void lucid_call_request_free(MPI_Request request);

/** Partitioned sends: `count` elements per partition. `init` always, `ready` when outermost. */
LUCID_INTERNAL void lucid_call_psend_init(MPI_Request request, MPI_Count count, MPI_Datatype type, int dest, MPI_Comm comm);
LUCID_INTERNAL void lucid_call_pready(int partitions, MPI_Request request);

/** A one-sided call to `target` (rank in the window's group). kind: LUCID_KIND_PUT ... LUCID_KIND_COMPARE_AND_SWAP. */
LUCID_INTERNAL void lucid_call_one_sided(int kind, MPI_Count count, MPI_Datatype type, int target, MPI_Win win);

/** Pattern of a collective call, for sources that do not see its messages: what this process contributes nominally. */
enum lucid_coll_shape {
    LUCID_COLL_TO_ALL,       /* the same bytes to every other process (allgather, allreduce, barrier) */
    LUCID_COLL_FROM_ROOT,    /* root: the same bytes to every other (bcast) or its own part (scatter) */
    LUCID_COLL_TO_ROOT,      /* non-roots: bytes to root (gather, reduce) */
    LUCID_COLL_TO_HIGHER,    /* bytes to every higher rank (scan, exscan) */
    LUCID_COLL_VECTOR,       /* counts[i] elements to process i (alltoallv, reduce_scatter, scatterv at root) */
    LUCID_COLL_NEIGHBORS,    /* bytes to every outgoing neighbor of the topology */
    LUCID_COLL_NEIGHBORS_V   /* counts[i] elements to outgoing neighbor i */
};

/** One collective call as the program made it. Unused fields are 0. */
struct lucid_coll_call {
    int kind;
    enum lucid_coll_shape shape;
    MPI_Comm comm;
    int root;                  /* rooted shapes; MPI_ROOT and MPI_PROC_NULL on inter-communicators */
    MPI_Count count;           /* elements, where all peers get the same */
    MPI_Datatype type;
    const int *counts;         /* vector shapes; one of the two */
    const MPI_Count *counts_c;
    const MPI_Datatype *types; /* alltoallw: per peer; else NULL and `type` holds */
};
LUCID_INTERNAL void lucid_call_collective(const struct lucid_coll_call *call);

/** Around nonblocking and persistent collectives (see source.h); called always. */
LUCID_INTERNAL void lucid_call_nbc_begin(MPI_Comm comm, int kind, bool persistent, int64_t *token);
LUCID_INTERNAL void lucid_call_nbc_end(MPI_Comm comm, int kind, bool persistent, int64_t token);

/** Around window creation; called always. */
LUCID_INTERNAL void lucid_call_window_begin(void);
LUCID_INTERNAL void lucid_call_window_end(void);

/** After a successful MPI_Init or MPI_Init_thread, before MPI_Finalize, and at MPI_Pcontrol: the whole-run recording of
 *  `lucid run` (LUCID_DIR). Nothing happens when LUCID_DIR is not set. */
LUCID_INTERNAL void lucid_call_init(void);
LUCID_INTERNAL void lucid_call_finalize(void);
LUCID_INTERNAL void lucid_call_pcontrol(int level);

/** World rank of `rank` of comm's (remote) group, or LUCID_PEER_OUTSIDE. Cached on the communicator. */
LUCID_INTERNAL uint32_t lucid_world_rank(MPI_Comm comm, int rank);

#endif
