/* SPDX-License-Identifier: BSD-3-Clause
 * reduce_run.c: a blocking reduction from the wrappers to the core and back.
 */
#include "reduce.h"

#include <lucid_sparse.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "../core/log.h"

static _Atomic uint64_t taken, passed, sent, saved;

void lucid_sparse_get_figures(lucid_sparse_figures_t *figures)
{
    *figures = (lucid_sparse_figures_t){taken, passed, sent, saved};
}

/* Found out once; who finds it out twice finds the same. */
static enum { UNKNOWN, OFF, ON, MEASURE } mode(void)
{
    static _Atomic int known;
    int found = atomic_load_explicit(&known, memory_order_relaxed);
    if (LUCID_LIKELY(found != UNKNOWN)) return found;
    const char *word = lucid_params()->sparse;
    found = strcmp(word, "on") == 0 ? ON : strcmp(word, "measure") == 0 ? MEASURE : OFF;
    atomic_store_explicit(&known, found, memory_order_relaxed);
    return found;
}

bool lucid_reduce_wanted(void)
{
    return mode() != OFF;
}

static bool is_intra(MPI_Comm comm, int *rank, int *size)
{
    int inter = 1;
    if (comm == MPI_COMM_NULL || PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter) return false;
    PMPI_Comm_rank(comm, rank);
    PMPI_Comm_size(comm, size);
    return *size > 1;
}

/* Elements of the whole vector; for a Reduce_scatter also every rank's, into `counts`. */
static size_t vector(const struct lucid_reduction *reduction, int size, size_t *counts)
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

/* The library is the one to complain of what is not valid. */
static bool valid(const struct lucid_reduction *reduction, int size)
{
    if (reduction->kind == SPARSE_REDUCE && (reduction->root < 0 || reduction->root >= size)) return false;
    for (int i = 0; reduction->counts && i < size; i++)
        if (reduction->counts[i] < 0) return false;
    for (int i = 0; reduction->counts_c && i < size; i++)
        if (reduction->counts_c[i] < 0) return false;
    return reduction->count >= 0;
}

static int failed(const struct lucid_reduction *reduction, const struct sparse_outcome *outcome, int rank)
{
    char text[256];
    lucid_error("%s: %s", reduction->name, sparse_outcome_text(outcome, rank, text, sizeof text));
    int rc = outcome->error == SPARSE_TRANSPORT ? outcome->code
             : outcome->error == SPARSE_NO_MEMORY ? MPI_ERR_NO_MEM : MPI_ERR_OTHER;
    PMPI_Comm_call_errhandler(reduction->comm, rc);
    return rc;
}

static bool finish(const struct lucid_reduction *reduction, struct sparse_collective *run, enum sparse_status status, int rank, int *rc)
{
    struct sparse_outcome outcome;
    while (status == SPARSE_PENDING) status = sparse_collective_step(run);
    sparse_collective_outcome(run, &outcome);
    sparse_collective_destroy(run);
    if (status == SPARSE_NOT_OURS) return false;
    taken++;
    sent += outcome.sent;
    if (outcome.sent_dense > outcome.sent) saved += outcome.sent_dense - outcome.sent;
    *rc = status == SPARSE_DONE ? MPI_SUCCESS : failed(reduction, &outcome, rank);
    return true;
}

static bool run(const struct lucid_reduction *reduction, size_t *counts, const struct sparse_operator *operator, int *rc)
{
    struct lucid_reduce_comm *own = lucid_reduce_comm(reduction->comm);
    struct sparse_collective *collective;
    if (!own) return false;
    struct sparse_call call = {
        .kind = reduction->kind, .input = reduction->in_place ? reduction->output : reduction->input, .output = reduction->output,
        .count = (size_t)reduction->count, .counts = counts, .operator = *operator, .root = reduction->root,
        .transport = &own->transport, .tag = 0, .state = own->state, .parameters = &own->parameters, .may_pass_on = true};
    enum sparse_status status = sparse_collective_create(&call, &collective);
    if (status == SPARSE_PENDING) return finish(reduction, collective, status, own->transport.rank, rc);
    if (status == SPARSE_NOT_OURS) return false;
    const struct sparse_outcome outcome = {.error = SPARSE_NO_MEMORY, .peer = -1};
    *rc = failed(reduction, &outcome, own->transport.rank);
    return true;
}

/* So few elements that they are short whatever their type: most calls, and nothing is looked up for them. */
static bool is_tiny(const struct lucid_reduction *reduction)
{
    return reduction->kind != SPARSE_REDUCE_SCATTER && mode() == ON && !lucid_params()->sparse_always && reduction->count >= 0 &&
           (size_t)reduction->count < lucid_params()->sparse_short / SPARSE_MAX_SIZE;
}

/* The whole way, for a call that the core may take. */
static bool attempt(const struct lucid_reduction *reduction, int size, const struct sparse_operator *operator, int rank, int *rc)
{
    size_t *counts = NULL;
    if (reduction->counts || reduction->counts_c) {
        counts = malloc((size_t)size * sizeof *counts);
        if (!counts) {
            const struct sparse_outcome outcome = {.error = SPARSE_NO_MEMORY, .peer = -1};
            *rc = failed(reduction, &outcome, rank);
            return true;
        }
        (void)vector(reduction, size, counts);
    }
    bool done = run(reduction, counts, operator, rc);
    free(counts);
    return done;
}

bool lucid_reduce_run(const struct lucid_reduction *reduction, int *rc)
{
    struct lucid_reduce_user user;
    struct sparse_operator operator;
    int rank, size;
    if (is_tiny(reduction) || !is_intra(reduction->comm, &rank, &size) || !valid(reduction, size)) return false;
    size_t count = vector(reduction, size, NULL);
    bool done = false;
    if (lucid_reduce_operator(reduction->op, reduction->type, &user, &operator)) {
        if (mode() == MEASURE) {
            lucid_reduce_look(reduction, count, &operator);
            return false;
        }
        if (count >= lucid_params()->sparse_short / operator.size || lucid_params()->sparse_always)
            done = attempt(reduction, size, &operator, rank, rc);
    }
    if (!done) passed++;
    return done;
}
