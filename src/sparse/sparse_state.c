/* SPDX-License-Identifier: BSD-3-Clause */
/* See sparse_state.h. */
#include "sparse_state.h"

#include "sparse_memory.h"

enum { STALE_AFTER = 16 };

struct sparse_class *sparse_state_class(struct sparse_state *state, size_t bytes)
{
    int class = bytes > 0 ? 63 - __builtin_clzll(bytes) : 0;
    return &state->classes[class < SPARSE_CLASSES ? class : SPARSE_CLASSES - 1];
}

bool sparse_class_looks(struct sparse_class *class, enum sparse_kind kind, const struct sparse_parameters *parameters)
{
    struct sparse_patience *patience = &class->patience[kind];
    if (patience->refused < parameters->patience) return true;
    if (++patience->skipped < parameters->every) return false;
    patience->skipped = 0;
    return true;
}

void sparse_class_answer(struct sparse_class *class, enum sparse_kind kind, bool refused, enum sparse_algorithm algorithm)
{
    unsigned *times = &class->patience[kind].refused;
    class->patience[kind].form = refused ? algorithm : SPARSE_LIBRARY;
    if (!refused) *times = 0;
    else if (*times < UINT32_MAX) ++*times;
}

void sparse_class_learn(struct sparse_class *class, const struct sparse_record *record)
{
    const struct sparse_tally *input = &record->input, *joined = &record->joined;
    if (input->elements == 0 || joined->elements == 0 || input->exceptions == 0 || record->joined_ranks <= 1) {
        if (++class->since > STALE_AFTER) class->observed = false;
        return;
    }
    class->since = 0;
    double density = (double)input->exceptions / (double)input->elements;
    double union_density = (double)joined->exceptions / (double)joined->elements;
    struct sparse_learned new = {sparse_growth(density, union_density, record->joined_ranks),
                                 (double)record->input_bytes / (double)input->exceptions};
    if (class->observed) {
        new.growth = (new.growth + class->learned.growth) / 2;
        new.per_exception = (new.per_exception + class->learned.per_exception) / 2;
    }
    class->learned = new;
    class->observed = true;
}

bool sparse_class_stale(const struct sparse_class *class)
{
    return class->observed && class->since == STALE_AFTER;
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
