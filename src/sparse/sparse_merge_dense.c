/* SPDX-License-Identifier: BSD-3-Clause */
/* A message into elements. Where the background is neutral for every bit pattern, only the exceptions are touched. For reals
 * nothing is neutral on both sides (0 + -0 is 0, and a signalling NaN becomes a quiet one), but hardly ever is there anything
 * that changes: then the elements are read, and only the exceptions written. */
#include "sparse_combine.h"
#include "sparse_format.h"
#include "sparse_kernels.h"
#include "sparse_types.h"

struct target {
    const struct sparse_operator *operator;
    const struct sparse_moves *moves;
    bool message_is_right;
    unsigned char *dense; /* of the block */
};

static void combine(const struct target *target, const void *message, void *dense, void *out, size_t count)
{
    if (target->message_is_right) sparse_combine(target->operator, dense, message, out, count);
    else sparse_combine(target->operator, message, dense, out, count);
}

/* The exceptions from number `from` to `to`, and nothing else. Whether the background would change none of the results. */
static bool some_exceptions(const struct target *target, const struct sparse_view *view, size_t from, size_t to)
{
    struct sparse_scratch results;
    size_t size = target->operator->size, piece = sparse_piece(size);
    bool idle = true;
    for (size_t i = from; i < to; i += piece) {
        size_t n = to - i < piece ? to - i : piece;
        const unsigned char *positions = view->where + 2 * i;
        target->moves->take(target->dense, positions, n, size, results.bytes);
        combine(target, view->values + i * size, results.bytes, results.bytes, n);
        idle = idle && sparse_unchanged(target->operator, view->background, target->message_is_right, results.bytes, n);
        target->moves->put(results.bytes, positions, n, size, target->dense);
    }
    return idle;
}

/* Elements [start, start + count), of which `mask` has the exceptions and `values` their values, all combined. */
static size_t combine_piece(const struct target *target, const struct sparse_view *view, const unsigned char *values,
                            const uint64_t *mask, size_t start, size_t count)
{
    struct sparse_scratch message;
    size_t size = target->operator->size;
    unsigned char *dense = target->dense + start * size;
    size_t used = target->moves->expand(values, count, size, mask, view->background, message.bytes);
    combine(target, message.bytes, dense, dense, count);
    return used;
}

/* The exceptions from number `from` to `to` as the mask of a piece that begins with element `start`. */
static void mask_of(const struct sparse_view *view, size_t from, size_t to, size_t start, uint64_t *mask)
{
    memset(mask, 0, SPARSE_SCRATCH / 8);
    for (; from < to; from++) {
        size_t at = sparse_position(view->where, from) - start;
        mask[at / 64] |= UINT64_C(1) << at % 64;
    }
}

/* Elements [start, start + count), of which the exceptions from number `from` to `to` are: those alone where the background changes no
 * element. Whether it changes nothing any more. */
static bool background_and_some(const struct target *target, const struct sparse_view *view, size_t start, size_t count, size_t from,
                                size_t to)
{
    uint64_t mask[SPARSE_SCRATCH / 64];
    const size_t size = target->operator->size;
    if (sparse_unchanged(target->operator, view->background, target->message_is_right, target->dense + start * size, count))
        return some_exceptions(target, view, from, to);
    mask_of(view, from, to, start, mask);
    combine_piece(target, view, view->values + from * size, mask, start, count);
    return false;
}

/* The first exception from number `from` on that does not come before element `end`. */
static size_t first_behind(const struct sparse_view *view, size_t from, size_t end)
{
    while (from < view->exceptions && sparse_position(view->where, from) < end) from++;
    return from;
}

/* Piece by piece. */
static bool background_and_exceptions(const struct target *target, const struct sparse_view *view)
{
    const size_t piece = sparse_piece(target->operator->size);
    bool idle = true;
    for (size_t start = 0, at = 0, end; start < view->elements; start += piece, at = end) {
        const size_t n = view->elements - start < piece ? view->elements - start : piece;
        end = first_behind(view, at, start + n);
        idle = background_and_some(target, view, start, n, at, end) && idle;
    }
    return idle;
}

/* Every element, in pieces that stay in L1. */
static void everything(const struct target *target, const struct sparse_view *view)
{
    uint64_t mask[SPARSE_MAX_WORDS];
    size_t size = target->operator->size, piece = sparse_piece(size);
    const unsigned char *values = view->values;
    sparse_view_mask(view, mask);
    for (size_t start = 0; start < view->elements; start += piece) {
        size_t n = view->elements - start < piece ? view->elements - start : piece;
        values += size * combine_piece(target, view, values, mask + start / 64, start, n);
    }
}

/* Whether the background is known to change nothing in the result. */
static bool merge_block(const struct target *target, const struct sparse_view *view)
{
    const bool right = target->message_is_right;
    if (view->format == SPARSE_DENSE) combine(target, view->values, target->dense, target->dense, view->elements);
    else if (view->format == SPARSE_BITMAP || sparse_padded(target->operator)) everything(target, view);
    else if (sparse_neutral(target->operator, view->background, right)) (void)some_exceptions(target, view, 0, view->exceptions);
    else return background_and_exceptions(target, view);
    return false;
}

void sparse_merge_dense(const struct sparse_layout *layout, size_t first, size_t blocks, const void *message, bool message_is_right,
                        void *dense, struct sparse_tally *tally)
{
    const unsigned char *from = message;
    size_t size = layout->operator->size;
    struct target target = {layout->operator, sparse_moves(size), message_is_right, dense};
    for (; blocks > 0; blocks--, first++) {
        struct sparse_view view = sparse_view_of(from);
        merge_block(&target, &view);
        sparse_tally_add(tally, view.elements, view.exceptions);
        from += view.bytes;
        target.dense += view.elements * size;
    }
}

/* Whether the value changes nothing in a block. */
static bool idle_on(const struct sparse_operator *operator, const void *value, bool on_right, const struct sparse_view *view)
{
    if (sparse_neutral(operator, value, on_right)) return true;
    bool ground = view->format == SPARSE_DENSE || sparse_unchanged(operator, value, on_right, view->background, 1);
    return ground && sparse_unchanged(operator, value, on_right, view->values, view->exceptions);
}

/* The messages of one block, in the order in which they are joined. */
struct pile {
    const struct sparse_operator *operator;
    const char *base;
    const size_t *at;
    size_t messages;
};

static struct sparse_view nth(const struct pile *pile, size_t i)
{
    return sparse_view_of(pile->base + pile->at[i]);
}

/* The only message that is not constant, or any if all are; `messages` if there are several. */
static size_t lone(const struct pile *pile)
{
    size_t found = pile->messages;
    for (size_t i = 0; i < pile->messages; i++) {
        if (nth(pile, i).format == SPARSE_CONSTANT) continue;
        if (found < pile->messages) return pile->messages;
        found = i;
    }
    return found < pile->messages ? found : 0;
}

/* What the constant messages before one come to, and those behind it. */
struct grounds {
    bool some_before, some_behind;
    bool alike; /* all behind have the same */
    unsigned char before[SPARSE_MAX_SIZE];
    const unsigned char *behind;
};

static struct grounds around(const struct pile *pile, size_t index)
{
    const struct sparse_operator *operator = pile->operator;
    struct grounds g = {.some_before = index > 0, .some_behind = index + 1 < pile->messages, .alike = true};
    for (size_t i = 0; i < index; i++) {
        struct sparse_view other = nth(pile, i);
        if (i == 0) memcpy(g.before, other.background, operator->size);
        else sparse_combine(operator, g.before, other.background, g.before, 1);
    }
    if (g.some_behind) g.behind = nth(pile, index + 1).background;
    for (size_t i = index + 2; i < pile->messages; i++)
        g.alike = g.alike && memcmp(g.behind, nth(pile, i).background, operator->size) == 0;
    return g;
}

/* Whether a message is the result of all: those before and behind it are constant, and change nothing in it. */
static bool prevails(const struct pile *pile, size_t index, const struct grounds *g, const struct sparse_view *view)
{
    const struct sparse_operator *operator = pile->operator;
    if (g->some_before && !idle_on(operator, g->before, false, view)) return false;
    if (g->some_behind && !idle_on(operator, g->behind, true, view)) return false;
    for (size_t i = index + 2; i < pile->messages && !g->alike; i++)
        if (!idle_on(operator, nth(pile, i).background, true, view)) return false;
    return true;
}

/* The same for one that is dense, and written while it is in L1; what was written is void if it does not prevail. */
static bool prevails_written(const struct sparse_operator *operator, const struct grounds *g, const struct sparse_view *view, bool past,
                             unsigned char *dense)
{
    const bool left = g->some_before && !sparse_neutral(operator, g->before, false);
    const bool right = g->some_behind && !sparse_neutral(operator, g->behind, true);
    const size_t size = operator->size, piece = sparse_piece(2 * size);
    sparse_carry_fn *carry = sparse_kernels()->carry[operator->op][operator->type];
    if (!past && carry && (left || right))
        return carry(left ? g->before : NULL, right ? g->behind : NULL, view->values, dense, view->elements);
    for (size_t start = 0; start < view->elements; start += piece) {
        size_t n = view->elements - start < piece ? view->elements - start : piece;
        const unsigned char *values = view->values + start * size;
        if (left && !sparse_unchanged(operator, g->before, false, values, n)) return false;
        if (right && !sparse_unchanged(operator, g->behind, true, values, n)) return false;
        if (past && sparse_kernels()->stream) sparse_kernels()->stream(dense + start * size, values, n * size);
        else if (dense + start * size != values) memcpy(dense + start * size, values, n * size);
    }
    return true;
}

bool sparse_pile_alone(const struct sparse_operator *operator, const void *constant, size_t before, size_t behind, const void *values,
                       size_t elements, void *dense)
{
    struct grounds g = {.some_before = before > 0, .some_behind = behind > 0, .alike = true, .behind = constant};
    const struct sparse_view view = {.format = SPARSE_DENSE, .elements = elements, .values = values};
    memcpy(g.before, constant, operator->size);
    for (size_t i = 1; i < before; i++) {
        unsigned char next[SPARSE_MAX_SIZE];
        sparse_combine(operator, g.before, constant, next, 1);
        if (memcmp(g.before, next, operator->size) == 0) break; /* nor will the others change it */
        memcpy(g.before, next, operator->size);
    }
    return prevails_written(operator, &g, &view, false, dense);
}

/* Writes message `index`, which may be the result of all, if it is. */
static bool write_one(const struct pile *pile, const struct sparse_layout *layout, size_t block, size_t index, bool past,
                      unsigned char *dense)
{
    const struct sparse_view view = nth(pile, index);
    const struct grounds g = around(pile, index);
    if (view.format == SPARSE_DENSE && g.alike && !sparse_padded(pile->operator))
        return prevails_written(pile->operator, &g, &view, past, dense);
    if (!prevails(pile, index, &g, &view)) return false;
    (past ? sparse_decode_past : sparse_decode)(layout, block, 1, pile->base + pile->at[index], dense);
    return true;
}

/* The first two where both are dense, or else the first. How many. */
static size_t begin(const struct pile *pile, const struct sparse_layout *layout, size_t block, unsigned char *dense)
{
    struct sparse_view first = nth(pile, 0), second = nth(pile, pile->messages > 1 ? 1 : 0);
    bool both = pile->messages > 1 && first.format == SPARSE_DENSE && second.format == SPARSE_DENSE && !sparse_padded(pile->operator);
    if (both) sparse_combine(pile->operator, first.values, second.values, dense, first.elements);
    else sparse_decode(layout, block, 1, pile->base + pile->at[0], dense);
    return both ? 2 : 1;
}

/* A background that changes nothing in what is there (`idle`, or NULL) is not looked at again: where the next message has the same, its
 * exceptions alone are joined, and looked at. */
static bool is_idle(const struct target *target, const struct sparse_view *view, const unsigned char *idle)
{
    return idle && sparse_listed(view) && memcmp(idle, view->background, target->operator->size) == 0;
}

/* All messages of a block, one after the other. */
static void add_up(const struct pile *pile, const struct sparse_layout *layout, size_t block, unsigned char *dense)
{
    const struct target target = {pile->operator, sparse_moves(pile->operator->size), true, dense};
    const unsigned char *idle = NULL;
    for (size_t i = begin(pile, layout, block, dense); i < pile->messages; i++) {
        struct sparse_view view = nth(pile, i);
        bool stays = is_idle(&target, &view, idle) ? some_exceptions(&target, &view, 0, view.exceptions) : merge_block(&target, &view);
        idle = stays ? view.background : NULL;
    }
}

enum { PILED = 256 }; /* messages, at most, that are added up by pieces */

static bool goes_by_pieces(const struct pile *pile)
{
    if (pile->messages > PILED || !sparse_kernels()->stream || sparse_padded(pile->operator)) return false;
    for (size_t i = 0; i < pile->messages; i++) {
        const struct sparse_view view = nth(pile, i);
        if (!sparse_listed(&view)) return false;
    }
    return true;
}

/* Elements [start, start + count) of all messages. `next`: of each the first exception there, and then the first behind. */
static void add_up_piece(const struct pile *pile, const struct target *target, size_t start, size_t count, size_t *next)
{
    const size_t size = pile->operator->size;
    const unsigned char *idle = NULL;
    for (size_t i = 0; i < pile->messages; i++) {
        const struct sparse_view view = nth(pile, i);
        const size_t from = next[i], to = next[i] = first_behind(&view, from, start + count);
        bool stays = false;
        if (i == 0) {
            target->moves->fill(target->dense + start * size, count, size, view.background);
            target->moves->put(view.values + from * size, view.where + 2 * from, to - from, size, target->dense);
        } else if (is_idle(target, &view, idle)) {
            stays = some_exceptions(target, &view, from, to);
        } else if (sparse_neutral(target->operator, view.background, true)) {
            (void)some_exceptions(target, &view, from, to);
        } else {
            stays = background_and_some(target, &view, start, count, from, to);
        }
        idle = stays ? view.background : NULL;
    }
}

static void add_up_past(const struct pile *pile, size_t elements, unsigned char *dense)
{
    struct sparse_scratch room;
    const size_t size = pile->operator->size, piece = sparse_piece(size);
    struct target target = {pile->operator, sparse_moves(size), true, NULL};
    size_t next[PILED] = {0};
    for (size_t start = 0; start < elements; start += piece) {
        const size_t n = elements - start < piece ? elements - start : piece;
        target.dense = (unsigned char *)((uintptr_t)room.bytes - start * size); /* where the block would begin */
        add_up_piece(pile, &target, start, n, next);
        sparse_kernels()->stream(dense + start * size, room.bytes, n * size);
    }
}

void sparse_pile(const struct sparse_layout *layout, const void *base, size_t *at, size_t messages, enum sparse_past past, void *dense)
{
    const struct pile pile = {layout->operator, base, at, messages};
    unsigned char *to = dense;
    for (size_t block = 0; block < layout->blocks; block++) {
        size_t index = lone(&pile);
        const size_t elements = sparse_block_elements(layout, block);
        if (index == messages || !write_one(&pile, layout, block, index, past, to)) {
            if (past == SPARSE_PAST_BY_PIECES && goes_by_pieces(&pile)) add_up_past(&pile, elements, to);
            else add_up(&pile, layout, block, to);
        }
        for (size_t i = 0; i < messages; i++) at[i] += nth(&pile, i).bytes;
        to += elements * layout->operator->size;
    }
    if (past != SPARSE_CACHED) sparse_fence();
}
