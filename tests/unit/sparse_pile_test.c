/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_pile_test.c: the messages of several ranks added up block by block, against the operator's own loop, bit by bit: blocks that
 * one rank alone fills, or some, or none, between constants that change something and constants that do not. Runs with every set of
 * kernels (LUCID_SIMD). */
#include "sparse_vectors.h"

#include <math.h>

#include "unit.h"

enum { RANKS = 5, BLOCKS = 12, KINDS = 64, AROUND = 64 };

struct pile {
    struct sparse_operator operator;
    struct sparse_layout layout;
    size_t count, bytes, ranks, at[RANKS], length[RANKS];
    unsigned char *vector, *expected, *messages, *result, *before, *kinds;
};

static void pile_init_blocks(struct pile *p, size_t count, size_t ranks, size_t blocks)
{
    size_t size = p->operator.size;
    p->count = count;
    p->ranks = ranks;
    p->bytes = count * size;
    sparse_layout_init(&p->layout, &p->operator, count, blocks);
    p->vector = vectors_alloc(p->bytes, 1);
    p->expected = vectors_alloc(p->bytes, 1);
    p->result = vectors_alloc(p->bytes + 2 * AROUND, 1);
    p->before = vectors_alloc(p->bytes + 2 * AROUND, 1);
    p->kinds = vectors_alloc(KINDS * size, 0);
    p->messages = vectors_alloc(ranks * sparse_bound(&p->layout, 0, p->layout.blocks), 1);
    vectors_fill(&p->operator, SPECIAL, 0, 5, KINDS, p->kinds);
}

static void pile_init(struct pile *p, size_t count, size_t ranks)
{
    pile_init_blocks(p, count, ranks, BLOCKS);
}

static void pile_cleanup(struct pile *p)
{
    unsigned char *odd[] = {p->vector, p->expected, p->result, p->before, p->messages};
    for (size_t i = 0; i < COUNT_OF(odd); i++) vectors_free(odd[i], 1);
    vectors_free(p->kinds, 0);
}

/** Zeros mostly, as a program has them; any other value, the same for all ranks or not. */
static void make_constant(const struct pile *p, uint64_t how, uint64_t own, unsigned char *block, size_t count)
{
    size_t size = p->operator.size, kind = how % 3 == 1 ? how / 3 % KINDS : own % KINDS;
    for (size_t i = 0; i < count; i++)
        if (how % 3 == 0) memset(block + i * size, 0, size);
        else memcpy(block + i * size, p->kinds + kind * size, size);
}

/** Few exceptions, between the last element and the first of a piece among others, on a constant. */
static void make_thin(const struct pile *p, size_t rank, uint64_t seed)
{
    const size_t size = p->operator.size, piece = 16384 / size;
    uint64_t own = seed + 1000 * (rank + 1);
    make_constant(p, seed, unit_random(&own), p->vector, p->count);
    for (size_t at = 0; at < p->count; at++) {
        const bool edge = at % piece == 0 || at % piece == piece - 1;
        if (unit_random(&own) >> 56 < (edge ? 128 : 5)) memcpy(p->vector + at * size, p->kinds + unit_random(&own) % KINDS * size, size);
    }
}

/** What a rank has in a block: mostly, one rank has something and the others a constant. */
static void make_vector(const struct pile *p, size_t rank, uint64_t seed)
{
    static const enum pattern patterns[] = {ALL_DIFFERENT, SPECIAL, RANDOM, RANDOM_HALF, FEW_VALUES};
    uint64_t common = seed, own = seed + 1000 * (rank + 1);
    for (size_t block = 0; block < p->layout.blocks; block++) {
        size_t start = sparse_layout_start(&p->layout, block), n = sparse_layout_start(&p->layout, block + 1) - start;
        unsigned char *to = p->vector + start * p->operator.size;
        uint64_t owner = unit_random(&common) % (p->ranks + 2), how = unit_random(&common), mine = unit_random(&own);
        bool all = owner > p->ranks, fills = rank == owner || (all && mine % 2);
        if (fills) vectors_fill(&p->operator, patterns[how % COUNT_OF(patterns)], (unsigned)(mine % 2), mine, n, to);
        else make_constant(p, how, mine, to, n);
    }
}

static void check_pile(struct pile *p, void (*make)(const struct pile *, size_t, uint64_t), uint64_t seed, enum sparse_past past)
{
    size_t used = 0;
    for (size_t rank = 0; rank < p->ranks; rank++) {
        make(p, rank, seed);
        p->at[rank] = used;
        p->length[rank] = sparse_encode(&p->layout, 0, p->layout.blocks, p->vector, false, p->messages + used, NULL);
        used += p->length[rank];
        if (rank == 0) memcpy(p->expected, p->vector, p->bytes);
        else vectors_reference(&p->operator, p->expected, p->vector, p->count, p->expected);
    }
    for (size_t i = 0; i < p->bytes + 2 * AROUND; i++) p->before[i] = (unsigned char)unit_random(&seed);
    memcpy(p->result, p->before, p->bytes + 2 * AROUND);
    sparse_pile(&p->layout, p->messages, p->at, p->ranks, past, p->result + AROUND);
    used = 0;
    for (size_t rank = 0; rank < p->ranks; rank++) assert_int_equal(p->at[rank], used += p->length[rank]);
    assert_int_equal(vectors_differ(&p->operator, p->result + AROUND, p->expected, p->count), p->count);
    assert_int_equal(vectors_padding_differs(&p->operator, p->result + AROUND, p->before + AROUND, p->count), p->count);
    assert_memory_equal(p->result, p->before, AROUND);
    assert_memory_equal(p->result + AROUND + p->bytes, p->before + AROUND + p->bytes, AROUND);
}

#if defined(LUCID_SANITIZED) || defined(LUCID_EMULATED)
#define SEEDS 2
#else
#define SEEDS 8
#endif

static void test_every_operator(void **state)
{
    static const size_t counts[] = {5, 700, 6000};
    struct pile p;
    const char *name;
    for (unsigned at = 0; vectors_operator(at, &p.operator, &name); at++)
        for (size_t i = 0; i < 2 * COUNT_OF(counts); i++) {
            pile_init(&p, counts[i / 2], i % 2 ? RANKS : 1 + i / 2);
            for (uint64_t seed = 1; seed <= SEEDS; seed++) check_pile(&p, make_vector, seed * (at + 1), seed % 3);
            pile_cleanup(&p);
        }
}

/** Thin vectors in blocks of several pieces, which are added up one after the other if they go past the caches by pieces. */
static void test_long_blocks(void **state)
{
    struct pile p;
    const char *name;
    for (unsigned at = 0; vectors_operator(at, &p.operator, &name); at++) {
        pile_init_blocks(&p, 5 * 16384 / p.operator.size / 2 + at % 3, 2 + at % (RANKS - 1), 1);
        for (uint64_t seed = 1; seed <= (SEEDS + 4) / 4; seed++) check_pile(&p, make_thin, 7 * at + seed, seed == 2 ? SPARSE_PAST : SPARSE_PAST_BY_PIECES);
        pile_cleanup(&p);
    }
}

/** One rank's zeros of the other sign, or a signalling NaN, among zeros: they change. */
static void test_what_changes_is_not_taken_over(void **state)
{
    static const uint64_t bits[] = {0x8000000000000000u, 0x7ff0000000000001u, 0xfff4000000000000u};
    struct pile p;
    assert_true(sparse_operator_predefined(SPARSE_SUM, SPARSE_DOUBLE, &p.operator));
    for (size_t i = 0; i < 9 * COUNT_OF(bits); i++) {
        pile_init(&p, 900, 3);
        size_t used = 0;
        for (size_t rank = 0; rank < 3; rank++) {
            memset(p.vector, 0, p.bytes);
            if (rank == i / 3 % 3) {
                vectors_fill(&p.operator, ALL_DIFFERENT, 0, i, p.count, p.vector);
                memcpy(p.vector + 8 * (p.count - 1), &bits[i / 9], 8);
            }
            p.at[rank] = used;
            used += sparse_encode(&p.layout, 0, p.layout.blocks, p.vector, false, p.messages + used, NULL);
            if (rank == 0) memcpy(p.expected, p.vector, p.bytes);
            else vectors_reference(&p.operator, p.expected, p.vector, p.count, p.expected);
        }
        sparse_pile(&p.layout, p.messages, p.at, 3, i % 3, p.result);
        assert_memory_equal(p.result, p.expected, p.bytes);
        assert_memory_not_equal(p.result + 8 * (p.count - 1), &bits[i / 9], 8);
        pile_cleanup(&p);
    }
}

/** Elements in which a background changes nothing, until an exception makes one in which it does: a number that rounding had kept, or
 * what a comparison makes of a NaN. */
static void test_a_background_that_comes_to_matter(void **state)
{
    static const struct { enum sparse_op op; double first, ground, exception; } cases[] = {
        {SPARSE_SUM, 1e300, 1, -1e300}, {SPARSE_MAX, 7, 5, NAN}, {SPARSE_MIN, 3, 5, NAN}, {SPARSE_SUM, 7, 0, -7}};
    enum { MESSAGES = 4 };
    struct pile p;
    for (size_t i = 0; i < 3 * COUNT_OF(cases); i++) {
        assert_true(sparse_operator_predefined(cases[i / 3].op, SPARSE_DOUBLE, &p.operator));
        pile_init(&p, 900, MESSAGES);
        size_t used = 0;
        for (size_t rank = 0; rank < MESSAGES; rank++) {
            for (size_t at = 0; at < p.count; at++) {
                double value = rank == 0 ? cases[i / 3].first : cases[i / 3].ground;
                if (rank > 0 && at % 97 == 13 * rank % 97) value = cases[i / 3].exception;
                memcpy(p.vector + at * sizeof value, &value, sizeof value);
            }
            p.at[rank] = used;
            used += sparse_encode(&p.layout, 0, p.layout.blocks, p.vector, false, p.messages + used, NULL);
            if (rank == 0) memcpy(p.expected, p.vector, p.bytes);
            else vectors_reference(&p.operator, p.expected, p.vector, p.count, p.expected);
        }
        sparse_pile(&p.layout, p.messages, p.at, MESSAGES, i % 3, p.result);
        assert_memory_equal(p.result, p.expected, p.bytes);
        pile_cleanup(&p);
    }
}

int main(void)
{
    if (vectors_lack_kernels()) return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_operator),
        cmocka_unit_test(test_long_blocks),
        cmocka_unit_test(test_what_changes_is_not_taken_over),
        cmocka_unit_test(test_a_background_that_comes_to_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
