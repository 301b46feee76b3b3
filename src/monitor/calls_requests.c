/* SPDX-License-Identifier: BSD-3-Clause
 * calls_requests.c: persistent and partitioned requests. What a start sends is worked out when the request is made,
 * since the program may free the communicator and the datatype before it starts the request.
 */
#include <stdlib.h>
#include <string.h>

#include "../core/counters.h"
#include "../core/log.h"
#include "nominal.h"
#include "request_table.h"
#include "source.h"

/* A handle is a pointer in one MPI library and an integer in another. */
static uint64_t key_of(MPI_Request request)
{
    uint64_t key = 0;
    memcpy(&key, &request, sizeof request);
    return key;
}

static void add(struct lucid_request request)
{
    if (lucid_requests_add(request) != 0) lucid_error("out of memory: a persistent request is not counted");
}

static void add_send(enum lucid_request_type type, MPI_Request request, MPI_Count count, MPI_Datatype datatype,
                     int dest, MPI_Comm comm)
{
    struct lucid_request entry = {.key = key_of(request), .type = type, .kind = LUCID_KIND_P2P};
    if (dest != MPI_PROC_NULL) {
        entry.shares = 1;
        entry.one = (struct lucid_share){lucid_world_rank(comm, dest), lucid_packed_size(count, datatype)};
    }
    add(entry);
}

void lucid_call_send_init(MPI_Request request, MPI_Count count, MPI_Datatype type, int dest, MPI_Comm comm)
{
    add_send(LUCID_REQUEST_SEND, request, count, type, dest, comm);
}

void lucid_call_psend_init(MPI_Request request, MPI_Count count, MPI_Datatype type, int dest, MPI_Comm comm)
{
    add_send(LUCID_REQUEST_PARTITIONED, request, count, type, dest, comm);
}

struct shares {
    struct lucid_share *share;
    size_t n;
    size_t capacity;
    bool failed;
};

static void append_share(uint32_t peer, uint64_t bytes, void *arg)
{
    struct shares *shares = arg;
    if (shares->failed) return;
    if (shares->n == shares->capacity) {
        const size_t capacity = shares->capacity == 0 ? 8 : 2 * shares->capacity;
        struct lucid_share *larger = realloc(shares->share, capacity * sizeof *larger);
        shares->failed = larger == NULL;
        if (shares->failed) return;
        shares->share = larger;
        shares->capacity = capacity;
    }
    shares->share[shares->n++] = (struct lucid_share){peer, bytes};
}

/* Before the first session it is not known yet whether the source will want the shares. */
static bool shares_wanted(void)
{
    return lucid_source == NULL || lucid_source->on_collective != NULL;
}

void lucid_call_coll_init(MPI_Request request, const struct lucid_coll_call *call)
{
    struct lucid_request entry = {.key = key_of(request), .type = LUCID_REQUEST_COLLECTIVE, .kind = call->kind};
    struct shares shares = {NULL, 0, 0, false};
    if (shares_wanted()) lucid_nominal(call, append_share, &shares);
    if (shares.failed) lucid_error("out of memory: a persistent collective is not counted");
    if (!shares.failed && shares.n > 1) {
        entry.shares = shares.n;
        entry.many = shares.share;
        add(entry);
        return;
    }
    if (!shares.failed && shares.n == 1) {
        entry.shares = 1;
        entry.one = shares.share[0];
    }
    free(shares.share);
    add(entry);
}

bool lucid_call_requests_known(void)
{
    return lucid_requests_known() > 0;
}

static void find_kind(const struct lucid_request *request, void *arg)
{
    if (request->type == LUCID_REQUEST_COLLECTIVE) *(int *)arg = request->kind;
}

int lucid_call_start_kind(int n, const MPI_Request *requests)
{
    int kind = LUCID_KIND_P2P;
    for (int i = 0; i < n && kind == LUCID_KIND_P2P; i++) lucid_requests_visit(key_of(requests[i]), find_kind, &kind);
    return kind;
}

static void count_start(const struct lucid_request *request, void *arg)
{
    const struct lucid_share *share = request->shares > 1 ? request->many : &request->one;
    if (request->type == LUCID_REQUEST_PARTITIONED) return;
    const bool coll_wanted = lucid_source != NULL && lucid_source->on_collective != NULL;
    if (request->type == LUCID_REQUEST_COLLECTIVE && !coll_wanted) return;
    for (size_t i = 0; i < request->shares; i++) lucid_count(share[i].peer, (unsigned)request->kind, 1, share[i].bytes);
}

void lucid_call_start(bool entered, int n, const MPI_Request *before, const MPI_Request *after)
{
    for (int i = 0; i < n; i++) {
        if (entered) lucid_requests_visit(key_of(before[i]), count_start, NULL);
        lucid_requests_rename(key_of(before[i]), key_of(after[i]));
    }
}

static void count_partitions(const struct lucid_request *request, void *arg)
{
    const uint64_t partitions = (uint64_t)*(const MPI_Count *)arg;
    if (request->type != LUCID_REQUEST_PARTITIONED || request->shares == 0) return;
    lucid_count(request->one.peer, LUCID_KIND_P2P, partitions, partitions * request->one.bytes);
}

void lucid_call_pready(MPI_Count partitions, MPI_Request request)
{
    if (partitions > 0) lucid_requests_visit(key_of(request), count_partitions, &partitions);
}

void lucid_call_request_free(MPI_Request request)
{
    lucid_requests_remove(key_of(request));
}
