/* SPDX-License-Identifier: BSD-3-Clause
 * reduce_persistent.c: persistent reductions. A generalized request cannot be started again, so what the program gets is the request of
 * a persistent receive, of nothing from the process itself, on a communicator that nobody else knows. Whatever the program does with
 * it (MPI_Waitsome, MPI_Test, MPI_Request_get_status) the library does right; only where it starts and frees it are we there, too.
 * When the reduction is complete the message is sent.
 *
 * The library's own persistent request is made, too, by the program's call: it runs what is dense. MPI lets every process start
 * those of a communicator in an order of its own, so that nobody has to find out in any order who runs them.
 */
#include "reduce_pending.h"

#include <stdatomic.h>

#include "../core/log.h"

/* Everything that has been made and not freed. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct lucid_pending *list;
static atomic_size_t known;
static MPI_Comm self = MPI_COMM_NULL;

static bool taken(int completion)
{
    for (const struct lucid_pending *p = list; p; p = p->other)
        if (p->completion == completion) return true;
    return false;
}

/* The program's request; under the lock. */
static bool make_request(struct lucid_pending *p)
{
    static int next;
    if (self == MPI_COMM_NULL && !lucid_reduce_twin(MPI_COMM_SELF, true, &self)) return false;
    do next = (next + 1) % (1 << 15);
    while (taken(next));
    p->completion = next;
    return PMPI_Recv_init(NULL, 0, MPI_BYTE, 0, next, self, &p->request) == MPI_SUCCESS;
}

static bool enlist(struct lucid_pending *p)
{
    pthread_mutex_lock(&lock);
    bool made = atomic_load(&known) < 1 << 14 && make_request(p);
    if (made) {
        p->other = list;
        list = p;
        atomic_fetch_add(&known, 1);
    }
    pthread_mutex_unlock(&lock);
    return made;
}

/* Where `request` is kept: the link to its entry, or to the end. Under the lock. */
static struct lucid_pending **find(MPI_Request request)
{
    struct lucid_pending **link = &list;
    while (*link && (*link)->request != request) link = &(*link)->other;
    return link;
}

/* At this process alone. */
static bool refuse(const struct lucid_reduction *reduction, MPI_Request *request, int *rc)
{
    PMPI_Request_free(request);
    return lucid_reduce_out_of_memory(reduction, rc);
}

bool lucid_reduce_persist(const struct lucid_reduction *reduction, MPI_Request *request, int *rc)
{
    struct lucid_reduce_user user = {.op = MPI_OP_NULL};
    struct sparse_operator operator;
    struct lucid_reduce_comm *own = NULL;
    bool broken = false;
    size_t elements;
    if (!lucid_reduce_is_ours(reduction, &user, &operator, &elements)) return false;
    if (lucid_reduce_lasts(&user, elements)) own = lucid_reduce_comm_nonblocking(reduction->comm, &broken);
    if (broken) return refuse(reduction, request, rc);
    if (!own || own->persistent >= LUCID_REDUCE_CALLS) {
        lucid_reduce_passed();
        return false;
    }
    struct lucid_pending *p = lucid_pending_make(reduction, own, &operator);
    if (!p || !enlist(p)) {
        if (p) lucid_pending_release(p);
        return refuse(reduction, request, rc);
    }
    p->persistent = true;
    p->parameters = own->measured ? &own->parameters : &own->plain; /* a blocking call may measure before some processes start it */
    p->turn = own->persistent++;
    p->below = *request;
    lucid_reduce_use(own, 1);
    *request = p->request;
    return true;
}

void lucid_reduce_started(int n, const MPI_Request *requests)
{
    for (int i = 0; i < n && atomic_load_explicit(&known, memory_order_relaxed) > 0; i++) {
        pthread_mutex_lock(&lock);
        struct lucid_pending *p = *find(requests[i]);
        pthread_mutex_unlock(&lock);
        if (!p) continue;
        p->stage = LUCID_WAITING;
        p->rc = MPI_SUCCESS;
        lucid_pending_begin(p);
    }
}

/* A message longer than the receive is the only way to an error code; it is MPI_ERR_TRUNCATE then, and what was wrong has been said. */
void lucid_persistent_complete(struct lucid_pending *p)
{
    static const char nothing[1];
    MPI_Request sent;
    int rc = PMPI_Isend(nothing, p->rc == MPI_SUCCESS ? 0 : 1, MPI_BYTE, 0, p->completion, self, &sent);
    if (rc == MPI_SUCCESS) rc = PMPI_Request_free(&sent);
    if (rc != MPI_SUCCESS) lucid_error("error %d of MPI_Isend to this process: a persistent reduction will not end", rc);
}

void lucid_reduce_request_freed(MPI_Request request)
{
    if (atomic_load_explicit(&known, memory_order_relaxed) == 0) return;
    pthread_mutex_lock(&lock);
    struct lucid_pending **link = find(request), *p = *link;
    if (p) {
        *link = p->other;
        atomic_fetch_sub(&known, 1);
    }
    pthread_mutex_unlock(&lock);
    if (!p) return;
    PMPI_Request_free(&p->below);
    lucid_reduce_use(p->own, -1);
    lucid_pending_release(p);
    lucid_reduce_reap();
}

void lucid_persistent_close(void)
{
    if (self != MPI_COMM_NULL && atomic_load(&known) == 0) PMPI_Comm_free(&self);
}
