/* SPDX-License-Identifier: BSD-3-Clause
 * reduce_request.c: nonblocking reductions as generalized requests, stepped by reduce_engine.c.
 *
 * The calls of a communicator find out in their order who runs them, one agreement after the other; that is what makes the
 * answers, and the order in which the library's own routines are started (on the private duplicate), the same at all processes.
 * The reductions themselves overlap.
 */
#include "reduce_pending.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Who steps takes the whole list away and puts back what is not done. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct lucid_pending *list;
static atomic_size_t active;
static _Thread_local bool stepping;

void lucid_pending_release(struct lucid_pending *p)
{
    sparse_series_destroy(p->series);
    free(p->counts);
    free(p->plain);
    free(p);
}

static int query(void *extra, MPI_Status *status)
{
    const struct lucid_pending *p = extra;
    PMPI_Status_set_elements(status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_ANY_SOURCE;
    status->MPI_TAG = MPI_ANY_TAG;
    return p->rc;
}

static int end(void *extra)
{
    lucid_pending_release(extra);
    return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
    return MPI_SUCCESS; /* a collective cannot be cancelled */
}

static int start_below(struct lucid_pending *p)
{
    const struct lucid_reduction *r = &p->reduction;
    const void *in = r->in_place ? MPI_IN_PLACE : r->input;
    MPI_Comm comm = p->own->comm;
    int n = (int)r->count;
    lucid_reduce_passed();
    if (p->persistent) return PMPI_Start(&p->below);
    switch (r->kind) {
    case SPARSE_REDUCE: return PMPI_Ireduce(in, r->output, n, r->type, r->op, r->root, comm, &p->below);
    case SPARSE_ALLREDUCE: return PMPI_Iallreduce(in, r->output, n, r->type, r->op, comm, &p->below);
    case SPARSE_SCAN: return PMPI_Iscan(in, r->output, n, r->type, r->op, comm, &p->below);
    case SPARSE_EXSCAN: return PMPI_Iexscan(in, r->output, n, r->type, r->op, comm, &p->below);
    default: break;
    }
    if (p->plain) return PMPI_Ireduce_scatter(in, r->output, p->plain, r->type, r->op, comm, &p->below);
    return PMPI_Ireduce_scatter_block(in, r->output, n, r->type, r->op, comm, &p->below);
}

/* The next call's turn has come, whatever becomes of this one. */
static bool fail(struct lucid_pending *p, int rc)
{
    p->rc = rc;
    return true;
}

/* The library has run it, or could not. */
static void end_below(struct lucid_pending *p)
{
    if (p->ticket > 0) sparse_state_passed(p->own->state, p->series, &p->own->parameters, p->ticket);
    p->ticket = 0;
}

static bool pass_on(struct lucid_pending *p, unsigned ticket)
{
    int rc = start_below(p);
    p->stage = LUCID_BELOW;
    p->ticket = ticket;
    if (rc == MPI_SUCCESS) return false;
    end_below(p);
    return fail(p, rc);
}

static bool account(struct lucid_pending *p, const struct sparse_outcome *outcome)
{
    return fail(p, lucid_reduce_account(&p->reduction, outcome, p->own->transport.rank));
}

/* What the core says of a call; true: it is complete. */
static bool take(struct lucid_pending *p, enum sparse_status status)
{
    struct sparse_outcome outcome = {.error = SPARSE_NO_MEMORY, .peer = -1};
    if (p->stage == LUCID_AGREEING && (status != SPARSE_PENDING || sparse_collective_decided(p->run))) {
        if (!p->persistent) p->own->turn++;
        p->stage = LUCID_RUNNING;
    }
    if (status == SPARSE_PENDING) return false;
    if (p->run) sparse_collective_outcome(p->run, &outcome);
    sparse_collective_destroy(p->run);
    p->run = NULL;
    return status == SPARSE_NOT_OURS ? pass_on(p, outcome.left ? outcome.ticket : 0) : account(p, &outcome);
}

static bool begin(struct lucid_pending *p)
{
    struct sparse_call call;
    if (!lucid_reduce_comm_ready(p->own) || (!p->persistent && p->turn != p->own->turn)) return false;
    int first = p->persistent ? LUCID_REDUCE_FIRST_PERSISTENT : LUCID_REDUCE_FIRST;
    int tag = first + (int)(p->turn % LUCID_REDUCE_CALLS) * SPARSE_TAGS;
    lucid_reduce_describe(&p->reduction, p->own, p->counts, &p->operator, tag, &call);
    call.order = SPARSE_IN_TURN;
    call.series = p->series;
    if (p->persistent) call.parameters = p->parameters;
    p->stage = LUCID_AGREEING;
    return take(p, sparse_collective_create(&call, &p->run));
}

static bool below_done(struct lucid_pending *p)
{
    bool done;
    MPI_Status status;
    int rc = lucid_reduce_test(&p->below, &done, &status);
    if (rc == MPI_SUCCESS && !done) return false;
    end_below(p);
    return rc == MPI_SUCCESS || fail(p, rc);
}

/* True: it is complete. */
static bool step(struct lucid_pending *p)
{
    bool done;
    if (pthread_mutex_trylock(&p->own->lock) != 0) return false;
    if (p->stage == LUCID_WAITING) done = begin(p);
    else if (p->stage == LUCID_BELOW) done = below_done(p);
    else done = take(p, sparse_collective_step(p->run));
    pthread_mutex_unlock(&p->own->lock);
    return done;
}

static void enlist(struct lucid_pending *first, struct lucid_pending *last)
{
    pthread_mutex_lock(&lock);
    last->next = list;
    list = first;
    pthread_mutex_unlock(&lock);
}

static struct lucid_pending *take_all(void)
{
    pthread_mutex_lock(&lock);
    struct lucid_pending *all = list;
    list = NULL;
    pthread_mutex_unlock(&lock);
    return all;
}

/* From its completion on it may be gone, and its communicator once that is no longer used. */
static void finish(struct lucid_pending *p)
{
    pthread_mutex_lock(&lock);
    active--;
    if (!p->persistent) p->own->users--;
    pthread_mutex_unlock(&lock);
    if (p->persistent) lucid_persistent_complete(p);
    else PMPI_Grequest_complete(p->request);
}

void lucid_reduce_use(struct lucid_reduce_comm *own, int more)
{
    pthread_mutex_lock(&lock);
    own->users += (size_t)more;
    pthread_mutex_unlock(&lock);
}

void lucid_pending_begin(struct lucid_pending *p)
{
    size_t left;
    pthread_mutex_lock(&lock);
    active++;
    pthread_mutex_unlock(&lock);
    enlist(p, p);
    (void)lucid_reduce_step(&left);
    if (left > 0) lucid_reduce_wake();
}

size_t lucid_reduce_step(size_t *left)
{
    size_t completed = 0;
    struct lucid_pending *mine = stepping ? NULL : take_all(), *kept = NULL, *last = NULL;
    stepping = stepping || mine;
    bool stepped = mine != NULL;
    while (mine) {
        struct lucid_pending *p = mine;
        mine = p->next;
        if (step(p)) {
            finish(p);
            completed++;
            continue;
        }
        p->next = kept;
        kept = p;
        if (!last) last = p;
    }
    if (kept) enlist(kept, last);
    if (stepped) stepping = false;
    *left = lucid_reduce_active();
    return completed;
}

size_t lucid_reduce_active(void)
{
    return atomic_load_explicit(&active, memory_order_acquire);
}

bool lucid_reduce_unused(struct lucid_reduce_comm *own)
{
    pthread_mutex_lock(&lock);
    bool unused = own->users == 0;
    pthread_mutex_unlock(&lock);
    return unused;
}

/* The library takes counts of an int again. */
static bool copy_counts(struct lucid_pending *p, int size)
{
    if (!lucid_reduce_counts(&p->reduction, size, &p->counts)) return false;
    if (!p->counts) return true;
    p->plain = malloc((size_t)size * sizeof *p->plain);
    for (int i = 0; p->plain && i < size; i++) p->plain[i] = (int)p->counts[i];
    return p->plain != NULL;
}

struct lucid_pending *lucid_pending_make(const struct lucid_reduction *reduction, struct lucid_reduce_comm *own,
                                         const struct sparse_operator *operator)
{
    int size;
    struct lucid_pending *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->reduction = *reduction;
    p->own = own;
    p->operator = *operator;
    p->below = MPI_REQUEST_NULL;
    PMPI_Comm_size(reduction->comm, &size);
    if (copy_counts(p, size)) return p;
    lucid_pending_release(p);
    return NULL;
}

bool lucid_reduce_out_of_memory(const struct lucid_reduction *reduction, int *rc)
{
    const struct sparse_outcome outcome = {.error = SPARSE_NO_MEMORY, .peer = -1};
    int rank = -1;
    PMPI_Comm_rank(reduction->comm, &rank);
    *rc = lucid_reduce_account(reduction, &outcome, rank);
    PMPI_Comm_call_errhandler(reduction->comm, *rc);
    return true;
}

/* The library's nonblocking routines are called with counts of an int. */
bool lucid_reduce_lasts(const struct lucid_reduce_user *user, size_t elements)
{
    return user->op == MPI_OP_NULL && elements <= INT_MAX;
}

bool lucid_reduce_begin(const struct lucid_reduction *reduction, MPI_Request *request, int *rc)
{
    struct lucid_reduce_user user = {.op = MPI_OP_NULL};
    struct sparse_operator operator;
    struct lucid_reduce_comm *own;
    bool broken = false;
    size_t elements;
    if (!request || !lucid_reduce_is_ours(reduction, &user, &operator, &elements, false)) return false;
    if (!lucid_reduce_lasts(&user, elements) || !(own = lucid_reduce_comm_nonblocking(reduction->comm, &broken))) {
        if (broken) return lucid_reduce_out_of_memory(reduction, rc);
        lucid_reduce_passed();
        return false;
    }
    struct lucid_pending *p = lucid_pending_make(reduction, own, &operator);
    if (!p) return lucid_reduce_out_of_memory(reduction, rc);
    if (PMPI_Grequest_start(query, end, cancel, p, &p->request) != MPI_SUCCESS) {
        lucid_pending_release(p);
        return lucid_reduce_out_of_memory(reduction, rc);
    }
    p->turn = own->issued++;
    *request = p->request;
    *rc = MPI_SUCCESS;
    lucid_reduce_use(own, 1);
    lucid_pending_begin(p);
    return true;
}
