/* SPDX-License-Identifier: BSD-3-Clause
 * reduce_persistent.c: persistent reductions. A generalized request cannot be started again, so what the program gets is the request of
 * a persistent receive, of nothing from the process itself, on a communicator that nobody else knows. Whatever the program does with
 * it (MPI_Waitsome, MPI_Test, MPI_Request_get_status) the library does right; only where it starts and frees it are we there, too.
 * When the reduction is complete the message is sent.
 *
 * The library's own persistent request is made, too, by the program's call: it runs what is dense. MPI lets every process start
 * those of a communicator in an order of its own, so that nobody has to find out in any order who runs them: each has its own.
 */
#include "reduce_pending.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../core/log.h"

enum { MOST = 1 << 20, SLOTS = 1 << 12 };

/* Everything that has been made and not freed, by its request. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct lucid_pending *table[SLOTS];
static atomic_size_t known;
static MPI_Comm homes[2] = {MPI_COMM_NULL, MPI_COMM_NULL}; /* errors are returned; end the program */
static bool *taken; /* which of their tags are */
static size_t tags;

/* Where `request` is kept: the link to its entry, or to the end. Under the lock. */
static struct lucid_pending **find(MPI_Request request)
{
    uint64_t key = 0;
    memcpy(&key, &request, sizeof request); /* a pointer or an int */
    struct lucid_pending **link = &table[key * 0x9E3779B97F4A7C15u >> 52];
    while (*link && (*link)->request != request) link = &(*link)->other;
    return link;
}

/* Twice as many tags as may be in use, so that a free one is never far. */
static bool prepare_tags(void)
{
    int *most, found = 0;
    if (taken) return true;
    if (PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &found) != MPI_SUCCESS || !found) return false;
    tags = *most < 2 * MOST ? (size_t)*most + 1 : 2 * MOST;
    taken = calloc(tags, sizeof *taken);
    return taken != NULL;
}

static bool is_fatal(MPI_Comm comm)
{
    MPI_Errhandler handler;
    if (PMPI_Comm_get_errhandler(comm, &handler) != MPI_SUCCESS) return true;
    bool fatal = handler == MPI_ERRORS_ARE_FATAL;
#if defined(LUCID_MPI_ERRORS_ABORT)
    fatal = fatal || handler == MPI_ERRORS_ABORT;
#endif
    PMPI_Errhandler_free(&handler);
    return fatal;
}

/* Where the request lives, whose errors are those of its communicator: they are to end the program if the program's own communicator's do.
 * Other handlers of the program's get no call, but the program its error code. */
static MPI_Comm home_for(MPI_Comm comm)
{
    const bool fatal = is_fatal(comm);
    MPI_Comm *home = &homes[fatal];
    if (*home == MPI_COMM_NULL && lucid_reduce_twin(MPI_COMM_SELF, true, home))
        PMPI_Comm_set_errhandler(*home, fatal ? MPI_ERRORS_ARE_FATAL : MPI_ERRORS_RETURN);
    return *home;
}

/* The program's request; under the lock. */
static bool make_request(struct lucid_pending *p)
{
    static size_t next;
    if (!prepare_tags() || atomic_load(&known) >= tags / 2) return false;
    if ((p->home = home_for(p->reduction.comm)) == MPI_COMM_NULL) return false;
    do next = (next + 1) % tags;
    while (taken[next]);
    p->completion = (int)next;
    if (PMPI_Recv_init(NULL, 0, MPI_BYTE, 0, p->completion, p->home, &p->request) != MPI_SUCCESS) return false;
    taken[next] = true;
    return true;
}

static bool enlist(struct lucid_pending *p)
{
    pthread_mutex_lock(&lock);
    bool made = make_request(p);
    if (made) {
        struct lucid_pending **link = find(p->request);
        p->other = NULL;
        *link = p;
        atomic_fetch_add(&known, 1);
    }
    pthread_mutex_unlock(&lock);
    return made;
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
    if (!lucid_reduce_is_ours(reduction, &user, &operator, &elements, false)) return false;
    if (lucid_reduce_lasts(&user, elements)) own = lucid_reduce_comm_nonblocking(reduction->comm, &broken);
    if (broken) return refuse(reduction, request, rc);
    if (!own || own->persistent >= LUCID_REDUCE_CALLS) {
        lucid_reduce_passed();
        return false;
    }
    struct lucid_pending *p = lucid_pending_make(reduction, own, &operator);
    if (p) p->series = sparse_series_create();
    if (!p || !p->series || !enlist(p)) {
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
    int rc = PMPI_Isend(nothing, p->rc == MPI_SUCCESS ? 0 : 1, MPI_BYTE, 0, p->completion, p->home, &sent);
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
        taken[p->completion] = false;
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
    if (atomic_load(&known) > 0) return;
    for (int i = 0; i < 2; i++)
        if (homes[i] != MPI_COMM_NULL) PMPI_Comm_free(&homes[i]);
    free(taken);
    taken = NULL;
}
