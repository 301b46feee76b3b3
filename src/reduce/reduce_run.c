/* SPDX-License-Identifier: BSD-3-Clause
 * reduce_run.c: a reduction from the wrappers to the core and back, if it is a blocking one; what nonblocking ones share.
 */
#include "reduce.h"

#include <lucid_sparse.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "../core/log.h"

static _Atomic uint64_t taken, sent, saved;

void lucid_sparse_get_figures(lucid_sparse_figures_t *figures)
{
    *figures = (lucid_sparse_figures_t){taken, lucid_reduce_process.passed, sent, saved};
}

/* Who finds it out twice finds the same. */
int lucid_reduce_find_mode(void)
{
    const char *word = lucid_params()->sparse;
    const int found = strcmp(word, "on") == 0 ? LUCID_REDUCE_ON : strcmp(word, "measure") == 0 ? LUCID_REDUCE_MEASURE : LUCID_REDUCE_OFF;
    if (found == LUCID_REDUCE_ON && !lucid_params()->sparse_always)
        lucid_reduce_process.tiny = sparse_short_least(lucid_params()) / SPARSE_MAX_SIZE;
    lucid_reduce_process.mode = found;
    return found;
}

static bool is_on(void)
{
    return lucid_reduce_mode() == LUCID_REDUCE_ON;
}

static bool is_measured(void)
{
    return lucid_reduce_mode() == LUCID_REDUCE_MEASURE;
}

static bool is_intra(MPI_Comm comm, int *rank, int *size)
{
    int inter = 1;
    if (comm == MPI_COMM_NULL || PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter) return false;
    PMPI_Comm_rank(comm, rank);
    PMPI_Comm_size(comm, size);
    return *size > 1;
}

size_t lucid_reduce_elements(const struct lucid_reduction *reduction, int size, size_t *counts)
{
    size_t total = 0;
    if (reduction->kind != SPARSE_REDUCE_SCATTER) return (size_t)reduction->count;
    for (int i = 0; i < size; i++) {
        size_t n = reduction->counts ? (size_t)reduction->counts[i]
                   : reduction->counts_c ? (size_t)reduction->counts_c[i] : (size_t)reduction->count;
        if (counts) counts[i] = n;
        total += n;
    }
    return total;
}

void lucid_reduce_describe(const struct lucid_reduction *reduction, struct lucid_reduce_comm *own, const size_t *counts,
                           const struct sparse_operator *operator, int tag, struct sparse_call *call)
{
    *call = (struct sparse_call){
        .kind = reduction->kind, .input = reduction->in_place ? reduction->output : reduction->input, .output = reduction->output,
        .count = (size_t)reduction->count, .counts = counts, .operator = *operator, .root = reduction->root,
        .transport = &own->transport, .tag = tag, .state = own->state, .parameters = &own->parameters, .may_pass_on = true};
}

int lucid_reduce_account(const struct lucid_reduction *reduction, const struct sparse_outcome *outcome, int rank)
{
    char text[256];
    taken++;
    sent += outcome->sent;
    if (outcome->sent_dense > outcome->sent) saved += outcome->sent_dense - outcome->sent;
    if (outcome->error == SPARSE_NO_ERROR) return MPI_SUCCESS;
    lucid_error("%s: %s", reduction->name, sparse_outcome_text(outcome, rank, text, sizeof text));
    return outcome->error == SPARSE_TRANSPORT ? outcome->code
           : outcome->error == SPARSE_NO_MEMORY ? MPI_ERR_NO_MEM : MPI_ERR_OTHER;
}

bool lucid_reduce_counts(const struct lucid_reduction *reduction, int size, size_t **counts)
{
    *counts = NULL;
    if (!reduction->counts && !reduction->counts_c) return true;
    *counts = malloc((size_t)size * sizeof **counts);
    if (*counts) (void)lucid_reduce_elements(reduction, size, *counts);
    return *counts != NULL;
}

enum sparse_status lucid_reduce_create(const struct sparse_call *call, struct lucid_reduce_comm *own, struct sparse_collective **run)
{
    pthread_mutex_lock(&own->lock);
    lucid_reduce_again_asked(own);
    enum sparse_status status = sparse_collective_create(call, run);
    pthread_mutex_unlock(&own->lock);
    return status;
}

/* Between two steps the communicator's nonblocking calls may go on. */
enum sparse_status lucid_reduce_go_on(struct lucid_reduce_comm *own, struct sparse_collective *run, struct sparse_outcome *outcome)
{
    enum sparse_status status = SPARSE_PENDING;
    while (status == SPARSE_PENDING) {
        pthread_mutex_lock(&own->lock);
        status = sparse_collective_step(run);
        if (status != SPARSE_PENDING) {
            sparse_collective_outcome(run, outcome);
            sparse_collective_destroy(run);
        }
        pthread_mutex_unlock(&own->lock);
        if (status == SPARSE_PENDING && atomic_load_explicit(&own->users, memory_order_relaxed) > 0) lucid_reduce_poke(0);
    }
    return status;
}

/* Whose call of this thread the library is running. */
static _Thread_local struct lucid_reduce_comm *passed_on;

void lucid_reduce_left(void)
{
    struct lucid_reduce_comm *own = passed_on;
    if (is_measured()) lucid_reduce_look_done();
    lucid_reduce_short_left();
    if (!own) return;
    passed_on = NULL;
    pthread_mutex_lock(&own->lock);
    sparse_state_passed(own->state, NULL, &own->parameters, 0);
    pthread_mutex_unlock(&own->lock);
}

/* False: it is the library's. */
static bool run(const struct lucid_reduction *reduction, size_t *counts, const struct sparse_operator *operator, size_t bytes, int *rc)
{
    struct lucid_reduce_comm *own = lucid_reduce_comm(reduction->comm);
    struct sparse_collective *collective;
    struct sparse_call call;
    struct sparse_outcome outcome = {.error = SPARSE_NO_MEMORY, .peer = -1};
    if (!own) return false;
    lucid_reduce_describe(reduction, own, counts, operator, 0, &call);
    call.blocking = true;
    enum sparse_status status = lucid_reduce_create(&call, own, &collective);
    if (status == SPARSE_NOT_OURS) lucid_reduce_again_unseen(reduction, operator, own);
    if (status == SPARSE_PENDING) {
        status = lucid_reduce_go_on(own, collective, &outcome);
        lucid_reduce_short_seen(reduction->comm, bytes, outcome.agreed, outcome.worth);
    }
    if (status == SPARSE_NOT_OURS) {
        if (outcome.left) passed_on = own;
        return false;
    }
    *rc = lucid_reduce_account(reduction, &outcome, own->transport.rank);
    return true;
}

/* Most calls are, and nothing is looked up for them. */
static bool is_tiny(const struct lucid_reduction *reduction)
{
    return reduction->kind != SPARSE_REDUCE_SCATTER && (size_t)reduction->count < lucid_reduce_process.tiny;
}

static bool reaches(size_t elements, size_t size, size_t bytes)
{
    return elements >= (bytes + size - 1) / size;
}

bool lucid_reduce_is_ours(const struct lucid_reduction *reduction, struct lucid_reduce_user *user, struct sparse_operator *operator,
                          size_t *elements, bool blocking)
{
    int rank, size;
    if (is_tiny(reduction)) return false;
    if (!blocking && is_on() && lucid_reduce_begun_again(reduction)) {
        lucid_reduce_passed();
        return false;
    }
    if (!is_intra(reduction->comm, &rank, &size)) return false;
    if (!lucid_reduce_is_valid(reduction, rank, size, elements)) return false;
    bool known = lucid_reduce_operator(reduction->op, reduction->type, user, operator);
    if (known) lucid_reduce_again_pair(reduction, operator);
    if (is_measured()) {
        if (known) lucid_reduce_look(reduction, *elements, operator);
        else if (!lucid_reduce_predefined(reduction->op) && !lucid_op_declared(reduction->op)) lucid_reduce_not_declared();
        return false;
    }
    if (known && (lucid_params()->sparse_always || reaches(*elements, operator->size, sparse_short_least(lucid_params())))) {
        if (blocking || lucid_reduce_long(reduction->comm, *elements * operator->size)) return true;
    }
    if (known && !blocking) lucid_reduce_again_begun(reduction, operator);
    lucid_reduce_passed();
    return false;
}

bool lucid_reduce_run(const struct lucid_reduction *reduction, int *rc)
{
    struct lucid_reduce_user user;
    struct sparse_operator operator;
    size_t elements, *counts = NULL;
    int size;
    if (is_measured()) lucid_reduce_look_anew();
    if (is_on() && !is_tiny(reduction) && lucid_reduce_left_again(reduction)) {
        lucid_reduce_passed();
        return false;
    }
    if (!lucid_reduce_is_ours(reduction, &user, &operator, &elements, true)) return false;
    enum lucid_reduce_brief brief = lucid_reduce_short(reduction->comm, elements * operator.size);
    if (brief == LUCID_REDUCE_SHORT) lucid_reduce_again_short(reduction, &operator);
    if (brief == LUCID_REDUCE_SHORT || brief == LUCID_REDUCE_TIMED) {
        lucid_reduce_passed();
        return false;
    }
    PMPI_Comm_size(reduction->comm, &size);
    bool done = true;
    if (brief == LUCID_REDUCE_LONG && lucid_reduce_counts(reduction, size, &counts)) {
        done = run(reduction, counts, &operator, elements * operator.size, rc);
    } else {
        const struct sparse_outcome outcome = {.error = SPARSE_NO_MEMORY, .peer = -1};
        *rc = lucid_reduce_account(reduction, &outcome, -1);
    }
    free(counts);
    if (!done) lucid_reduce_passed();
    else if (*rc != MPI_SUCCESS) PMPI_Comm_call_errhandler(reduction->comm, *rc);
    return done;
}
