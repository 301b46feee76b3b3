/* SPDX-License-Identifier: BSD-3-Clause */
/* See sim_trial.h. */
#include "sim_trial.h"

#include "sim_inputs.h"

#include <stdlib.h>
#include <string.h>

enum { UNTOUCHED = 0xa5, TAG = 100 };

struct run {
    const struct sim_trial *trial;
    struct sparse_operator operator;
    struct sim *sim;
    struct sparse_state **states;
    struct sparse_collective **collective;
    enum sparse_status *status;
    bool *again;
    size_t *counts, *start, elements;
    struct sim_inputs *inputs; /* all ranks' vectors, as they were; NULL: they are not kept */
    char **input, **output;
    long *memory;    /* allocations left */
    struct sparse_parameters *parameters;
};

static void *need(void *memory)
{
    if (!memory) abort();
    return memory;
}

static void *limited_allocate(void *context, size_t bytes)
{
    long *left = context;
    return (*left)-- > 0 ? malloc(bytes) : NULL;
}

static void limited_release(void *context, void *memory)
{
    free(memory);
}

struct sparse_state **sim_states_create(int ranks)
{
    struct sparse_state **states = need(calloc((size_t)ranks, sizeof *states));
    for (int r = 0; r < ranks; r++) states[r] = need(sparse_state_create());
    return states;
}

void sim_states_destroy(struct sparse_state **states, int ranks)
{
    for (int r = 0; r < ranks; r++) sparse_state_destroy(states[r]);
    free(states);
}

struct sparse_series **sim_series_create(int ranks)
{
    struct sparse_series **series = need(calloc((size_t)ranks, sizeof *series));
    for (int r = 0; r < ranks; r++) series[r] = need(sparse_series_create());
    return series;
}

void sim_series_destroy(struct sparse_series **series, int ranks)
{
    for (int r = 0; series && r < ranks; r++) sparse_series_destroy(series[r]);
    free(series);
}

static enum sparse_kind kind_of(enum sparse_algorithm algorithm)
{
    return algorithm <= SPARSE_REDUCE_LEADERS      ? SPARSE_REDUCE
           : algorithm <= SPARSE_ALLREDUCE_SHARES  ? SPARSE_ALLREDUCE
           : algorithm <= SPARSE_SCATTER_PAIRWISE  ? SPARSE_REDUCE_SCATTER
                                                   : SPARSE_SCAN;
}

struct sim_trial sim_trial_of(enum sparse_algorithm algorithm, int ranks, size_t count)
{
    struct sim_trial trial = {.kind = kind_of(algorithm), .ranks = ranks, .count = count, .may_pass_on = true,
                              .pattern = SIM_RANDOM, .density = 0.05, .seed = 1};
    sparse_parameters_default(&trial.parameters);
    trial.parameters.algorithm = algorithm;
    if (algorithm == SPARSE_ALLREDUCE_LEADERS || algorithm == SPARSE_REDUCE_LEADERS) trial.parameters.rates.ranks_per_node = 3;
    return trial;
}

struct sim_trial sim_trial_near(enum sparse_algorithm algorithm, int ranks, size_t count, int operator)
{
    struct sim_trial trial = sim_trial_of(algorithm, ranks, count);
    trial.density = 0.1;
    trial.operator = operator;
    trial.seed = (uint64_t)(ranks * 31 + operator);
    trial.parameters.rates.ranks_per_node = ranks;
    trial.timed = true;
    return trial;
}

static bool scatters(const struct run *run)
{
    return run->trial->kind == SPARSE_REDUCE_SCATTER;
}

static void share_out(struct run *run)
{
    const struct sim_trial *t = run->trial;
    uint64_t random = t->seed * 31 + 7;
    for (int r = 0; r < t->ranks; r++) {
        run->counts[r] = t->count;
        if (t->irregular) run->counts[r] = sim_random(&random) % 4 ? sim_random(&random) % (2 * t->count + 1) : 0;
        run->start[r] = run->elements;
        if (scatters(run)) run->elements += run->counts[r];
    }
    if (!scatters(run)) run->elements = t->count;
}

static size_t output_elements(const struct run *run, int rank)
{
    return scatters(run) && !run->trial->in_place ? run->counts[rank] : run->elements;
}

static void make_vector(struct run *run, int rank)
{
    const struct sim_trial *t = run->trial;
    size_t bytes = run->elements * run->operator.size, output = output_elements(run, rank) * run->operator.size;
    run->input[rank] = need(malloc(bytes + 1));
    run->output[rank] = t->in_place ? run->input[rank] : need(malloc(output + 1));
    if (run->inputs) memcpy(run->input[rank], sim_inputs_vector(run->inputs, rank), bytes);
    else sim_inputs_make(t, run->elements, rank, run->input[rank]);
    if (!t->in_place && !t->fast) memset(run->output[rank], UNTOUCHED, output);
}

static void make_vectors(struct run *run)
{
    static const size_t few = (size_t)1 << 28;
    const size_t bytes = (size_t)run->trial->ranks * run->elements * run->operator.size;
    if (!run->trial->fast || bytes <= few) run->inputs = sim_inputs_of(run->trial, run->elements);
    for (int r = 0; r < run->trial->ranks; r++) make_vector(run, r);
}

/* The rank that goes on, and what it has done outside the simulation. */
static struct { const struct sim *sim; int rank; double outside, since; } now;

static void goes_on(const struct run *run, int rank, double outside)
{
    now.sim = run->sim;
    now.rank = rank;
    now.since = run->trial->since;
    now.outside = outside;
}

static double rank_clock(void)
{
    return now.since + sim_count(now.sim, now.rank)->clock + now.outside;
}

static struct sparse_series *series_of(const struct run *run, int rank)
{
    return run->trial->series ? run->trial->series[rank] : NULL;
}

/* Ranks ask about a different number of calls at a time. */
static bool passes(struct run *run, int rank)
{
    const struct sim_trial *t = run->trial;
    unsigned one = 0, *ahead = t->ahead ? &t->ahead[rank] : &one;
    const unsigned most = t->ahead ? 2 + 5 * (unsigned)rank : 1;
    if (rank < t->again && *ahead == 0) *ahead = sparse_state_passes(run->states[rank], t->order, most, &run->parameters[rank]);
    else if (rank >= t->again) sparse_state_take_back(run->states[rank], t->order, *ahead);
    if (rank >= t->again) *ahead = 0;
    if (*ahead == 0) return false;
    --*ahead;
    return true;
}

static void create(struct run *run, int rank)
{
    const struct sim_trial *t = run->trial;
    struct sparse_call call = {
        .kind = t->kind, .input = run->input[rank], .output = run->output[rank], .count = t->count,
        .counts = t->irregular ? run->counts : NULL, .operator = run->operator, .root = t->root,
        .transport = sim_transport(run->sim, rank), .tag = TAG, .state = run->states[rank], .series = series_of(run, rank), .parameters = &run->parameters[rank],
        .may_pass_on = t->may_pass_on && t->stays != rank + 1, .may_leave = t->leaves, .order = t->order, .library = t->known, .blocking = t->timed && t->order == SPARSE_IN_ORDER};
    run->memory[rank] = t->without_memory == rank + 1 ? t->memory_after : 1000000;
    run->parameters[rank] = t->parameters;
    run->parameters[rank].allocate = limited_allocate;
    run->parameters[rank].release = limited_release;
    if (t->timed) run->parameters[rank].clock = rank_clock;
    if (t->astray == rank + 1) {
        run->parameters[rank].algorithm = t->astray_algorithm;
        run->parameters[rank].dense = t->astray_dense;
    }
    goes_on(run, rank, 0);
    run->parameters[rank].memory_context = &run->memory[rank];
    run->again[rank] = passes(run, rank);
    if (run->again[rank]) run->status[rank] = SPARSE_NOT_OURS;
    else run->status[rank] = sparse_collective_create(&call, &run->collective[rank]);
    run->parameters[rank].rates = (struct sparse_rates){.ranks_per_node = 1 + rank % 3}; /* are read during create only */
    run->parameters[rank].past_bytes = rank % 2;
}

static bool step(void *context, int rank)
{
    struct run *run = context;
    goes_on(run, rank, 0);
    if (run->status[rank] == SPARSE_PENDING) run->status[rank] = sparse_collective_step(run->collective[rank]);
    return run->status[rank] != SPARSE_PENDING;
}

static bool has_result(const struct run *run, int rank)
{
    const struct sim_trial *t = run->trial;
    if (run->status[rank] != SPARSE_DONE) return false;
    return t->kind == SPARSE_REDUCE ? rank == t->root : t->kind == SPARSE_EXSCAN ? rank > 0 : true;
}

static void compare_result(const struct run *run, int rank, const char *expected, struct sim_report *report)
{
    size_t size = run->operator.size, count = scatters(run) ? run->counts[rank] : run->elements;
    if (run->trial->kind == SPARSE_SCAN || run->trial->kind == SPARSE_EXSCAN) expected += (size_t)rank * run->elements * size;
    if (scatters(run)) expected += run->start[rank] * size;
    if (sim_difference(&run->operator, run->output[rank], expected, count) != SIZE_MAX) report->wrong++;
}

/* What lies between the data of a result's elements is the program's. */
static void look_at_padding(const struct run *run, int rank, struct sim_report *report)
{
    size_t size = run->operator.size, count = scatters(run) ? run->counts[rank] : run->elements;
    const char *before = sim_inputs_vector(run->inputs, rank);
    char *untouched = need(malloc(count * size + 1));
    if (run->trial->in_place) memcpy(untouched, before, count * size);
    else memset(untouched, UNTOUCHED, count * size);
    if (!sim_same_padding(&run->operator, run->output[rank], untouched, count)) report->touched++;
    free(untouched);
}

/* Inputs never change; outputs without a result neither, unless the rank has failed, or waits for ever. */
static void look_for_traces(const struct run *run, int rank, struct sim_report *report)
{
    size_t size = run->operator.size;
    bool output_may = has_result(run, rank) || run->status[rank] == SPARSE_FAILED || run->status[rank] == SPARSE_PENDING;
    const char *before = sim_inputs_vector(run->inputs, rank);
    if (!(run->trial->in_place && output_may) && memcmp(run->input[rank], before, run->elements * size) != 0) report->touched++;
    if (run->trial->in_place || output_may) return;
    for (size_t i = 0; i < output_elements(run, rank) * size; i++)
        if ((unsigned char)run->output[rank][i] != UNTOUCHED) {
            report->touched++;
            return;
        }
}

/* What rank `done` should have come to, by the algorithm that it took. */
static const char *expected_of(const struct run *run, int done)
{
    struct sparse_outcome outcome;
    sparse_collective_outcome(run->collective[done], &outcome);
    return sim_inputs_expected(run->inputs, run->trial, outcome.algorithm);
}

static void judge(const struct run *run, struct sim_report *report)
{
    const char *expected = NULL;
    if (run->trial->fast) return;
    for (int r = 0; r < run->trial->ranks; r++) {
        if (has_result(run, r)) {
            if (!expected) expected = expected_of(run, r);
            compare_result(run, r, expected, report);
            look_at_padding(run, r, report);
        }
        look_for_traces(run, r, report);
    }
}

static void count_rank(struct run *run, int rank, struct sim_report *report)
{
    const struct sim_count *count = sim_count(run->sim, rank);
    struct sparse_outcome outcome = {0};
    report->done += run->status[rank] == SPARSE_DONE;
    report->not_ours += run->status[rank] == SPARSE_NOT_OURS;
    report->failed += run->status[rank] == SPARSE_FAILED;
    report->again += run->again[rank];
    report->messages += count->messages;
    report->sent += count->sent;
    if (rank == run->trial->root) report->received_root = count->received;
    if (count->received > report->received_most) report->received_most = count->received;
    if (run->collective[rank]) sparse_collective_outcome(run->collective[rank], &outcome);
    if (rank == 0) report->outcome[0] = outcome;
    bool most = report->worst == SPARSE_NO_ERROR && count->sent >= report->sent_most;
    if (outcome.error != SPARSE_NO_ERROR || most) report->outcome[1] = outcome;
    if (outcome.error > report->worst) report->worst = outcome.error;
    if (count->sent > report->sent_most) report->sent_most = count->sent;
}

static void clean_up(struct run *run, bool own_states)
{
    int p = run->trial->ranks;
    for (int r = 0; r < p; r++) sparse_collective_destroy(run->collective[r]);
    for (int r = 0; r < p; r++) {
        free(run->input[r]);
        if (!run->trial->in_place) free(run->output[r]);
    }
    if (own_states) sim_states_destroy(run->states, p);
    sim_destroy(run->sim);
    free(run->collective);
    free(run->status);
    free(run->again);
    free(run->counts);
    free(run->start);
    free(run->input);
    free(run->output);
    free(run->memory);
    free(run->parameters);
}

static void run_the_library_s(struct run *run)
{
    struct sim_report inside;
    if (run->status[0] == SPARSE_NOT_OURS && run->trial->inside) (void)sim_trial_run(run->trial->inside, run->states, &inside);
    for (int r = 0; r < run->trial->ranks; r++) {
        struct sparse_outcome outcome = {0};
        if (run->collective[r]) sparse_collective_outcome(run->collective[r], &outcome);
        if (!outcome.left) continue;
        goes_on(run, r, run->trial->library);
        sparse_state_passed(run->states[r], series_of(run, r), &run->parameters[r], outcome.ticket);
    }
}

bool sim_trial_run(const struct sim_trial *trial, struct sparse_state **states, struct sim_report *report)
{
    size_t p = (size_t)trial->ranks;
    struct sim_options options = trial->sim;
    struct run run = {.trial = trial, .operator = sim_operator(trial->operator)};
    run.states = states ? states : sim_states_create(trial->ranks);
    options.ranks = trial->ranks;
    options.damaged_tag = trial->in_agreement ? TAG : TAG + 1;
    options.damaged_last = trial->in_agreement ? TAG : 0;
    *report = (struct sim_report){0};
    run.sim = sim_create(&options);
    run.collective = need(calloc(p, sizeof *run.collective));
    run.status = need(calloc(p, sizeof *run.status));
    run.again = need(calloc(p, sizeof *run.again));
    run.counts = need(calloc(p, sizeof *run.counts));
    run.start = need(calloc(p, sizeof *run.start));
    run.input = need(calloc(p, sizeof *run.input));
    run.output = need(calloc(p, sizeof *run.output));
    run.memory = need(calloc(p, sizeof *run.memory));
    run.parameters = need(calloc(p, sizeof *run.parameters));
    share_out(&run);
    make_vectors(&run);
    for (int r = 0; r < trial->ranks; r++) create(&run, r);
    report->stuck = !sim_run(run.sim, step, &run);
    for (int r = 0; r < trial->ranks; r++) count_rank(&run, r, report);
    report->data_messages = sim_messages(run.sim);
    report->time = sim_time(run.sim);
    if (trial->timed) run_the_library_s(&run);
    judge(&run, report);
    clean_up(&run, states == NULL);
    return !report->stuck && report->wrong == 0 && report->touched == 0;
}
