/* SPDX-License-Identifier: BSD-3-Clause */
/* See sparse_state.h. */
#include "sparse_state.h"

#include "sparse_memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STALE_AFTER = 16,
       CAUTION = 4,  /* so many times as often a look where an encoded form runs as where the inputs make no difference */
       SELDOM = 16,  /* ... and so many times as seldom where looks are dear */
       OCTAVES = 128, SIZES = 8192 }; /* where these begin in a shape */
static const double calls_a_look = 100; /* so many calls' time to each look's, unless looks would be too seldom */
#define OTHERWISE 0.25 /* growth by so much more or less: the inputs have become others */

uint32_t sparse_call_shape(enum sparse_kind kind, const struct sparse_operator *operator, size_t bytes)
{
    uint32_t octave = bytes > 0 ? 63 - (uint32_t)__builtin_clzll(bytes) : 0;
    return 1 + (uint32_t)kind + 8 * (uint32_t)operator->op + OCTAVES * octave + SIZES * (uint32_t)operator->size;
}

const struct sparse_class *sparse_class_found(const struct sparse_classes *classes, uint32_t shape)
{
    for (const struct sparse_class *c = classes->class; c < classes->class + SPARSE_CLASSES; c++)
        if (c->shape == shape) return c;
    return NULL;
}

struct sparse_class *sparse_class_at(struct sparse_classes *classes, uint32_t shape)
{
    struct sparse_class *oldest = classes->class, *found = NULL;
    for (struct sparse_class *c = classes->class; c < classes->class + SPARSE_CLASSES && !found; c++) {
        if (c->shape == shape) found = c;
        else if (c->used < oldest->used) oldest = c;
    }
    if (!found) {
        found = oldest;
        *found = (struct sparse_class){.shape = shape, .answer = {.algorithm = SPARSE_LIBRARY}};
    }
    found->used = ++classes->lookups;
    return found;
}

static bool is_short(const struct sparse_class *class)
{
    const uint32_t octave = (class->shape - 1) % SIZES / OCTAVES;
    return (size_t)1 << octave < SPARSE_SHORT_MOST;
}

/* What is short takes less than a look, whatever a program does between its calls: one look in 32 of them (in 8, where an encoded form runs), and
 * one more behind it that is timed, are a part of their time. So looks are the more seldom, the more of them have come to the same. Of longer
 * vectors more is lost if they become sparse, and of those that are there is more to see. */
static unsigned doublings(const struct sparse_class *class, bool encoded, const struct sparse_parameters *parameters)
{
    const unsigned of_short = encoded ? CAUTION : SELDOM, of_dense = encoded ? 1 : CAUTION;
    const unsigned most = is_short(class) ? of_short : class->sort.density >= 0.5 ? of_dense : 1;
    unsigned doublings = 0;
    while (class->alike > parameters->patience + doublings && 1u << doublings < most) doublings++;
    return doublings;
}

/* Every so many calls have a look. Encoded forms may become a bad choice: not as seldom as others even where looks are dear. */
static unsigned period(const struct sparse_class *class, bool encoded, const struct sparse_parameters *parameters)
{
    const unsigned every = encoded ? parameters->every / CAUTION : parameters->every, once = every > 1 ? every : 1;
    const unsigned least = once << doublings(class, encoded, parameters);
    const double most = (double)once * (encoded ? CAUTION : SELDOM), wanted = class->dear * calls_a_look;
    return wanted <= least ? least : (unsigned)(wanted < most ? wanted : most);
}

/* Calls to the next look: while others are to be tried, so many as take as long as a look. */
static unsigned wait_of(const struct sparse_class *class, const struct sparse_parameters *parameters)
{
    const bool encoded = class->answer.algorithm != SPARSE_LIBRARY && !class->answer.dense;
    if (class->alike >= parameters->patience) return period(class, encoded, parameters);
    return class->dear > 1 ? (unsigned)class->dear : 1;
}

bool sparse_class_looks(struct sparse_class *class, const struct sparse_parameters *parameters)
{
    if (++class->skipped < wait_of(class, parameters)) return false;
    class->between = class->skipped;
    class->skipped = 0;
    return true;
}

struct sparse_answer sparse_class_unasked(const struct sparse_class *class, const struct sparse_parameters *parameters)
{
    if (class->alike >= parameters->patience) return class->answer;
    return (struct sparse_answer){.grounds = 1, .algorithm = SPARSE_LIBRARY};
}

unsigned sparse_class_passes(struct sparse_classes *classes, struct sparse_class *class, unsigned most, const struct sparse_parameters *parameters)
{
    bool library = class->answer.algorithm == SPARSE_LIBRARY && class->alike >= parameters->patience;
    const unsigned next = period(class, false, parameters), left = next > class->skipped + 1 ? next - 1 - class->skipped : 0;
    if (!library || left == 0) return 0;
    const unsigned calls = left < most ? left : most;
    class->skipped += calls;
    class->used = classes->lookups += calls;
    return calls;
}

void sparse_class_take_back(struct sparse_classes *classes, struct sparse_class *class, unsigned calls)
{
    class->skipped -= calls;
    class->used = classes->lookups -= calls;
}

static bool as_dense(const struct sparse_class *class, double density)
{
    return density * 2 >= class->sort.density && class->sort.density * 2 >= density;
}

bool sparse_class_repeated(struct sparse_class *class, struct sparse_sort sort)
{
    const bool alike = as_dense(class, sort.density);
    if (!alike) class->same = 0;
    return alike;
}

double sparse_class_seen(struct sparse_class *class, struct sparse_sort sort, bool waits, const struct sparse_parameters *parameters)
{
    if (!as_dense(class, sort.density) || fabs(sort.growth - class->sort.growth) > OTHERWISE) class->same = 0;
    if (class->same < UINT32_MAX) class->same++;
    class->sort = sort;
    double looks = class->same > parameters->patience ? 1.0 / period(class, true, parameters) : 1;
    return waits ? (1 + looks) / 2 : looks;
}

void sparse_class_looked(struct sparse_class *class, double came, double over, double now)
{
    static const double slowly = 0.25, most = SELDOM;
    if (class->left > 0 && class->left < came) {
        double times = (over - came) * class->between / (came - class->left);
        class->found += slowly * (fmin(times, most) - class->found);
    }
    class->left = now;
}

uint32_t sparse_class_dear(const struct sparse_class *class)
{
    return (uint32_t)(class->found * SPARSE_DEAR);
}

void sparse_class_answer(struct sparse_class *class, struct sparse_answer answer)
{
    if (answer.grounds == 0 || answer.grounds != class->answer.grounds) class->alike = 0;
    if (answer.grounds != 0 && class->alike < UINT32_MAX) class->alike++;
    class->answer = answer;
}

/* Where unions fill up by chance they show that they do, and no more: what is known stays if they would by that, too. */
static double growth_shown(const struct sparse_class *class, double density, double joined, double ranks, size_t size)
{
    const double full = sparse_full(size);
    struct sparse_estimate e = {.density = density, .growth = 1};
    if (joined < full || sparse_union(&e, ranks) < full) return sparse_growth(density, joined, ranks);
    e.growth = class->learned.growth;
    return class->observed && sparse_union(&e, ranks) >= full ? e.growth : 1;
}

void sparse_class_learn(struct sparse_class *class, const struct sparse_record *record, size_t size, bool looked)
{
    const struct sparse_tally *input = &record->input, *joined = &record->joined;
    if (input->elements == 0 || joined->elements == 0 || input->exceptions == 0 || record->joined_ranks <= 1) {
        if (class->since++ >= STALE_AFTER && looked) class->observed = false;
        return;
    }
    class->since = 0;
    double density = (double)input->exceptions / (double)input->elements;
    double union_density = (double)joined->exceptions / (double)joined->elements;
    struct sparse_learned new = {growth_shown(class, density, union_density, record->joined_ranks, size),
                                 (double)record->input_bytes / (double)input->exceptions};
    if (class->observed && fabs(new.growth - class->learned.growth) < OTHERWISE) {
        new.growth = (new.growth + class->learned.growth) / 2;
        new.per_exception = (new.per_exception + class->learned.per_exception) / 2;
    }
    class->learned = new;
    class->observed = true;
}

bool sparse_class_stale(const struct sparse_class *class)
{
    return class->observed && class->since >= STALE_AFTER;
}

static void plain_release(void *context, void *memory)
{
    sparse_memory_give(memory);
}

static void drop(struct sparse_scratch *scratch)
{
    if (scratch->memory) scratch->release(scratch->context, scratch->memory);
    *scratch = (struct sparse_scratch){0};
}

static void *lend(struct sparse_scratch *scratch)
{
    scratch->lent = true;
    return scratch->memory;
}

void *sparse_state_borrow(struct sparse_state *state, const struct sparse_parameters *parameters, size_t bytes, bool large)
{
    struct sparse_scratch *scratch = &state->scratch;
    bool suffices = scratch->memory && !scratch->lent && scratch->bytes >= bytes;
    state->large |= large;
    bool stays = !parameters->allocate && !scratch->lent && bytes <= parameters->keep;
    bool improves = suffices && large && stays && scratch->release == plain_release && sparse_memory_improves(scratch->memory, bytes);
    if (suffices && !improves) return lend(scratch);
    void *memory = parameters->allocate ? parameters->allocate(parameters->memory_context, bytes)
                                        : sparse_memory_take(bytes, state->large && stays);
    if (!suffices) return memory;
    if (!memory) return lend(scratch);
    drop(scratch);
    return memory;
}

void sparse_state_give_back(struct sparse_state *state)
{
    drop(&state->scratch);
    drop(&state->turns);
}

static void free_turns(void *context, void *memory)
{
    free(memory);
}

struct sparse_series *sparse_series_create(void)
{
    return calloc(1, sizeof(struct sparse_series));
}

void sparse_series_destroy(struct sparse_series *series)
{
    free(series);
}

bool sparse_line_runs_ahead(struct sparse_line *line, size_t bytes)
{
    static const size_t most = (size_t)1 << 20;
    line->ahead = bytes < most - line->ahead ? line->ahead + bytes : 0;
    return line->ahead == 0;
}

static struct sparse_turns *turns_of(struct sparse_state *state, struct sparse_series *series)
{
    return series ? &series->turns : state->turns.memory;
}

struct sparse_turns *sparse_call_turns(const struct sparse_call *call, const struct sparse_parameters *parameters)
{
    struct sparse_scratch *turns = &call->state->turns;
    const size_t bytes = sizeof(struct sparse_turns);
    if (call->series || turns->memory) return turns_of(call->state, call->series);
    const bool own = parameters->allocate == NULL;
    turns->memory = own ? malloc(bytes) : parameters->allocate(parameters->memory_context, bytes);
    if (!turns->memory) return NULL;
    turns->release = own ? free_turns : parameters->release;
    turns->context = parameters->memory_context;
    return memset(turns->memory, 0, bytes);
}

/* Calls that do not stand in the line: of a series all others in turn, of those in turn the starts of persistent ones. */
static unsigned others_begun(const struct sparse_state *state, const struct sparse_series *series)
{
    const struct sparse_turns *turns = state->turns.memory;
    return state->starts + (series && turns ? turns->tickets : 0);
}

unsigned sparse_turn_begin(const struct sparse_call *call, struct sparse_turns *turns, bool *busy)
{
    struct sparse_state *state = call->state;
    struct sparse_line *line = sparse_call_line(call);
    const struct sparse_turns *in_turn = state->turns.memory;
    *busy = line->joined || state->started > 0 || (in_turn && in_turn->running > 0);
    line->joined = false;
    if (call->series) {
        state->starts++;
        state->started++;
    }
    line->others = others_begun(state, call->series);
    return sparse_turns_begin(turns);
}

void sparse_turn_end(struct sparse_state *state, struct sparse_series *series, unsigned ticket, double now)
{
    struct sparse_turns *turns = turns_of(state, series);
    struct sparse_line *line = series ? &series->line : &state->line[SPARSE_IN_TURN];
    if (ticket == turns->timed && line->others != others_begun(state, series)) line->joined = true;
    if (series) state->started--;
    sparse_turns_end(turns, ticket, now);
}

void sparse_state_return(struct sparse_state *state, const struct sparse_parameters *parameters, void *memory, size_t bytes)
{
    struct sparse_scratch *scratch = &state->scratch;
    struct sparse_scratch given = {.memory = memory, .bytes = bytes, .context = parameters->memory_context};
    given.release = parameters->allocate ? parameters->release : plain_release;
    if (memory == NULL) return;
    if (memory == scratch->memory) {
        scratch->lent = false;
    } else if (bytes <= parameters->keep && !scratch->lent && bytes > scratch->bytes) {
        drop(scratch);
        *scratch = given;
    } else {
        drop(&given);
    }
}
