/* SPDX-License-Identifier: BSD-3-Clause
 * calls.h: what the wrapped MPI calls (src/pmpi, generated) tell the monitor.
 *
 * A wrapper calls lucid_call_enter(kind) first and lucid_call_leave() last; enter returns true for the outermost call
 * of the thread while somebody listens, and only then the wrapper reports what the call sends. The kind that the
 * outermost call has set is what the PML source books the call's messages under.
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
    int timed;         /* how deep in calls that are timed */
    uint64_t began;    /* when the outermost of them began */
};
extern LUCID_INTERNAL_TLS _Thread_local struct lucid_thread lucid_thread;

/** Whether the time in MPI is measured (call_time.c); changes in MPI_Init and MPI_Finalize only. */
extern LUCID_INTERNAL bool lucid_timing;
LUCID_INTERNAL void lucid_call_began(void);
LUCID_INTERNAL void lucid_call_ended(void);
/** Seconds so far, of all threads of the process. */
LUCID_INTERNAL double lucid_time_in_mpi(void);

/** Around a call that sends nothing by itself but takes time. */
static inline bool lucid_call_watch(void)
{
    if (LUCID_LIKELY(!lucid_timing) || lucid_thread.own != 0) return false;
    lucid_call_began();
    return true;
}

/** `watched`: what lucid_call_watch() returned. */
static inline void lucid_call_unwatch(bool watched)
{
    if (LUCID_UNLIKELY(watched)) lucid_call_ended();
}

static inline bool lucid_call_enter(int kind)
{
    if (LUCID_LIKELY(atomic_load_explicit(&lucid_listening, memory_order_relaxed) == 0)) return false;
    if (lucid_thread.kind_plus_one != 0 || lucid_thread.own != 0) return false;
    lucid_thread.kind_plus_one = kind + 1;
    if (LUCID_UNLIKELY(lucid_timing)) lucid_call_began();
    return true;
}

/** `entered`: what lucid_call_enter() returned. */
static inline void lucid_call_leave(bool entered)
{
    if (!entered) return;
    lucid_thread.kind_plus_one = 0;
    if (LUCID_UNLIKELY(lucid_timing)) lucid_call_ended();
}

/** A blocking or nonblocking user send, once it has succeeded. Any destination; MPI_PROC_NULL counts nothing. */
LUCID_INTERNAL void lucid_report_send(MPI_Count count, MPI_Datatype type, int dest, MPI_Comm comm);
/** Whether the source wants to be told (it need not where it sees the messages itself). Set before anybody listens. */
extern LUCID_INTERNAL bool lucid_sends_wanted;

static inline void lucid_call_send(MPI_Count count, MPI_Datatype type, int dest, MPI_Comm comm)
{
    if (lucid_sends_wanted) lucid_report_send(count, type, dest, comm);
}

/** Persistent sends and collectives. `init` is called always (also while nobody listens). */
LUCID_INTERNAL void lucid_call_send_init(MPI_Request request, MPI_Count count, MPI_Datatype type, int dest,
                                         MPI_Comm comm);
/** Whether any persistent request is known: otherwise nothing needs to be done around MPI_Start. */
LUCID_INTERNAL bool lucid_call_requests_known(void);
/** The kind to enter with: that of the first collective among the requests, else LUCID_KIND_P2P. */
LUCID_INTERNAL int lucid_call_start_kind(int n, const MPI_Request *requests);
/** MPI_Start or MPI_Startall has succeeded. `entered`: count them. Called always: the library may have put new requests in
 *  the place of those it was given (Open MPI's ob1 does so while the previous message is still under way). */
LUCID_INTERNAL void lucid_call_start(bool entered, int n, const MPI_Request *before, const MPI_Request *after);
/** A request is about to be freed by MPI_Request_free. Always called. */
LUCID_INTERNAL void lucid_call_request_free(MPI_Request request);

/** Partitioned sends: `count` elements per partition. `init` always, `ready` when outermost. */
LUCID_INTERNAL void lucid_call_psend_init(MPI_Request request, MPI_Count count, MPI_Datatype type, int dest,
                                          MPI_Comm comm);
LUCID_INTERNAL void lucid_call_pready(MPI_Count partitions, MPI_Request request);

/**
 * A one-sided call to `target` (rank in the window's group; MPI_PROC_NULL counts nothing). One message of the origin's
 * bytes: put and accumulate move them to the target, get from it. get_accumulate counts the same way, so that it equals
 * an accumulate; with MPI_NO_OP the origin's buffer is not read and the result's bytes count instead, so that it equals
 * a get. fetch_and_op and compare_and_swap move one element. kind: LUCID_KIND_PUT ... LUCID_KIND_COMPARE_AND_SWAP.
 */
LUCID_INTERNAL void lucid_call_one_sided(int kind, MPI_Count count, MPI_Datatype type, int target, MPI_Win win);

/** Pattern of a collective call, for sources that do not see its messages: what this process contributes nominally. */
enum lucid_coll_shape {
    LUCID_COLL_TO_ALL,       /* the same bytes to every other process (allgather, allreduce, barrier) */
    LUCID_COLL_FROM_ROOT,    /* root: the same number of bytes to every other (bcast, scatter) */
    LUCID_COLL_FROM_ROOT_V,  /* root: counts[i] elements to process i (scatterv) */
    LUCID_COLL_TO_ROOT,      /* non-roots: bytes to root (gather, reduce) */
    LUCID_COLL_TO_HIGHER,    /* bytes to every higher rank (scan, exscan) */
    LUCID_COLL_VECTOR,       /* counts[i] elements to process i (alltoallv, alltoallw, reduce_scatter) */
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
    const int *counts;         /* vector shapes; one of the three: in C, */
    const MPI_Count *counts_c; /* of large-count calls, */
    const MPI_Fint *counts_f;  /* in Fortran */
    const MPI_Datatype *types; /* alltoallw: per peer; else NULL and `type` holds */
    const MPI_Fint *types_f;   /* the same in Fortran */
};
LUCID_INTERNAL void lucid_call_collective(const struct lucid_coll_call *call);
/** A persistent collective has been made. Always called. It counts when it is started. */
LUCID_INTERNAL void lucid_call_coll_init(MPI_Request request, const struct lucid_coll_call *call);

/** Around nonblocking and persistent collectives (see source.h); called always. Nested pairs of a thread count as one (an
 *  MPI whose Fortran entry points call its C ones makes them). */
LUCID_INTERNAL void lucid_call_nbc_begin(MPI_Comm comm, int kind, bool persistent, int64_t *token);
LUCID_INTERNAL void lucid_call_nbc_end(MPI_Comm comm, int kind, bool persistent, int64_t token);

/** For coll/sparse, which looks it up by its name: nonblocking calls that share tags say which they have. A component has the library's
 *  object of a communicator: in Open MPI the handle is its address. */
LUCID_INTERNAL void lucid_nbc_tags(MPI_Comm comm, int first, int count);

/** As well, and for the reductions of this library: a process of the communicator reads these bytes in this one's memory, in place of a message with that tag, and they count as one. */
LUCID_INTERNAL void lucid_coll_shown(MPI_Comm comm, int peer, int tag, uint64_t bytes);

/** Around window creation; called always; nested as above. */
LUCID_INTERNAL void lucid_call_window_begin(void);
LUCID_INTERNAL void lucid_call_window_end(void);

/** After a successful MPI_Init or MPI_Init_thread, before MPI_Finalize, and at MPI_Pcontrol: the whole-run recording of
 *  `lucid run` (LUCID_DIR). Nothing happens when LUCID_DIR is not set. Init and finalize may
 *  come twice (from a Fortran entry point and from the C one that it calls): the second does nothing. */
LUCID_INTERNAL void lucid_call_init(void);
LUCID_INTERNAL void lucid_call_finalize(void);
LUCID_INTERNAL void lucid_call_pcontrol(int level);

/** World rank of `rank` of comm's (remote) group, or LUCID_PEER_OUTSIDE. Cached on the communicator. Thread-safe. */
LUCID_INTERNAL uint32_t lucid_world_rank(MPI_Comm comm, int rank);
/** World rank of `rank` of the window's group, or LUCID_PEER_OUTSIDE. Cached on the window. Thread-safe. */
LUCID_INTERNAL uint32_t lucid_world_rank_win(MPI_Win win, int rank);

/** Whether the program's MPI calls come through the wrappers of src/pmpi. */
LUCID_INTERNAL bool lucid_wrappers_interposed(void);

#endif
