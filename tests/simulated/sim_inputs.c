/* SPDX-License-Identifier: BSD-3-Clause */
/* See sim_inputs.h. */
#include "sim_inputs.h"

#include <stdlib.h>
#include <string.h>

struct sim_inputs {
    struct sim_trial trial;
    struct sparse_operator operator;
    size_t elements;
    char *vectors;  /* NULL: there is nothing here */
    uint64_t used;  /* when last */
    struct wanted {
        enum sim_tree tree;
        int root, per_node;
    } wanted;
    char *expected; /* NULL: nobody has asked */
};

static struct sim_inputs kept[3];
static uint64_t now;

static size_t vector_bytes(const struct sim_inputs *inputs)
{
    return inputs->elements * inputs->operator.size;
}

static bool are_of(const struct sim_inputs *inputs, const struct sim_trial *t, size_t elements)
{
    const struct sim_trial *made = &inputs->trial;
    const bool as_many = inputs->vectors && inputs->elements == elements && made->ranks == t->ranks && made->operator == t->operator;
    const bool stray = made->stray == t->stray && made->strays_late == t->strays_late;
    return as_many && stray && made->pattern == t->pattern && made->density == t->density && made->seed == t->seed;
}

static size_t stray_element(const struct sim_trial *t, size_t elements, int rank)
{
    if (rank == 0) return elements - 1;
    return t->strays_late ? elements / (size_t)t->ranks - 1 : 0;
}

void sim_inputs_make(const struct sim_trial *t, size_t elements, int rank, char *vector)
{
    const struct sparse_operator operator = sim_operator(t->operator);
    sim_fill(&operator, t->pattern, t->density, t->seed, rank, t->ranks, elements, vector);
    if (t->stray == rank + 1) memset(vector + stray_element(t, elements, rank) * operator.size, 1, operator.size);
    sim_soil(&operator, vector, elements);
}

static void make(struct sim_inputs *inputs)
{
    inputs->vectors = malloc((size_t)inputs->trial.ranks * vector_bytes(inputs) + 1);
    if (!inputs->vectors) abort();
    for (int rank = 0; rank < inputs->trial.ranks; rank++)
        sim_inputs_make(&inputs->trial, inputs->elements, rank, inputs->vectors + (size_t)rank * vector_bytes(inputs));
}

struct sim_inputs *sim_inputs_of(const struct sim_trial *trial, size_t elements)
{
    struct sim_inputs *oldest = kept, *end = kept + sizeof kept / sizeof *kept;
    for (struct sim_inputs *inputs = kept; inputs < end; inputs++) {
        if (inputs->used < oldest->used) oldest = inputs;
        if (!are_of(inputs, trial, elements)) continue;
        inputs->used = ++now;
        return inputs;
    }
    free(oldest->vectors);
    free(oldest->expected);
    *oldest = (struct sim_inputs){.trial = *trial, .operator = sim_operator(trial->operator), .elements = elements, .used = ++now};
    make(oldest);
    return oldest;
}

const char *sim_inputs_vector(const struct sim_inputs *inputs, int rank)
{
    return inputs->vectors + (size_t)rank * vector_bytes(inputs);
}

static char *reduce(const struct sim_inputs *inputs, struct wanted by)
{
    const struct sparse_operator *operator = &inputs->operator;
    const int ranks = inputs->trial.ranks;
    if (by.tree == SIM_CHAIN) return sim_reference_chain(operator, ranks, by.root, inputs->elements, inputs->vectors);
    if (by.tree == SIM_LEADERS || by.tree == SIM_LEADERS_CHAIN)
        return sim_reference_leaders(operator, ranks, by.per_node, by.root, inputs->elements, inputs->vectors);
    return sim_reference(operator, by.tree, ranks, inputs->elements, inputs->vectors);
}

const char *sim_inputs_expected(struct sim_inputs *inputs, const struct sim_trial *t, enum sparse_algorithm algorithm)
{
    const int per_node = t->parameters.rates.ranks_per_node;
    struct wanted by = {sim_tree_of(t->kind, algorithm), t->root, per_node < t->ranks ? per_node : t->ranks};
    if (by.tree == SIM_LEADERS) by.root = -1;
    const struct wanted *last = &inputs->wanted;
    if (inputs->expected && last->tree == by.tree && last->root == by.root && last->per_node == by.per_node) return inputs->expected;
    free(inputs->expected);
    inputs->wanted = by;
    return inputs->expected = reduce(inputs, by);
}
