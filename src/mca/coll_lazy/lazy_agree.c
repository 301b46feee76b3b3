/* SPDX-License-Identifier: BSD-3-Clause
 * lazy_agree.c: the agreement on a context id, faster.
 *
 * Whoever makes a communicator agrees on its number by three nonblocking allreduces of one int on the parent (maximum, minimum,
 * minimum), and waits for each: from four processes on, nearly all the time of an MPI_Comm_dup. libnbc reduces along a binomial
 * tree and broadcasts back: 2 log2(p) messages one after the other, 2 (p - 1) in all.
 *
 *   one node       maximum and minimum do not mind a value that comes twice, so they are disseminated: in round k to the process
 *                  2^k further (Hensgen, Finkel and Manber: Two Algorithms for Barrier Synchronization, 1988): ceil(log2 p)
 *                  messages one after the other, p ceil(log2 p) in all, which cost little there
 *   several nodes  up and down a tree of radix 4: 2 ceil(log4 p) one after the other, 2 (p - 1) in all; most stay within nodes
 *
 * Which calls come here follows from what is the same on all processes: count, type, operator, and that all are of one job (those
 * of another may be without Lucid). So a program's own iallreduce of that kind comes here as well; an int's maximum has one result.
 */
#include <pthread.h>
#include <string.h>

#include "lazy.h"
#include "mca_request.h"

#include "opal/runtime/opal_progress.h"

enum { RADIX = 4 };

typedef struct lazy_agreement {
    lucid_request_t super;
    ompi_communicator_t *comm;
    int *result;
    bool maximum;
    bool tree, down, begun; /* several nodes; on the way back; the round */
    int value, incoming[RADIX - 1], span, tag;
    ompi_request_t *message[RADIX]; /* of the round, if it has begun */
    int messages, received;
    struct lazy_agreement *next;
} lazy_agreement_t;
OBJ_CLASS_DECLARATION(lazy_agreement_t);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the list */
static pthread_mutex_t step = PTHREAD_MUTEX_INITIALIZER; /* who has it goes through the list */
static lazy_agreement_t *under_way;
static bool registered;

static void construct(lazy_agreement_t *agreement)
{
    agreement->messages = agreement->received = 0;
    agreement->down = agreement->begun = false;
}

OBJ_CLASS_INSTANCE(lazy_agreement_t, lucid_request_t, construct, NULL);

static int give(lazy_agreement_t *agreement, int rank)
{
    return MCA_PML_CALL(isend(&agreement->value, 1, &ompi_mpi_int.dt, rank, agreement->tag, MCA_PML_BASE_SEND_STANDARD,
                              agreement->comm, &agreement->message[agreement->messages++]));
}

static int take(lazy_agreement_t *agreement, int rank)
{
    return MCA_PML_CALL(irecv(&agreement->incoming[agreement->received++], 1, &ompi_mpi_int.dt, rank, agreement->tag,
                              agreement->comm, &agreement->message[agreement->messages++]));
}

static int exchange(lazy_agreement_t *agreement, int to, int from)
{
    int rc = give(agreement, to);
    return rc == OMPI_SUCCESS ? take(agreement, from) : rc;
}

/* Where a process is in the tree: 0 if it has children at this height, else how far its parent is, in spans. */
static int digit(const lazy_agreement_t *agreement)
{
    return ompi_comm_rank(agreement->comm) / agreement->span % RADIX;
}

static int begin_round(lazy_agreement_t *agreement)
{
    int size = ompi_comm_size(agreement->comm), rank = ompi_comm_rank(agreement->comm), span = agreement->span, rc = OMPI_SUCCESS;
    agreement->messages = agreement->received = 0;
    if (!agreement->tree) return exchange(agreement, (rank + span) % size, (rank - span + size) % size);
    if (!agreement->down && digit(agreement) != 0) {
        int parent = rank - digit(agreement) * span;
        return exchange(agreement, parent, parent); /* what comes back is the result */
    }
    for (int j = 1; j < RADIX && j <= (size - 1 - rank) / span && rc == OMPI_SUCCESS; j++)
        rc = agreement->down ? give(agreement, rank + j * span) : take(agreement, rank + j * span);
    return rc;
}

/* To the next round. */
static void go_further(lazy_agreement_t *agreement)
{
    int size = ompi_comm_size(agreement->comm);
    if (!agreement->tree) {
        agreement->span *= 2;
        return;
    }
    if (!agreement->down && digit(agreement) == 0 && agreement->span <= (size - 1) / RADIX) {
        agreement->span *= RADIX;
        return;
    }
    if (agreement->down || digit(agreement) != 0) agreement->span /= RADIX;
    agreement->down = true; /* the top of the tree sends down what it has just received from there; others, below where they were */
}

static bool is_over(const lazy_agreement_t *agreement)
{
    return agreement->tree ? agreement->span == 0 : agreement->span >= ompi_comm_size(agreement->comm);
}

/** Whether the round's messages are done; the received values are folded in then. */
static bool end_round(lazy_agreement_t *agreement, int *rc)
{
    for (int i = 0; i < agreement->messages; i++)
        if (!REQUEST_COMPLETE(agreement->message[i])) return false;
    for (int i = 0; i < agreement->messages; i++) {
        if (agreement->message[i]->req_status.MPI_ERROR != OMPI_SUCCESS) *rc = agreement->message[i]->req_status.MPI_ERROR;
        (void)ompi_request_free(&agreement->message[i]);
    }
    for (int i = 0; i < agreement->received; i++) {
        int value = agreement->incoming[i];
        if (agreement->maximum ? value > agreement->value : value < agreement->value) agreement->value = value;
    }
    go_further(agreement);
    return true;
}

/** Goes as far as it can. True: done, well or badly. */
static bool go_on(lazy_agreement_t *agreement)
{
    int rc = OMPI_SUCCESS;
    while (rc == OMPI_SUCCESS && !is_over(agreement)) {
        if (!agreement->begun) rc = begin_round(agreement);
        agreement->begun = true;
        if (rc == OMPI_SUCCESS && !end_round(agreement, &rc)) return false;
        agreement->begun = false;
    }
    if (rc == OMPI_SUCCESS) *agreement->result = agreement->value;
    else OBJ_RETAIN(agreement); /* messages may still be under way: what they use is left to them */
    agreement->super.super.req_status.MPI_ERROR = rc;
    OBJ_RELEASE(agreement->comm);
    return true;
}

static void add(lazy_agreement_t *first, lazy_agreement_t *last)
{
    (void)pthread_mutex_lock(&lock);
    last->next = under_way; /* their tags or communicators differ, so the order does not matter */
    __atomic_store_n(&under_way, first, __ATOMIC_RELAXED);
    (void)pthread_mutex_unlock(&lock);
}

static lazy_agreement_t *take_all(void)
{
    (void)pthread_mutex_lock(&lock);
    lazy_agreement_t *all = under_way;
    __atomic_store_n(&under_way, NULL, __ATOMIC_RELAXED);
    (void)pthread_mutex_unlock(&lock);
    return all;
}

/** Called by the progress engine; again from within, where a message makes progress itself: then there is nothing to do. */
static int progress(void)
{
    lazy_agreement_t *kept = NULL, *last = NULL, *next;
    int done = 0;
    if (__atomic_load_n(&under_way, __ATOMIC_RELAXED) == NULL || pthread_mutex_trylock(&step) != 0) return 0;
    for (lazy_agreement_t *one = take_all(); one != NULL; one = next) {
        next = one->next; /* who waits for it may free it when it is complete */
        if (go_on(one)) {
            (void)ompi_request_complete(&one->super.super, true);
            done++;
            continue;
        }
        one->next = kept;
        if (kept == NULL) last = one;
        kept = one;
    }
    if (kept != NULL) add(kept, last);
    (void)pthread_mutex_unlock(&step);
    return done;
}

static void enter(lazy_agreement_t *agreement)
{
    if (!__atomic_load_n(&registered, __ATOMIC_ACQUIRE)) {
        (void)pthread_mutex_lock(&step);
        if (!registered) (void)opal_progress_register(progress);
        __atomic_store_n(&registered, true, __ATOMIC_RELEASE);
        (void)pthread_mutex_unlock(&step);
    }
    add(agreement, agreement);
}

void lucid_lazy_agree_close(void)
{
    if (registered) (void)opal_progress_unregister(progress);
    registered = false;
}

static bool serves(lucid_ompi_count_t count, const ompi_datatype_t *type, const ompi_op_t *op, ompi_communicator_t *comm)
{
    return count == 1 && type == &ompi_mpi_int.dt && (op == &ompi_mpi_op_max.op || op == &ompi_mpi_op_min.op) &&
           OMPI_COMM_IS_INTRA(comm) && !OMPI_COMM_IS_DYNAMIC(comm) && ompi_comm_size(comm) > 1 && !lucid_ompi_ft_enabled();
}

int lucid_lazy_iallreduce(const void *sbuf, void *rbuf, lucid_ompi_count_t count, ompi_datatype_t *type, ompi_op_t *op,
                          ompi_communicator_t *comm, ompi_request_t **request, mca_coll_base_module_t *libnbc)
{
    if (!serves(count, type, op, comm)) return libnbc->coll_iallreduce(sbuf, rbuf, count, type, op, comm, request, libnbc);
    lazy_agreement_t *agreement = OBJ_NEW(lazy_agreement_t);
    if (agreement == NULL) return OMPI_ERR_OUT_OF_RESOURCE;
    ompi_request_t *base = &agreement->super.super;
    lucid_request_begin(&agreement->super, comm);
    agreement->comm = comm;
    OBJ_RETAIN(comm); /* a program may free it meanwhile */
    agreement->result = rbuf;
    agreement->maximum = op == &ompi_mpi_op_max.op;
    memcpy(&agreement->value, sbuf == MPI_IN_PLACE ? rbuf : sbuf, sizeof agreement->value);
    agreement->tree = ompi_group_have_remote_peers(comm->c_local_group); /* on all of them or on none */
    agreement->span = 1;
    agreement->tag = ompi_coll_base_nbc_reserve_tags(comm, 1); /* as libnbc does: all processes call in the same order */
    if (go_on(agreement)) (void)ompi_request_complete(base, false);
    else enter(agreement);
    *request = base;
    return OMPI_SUCCESS;
}
