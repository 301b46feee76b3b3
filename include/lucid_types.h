/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 The Lucid authors
 *
 * lucid_types.h: the part of lucid.h that knows no MPI: error codes, kinds of traffic, the sparse matrix.
 */
#ifndef LUCID_TYPES_H
#define LUCID_TYPES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define LUCID_PUBLIC __attribute__((visibility("default")))
#else
#define LUCID_PUBLIC
#endif

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

/** Frees the arrays of a matrix. Local; needs no environment. */
LUCID_PUBLIC void lucid_matrix_free(lucid_matrix_t *matrix);

#ifdef __cplusplus
}
#endif

#endif
