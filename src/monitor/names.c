/* SPDX-License-Identifier: BSD-3-Clause
 * names.c: kinds and errors in words (lucid.h).
 */
#include <lucid.h>

static const char *const kinds[LUCID_KIND_COUNT] = {
    [LUCID_KIND_P2P] = "p2p",
    [LUCID_KIND_BARRIER] = "barrier",
    [LUCID_KIND_BCAST] = "bcast",
    [LUCID_KIND_GATHER] = "gather",
    [LUCID_KIND_GATHERV] = "gatherv",
    [LUCID_KIND_SCATTER] = "scatter",
    [LUCID_KIND_SCATTERV] = "scatterv",
    [LUCID_KIND_ALLGATHER] = "allgather",
    [LUCID_KIND_ALLGATHERV] = "allgatherv",
    [LUCID_KIND_ALLTOALL] = "alltoall",
    [LUCID_KIND_ALLTOALLV] = "alltoallv",
    [LUCID_KIND_ALLTOALLW] = "alltoallw",
    [LUCID_KIND_REDUCE] = "reduce",
    [LUCID_KIND_ALLREDUCE] = "allreduce",
    [LUCID_KIND_REDUCE_SCATTER] = "reduce_scatter",
    [LUCID_KIND_REDUCE_SCATTER_BLOCK] = "reduce_scatter_block",
    [LUCID_KIND_SCAN] = "scan",
    [LUCID_KIND_EXSCAN] = "exscan",
    [LUCID_KIND_NEIGHBOR] = "neighbor",
    [LUCID_KIND_COMM] = "comm",
    [LUCID_KIND_WINDOW] = "window",
    [LUCID_KIND_FILE] = "file",
    [LUCID_KIND_OTHER_COLL] = "other",
    [LUCID_KIND_LIBRARY] = "library",
    [LUCID_KIND_UNDIVIDED] = "undivided",
    [LUCID_KIND_PUT] = "put",
    [LUCID_KIND_GET] = "get",
    [LUCID_KIND_ACCUMULATE] = "accumulate",
    [LUCID_KIND_FETCH_AND_OP] = "fetch_and_op",
    [LUCID_KIND_COMPARE_AND_SWAP] = "compare_and_swap",
};

const char *lucid_kind_name(int kind)
{
    return kind >= 0 && kind < LUCID_KIND_COUNT ? kinds[kind] : NULL;
}

const char *lucid_error_string(int code)
{
    static const char *const texts[] = {
        [-LUCID_SUCCESS] = "success",
        [-LUCID_ERR_INTERNAL] = "out of memory, or a system call failed",
        [-LUCID_ERR_MPI] = "an MPI or MPI_T function failed, or the communicator cannot carry a session",
        [-LUCID_ERR_MISSING_INIT] = "lucid_init() or MPI_M_init() has not been called",
        [-LUCID_ERR_STILL_ACTIVE] = "at least one session has not been suspended",
        [-LUCID_ERR_NOT_SUSPENDED] = "the session has not been suspended",
        [-LUCID_ERR_SESSION] = "no living session has this identifier, or all sessions may not be meant here",
        [-LUCID_ERR_OVERFLOW] = "the maximum number of sessions has been reached (LUCID_MAX_SESSIONS)",
        [-LUCID_ERR_MULTIPLE_CALL] = "called twice: init without finalize, continue when active, suspend when suspended",
        [-LUCID_ERR_ROOT] = "root is not a rank of the session's communicator",
        [-LUCID_ERR_ARG] = "an argument is invalid",
        [-LUCID_ERR_IO] = "a file could not be written",
        [-LUCID_ERR_TOO_LARGE] = "the dense matrix would exceed LUCID_DENSE_LIMIT; gather it sparse",
        [-LUCID_ERR_NOT_FOUND] = "no living session has this name",
    };
    if (code > 0 || code <= -(int)(sizeof texts / sizeof *texts)) return "unknown error code";
    return texts[-code];
}
