/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The Lucid authors
 *
 * lucid.h: see where the messages of an MPI program go.
 *
 * A session is a window on the traffic of the calling process, bound to a communicator. Sessions overlap and nest
 * freely. While a session is active, every message that a member of the communicator sends to another member is
 * recorded, whatever communicator carries it, collectives as the point-to-point messages they are made of (where the
 * source can see them, see lucid_source_info()).
 *
 * The sessions and their states are those of "Improving MPI application communication time with an introspection
 * monitoring library" (Inria RR 9292), section 4; MPI_Monitoring.h offers that paper's API on top of this one.
 *
 * Every function returns LUCID_SUCCESS (0) or one of the LUCID_ERR_ codes; output parameters are set on success only.
 * Every function may be called from any thread between MPI_Init and MPI_Finalize. Functions said to be "collective"
 * must be called by all processes of the session's communicator, in the same order.
 */
#ifndef LUCID_H
#define LUCID_H

#include <stddef.h>
#include <stdint.h>

#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LUCID_VERSION_MAJOR 0
#define LUCID_VERSION_MINOR 1
#define LUCID_VERSION_PATCH 0
#define LUCID_VERSION "0.1.0"

#if defined(__GNUC__)
#define LUCID_PUBLIC __attribute__((visibility("default")))
#else
#define LUCID_PUBLIC
#endif

/** Identifies a session of this process. Never 0 or negative for a living session. */
typedef int lucid_session_t;

/** Stands for every living session, where a function accepts it. */
#define LUCID_ALL_SESSIONS (-1)

/** Error codes. The first nine are those of the paper, section 4.3. */
enum {
    LUCID_SUCCESS = 0,
    LUCID_ERR_INTERNAL = -1,      /**< out of memory, or a system call failed */
    LUCID_ERR_MPI = -2,           /**< an MPI or MPI_T function failed, or the communicator cannot carry a session */
    LUCID_ERR_MISSING_INIT = -3,  /**< lucid_init() has not been called */
    LUCID_ERR_STILL_ACTIVE = -4,  /**< at least one session has not been suspended */
    LUCID_ERR_NOT_SUSPENDED = -5, /**< the session has not been suspended */
    LUCID_ERR_SESSION = -6,       /**< no living session has this identifier, or it may not be LUCID_ALL_SESSIONS here */
    LUCID_ERR_OVERFLOW = -7,      /**< the maximum number of sessions has been reached */
    LUCID_ERR_MULTIPLE_CALL = -8, /**< init without finalize, continue of an active or suspend of a suspended session */
    LUCID_ERR_ROOT = -9,          /**< root is not a rank of the session's communicator */
    LUCID_ERR_ARG = -10,          /**< another argument is invalid */
    LUCID_ERR_IO = -11,           /**< a file could not be written */
    LUCID_ERR_TOO_LARGE = -12,    /**< the dense matrix would not fit (LUCID_DENSE_LIMIT); use lucid_session_gather() */
    LUCID_ERR_NOT_FOUND = -13     /**< no living session has this name */
};

/**
 * Kinds of traffic: what made the message. A set of kinds is a bit mask, bit k for kind k.
 * Collective kinds name the MPI call that the program made; its nonblocking and persistent forms count as the same kind.
 */
enum lucid_kind {
    LUCID_KIND_P2P = 0, /**< user point-to-point: sends of every mode, persistent and partitioned ones included */
    LUCID_KIND_BARRIER,
    LUCID_KIND_BCAST,
    LUCID_KIND_GATHER,
    LUCID_KIND_GATHERV,
    LUCID_KIND_SCATTER,
    LUCID_KIND_SCATTERV,
    LUCID_KIND_ALLGATHER,
    LUCID_KIND_ALLGATHERV,
    LUCID_KIND_ALLTOALL,
    LUCID_KIND_ALLTOALLV,
    LUCID_KIND_ALLTOALLW,
    LUCID_KIND_REDUCE,
    LUCID_KIND_ALLREDUCE,
    LUCID_KIND_REDUCE_SCATTER,
    LUCID_KIND_REDUCE_SCATTER_BLOCK,
    LUCID_KIND_SCAN,
    LUCID_KIND_EXSCAN,
    LUCID_KIND_NEIGHBOR,   /**< neighborhood collectives */
    LUCID_KIND_COMM,       /**< creation and freeing of communicators and groups */
    LUCID_KIND_WINDOW,     /**< creation and synchronisation of windows */
    LUCID_KIND_FILE,       /**< MPI-IO */
    LUCID_KIND_OTHER_COLL, /**< a collective's message whose kind the source cannot tell */
    LUCID_KIND_LIBRARY,    /**< the MPI library's own point-to-point messages, made by no call in particular */
    LUCID_KIND_UNDIVIDED,  /**< a message of which the source cannot tell whether it is the user's or a collective's */
    LUCID_KIND_PUT,
    LUCID_KIND_GET,            /**< booked at the process that calls MPI_Get; the data flow the other way */
    LUCID_KIND_ACCUMULATE,     /**< accumulate and get-accumulate */
    LUCID_KIND_FETCH_AND_OP,
    LUCID_KIND_COMPARE_AND_SWAP,
    LUCID_KIND_COUNT
};

#define LUCID_KIND_BIT(kind) (UINT64_C(1) << (kind))
/** User point-to-point only. */
#define LUCID_KINDS_USER LUCID_KIND_BIT(LUCID_KIND_P2P)
/** The messages that collectives are made of. */
#define LUCID_KINDS_COLL (LUCID_KIND_BIT(LUCID_KIND_OTHER_COLL + 1) - LUCID_KIND_BIT(LUCID_KIND_BARRIER))
/** Every point-to-point message: the user's, the collectives', the library's. */
#define LUCID_KINDS_P2P (LUCID_KIND_BIT(LUCID_KIND_UNDIVIDED + 1) - 1)
/** One-sided traffic. */
#define LUCID_KINDS_OSC (LUCID_KIND_BIT(LUCID_KIND_COUNT) - LUCID_KIND_BIT(LUCID_KIND_PUT))
/** Everything, nothing twice. */
#define LUCID_KINDS_ALL (LUCID_KIND_BIT(LUCID_KIND_COUNT) - 1)

/** Bins of a size histogram: bin 0 counts messages of 0 bytes, bin b those of 2^(b-1) <= bytes < 2^b. */
#define LUCID_HISTOGRAM_BINS 65

/** What a traffic source can see. */
enum {
    LUCID_SEES_DECOMPOSED = 1,  /**< collectives as the point-to-point messages they are made of */
    LUCID_SEES_ONE_SIDED = 2,   /**< one-sided traffic per peer */
    LUCID_SEES_KINDS = 4,       /**< which collective a message belongs to */
    LUCID_SEES_PERSISTENT = 8,  /**< persistent and partitioned sends, at their start */
    LUCID_SEES_USER = 16        /**< the user's point-to-point messages apart from the collectives' */
};

/** A square sparse matrix in compressed rows; row = sender, column = receiver, both ranks of the session's communicator. */
typedef struct lucid_matrix {
    int size;          /**< rows and columns */
    size_t entries;    /**< stored entries */
    size_t *row_start; /**< size + 1 offsets into the arrays below */
    int *column;       /**< ascending within a row */
    uint64_t *count;   /**< messages */
    uint64_t *bytes;   /**< bytes */
} lucid_matrix_t;

/** Sets the monitoring environment. Local. LUCID_ERR_MULTIPLE_CALL if it is set already. */
LUCID_PUBLIC int lucid_init(void);

/** Ends the environment and frees all sessions. Local. LUCID_ERR_STILL_ACTIVE if a session is active. */
LUCID_PUBLIC int lucid_finalize(void);

/**
 * Creates a session on an intra-communicator and starts it. Collective over comm.
 * name: at most 63 characters, unique among the living sessions of the process, or NULL for none.
 */
LUCID_PUBLIC int lucid_session_start(MPI_Comm comm, const char *name, lucid_session_t *session);

/** Suspends an active session: its data become readable. Local. Accepts LUCID_ALL_SESSIONS (suspends the active ones). */
LUCID_PUBLIC int lucid_session_suspend(lucid_session_t session);
/** Makes a suspended session active again. Local. Accepts LUCID_ALL_SESSIONS (continues the suspended ones). */
LUCID_PUBLIC int lucid_session_continue(lucid_session_t session);
/** Puts the data of a suspended session back to zero. Local. Accepts LUCID_ALL_SESSIONS (none may be active). */
LUCID_PUBLIC int lucid_session_reset(lucid_session_t session);
/** Frees a suspended session. Collective. Accepts LUCID_ALL_SESSIONS (none may be active). */
LUCID_PUBLIC int lucid_session_free(lucid_session_t session);

/** Finds a living session by name. Local. */
LUCID_PUBLIC int lucid_session_find(const char *name, lucid_session_t *session);
/** Number of processes of the session's communicator. Local, in any state. */
LUCID_PUBLIC int lucid_session_size(lucid_session_t session, int *size);

/**
 * What this process sent to each rank of the session's communicator. Local. The session must be suspended.
 * kinds: a set of kinds. counts, bytes: arrays of `size` elements, or NULL where not wanted.
 */
LUCID_PUBLIC int lucid_session_get(lucid_session_t session, uint64_t kinds, uint64_t *counts, uint64_t *bytes);
/** What this process sent to processes outside its MPI_COMM_WORLD (spawned or connected ones). Local. */
LUCID_PUBLIC int lucid_session_outside(lucid_session_t session, uint64_t kinds, uint64_t *count, uint64_t *bytes);
/**
 * Histogram of the sizes of all messages that this process sent while the session was active, to any peer. Local.
 * bins: LUCID_HISTOGRAM_BINS elements.
 */
LUCID_PUBLIC int lucid_session_histogram(lucid_session_t session, uint64_t kinds, uint64_t *bins);

/**
 * Gathers the traffic between all members to `root` as a sparse matrix, memory and traffic in proportion to its entries.
 * Collective. matrix: set at root only, to be freed with lucid_matrix_free(); ignored elsewhere (may be NULL).
 */
LUCID_PUBLIC int lucid_session_gather(lucid_session_t session, int root, uint64_t kinds, lucid_matrix_t *matrix);
/** Frees the arrays of a matrix. Local; needs no environment. */
LUCID_PUBLIC void lucid_matrix_free(lucid_matrix_t *matrix);

/**
 * Writes a suspended session to a file, by the extension of `path`: .json (everything: kinds, hosts, nodes and cores,
 * MPI version, source and what it can see), .mtx (Matrix Market, bytes of all kinds, row = sender), .prof (one line per
 * pair). Collective: rank 0 writes, all ranks return the same code. The file appears whole under its name or not at all.
 */
LUCID_PUBLIC int lucid_session_write(lucid_session_t session, const char *path);

/** Name of the traffic source in use ("pml", "mpit" or "pmpi"), and what it sees (LUCID_SEES_ bits). Local. */
LUCID_PUBLIC int lucid_source_info(const char **name, unsigned *sees);

/** Name of a kind ("bcast"), or NULL. Local; needs no environment. */
LUCID_PUBLIC const char *lucid_kind_name(int kind);
/** One line of English for an error code. Local; needs no environment. */
LUCID_PUBLIC const char *lucid_error_string(int code);

#ifdef __cplusplus
}
#endif
#endif
