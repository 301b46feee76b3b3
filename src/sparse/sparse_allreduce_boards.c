/* SPDX-License-Identifier: BSD-3-Clause */
/* Recursive halving and an allgather (sparse_allreduce_halving.c) of ranks of one node that read each other's memory (sparse_boards.h), by words. A slice takes three
 * turns: in the first every rank shows its encoded vector; in the second each reads its own part of all of them, joins them in the tree of the halving, which gives the same
 * bits, and shows that; in the third each reads the others' parts and writes the result. A rank is in all three at a time, with three slices: it waits once in a
 * turn, for the words of the turn before, and since it wrote its own it has written one slice and encoded another. So ranks that share processors hardly ever wait for
 * each other; and nothing is received by the kernel.
 *
 * A turn is the longer the better, for a processor that goes from rank to rank finds nothing in its caches. Slots are for a slice of any density; while vectors are sparse there
 * is room for several in one, a group. Who has no room says so in its word: that turn is void, and all begin again with what has not been written yet, slice by slice.
 *
 * Cost: alpha + (p-1)/p n (e(d) + e(u(p))) copied, gamma as in sparse_halving.c, and n written; alpha once per group, and twice more.
 * Source: Rabenseifner's algorithm, as there; shared memory instead of messages as in Hashmi et al., IPDPS 2018 (XPMEM). */
#include "sparse_boards.h"
#include "sparse_plan.h"
#include "sparse_step.h"

enum { CROWDED = 64 }; /* calls, behind one that had no room for groups, that try none */

static struct sparse_span part_of(const struct sparse_slice *s, int rank)
{
    return (struct sparse_span){(size_t)sparse_fold_position(&s->fold, sparse_fold_place(&s->fold, rank)), 1};
}

/* Has no part of its own. */
static bool stands_aside(const struct sparse_slice *s, int rank)
{
    return sparse_fold_rank(&s->fold, sparse_fold_place(&s->fold, rank)) != rank;
}

/* So that not all read the same one's first. */
static int beyond(const struct sparse_slice *s, int k)
{
    return (s->transport->rank + k) % s->transport->size;
}

/* Two operands, behind all that is there. Where the result is. */
static size_t join(struct sparse_slice *s, size_t left, size_t right, double ranks)
{
    const struct sparse_span own = part_of(s, s->transport->rank);
    const size_t part = s->first[own.base], at = s->out->used;
    s->acc->at[part] = left;
    s->in->at[part] = right;
    sparse_slice_merge(s, own, s->acc, s->in, ranks, s->out);
    return at;
}

/* As in sparse_halving.c: pairs of which one stands aside, then places next to each other. `at`: by rank, and then by place. */
static void join_all(struct sparse_slice *s, size_t *at)
{
    const struct sparse_fold *fold = &s->fold;
    for (int place = 0; place < fold->cube; place++)
        at[place] = place < fold->extra ? join(s, at[2 * place], at[2 * place + 1], 2) : at[place + fold->extra];
    for (int k = 0; k < fold->steps; k++)
        for (int place = 0; place < fold->cube; place += 2 << k)
            at[place] = join(s, at[place], at[place + (1 << k)], sparse_ranks_after(s, k + 1));
}

/* Group s->index. */
static void show_vector(struct sparse_slice *s)
{
    sparse_boards_begin(s);
    s->crowded = false;
    s->base = 0; /* bytes that a dense form would have sent to each other rank */
    if (s->index >= s->end) return;
    sparse_plan_cut_group(s, s->index);
    s->acc = sparse_run_begin(s, 0);
    s->crowded = !sparse_boards_encode(s, s->acc);
    s->base += sparse_span_bound(s, part_of(s, s->transport->rank));
}

/* What the others read of this rank's vector of the turn before. */
static void tell_parts(const struct sparse_slice *s)
{
    for (int k = 1; k < s->transport->size; k++)
        if (!stands_aside(s, beyond(s, k))) sparse_boards_tell(s, beyond(s, k), part_of(s, beyond(s, k)));
}

/* This rank's part of the group that was shown in the turn before, of all ranks. From area 0 on are p of them, and what joins them: together 2 p / cube, which is less than
 * four, vectors, as many as there are areas of what is sent. */
static void show_part(struct sparse_slice *s)
{
    const struct sparse_span own = part_of(s, s->transport->rank);
    size_t *at = s->all->at;
    if (s->index == s->begin || s->index > s->end) return;
    tell_parts(s);
    if (stands_aside(s, s->transport->rank)) return;
    sparse_plan_cut_group(s, s->index - 1);
    if (sparse_span_bound(s, own) == 0) return;
    s->acc = sparse_run_begin(s, 0);
    s->in = sparse_run_begin(s, 1);
    s->out = sparse_run_begin(s, 3);
    s->in->base = s->out->base = s->acc->base;
    for (int k = 0; k < s->transport->size; k++) {
        at[beyond(s, k)] = s->out->used;
        s->out->used += sparse_boards_read(s, beyond(s, k), own, s->in, s->out->used);
    }
    join_all(s, at);
    s->crowded |= !sparse_boards_add(s, s->out->base + at[0], s->out->used - at[0]);
    s->base += sparse_span_bound(s, own);
}

static void show_word(struct sparse_slice *s)
{
    s->crowded = s->crowded && !sparse_failed(s);
    sparse_words_write(s, s->crowded ? SPARSE_WORD_ASTRAY : SPARSE_WORD_SHOWN, s->crowded ? 0 : s->base);
}

/* All parts of a group that has been joined, each before the next one is read. */
static void write_result(struct sparse_slice *s, size_t group)
{
    sparse_plan_cut_group(s, group);
    s->in = sparse_run_begin(s, 0);
    if (!stands_aside(s, s->transport->rank)) sparse_boards_tell_added(s);
    for (int k = 0; k < s->transport->size; k++) {
        const struct sparse_span part = part_of(s, beyond(s, k));
        if (stands_aside(s, beyond(s, k))) continue;
        (void)sparse_boards_read_added(s, beyond(s, k), part, s->in);
        sparse_slice_result(s, part, s->in);
    }
}

/* The turns of groups of so many slices, from group `begin` on. */
static void start(struct sparse_slice *s, size_t group, size_t begin)
{
    s->group = group;
    s->begin = s->index = begin;
    s->end = (s->slices + group - 1) / group;
}

/* What was shown in the turn before, and in this one, is void. */
static void start_again(struct sparse_slice *s)
{
    const size_t written = s->index >= s->begin + 2 ? s->index - 2 : s->begin;
    s->windows->crowded = CROWDED;
    s->crowded = s->voided = false;
    sparse_words_write(s, SPARSE_WORD_SHOWN, 0);
    start(s, 1, written * s->group);
}

static size_t first_group(struct sparse_slice *s)
{
    if (s->windows->crowded == 0) return s->group;
    s->windows->crowded--;
    return 1;
}

enum sparse_status sparse_allreduce_boards(struct sparse_slice *s)
{
    const uint32_t others = sparse_node_others(&s->nodes);
    STEP_BEGIN(s->middle);
    s->all = sparse_run_begin(s, 2);
    s->crowded = s->voided = false;
    start(s, first_group(s), 0);
    while (s->index <= s->end + 1) {
        STEP_AWAIT(sparse_words_begin(s, others));
        s->voided = s->crowded;
        show_vector(s);
        s->left = s->index > s->begin ? others : 0;
        STEP_AWAIT(sparse_boards_await(s));
        if (s->voided) {
            start_again(s);
            continue;
        }
        show_part(s);
        show_word(s);
        if (s->index >= s->begin + 2) write_result(s, s->index - 2);
        s->index++;
    }
    STEP_END;
}
