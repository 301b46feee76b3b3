/* SPDX-License-Identifier: BSD-3-Clause
 * source_pmpi.c: the source that works on any MPI. It sees the calls of the program only: user sends exactly,
 * collectives as the call says (nominal.h), not as the messages they are made of.
 */
#include <stdio.h>

#include "../core/counters.h"
#include "nominal.h"
#include "source.h"

static unsigned pmpi_sees(bool interposed)
{
    return interposed ? LUCID_SEES_ONE_SIDED | LUCID_SEES_KINDS | LUCID_SEES_PERSISTENT | LUCID_SEES_USER : 0;
}

static int pmpi_open(bool interposed, char *why, size_t why_size)
{
    if (interposed) return 0;
    snprintf(why, why_size,
             "the program's MPI calls do not come through liblucid: preload it, or link it before the MPI library");
    return -1;
}

/* Nothing to do: the wrappers report while a session is active. */
static int pmpi_activate(void)
{
    return 0;
}

static void pmpi_deactivate(void)
{
}

static void pmpi_on_send(uint32_t peer, uint64_t bytes)
{
    lucid_count_one(peer, LUCID_KIND_P2P, bytes);
}

static void count_part(uint32_t peer, uint64_t bytes, void *arg)
{
    lucid_count(peer, *(const unsigned *)arg, 1, bytes);
}

static void pmpi_on_collective(const struct lucid_coll_call *call)
{
    unsigned kind = (unsigned)call->kind;
    lucid_nominal(call, count_part, &kind);
}

const struct lucid_source lucid_source_pmpi = {
    .name = "pmpi",
    .sees = pmpi_sees,
    .open = pmpi_open,
    .activate = pmpi_activate,
    .deactivate = pmpi_deactivate,
    .on_send = pmpi_on_send,
    .on_collective = pmpi_on_collective,
};
