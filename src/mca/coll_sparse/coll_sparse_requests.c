/* SPDX-License-Identifier: BSD-3-Clause
 * coll_sparse_requests.c: nonblocking and persistent reductions: requests that Open MPI's progress engine steps.
 *
 * The nonblocking calls of a communicator find out in their order who runs them: then each process knows what became of those before,
 * and all count alike in the back-off. Agreements overlap where they are needed whatever the ones before come to, reductions always.
 */
#include "coll_sparse.h"

#include <stdlib.h>

#include "opal/runtime/opal_progress.h"

typedef struct coll_sparse_request_t {
    ompi_coll_base_nbc_request_t super;
    coll_sparse_module_t *module;
    struct coll_sparse_user user;
    struct sparse_call call;
    struct sparse_collective *run; /* while it is active */
    size_t *counts;
    struct coll_sparse_call mpi_call; /* its operator and datatype are kept; for the module below, */
    bool in_turn;                     /* its answer is awaited: its turn ends with that */
    bool created;
    enum sparse_status status;        /* what the core has said of it */
    int below_tag;
    ompi_request_t *below;            /* while it runs the call */
    ompi_request_t *made;             /* ... if that was made before it was to run; NULL: it was not */
    bool started;                     /* it has run */
    unsigned passed;                  /* starts of a persistent call that it has run */
    unsigned ticket;                  /* ... of which the core is to know the end; 0: it is not */
    struct coll_sparse_request_t *next;
} coll_sparse_request_t;
OBJ_CLASS_DECLARATION(coll_sparse_request_t);

/* Active requests. Who steps them takes the whole list away and puts back what is not done. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static coll_sparse_request_t *_Atomic active; /* is looked at without the lock: most of the time there is none */
static bool registered;
static _Thread_local bool stepping;

static void enlist(coll_sparse_request_t *first, coll_sparse_request_t *last)
{
    pthread_mutex_lock(&lock);
    last->next = active;
    active = first;
    pthread_mutex_unlock(&lock);
}

/* Whether the module below is done with the call. */
static bool below_done(coll_sparse_request_t *request)
{
    ompi_request_t *below = request->below;
    if (!REQUEST_COMPLETE(below)) return false;
    opal_atomic_rmb();
    request->super.super.req_status.MPI_ERROR = below->req_status.MPI_ERROR;
    request->below = NULL;
    if (below != &ompi_request_empty && below != request->made) ompi_request_free(&below);
    return true;
}

/* The module below has run it, or could not. */
static void end_below(coll_sparse_request_t *request)
{
    if (request->ticket > 0) sparse_state_passed(request->module->state, request->call.series, request->call.parameters, request->ticket);
    request->ticket = 0;
}

/* What became of a call that the core has done with, or never had. */
static int outcome_of(coll_sparse_request_t *request, enum sparse_status status)
{
    struct sparse_outcome outcome;
    if (!request->run) {
        if (status == SPARSE_NOT_OURS) coll_sparse_count_passed();
        return status == SPARSE_NOT_OURS ? COLL_SPARSE_PASS : OMPI_ERR_OUT_OF_RESOURCE;
    }
    int rc = coll_sparse_account(request->module, request->run, status);
    if (rc == COLL_SPARSE_PASS_TIMED) {
        sparse_collective_outcome(request->run, &outcome);
        request->ticket = outcome.ticket;
    }
    sparse_collective_destroy(request->run);
    request->run = NULL;
    return rc == COLL_SPARSE_PASS_TIMED ? COLL_SPARSE_PASS : rc;
}

static int make_below(coll_sparse_request_t *request)
{
    return coll_sparse_below_make(request->module, &request->mpi_call, true, request->below_tag, &request->made);
}

/* What was made for one call frees its buffers at its end as no persistent request would. */
static int start_made(coll_sparse_request_t *request)
{
    request->made->req_persistent = request->call.series != NULL;
    request->started = true;
    int rc = request->made->req_start(1, &request->made);
    if (rc == OMPI_SUCCESS) request->below = request->made;
    return rc;
}

/* Libnbc's persistent request spares it what a start costs beyond its messages, but leaves its buffer behind when it is freed (4.1 to 6.0), as
 * it does where a program has it: not for a call that is started a few times. */
static int pass_on(coll_sparse_request_t *request)
{
    enum { SEVERAL = 8 };
    const bool lasts = request->call.series && ++request->passed > SEVERAL;
    int rc = OMPI_SUCCESS;
    if (!request->made && !lasts) return coll_sparse_below_make(request->module, &request->mpi_call, false, request->below_tag, &request->below);
    if (!request->made) rc = make_below(request);
    return rc == OMPI_SUCCESS ? start_made(request) : rc;
}

static void end_turn(coll_sparse_request_t *request, enum sparse_status status)
{
    bool decided = status != SPARSE_PENDING || (request->run && sparse_collective_decided(request->run));
    request->in_turn = !decided;
    if (decided) request->module->turn++;
}

/* What the core says of a call. True: it is complete. */
static bool take(coll_sparse_request_t *request, enum sparse_status status)
{
    if (request->in_turn) end_turn(request, status);
    if (status == SPARSE_PENDING) return false;
    int rc = outcome_of(request, status);
    if (rc == COLL_SPARSE_PASS) {
        rc = pass_on(request);
        if (rc == OMPI_SUCCESS) return false;
        end_below(request);
    }
    request->super.super.req_status.MPI_ERROR = rc;
    return true;
}

static bool may_begin(const coll_sparse_request_t *request)
{
    const coll_sparse_module_t *module = request->module;
    const unsigned turn = request->call.turn, before = turn - module->turn;
    const bool none_leaves = module->asks && (int)(module->turn - module->asks_from) >= 0;
    if (request->created || !request->in_turn) return !request->created;
    return turn == module->created && (before == 0 || sparse_collective_looks(&request->call, none_leaves ? 0 : before));
}

/* SPARSE_PENDING, also if it has come to an end before its turn. */
static enum sparse_status go_on(coll_sparse_request_t *request)
{
    coll_sparse_module_t *module = request->module;
    if (request->run) {
        request->status = sparse_collective_step(request->run);
    } else if (may_begin(request)) {
        request->created = true;
        if (request->in_turn) module->created++;
        request->status = sparse_collective_create(&request->call, &request->run);
        const struct coll_sparse_call *call = &request->mpi_call;
        if (request->call.order == SPARSE_IN_TURN && request->status == SPARSE_NOT_OURS)
            coll_sparse_note(&module->unseen_begun, call, 0);
    }
    return request->in_turn && request->call.turn != module->turn ? SPARSE_PENDING : request->status;
}

static bool step(coll_sparse_request_t *request)
{
    coll_sparse_module_t *module = request->module;
    if (request->below && request->ticket == 0) return below_done(request);
    if (pthread_mutex_trylock(&module->lock) != 0) return false;
    bool done;
    if (request->below) {
        done = below_done(request);
        if (done) end_below(request);
    } else {
        enum sparse_status status = go_on(request);
        done = (request->run || status != SPARSE_PENDING) && take(request, status);
    }
    pthread_mutex_unlock(&module->lock);
    return done;
}

static int progress(void)
{
    int completed = 0;
    if (stepping || !atomic_load_explicit(&active, memory_order_relaxed)) return 0; /* stepping: a message below makes progress itself */
    pthread_mutex_lock(&lock);
    coll_sparse_request_t *mine = active;
    active = NULL;
    pthread_mutex_unlock(&lock);
    if (!mine) return 0;
    stepping = true;
    coll_sparse_request_t *kept = NULL, *last = NULL;
    while (mine) {
        coll_sparse_request_t *request = mine;
        mine = request->next;
        if (!step(request)) {
            request->next = kept;
            kept = request;
            if (!last) last = request;
            continue;
        }
        completed++;
        ompi_request_complete(&request->super.super, true); /* from here on it may be gone */
    }
    if (kept) enlist(kept, last);
    stepping = false;
    return completed;
}

static void launch(coll_sparse_request_t *request)
{
    request->super.super.req_state = OMPI_REQUEST_ACTIVE;
    request->super.super.req_status.MPI_ERROR = OMPI_SUCCESS;
    enlist(request, request);
}

/* The module below runs it at once where that is known without asking. */
static int start(coll_sparse_request_t *request)
{
    coll_sparse_module_t *module = request->module;
    pthread_mutex_lock(&module->lock);
    const enum sparse_status status = sparse_collective_create(&request->call, &request->run);
    const bool failed = status != SPARSE_PENDING && take(request, status);
    pthread_mutex_unlock(&module->lock);
    if (failed) return request->super.super.req_status.MPI_ERROR;
    request->super.super.req_complete = REQUEST_PENDING;
    launch(request);
    return OMPI_SUCCESS;
}

static int request_start(size_t count, ompi_request_t **requests)
{
    for (size_t i = 0; i < count; i++) {
        int rc = start((coll_sparse_request_t *)requests[i]);
        if (rc != OMPI_SUCCESS) return rc;
    }
    return OMPI_SUCCESS;
}

static int request_cancel(ompi_request_t *request, int complete)
{
    return MPI_ERR_REQUEST;
}

/* A program may free its operator and its datatype meanwhile. The MPI layer keeps a nonblocking call's, but not a persistent one's. */
static void keep(const struct coll_sparse_call *call)
{
    if (!ompi_op_is_intrinsic(call->op)) OBJ_RETAIN(call->op);
    if (!ompi_datatype_is_predefined(call->type)) OBJ_RETAIN(call->type);
}

static void let_go(const struct coll_sparse_call *call)
{
    ompi_op_t *op = call->op;
    ompi_datatype_t *type = call->type;
    if (!ompi_op_is_intrinsic(op)) OBJ_RELEASE(op);
    if (!ompi_datatype_is_predefined(type)) OBJ_RELEASE(type);
}

static void dispose(coll_sparse_request_t *request)
{
    OMPI_REQUEST_FINI(&request->super.super);
    ompi_communicator_t *comm = request->module->comm;
    if (request->made && !request->started && !request->call.series) atomic_fetch_add(&request->module->left_behind, 1);
    if (request->made) ompi_request_free(&request->made);
    let_go(&request->mpi_call);
    sparse_series_destroy(request->call.series);
    free(request->counts);
    OBJ_RELEASE(request->module);
    OBJ_RELEASE(request);
    OBJ_RELEASE(comm); /* the last one takes the module down as MPI_Comm_free would have */
}

static int request_free(ompi_request_t **handle)
{
    coll_sparse_request_t *request = (coll_sparse_request_t *)*handle;
    if (!REQUEST_COMPLETE(&request->super.super)) return MPI_ERR_REQUEST;
    dispose(request);
    *handle = MPI_REQUEST_NULL;
    return OMPI_SUCCESS;
}

static void request_construct(coll_sparse_request_t *request)
{
    request->super.super.req_type = OMPI_REQUEST_COLL;
    request->super.super.req_status._cancelled = 0;
    request->super.super.req_start = request_start;
    request->super.super.req_free = request_free;
    request->super.super.req_cancel = request_cancel;
    request->run = NULL;
    request->counts = NULL;
    request->below = request->made = NULL;
    request->passed = 0;
    request->started = false;
    request->ticket = 0;
    request->in_turn = request->created = false;
    request->status = SPARSE_PENDING;
}

OBJ_CLASS_INSTANCE(coll_sparse_request_t, ompi_coll_base_nbc_request_t, request_construct, NULL);

static void register_progress(void)
{
    pthread_mutex_lock(&lock);
    bool first = !registered;
    registered = true;
    pthread_mutex_unlock(&lock);
    if (first) opal_progress_register(progress);
}

void coll_sparse_requests_close(void)
{
    if (registered) opal_progress_unregister(progress);
    registered = false;
}

static coll_sparse_request_t *make(coll_sparse_module_t *module, const struct coll_sparse_call *call, bool persistent)
{
    coll_sparse_request_t *request = OBJ_NEW(coll_sparse_request_t);
    if (!request) return NULL;
    OMPI_REQUEST_INIT(&request->super.super, persistent);
    request->super.super.req_mpi_object.comm = module->comm;
    request->module = module;
    OBJ_RETAIN(module);
    OBJ_RETAIN(module->comm); /* a program may free it meanwhile */
    request->mpi_call = *call;
    keep(call);
    return request;
}

/* Nonblocking calls share a block of tags, reserved by the first, which is the same call everywhere. Were each to have its own, they would
 * leave the 24 bits that pml/ucx has for a tag, and a receive of the program's with MPI_ANY_TAG would match their messages. More than
 * so many calls of one communicator are not expected to be under way at once. A persistent call keeps its tags for ever. */
enum { CALLS = 1000 };

static int tag_of(coll_sparse_module_t *module, bool persistent)
{
    if (persistent) return ompi_coll_base_nbc_reserve_tags(module->comm, SPARSE_TAGS) - SPARSE_TAGS + 1;
    const int all = CALLS * SPARSE_TAGS;
    if (module->tags == 0) module->tags = ompi_coll_base_nbc_reserve_tags(module->comm, all) - all + 1;
    return module->tags + (int)(module->begun++ % CALLS) * SPARSE_TAGS;
}

static bool several_threads(void)
{
    return coll_sparse_process.threads || lucid_ompi_threads();
}

/* So many buffers that libnbc has lost before all calls are looked at. */
enum { LEFT_BEHIND = 8 };

/* What a nonblocking call's process knows already: SPARSE_PENDING, also if its turn is yet to come. */
static enum sparse_status first_answer(coll_sparse_request_t *request)
{
    coll_sparse_module_t *module = request->module;
    pthread_mutex_lock(&module->lock);
    if (request->in_turn) {
        if (!module->asks && atomic_load(&module->left_behind) >= LEFT_BEHIND) {
            module->asks = true;
            module->asks_from = module->turns;
        }
        request->call.may_leave = !module->asks;
        request->call.turn = module->turns++;
        request->call.decided = &module->turn;
    }
    enum sparse_status status = go_on(request);
    if (request->in_turn) end_turn(request, status);
    pthread_mutex_unlock(&module->lock);
    return status;
}

/* The tags of the routine below are those that it would draw now, wherever and whenever the answer is known. With threads it has to draw them now
 * if it may come to run. */
static void reserve(coll_sparse_request_t *request, bool draws)
{
    coll_sparse_module_t *module = request->module;
    request->below_tag = 0;
    if (draws && make_below(request) == OMPI_SUCCESS) return;
    request->made = NULL;
    request->below_tag = ompi_coll_base_nbc_reserve_tags(module->comm, COLL_SPARSE_BELOW_TAGS);
}

static int begin(coll_sparse_request_t *request, ompi_request_t **handle)
{
    coll_sparse_module_t *module = request->module;
    struct coll_sparse_call call = request->mpi_call;
    const bool turns = module->libnbc != NULL;
    request->in_turn = turns;
    request->call.order = turns ? SPARSE_IN_TURN : SPARSE_UNORDERED;
    request->call.may_pass_on = turns && !several_threads();
    request->call.tag = tag_of(module, false);
    enum sparse_status status = first_answer(request);
    if (status != SPARSE_PENDING) {
        dispose(request);
        if (status != SPARSE_NOT_OURS) return OMPI_ERR_OUT_OF_RESOURCE;
        if (!turns) return COLL_SPARSE_PASS;
        int rc = coll_sparse_below_now(module, &call, handle);
        if (rc == OMPI_SUCCESS) free(call.counts);
        return rc;
    }
    if (turns) reserve(request, several_threads() && !request->created);
    coll_sparse_tell_tags(module->comm, request->call.tag, SPARSE_TAGS);
    request->counts = call.counts;
    register_progress();
    launch(request);
    *handle = &request->super.super;
    return OMPI_SUCCESS;
}

/* A run that is thrown away before its first message. */
static enum sparse_status try(coll_sparse_request_t *request)
{
    coll_sparse_module_t *module = request->module;
    pthread_mutex_lock(&module->lock);
    enum sparse_status status = sparse_collective_create(&request->call, &request->run);
    sparse_collective_destroy(request->run);
    pthread_mutex_unlock(&module->lock);
    request->run = NULL;
    return status;
}

/* Whether a persistent call is the core's is decided once, before it has learned anything. */
static int prepare(coll_sparse_request_t *request, ompi_request_t **handle)
{
    coll_sparse_module_t *module = request->module;
    request->call.order = SPARSE_UNORDERED;
    request->call.may_leave = module->libnbc;
    request->call.may_pass_on = module->libnbc && !several_threads();
    request->call.tag = tag_of(module, true);
    enum sparse_status status = try(request);
    if (status == SPARSE_PENDING && !(request->call.series = sparse_series_create())) status = SPARSE_FAILED;
    if (status != SPARSE_PENDING) {
        dispose(request);
        return status == SPARSE_NOT_OURS ? COLL_SPARSE_PASS : OMPI_ERR_OUT_OF_RESOURCE;
    }
    request->call.order = SPARSE_IN_TURN;
    reserve(request, module->libnbc && several_threads());
    request->counts = request->mpi_call.counts;
    register_progress();
    *handle = &request->super.super;
    return OMPI_SUCCESS;
}

/* Such as the last one that was created, which was left to libnbc, behind others that are all decided: so is this one, at once. It has its turn
 * and its tags. */
static bool passes_again(coll_sparse_module_t *module, const struct coll_sparse_call *call)
{
    pthread_mutex_lock(&module->lock);
    const bool first = module->turns == module->turn && module->turns == module->created;
    const bool same = first && coll_sparse_same(&module->unseen_begun, call);
    const bool passes = same && sparse_state_passes(module->state, SPARSE_IN_TURN, 1, &module->parameters) > 0;
    if (passes) module->turn = module->created = ++module->turns;
    pthread_mutex_unlock(&module->lock);
    if (passes) (void)tag_of(module, false);
    return passes;
}

int coll_sparse_begin(coll_sparse_module_t *module, const struct coll_sparse_call *call, bool persistent, ompi_request_t **handle)
{
    const size_t elements = coll_sparse_elements(module, call);
    if (!coll_sparse_process.nonblocking || coll_sparse_short(module->short_begun, elements, call->type)) return COLL_SPARSE_PASS;
    if (!persistent && passes_again(module, call)) return coll_sparse_below_now(module, call, handle);
    coll_sparse_request_t *request = make(module, call, persistent);
    if (!request) return OMPI_ERR_OUT_OF_RESOURCE; /* alone, it may not be passed on */
    if (!coll_sparse_describe(module, call, &request->user, &request->call)) {
        dispose(request);
        return COLL_SPARSE_PASS;
    }
    coll_sparse_locate(module);
    request->call.library = coll_sparse_below_known(module, call->kind, elements * request->call.operator.size);
    /* ranks start it before and behind a blocking call that measures: all have what they had when it was made */
    if (!module->measured) request->call.parameters = &module->plain;
    return persistent ? prepare(request, handle) : begin(request, handle);
}
