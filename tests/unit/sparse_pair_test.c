/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_pair_test.c: two lists of positions and values joined, against a loop that takes one entry after the other: lists of every length
 * around those of registers, empty ones, the same positions, positions that only one list has, the first and the last there is. All memory
 * ends with the last entry. Runs with every set of kernels (LUCID_SIMD).
 */
#include "sparse_format.h"
#include "sparse_kernels.h"
#include "sparse_vectors.h"
#include "unit.h"

enum { ELEMENTS = 65536, LARGEST = 24, TRIALS = 1500 };

struct side {
    unsigned char *positions, *values, background[LARGEST];
    size_t count;
};

/** In `share` of 256 of the first `elements` places, or none; `start` is the first of them. */
static void side_init(struct side *s, uint64_t *random, size_t size, size_t start, size_t elements, unsigned share)
{
    static uint16_t places[ELEMENTS];
    s->count = 0;
    for (size_t i = start; i < start + elements && i < ELEMENTS; i++)
        if (unit_random(random) >> 56 < share) places[s->count++] = (uint16_t)i;
    s->positions = vectors_alloc(2 * s->count, 0);
    s->values = vectors_alloc(s->count * size, 1);
    memcpy(s->positions, places, 2 * s->count);
    for (size_t i = 0; i < s->count * size; i++) s->values[i] = (unsigned char)(unit_random(random) >> 40);
    for (size_t i = 0; i < LARGEST; i++) s->background[i] = (unsigned char)(unit_random(random) >> 40);
}

static void side_cleanup(struct side *s)
{
    vectors_free(s->positions, 0);
    vectors_free(s->values, 1);
}

struct joined {
    unsigned char *positions, *left, *right;
    size_t count;
};

static void joined_init(struct joined *j, size_t entries, size_t size)
{
    *j = (struct joined){vectors_alloc(2 * entries, 0), vectors_alloc(entries * size, 1), vectors_alloc(entries * size, 1), 0};
}

static void joined_cleanup(struct joined *j)
{
    vectors_free(j->positions, 0);
    vectors_free(j->left, 1);
    vectors_free(j->right, 1);
}

static size_t place_of(const struct side *s, size_t i)
{
    return i < s->count ? sparse_position(s->positions, i) : SIZE_MAX;
}

static void join(const struct side *left, const struct side *right, size_t size, struct joined *j)
{
    size_t l = 0, r = 0;
    while (l < left->count || r < right->count) {
        size_t a = place_of(left, l), b = place_of(right, r), n = j->count++;
        uint16_t place = (uint16_t)(a < b ? a : b);
        memcpy(j->positions + 2 * n, &place, sizeof place);
        memcpy(j->left + n * size, a <= b ? left->values + l * size : left->background, size);
        memcpy(j->right + n * size, b <= a ? right->values + r * size : right->background, size);
        l += a <= b;
        r += b <= a;
    }
}

static void check(const struct side *left, const struct side *right, size_t size)
{
    struct sparse_list a = {left->positions, left->values, left->background, left->count};
    struct sparse_list b = {right->positions, right->values, right->background, right->count};
    struct joined wanted, found;
    joined_init(&wanted, a.count + b.count, size);
    joined_init(&found, a.count + b.count, size);
    join(left, right, size, &wanted);
    found.count = sparse_moves(size)->pair(&a, &b, size, found.positions, found.left, found.right);
    assert_int_equal(found.count, wanted.count);
    assert_memory_equal(found.positions, wanted.positions, 2 * wanted.count);
    assert_memory_equal(found.left, wanted.left, wanted.count * size);
    assert_memory_equal(found.right, wanted.right, wanted.count * size);
    joined_cleanup(&wanted);
    joined_cleanup(&found);
}

static void try_size(size_t size, uint64_t seed)
{
    static const unsigned shares[] = {0, 1, 3, 10, 100, 200, 256};
    for (int i = 0; i < TRIALS; i++) {
        uint64_t random = seed + (uint64_t)i * 7919;
        size_t elements = i % 100 == 0 ? ELEMENTS : unit_random(&random) % (i % 3 ? 60 : 700);
        size_t start = i % 2 ? ELEMENTS - elements : 0, apart = i % 5 ? 0 : elements / 2;
        unsigned one = shares[unit_random(&random) % COUNT_OF(shares)], other = shares[unit_random(&random) % COUNT_OF(shares)];
        struct side left, right;
        uint64_t again = random;
        side_init(&left, &random, size, start, elements - apart, one);
        side_init(&right, i % 7 ? &random : &again, size, start + apart, elements - apart, i % 7 ? other : one);
        check(&left, &right, size);
        side_cleanup(&left);
        side_cleanup(&right);
    }
}

static void test_sizes(void **state)
{
    static const size_t sizes[] = {1, 2, 3, 4, 8, 12, 16, LARGEST};
    for (size_t i = 0; i < COUNT_OF(sizes); i++) try_size(sizes[i], 1000003 * (i + 1));
}

int main(void)
{
    if (vectors_lack_kernels()) return 77;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sizes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
