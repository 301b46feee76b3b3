/* SPDX-License-Identifier: BSD-3-Clause
 * lazy_agree.c: the agreement on a context id, faster.
 *
 * Whoever makes a communicator agrees on its number by three nonblocking allreduces of one int on the parent (maximum, minimum,
 * minimum), and waits for each: from four processes on, nearly all the time of an MPI_Comm_dup. libnbc reduces along a tree and
 * broadcasts back, 2 log2(p) messages one after the other. Maximum and minimum do not mind a value that comes twice, so here they
 * are disseminated: in round k to the process 2^k further, ceil(log2(p)) messages one after the other for any p (Hensgen,
 * Finkel and Manber: Two Algorithms for Barrier Synchronization, 1988). Cost: ceil(log2 p) (alpha + 4 beta) instead of twice that.
 *
 * Which calls come here follows from what is the same on all processes: count, type, operator, and that all are of one job (those of
 * another may be without Lucid). So a program's own iallreduce of that kind comes here as well; an int's maximum has one result.
 */
#include <pthread.h>
#include <string.h>

#include "lazy.h"

#include "opal/runtime/opal_progress.h"

typedef struct lazy_agreement {
    ompi_coll_base_nbc_request_t super;
    ompi_communicator_t *comm;
    int *result;
    bool maximum;
    int value, incoming, distance, tag;
    ompi_request_t *pair[2]; /* the round's messages, if it has begun */
    struct lazy_agreement *next;
} lazy_agreement_t;
OBJ_CLASS_DECLARATION(lazy_agreement_t);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the list */
static pthread_mutex_t step = PTHREAD_MUTEX_INITIALIZER; /* who has it goes through the list */
static lazy_agreement_t *under_way;
static bool registered;

static int cancel(ompi_request_t *request, int complete)
{
    return MPI_ERR_REQUEST;
}

static int release(ompi_request_t **request)
{
    if (!REQUEST_COMPLETE(*request)) return MPI_ERR_REQUEST;
    OMPI_REQUEST_FINI(*request);
    OBJ_RELEASE(*request);
    *request = MPI_REQUEST_NULL;
    return OMPI_SUCCESS;
}

static void construct(lazy_agreement_t *agreement)
{
    ompi_request_t *base = &agreement->super.super;
    base->req_type = OMPI_REQUEST_COLL;
    base->req_status._cancelled = 0;
    base->req_free = release;
    base->req_cancel = cancel;
    agreement->pair[0] = agreement->pair[1] = NULL;
}

OBJ_CLASS_INSTANCE(lazy_agreement_t, ompi_coll_base_nbc_request_t, construct, NULL);

static int begin_round(lazy_agreement_t *agreement)
{
    ompi_communicator_t *comm = agreement->comm;
    int size = ompi_comm_size(comm), rank = ompi_comm_rank(comm), distance = agreement->distance;
    int rc = MCA_PML_CALL(isend(&agreement->value, 1, &ompi_mpi_int.dt, (rank + distance) % size, agreement->tag,
                                MCA_PML_BASE_SEND_STANDARD, comm, &agreement->pair[0]));
    if (rc != OMPI_SUCCESS) return rc;
    return MCA_PML_CALL(irecv(&agreement->incoming, 1, &ompi_mpi_int.dt, (rank - distance + size) % size, agreement->tag, comm,
                              &agreement->pair[1]));
}

/** Whether the round's messages are done; the received value is folded in then. */
static bool end_round(lazy_agreement_t *agreement, int *rc)
{
    if (!REQUEST_COMPLETE(agreement->pair[1]) || !REQUEST_COMPLETE(agreement->pair[0])) return false;
    for (int i = 0; i < 2; i++) {
        if (agreement->pair[i]->req_status.MPI_ERROR != OMPI_SUCCESS) *rc = agreement->pair[i]->req_status.MPI_ERROR;
        (void)ompi_request_free(&agreement->pair[i]);
        agreement->pair[i] = NULL;
    }
    bool better = agreement->maximum ? agreement->incoming > agreement->value : agreement->incoming < agreement->value;
    if (better) agreement->value = agreement->incoming;
    agreement->distance *= 2;
    return true;
}

/** Goes as far as it can. True: done, well or badly. */
static bool go_on(lazy_agreement_t *agreement)
{
    int rc = OMPI_SUCCESS, size = ompi_comm_size(agreement->comm);
    while (rc == OMPI_SUCCESS) {
        if (agreement->pair[1] != NULL && !end_round(agreement, &rc)) return false;
        if (rc == OMPI_SUCCESS && agreement->distance >= size) break;
        if (rc == OMPI_SUCCESS) rc = begin_round(agreement);
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
    OMPI_REQUEST_INIT(base, false);
    base->req_mpi_object.comm = comm;
    base->req_state = OMPI_REQUEST_ACTIVE;
    base->req_status.MPI_ERROR = OMPI_SUCCESS;
    agreement->comm = comm;
    OBJ_RETAIN(comm); /* a program may free it meanwhile */
    agreement->result = rbuf;
    agreement->maximum = op == &ompi_mpi_op_max.op;
    memcpy(&agreement->value, sbuf == MPI_IN_PLACE ? rbuf : sbuf, sizeof agreement->value);
    agreement->distance = 1;
    agreement->tag = ompi_coll_base_nbc_reserve_tags(comm, 1); /* as libnbc does: all processes call in the same order */
    if (go_on(agreement)) (void)ompi_request_complete(base, false);
    else enter(agreement);
    *request = base;
    return OMPI_SUCCESS;
}
