/* SPDX-License-Identifier: BSD-3-Clause
 * reduce_request.c: nonblocking reductions as generalized requests, stepped by reduce_engine.c.
 *
 * The calls of a communicator find out in their order who runs them, one agreement after the other; that is what makes the
 * answers, and the order in which the library's own routines are started (on the private duplicate), the same at all processes.
 * The reductions themselves overlap.
 */
#include "reduce.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Below 2^15, which every library has; a blocking call has those from 0 on. */
enum { FIRST_TAG = SPARSE_TAGS, TAGS = 8000 * SPARSE_TAGS };

struct pending {
    struct lucid_reduction reduction;
    struct lucid_reduce_comm *own;
    struct sparse_operator operator;
    struct lucid_reduce_user user;
    size_t *counts; /* of a Reduce_scatter, as the core and as the library have them */
    int *plain;
    unsigned turn;
    enum { WAITING, AGREEING, RUNNING, BELOW } stage;
    struct sparse_collective *run;
    MPI_Request below, request;
    int rc;
    struct pending *next;
};

/* Who steps takes the whole list away and puts back what is not done. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pending *list;
static size_t active;
static _Thread_local bool stepping;

static void release(struct pending *p)
{
    free(p->counts);
    free(p->plain);
    free(p);
}

static int query(void *extra, MPI_Status *status)
{
    const struct pending *p = extra;
    PMPI_Status_set_elements(status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_ANY_SOURCE;
    status->MPI_TAG = MPI_ANY_TAG;
    return p->rc;
}

static int end(void *extra)
{
    release(extra);
    return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
    return MPI_SUCCESS; /* a collective cannot be cancelled */
}

static int start_below(struct pending *p)
{
    const struct lucid_reduction *r = &p->reduction;
    const void *in = r->in_place ? MPI_IN_PLACE : r->input;
    MPI_Comm comm = p->own->comm;
    int n = (int)r->count;
    lucid_reduce_passed();
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
static bool fail(struct pending *p, int rc)
{
    p->rc = rc;
    return true;
}

static bool pass_on(struct pending *p)
{
    int rc = start_below(p);
    p->stage = BELOW;
    return rc != MPI_SUCCESS && fail(p, rc);
}

static bool account(struct pending *p, const struct sparse_outcome *outcome)
{
    return fail(p, lucid_reduce_account(&p->reduction, outcome, p->own->transport.rank));
}

/* What the core says of a call; true: it is complete. */
static bool take(struct pending *p, enum sparse_status status)
{
    struct sparse_outcome outcome = {.error = SPARSE_NO_MEMORY, .peer = -1};
    if (p->stage == AGREEING && (status != SPARSE_PENDING || sparse_collective_decided(p->run))) {
        p->own->turn++;
        p->stage = RUNNING;
    }
    if (status == SPARSE_PENDING) return false;
    if (p->run) sparse_collective_outcome(p->run, &outcome);
    sparse_collective_destroy(p->run);
    p->run = NULL;
    return status == SPARSE_NOT_OURS ? pass_on(p) : account(p, &outcome);
}

static bool begin(struct pending *p)
{
    struct sparse_call call;
    if (!lucid_reduce_comm_ready(p->own) || p->turn != p->own->turn) return false;
    int tag = FIRST_TAG + (int)(p->turn * SPARSE_TAGS % TAGS);
    lucid_reduce_describe(&p->reduction, p->own, p->counts, &p->operator, tag, &call);
    p->stage = AGREEING;
    return take(p, sparse_collective_create(&call, &p->run));
}

static bool below_done(struct pending *p)
{
    bool done;
    MPI_Status status;
    int rc = lucid_reduce_test(&p->below, &done, &status);
    return rc != MPI_SUCCESS ? fail(p, rc) : done;
}

/* True: it is complete. */
static bool step(struct pending *p)
{
    bool done;
    if (pthread_mutex_trylock(&p->own->lock) != 0) return false;
    if (p->stage == WAITING) done = begin(p);
    else if (p->stage == BELOW) done = below_done(p);
    else done = take(p, sparse_collective_step(p->run));
    pthread_mutex_unlock(&p->own->lock);
    return done;
}

static void enlist(struct pending *first, struct pending *last)
{
    pthread_mutex_lock(&lock);
    last->next = list;
    list = first;
    pthread_mutex_unlock(&lock);
}

static struct pending *take_all(void)
{
    pthread_mutex_lock(&lock);
    struct pending *all = list;
    list = NULL;
    pthread_mutex_unlock(&lock);
    return all;
}

/* From MPI_Grequest_complete on it may be gone. */
static void finish(struct pending *p)
{
    pthread_mutex_lock(&lock);
    active--;
    p->own->users--;
    pthread_mutex_unlock(&lock);
    PMPI_Grequest_complete(p->request);
}

size_t lucid_reduce_step(size_t *left)
{
    size_t completed = 0;
    struct pending *mine = stepping ? NULL : take_all(), *kept = NULL, *last = NULL;
    stepping = stepping || mine;
    bool stepped = mine != NULL;
    while (mine) {
        struct pending *p = mine;
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
    pthread_mutex_lock(&lock);
    size_t n = active;
    pthread_mutex_unlock(&lock);
    return n;
}

bool lucid_reduce_let_go(struct lucid_reduce_comm *own)
{
    pthread_mutex_lock(&lock);
    bool unused = own->users == 0;
    own->orphan = !unused;
    pthread_mutex_unlock(&lock);
    return unused;
}

/* The library takes counts of an int again. */
static bool copy_counts(struct pending *p, int size)
{
    if (!lucid_reduce_counts(&p->reduction, size, &p->counts)) return false;
    if (!p->counts) return true;
    p->plain = malloc((size_t)size * sizeof *p->plain);
    for (int i = 0; p->plain && i < size; i++) p->plain[i] = (int)p->counts[i];
    return p->plain != NULL;
}

static struct pending *make(const struct lucid_reduction *reduction, struct lucid_reduce_comm *own)
{
    int size;
    struct pending *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->reduction = *reduction;
    p->own = own;
    p->below = MPI_REQUEST_NULL;
    PMPI_Comm_size(reduction->comm, &size);
    if (copy_counts(p, size) && PMPI_Grequest_start(query, end, cancel, p, &p->request) == MPI_SUCCESS) return p;
    release(p);
    return NULL;
}

static bool out_of_memory(const struct lucid_reduction *reduction, int *rc)
{
    const struct sparse_outcome outcome = {.error = SPARSE_NO_MEMORY, .peer = -1};
    int rank = -1;
    PMPI_Comm_rank(reduction->comm, &rank);
    *rc = lucid_reduce_account(reduction, &outcome, rank);
    PMPI_Comm_call_errhandler(reduction->comm, *rc);
    return true;
}

/* An operator of the program's own, or a derived datatype, may be freed before the call is complete: only the library can keep them.
 * Its nonblocking routines are called with counts of an int. */
static bool lasts(const struct lucid_reduce_user *user, size_t elements)
{
    return user->op == MPI_OP_NULL && elements <= INT_MAX;
}

bool lucid_reduce_begin(const struct lucid_reduction *reduction, MPI_Request *request, int *rc)
{
    struct lucid_reduce_user user = {.op = MPI_OP_NULL};
    struct sparse_operator operator;
    struct lucid_reduce_comm *own;
    bool broken = false;
    size_t elements, left;
    if (!lucid_reduce_is_ours(reduction, &user, &operator, &elements)) return false;
    if (!lasts(&user, elements) || !(own = lucid_reduce_comm_nonblocking(reduction->comm, &broken))) {
        if (broken) return out_of_memory(reduction, rc);
        lucid_reduce_passed();
        return false;
    }
    struct pending *p = make(reduction, own);
    if (!p) return out_of_memory(reduction, rc);
    p->operator = operator;
    p->turn = own->issued++;
    *request = p->request;
    *rc = MPI_SUCCESS;
    pthread_mutex_lock(&lock);
    active++;
    own->users++;
    pthread_mutex_unlock(&lock);
    enlist(p, p);
    (void)lucid_reduce_step(&left);
    if (left > 0) lucid_reduce_wake();
    return true;
}
