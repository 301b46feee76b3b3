/* SPDX-License-Identifier: BSD-3-Clause
 * calls.c: from the wrapped MPI calls to the source and the counters.
 */
#include "calls.h"

#include "../core/counters.h"
#include "nominal.h"
#include "source.h"

_Atomic int lucid_listening;
_Thread_local struct lucid_thread lucid_thread;

bool lucid_sends_wanted;

void lucid_report_send(MPI_Count count, MPI_Datatype type, int dest, MPI_Comm comm)
{
    if (dest == MPI_PROC_NULL) return;
    lucid_source->on_send(lucid_world_rank(comm, dest), lucid_packed_size(count, type));
}

void lucid_call_one_sided(int kind, MPI_Count count, MPI_Datatype type, int target, MPI_Win win)
{
    if (target == MPI_PROC_NULL) return;
    lucid_count(lucid_world_rank_win(win, target), (unsigned)kind, 1, lucid_packed_size(count, type));
}

void lucid_call_collective(const struct lucid_coll_call *call)
{
    if (lucid_source != NULL && lucid_source->on_collective != NULL) lucid_source->on_collective(call);
}

/* How deep this thread is in brackets of either sort: only the outermost pair reaches the source. */
static _Thread_local int nbc_depth;
static _Thread_local int nbc_kind; /* of the outermost call */
static _Thread_local int window_depth;

void lucid_call_nbc_begin(MPI_Comm comm, int kind, bool persistent, int64_t *token)
{
    if (nbc_depth++ > 0) return;
    nbc_kind = kind;
    if (lucid_source != NULL && lucid_source->nbc_begin != NULL) lucid_source->nbc_begin(comm, kind, persistent, token);
}

void lucid_call_nbc_end(MPI_Comm comm, int kind, bool persistent, int64_t token)
{
    if (--nbc_depth > 0) return;
    if (lucid_source != NULL && lucid_source->nbc_end != NULL) lucid_source->nbc_end(comm, kind, persistent, token);
}

void lucid_nbc_tags(MPI_Comm comm, int first, int count)
{
    if (nbc_depth > 0 && lucid_source != NULL && lucid_source->nbc_tags != NULL) lucid_source->nbc_tags(comm, nbc_kind, first, count);
}

void lucid_coll_shown(MPI_Comm comm, int peer, int tag, uint64_t bytes)
{
    if (lucid_source != NULL && lucid_source->shown != NULL) lucid_source->shown(comm, peer, tag, bytes);
}

void lucid_call_window_begin(void)
{
    if (window_depth++ > 0) return;
    if (lucid_source != NULL && lucid_source->window_begin != NULL) lucid_source->window_begin();
}

void lucid_call_window_end(void)
{
    if (--window_depth > 0) return;
    if (lucid_source != NULL && lucid_source->window_end != NULL) lucid_source->window_end();
}
