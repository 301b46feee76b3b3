/* SPDX-License-Identifier: BSD-3-Clause */
/* sparse_unasked.c: see sparse_unasked.h. */
#include "sparse_unasked.h"

#include <math.h>

static const struct sparse_answer the_library = {.grounds = 1, .algorithm = SPARSE_LIBRARY};

unsigned sparse_state_passes(struct sparse_state *state, enum sparse_order order, unsigned most, const struct sparse_parameters *parameters)
{
    struct sparse_class *class = state->unseen[order].class;
    const bool there = class && class->shape == state->unseen[order].shape;
    const unsigned passes = there ? sparse_class_passes(&state->classes[order], class, most, parameters) : 0;
    if (passes > 0 && order == SPARSE_IN_TURN) state->line[SPARSE_IN_TURN].unseen = true;
    return passes;
}

void sparse_state_take_back(struct sparse_state *state, enum sparse_order order, unsigned calls)
{
    if (calls > 0) sparse_class_take_back(&state->classes[order], state->unseen[order].class, calls);
}

void sparse_state_passed(struct sparse_state *state, struct sparse_series *series, const struct sparse_parameters *parameters, unsigned ticket)
{
    if (ticket > 0) sparse_turn_end(state, series, ticket, parameters->clock());
    else if (state->trials.outside) sparse_trials_end(&state->trials, parameters->clock());
}

size_t sparse_call_elements(const struct sparse_call *call)
{
    size_t sum = 0, p = (size_t)call->transport->size;
    if (call->kind != SPARSE_REDUCE_SCATTER) return call->count;
    if (!call->counts) return call->count * p;
    for (size_t r = 0; r < p; r++) sum += call->counts[r];
    return sum;
}

static uint32_t shape_of(const struct sparse_call *call, size_t elements)
{
    return sparse_call_shape(call->kind, &call->operator, elements * call->operator.size);
}

struct sparse_class *sparse_call_class(const struct sparse_call *call, size_t elements)
{
    const uint32_t shape = shape_of(call, elements);
    if (!call->series) return sparse_class_at(&call->state->classes[call->order], shape);
    call->series->class.shape = shape;
    return &call->series->class;
}

/* Whether it counts in the back-off. In turn that depends on nothing that may differ between the ranks. */
static bool counts(const struct sparse_call *call)
{
    return call->order == SPARSE_IN_TURN || (call->order == SPARSE_IN_ORDER && call->may_pass_on);
}

static bool always(const struct sparse_call *call)
{
    return call->parameters->always || sparse_choice_forced(call->kind, call->parameters);
}

/* Whatever is in the vectors. */
static bool the_library_s(const struct sparse_call *call, size_t elements)
{
    if (call->transport->size < 2 || elements == 0 || call->operator.apply == NULL) return true;
    return !always(call) && elements * call->operator.size < call->parameters->short_bytes;
}

/* Of the dense form alone nothing is to be found out, once it has been seen that asking is a part of what a call takes. */
static bool always_asks(const struct sparse_call *call, const struct sparse_class *class)
{
    return always(call) && !(call->parameters->dense && class->alike >= call->parameters->patience);
}

void sparse_unasked_repeat(const struct sparse_call *call, struct sparse_class *class, const struct sparse_choice *choice,
                           double grain)
{
    const struct sparse_answer answer = {.algorithm = choice->algorithm, .dense = choice->dense, .repeats = true};
    if (!counts(call) || always(call)) return;
    sparse_call_line(call)->repeat = (struct sparse_repeat){class, class->shape, answer, grain, .due = true};
}

struct sparse_times sparse_unasked_times(const struct sparse_call *call, const struct sparse_terms *terms,
                                         const struct sparse_estimate *estimate)
{
    const struct sparse_repeat *repeat = &sparse_call_line(call)->repeat;
    struct sparse_times last = {terms->took, terms->asked, terms->again, (double)terms->repeated / 0x1p32 / terms->ranks};
    struct sparse_estimate then = *estimate;
    then.grain = repeat->grain;
    then.density = fmax(last.density, then.grain);
    const bool there = last.again > 0 && repeat->class && repeat->class->shape == repeat->shape;
    if (!there || !sparse_class_repeated(repeat->class, sparse_choice_sort(&then))) last.again = 0;
    return last;
}

void sparse_unasked_forget(const struct sparse_call *call, struct sparse_class *class)
{
    class->alike = class->same = 0;
    sparse_call_line(call)->repeat.due = false;
}

/* Whether a call is the one that was to come next. If it is another one, none is. */
static bool repeats(const struct sparse_call *call, struct sparse_class *class)
{
    struct sparse_repeat *repeat = &sparse_call_line(call)->repeat;
    if (call->blocking && call->state->trials.outside) return false; /* outside: what the library's routine calls */
    const bool found = repeat->due && repeat->class == class && repeat->shape == class->shape;
    repeat->due = false;
    if (found) class->skipped++;
    return found;
}

/* Calls like it, one behind the other. */
static bool has_successors(const struct sparse_call *call)
{
    return call->blocking ? call->order == SPARSE_IN_ORDER : call->order == SPARSE_IN_TURN && !call->series;
}

struct sparse_answer sparse_unasked(const struct sparse_call *call, size_t elements)
{
    const struct sparse_parameters *parameters = call->parameters;
    if (has_successors(call)) call->state->unseen[call->order].class = NULL;
    if (the_library_s(call, elements)) return the_library;
    struct sparse_class *class = sparse_call_class(call, elements);
    if (repeats(call, class)) return sparse_call_line(call)->repeat.answer;
    if (always_asks(call, class) || !counts(call) || sparse_class_looks(class, parameters)) return sparse_ask;
    const struct sparse_answer answer = sparse_class_unasked(class, parameters);
    if (has_successors(call) && answer.algorithm == SPARSE_LIBRARY)
        call->state->unseen[call->order] = (struct sparse_unseen){class, class->shape};
    return answer;
}

/* Whether this call may be the repetition of the one that is undecided, if that comes to be timed. Of several the last one began beside
 * others, here, and will not be. */
static bool may_repeat(const struct sparse_state *state, unsigned undecided)
{
    const struct sparse_turns *turns = state->turns.memory;
    return undecided == 1 && turns && sparse_turns_may_time(turns);
}

/* An entry that is there makes nobody else's make way, and each answer adds one to those that are alike, or begins anew. */
bool sparse_collective_looks(const struct sparse_call *call, unsigned undecided)
{
    const size_t elements = sparse_call_elements(call);
    if (the_library_s(call, elements) || may_repeat(call->state, undecided)) return false;
    const struct sparse_class *class = sparse_class_found(&call->state->classes[call->order], shape_of(call, elements));
    return class && (always_asks(call, class) || class->alike + undecided < call->parameters->patience);
}
