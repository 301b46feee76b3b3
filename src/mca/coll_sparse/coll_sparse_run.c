/* SPDX-License-Identifier: BSD-3-Clause
 * coll_sparse_run.c: a call from MPI's terms to the core's, run to its end, and accounted for.
 */
#include "coll_sparse.h"

#include "log.h"
#include "opal/runtime/opal_progress.h"

/* MPI_IN_PLACE: where the input is in the receive buffer. Only a Reduce's root may say so. */
static const void *input_of(const struct coll_sparse_call *call)
{
    return call->input == MPI_IN_PLACE ? call->output : call->input;
}

bool coll_sparse_describe(coll_sparse_module_t *module, const struct coll_sparse_call *call, struct coll_sparse_user *user,
                          struct sparse_call *described)
{
    *described = (struct sparse_call){.kind = call->kind, .input = input_of(call), .output = call->output, .count = call->count,
                                      .counts = call->counts, .root = call->root, .transport = &module->transport,
                                      .state = module->state, .parameters = &module->parameters, .may_pass_on = true};
    return coll_sparse_operator(call->op, call->type, user, &described->operator);
}

/* Figures of a process whose threads may count at once. */
static void add_to(unsigned long long *figure, uint64_t more)
{
    __atomic_fetch_add(figure, more, __ATOMIC_RELAXED);
}

void coll_sparse_count_passed(void)
{
    if (lucid_ompi_threads()) add_to(&coll_sparse_process.passed, 1);
    else coll_sparse_process.passed++;
}

static int passed(void)
{
    coll_sparse_count_passed();
    return COLL_SPARSE_PASS;
}

static void count_density(double density)
{
    static const double limits[] = {1e-4, 1e-3, 1e-2, 2e-2, 5e-2, 0.1, 0.5};
    size_t i = 0;
    while (i < sizeof limits / sizeof *limits && density >= limits[i]) i++;
    add_to(&coll_sparse_process.density[i], 1);
}

int coll_sparse_account(coll_sparse_module_t *module, const struct sparse_collective *run, enum sparse_status status)
{
    struct sparse_outcome outcome;
    char text[256];
    sparse_collective_outcome(run, &outcome);
    if (outcome.agreed >= 0) count_density(outcome.agreed);
    if (status == SPARSE_NOT_OURS) return outcome.left ? (passed(), COLL_SPARSE_PASS_TIMED) : passed();
    add_to(&coll_sparse_process.taken, 1);
    add_to(&coll_sparse_process.sent, outcome.sent);
    if (outcome.sent_dense > outcome.sent) add_to(&coll_sparse_process.saved, outcome.sent_dense - outcome.sent);
    if (status == SPARSE_DONE) return OMPI_SUCCESS;
    lucid_error("coll/sparse: %s", sparse_outcome_text(&outcome, module->transport.rank, text, sizeof text));
    return outcome.error == SPARSE_TRANSPORT ? outcome.code
           : outcome.error == SPARSE_NO_MEMORY ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_ERROR;
}

int coll_sparse_passed(coll_sparse_module_t *module, int rc)
{
    pthread_mutex_lock(&module->lock);
    if (module->brief.since > 0) sparse_short_end(&module->brief, module->parameters.clock());
    else sparse_state_passed(module->state, NULL, &module->parameters, 0);
    pthread_mutex_unlock(&module->lock);
    return rc;
}

void coll_sparse_note(struct coll_sparse_unseen *last, const struct coll_sparse_call *call, unsigned left)
{
    bool lasting = ompi_datatype_is_predefined(call->type) && ompi_op_is_intrinsic(call->op) && !call->counts;
    *last = (struct coll_sparse_unseen){lasting ? call->type : NULL, call->op, call->count, call->kind, left};
}

/* Those that were counted and have not come are taken back; and the core is asked for more, if the call is another such one. */
static bool left_again(coll_sparse_module_t *module, const struct coll_sparse_call *call)
{
    struct coll_sparse_unseen *last = &module->unseen;
    sparse_state_take_back(module->state, SPARSE_IN_ORDER, last->left);
    last->left = 0;
    if (!coll_sparse_same(last, call)) return false;
    const unsigned calls = sparse_state_passes(module->state, SPARSE_IN_ORDER, UINT_MAX, &module->parameters);
    if (calls > 0) last->left = calls - 1;
    return calls > 0;
}

/* Was left to the module below without a message. */
static int left_unseen(coll_sparse_module_t *module, const struct coll_sparse_call *call)
{
    coll_sparse_note(&module->unseen, call, 0);
    return passed();
}

/* Not short, on this communicator. */
static bool reaches(const coll_sparse_module_t *module, size_t elements, size_t size)
{
    return elements >= (module->parameters.short_bytes + size - 1) / size;
}

/* From now on the quick look at a call's length says so. The core's own bound stays: of a nonblocking call whose turn is yet to come it is asked
 * at some processes sooner and at others later, and a longer bound would not have the same answer. */
static void learn_of_short(coll_sparse_module_t *module, const struct sparse_collective *run, size_t bytes)
{
    struct sparse_outcome outcome;
    if (!module->brief.settled || bytes >= SPARSE_SHORT_MOST) return;
    sparse_collective_outcome(run, &outcome);
    if (sparse_short_gives_up(&module->brief, outcome.agreed, outcome.worth))
        module->short_bytes = module->short_begun = SPARSE_SHORT_MOST;
}

/* Until another step may do something; a nonblocking call of the communicator may need the lock to go on. Where ranks share a processor, what
 * is looked at in each turn has left the first cache. */
static void let_go_on(coll_sparse_module_t *module, const struct sparse_collective *run)
{
    const union sparse_request *awaited = sparse_collective_awaits(run);
    pthread_mutex_unlock(&module->lock);
    do opal_progress();
    while (awaited && !coll_sparse_arrived(awaited));
    pthread_mutex_lock(&module->lock);
}

int coll_sparse_run(coll_sparse_module_t *module, const struct coll_sparse_call *mpi_call)
{
    struct coll_sparse_user user;
    struct sparse_call call;
    struct sparse_collective *run;
    if (left_again(module, mpi_call)) return passed();
    const size_t elements = coll_sparse_elements(module, mpi_call);
    if (!coll_sparse_describe(module, mpi_call, &user, &call)) return passed();
    /* from here on all processes answer alike */
    const size_t size = call.operator.size;
    if (!module->parameters.always && !reaches(module, elements, size)) {
        if (!sparse_short_unsettled(&module->brief, &module->parameters, elements * size)) return passed();
        if (!coll_sparse_settle(module, elements * size)) return passed(), COLL_SPARSE_PASS_TIMED;
        if (!reaches(module, elements, size)) return passed();
    }
    if (!module->measured && reaches(module, elements, size)) coll_sparse_measure(module);
    pthread_mutex_lock(&module->lock);
    call.tag = COLL_SPARSE_TAG;
    call.blocking = true;
    enum sparse_status status = sparse_collective_create(&call, &run);
    if (status == SPARSE_PENDING) {
        while ((status = sparse_collective_step(run)) == SPARSE_PENDING) let_go_on(module, run);
        int rc = coll_sparse_account(module, run, status);
        learn_of_short(module, run, elements * size);
        sparse_collective_destroy(run);
        pthread_mutex_unlock(&module->lock);
        return rc;
    }
    pthread_mutex_unlock(&module->lock);
    return status == SPARSE_NOT_OURS ? left_unseen(module, mpi_call) : OMPI_ERR_OUT_OF_RESOURCE;
}
