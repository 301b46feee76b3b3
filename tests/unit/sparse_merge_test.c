/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_merge_test.c: encoding, decoding and merging of blocks against the operator's own
 * loop, bit by bit: every operator on every type, vectors of every pattern, with counts around the edges of words and blocks.
 * Runs with every set of kernels (LUCID_SIMD). Messages lie in memory that ends with their bound, so that the address sanitizer
 * sees a step too far. */
#include "sparse_vectors.h"

#include "unit.h"

#define ODD 3 /* vectors need no alignment */

/** Where a property does not hold. */
struct where {
    const char *name;
    enum pattern pattern;
    size_t count;
};

static void check(bool holds, const struct where *where, const char *what)
{
    if (!holds) fail_msg("%s, pattern %d, %zu elements: %s", where->name, (int)where->pattern, where->count, what);
}

struct bench {
    struct where where;
    struct sparse_layout layout;
    size_t bytes, bound, length[2];
    unsigned char *vector[2], *message[2], *expected, *out, *result;
};

static void bench_init(struct bench *b, const struct sparse_operator *operator, const char *name, enum pattern pattern,
                       size_t count)
{
    b->where = (struct where){name, pattern, count};
    sparse_layout_init(&b->layout, operator, count, count % 5 + 1);
    b->bytes = count * operator->size;
    b->bound = sparse_bound(&b->layout, 0, b->layout.blocks);
    const uint64_t seed = count + 7 * (unsigned)operator->op + (unsigned)operator->type;
    for (unsigned side = 0; side < 2; side++) {
        b->vector[side] = vectors_alloc(b->bytes, ODD);
        b->message[side] = vectors_alloc(b->bound, ODD);
        vectors_fill(operator, pattern, side, seed, count, b->vector[side]);
    }
    b->expected = vectors_alloc(b->bytes, ODD);
    b->result = vectors_alloc(b->bytes, ODD);
    b->out = vectors_alloc(b->bound, ODD);
    vectors_reference(operator, b->vector[0], b->vector[1], count, b->expected);
}

static void bench_cleanup(struct bench *b)
{
    unsigned char *all[] = {b->vector[0], b->vector[1], b->message[0], b->message[1], b->expected, b->result, b->out};
    for (size_t i = 0; i < COUNT_OF(all); i++) vectors_free(all[i], ODD);
}

static void fill_with_noise(unsigned char *memory, size_t bytes, uint64_t state)
{
    for (size_t i = 0; i < bytes; i += 8) {
        const uint64_t noise = unit_random(&state);
        memcpy(memory + i, &noise, bytes - i < 8 ? bytes - i : 8);
    }
}

/** Decodes to the vector's data, and to nothing but the data. */
static void check_decodes(struct bench *b, const void *message, const void *vector)
{
    const struct sparse_operator *operator = b->layout.operator;
    unsigned char *before = vectors_alloc(b->bytes, 0);
    fill_with_noise(before, b->bytes, 17);
    memcpy(b->result, before, b->bytes);
    sparse_decode(&b->layout, 0, b->layout.blocks, message, b->result);
    check(vectors_differ(operator, b->result, vector, b->where.count) == b->where.count, &b->where, "decodes to something else");
    check(vectors_padding_differs(operator, b->result, before, b->where.count) == b->where.count, &b->where, "writes on padding");
    vectors_free(before, 0);
}

/** The same past the caches, to a place `skip` bytes behind the start of a cache line, and to nothing around it. */
static void check_decodes_past(struct bench *b, const void *message, const void *vector, size_t skip)
{
    enum { LINE = 64, AROUND = 2 * LINE };
    const struct sparse_operator *operator = b->layout.operator;
    const size_t all = LINE + AROUND + skip + b->bytes + AROUND;
    unsigned char *memory = vectors_alloc(all, 0), *before = vectors_alloc(all, 0);
    const size_t at = LINE - (uintptr_t)memory % LINE + AROUND + skip;
    fill_with_noise(before, all, 18);
    memcpy(memory, before, all);
    sparse_decode_past(&b->layout, 0, b->layout.blocks, message, memory + at);
    check(vectors_differ(operator, memory + at, vector, b->where.count) == b->where.count, &b->where, "past caches: something else");
    check(vectors_padding_differs(operator, memory + at, before + at, b->where.count) == b->where.count, &b->where,
          "past caches: writes on padding");
    check(memcmp(memory, before, at) == 0, &b->where, "past caches: writes before the vector");
    const size_t end = at + b->bytes;
    check(memcmp(memory + end, before + end, all - end) == 0, &b->where, "past caches: writes behind the vector");
    vectors_free(memory, 0);
    vectors_free(before, 0);
}

/** Encodes both sides, as the pattern wants it or dense. */
static void encode(struct bench *b, bool dense)
{
    for (unsigned side = 0; side < 2; side++) {
        struct sparse_tally tally = {0};
        size_t blocks = b->layout.blocks;
        b->length[side] = sparse_encode(&b->layout, 0, blocks, b->vector[side], dense, b->message[side], &tally);
        check(b->length[side] <= b->bound, &b->where, "longer than its bound");
        check(sparse_check(&b->layout, 0, blocks, b->message[side], b->length[side]), &b->where, "an encoded message is refused");
        check(sparse_span(&b->layout, b->message[side], blocks) == b->length[side], &b->where, "another span than length");
        check(tally.elements == b->where.count, &b->where, "other elements in the tally");
        check(tally.blocks[0] + tally.blocks[1] + tally.blocks[2] + tally.blocks[3] == blocks, &b->where,
              "other blocks in the tally");
        check(!dense || tally.blocks[SPARSE_DENSE] == blocks, &b->where, "a block that was to be dense is not");
        check_decodes(b, b->message[side], b->vector[side]);
        check_decodes_past(b, b->message[side], b->vector[side], side ? ODD : b->where.count % 17 * b->layout.operator->size);
    }
}

static void check_merge(struct bench *b, bool dense)
{
    size_t blocks = b->layout.blocks;
    struct sparse_tally tally = {0};
    size_t length = sparse_merge(&b->layout, 0, blocks, b->message[0], b->message[1], dense, b->out, &tally);
    check(length <= b->bound, &b->where, "merged: longer than its bound");
    check(sparse_check(&b->layout, 0, blocks, b->out, length), &b->where, "a merged message is refused");
    check(tally.elements == b->where.count, &b->where, "merged: other elements in the tally");
    check(!dense || tally.blocks[SPARSE_DENSE] == blocks, &b->where, "merged: a block that was to be dense is not");
    check_decodes(b, b->out, b->expected);
}

/** A message of one side into the vector of the other. */
static void check_merge_dense(struct bench *b, bool message_is_right)
{
    const struct sparse_operator *operator = b->layout.operator;
    unsigned from = message_is_right ? 1 : 0;
    memcpy(b->result, b->vector[1 - from], b->bytes);
    sparse_merge_dense(&b->layout, 0, b->layout.blocks, b->message[from], message_is_right, b->result, NULL);
    check(vectors_differ(operator, b->result, b->expected, b->where.count) == b->where.count, &b->where,
          message_is_right ? "on the right of elements: something else" : "on the left of elements: something else");
    check(vectors_padding_differs(operator, b->result, b->vector[1 - from], b->where.count) == b->where.count, &b->where,
          "a merge writes on padding");
}

static void check_one(const struct sparse_operator *operator, const char *name, enum pattern pattern, size_t count)
{
    struct bench b;
    bench_init(&b, operator, name, pattern, count);
    for (int dense = 0; dense < 2; dense++) {
        encode(&b, dense != 0);
        for (int out = 0; out < 2; out++) check_merge(&b, out != 0);
        for (int right = 0; right < 2; right++) check_merge_dense(&b, right != 0);
    }
    encode(&b, false); /* one side dense, the other not */
    (void)sparse_encode(&b.layout, 0, b.layout.blocks, b.vector[0], true, b.message[0], NULL);
    check_merge(&b, false);
    bench_cleanup(&b);
}

static void check_all(const size_t *counts, size_t n)
{
    struct sparse_operator operator;
    const char *name;
    for (unsigned at = 0; vectors_operator(at, &operator, &name); at++)
        for (int pattern = 0; pattern < PATTERNS; pattern++)
            for (size_t i = 0; i < n; i++) check_one(&operator, name, (enum pattern)pattern, counts[i]);
}

/* Sanitizers, and emulation, make it twenty times slower; they see the same code. */
#if defined(LUCID_SANITIZED) || defined(LUCID_EMULATED)
#define SHORT_COUNTS 0, 1, 9, 65, 130
#define LONG_COUNTS 1031
#define EDGE_COUNTS 32769
#else
#define SHORT_COUNTS 0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 127, 129, 500
#define LONG_COUNTS 4097
#define EDGE_COUNTS 20011, 32767, 32769, 65536, 70000
#endif

static void test_short(void **state)
{
    static const size_t counts[] = {SHORT_COUNTS};
    check_all(counts, COUNT_OF(counts));
}

static void test_long(void **state)
{
    static const size_t counts[] = {LONG_COUNTS};
    check_all(counts, COUNT_OF(counts));
}

/** The edges of blocks: for one type of every width. */
static void test_blocks(void **state)
{
    static const enum sparse_type types[] = {SPARSE_UINT8, SPARSE_INT16, SPARSE_FLOAT, SPARSE_DOUBLE, SPARSE_DOUBLE_COMPLEX,
                                             SPARSE_LONG_DOUBLE_COMPLEX};
    static const size_t counts[] = {EDGE_COUNTS};
    for (size_t t = 0; t < COUNT_OF(types); t++)
        for (int pattern = 0; pattern < PATTERNS; pattern++)
            for (size_t i = 0; i < COUNT_OF(counts); i++) {
                struct sparse_operator operator;
                assert_true(sparse_operator_predefined(SPARSE_SUM, types[t], &operator));
                check_one(&operator, "sum", (enum pattern)pattern, counts[i]);
            }
}

/** Any range of blocks is a message. */
static void test_ranges(void **state)
{
    struct sparse_operator operator;
    assert_true(sparse_operator_predefined(SPARSE_MAX, SPARSE_INT32, &operator));
    struct bench b;
    bench_init(&b, &operator, "max int32", RANDOM, 9999);
    sparse_layout_init(&b.layout, &operator, 9999, 13);
    vectors_free(b.message[0], ODD);
    b.message[0] = vectors_alloc(sparse_bound(&b.layout, 0, b.layout.blocks), ODD);
    (void)sparse_encode(&b.layout, 0, b.layout.blocks, b.vector[0], false, b.message[0], NULL);
    for (size_t first = 0; first <= b.layout.blocks; first++)
        for (size_t blocks = 0; first + blocks <= b.layout.blocks; blocks++) {
            size_t skip = sparse_span(&b.layout, b.message[0], first), start = sparse_layout_start(&b.layout, first);
            size_t elements = sparse_layout_start(&b.layout, first + blocks) - start;
            size_t length = sparse_span(&b.layout, b.message[0] + skip, blocks);
            assert_true(sparse_check(&b.layout, first, blocks, b.message[0] + skip, length));
            sparse_decode(&b.layout, first, blocks, b.message[0] + skip, b.result);
            assert_memory_equal(b.result, b.vector[0] + start * 4, elements * 4);
        }
    bench_cleanup(&b);
}

/** Many blocks of every format in one vector, larger than caches and not on a cache line. */
static void test_large(void **state)
{
    struct sparse_operator operator;
    struct sparse_layout layout;
    struct sparse_tally tally = {0};
    const size_t count = 8 * 1024 * 1024 + 12345;
    uint64_t random = 3;
    assert_true(sparse_operator_predefined(SPARSE_SUM, SPARSE_INT32, &operator));
    sparse_layout_init(&layout, &operator, count, 1);
    unsigned char *x = vectors_alloc(count * 4, ODD), *out = vectors_alloc(count * 4, ODD + 4);
    unsigned char *message = vectors_alloc(sparse_bound(&layout, 0, layout.blocks), ODD);
    for (size_t i = 0; i < count; i++) {
        const uint64_t one_in[] = {UINT64_MAX, 100, 3, 1};
        uint64_t r = unit_random(&random);
        int32_t element = r % one_in[i / layout.block % 4] == 0 ? (int32_t)(r >> 32) : 5;
        memcpy(x + i * 4, &element, 4);
    }
    (void)sparse_encode(&layout, 0, layout.blocks, x, false, message, &tally);
    for (int format = 0; format < 4; format++) assert_true(tally.blocks[format] >= layout.blocks / 4);
    memset(out, 1, count * 4);
    sparse_decode(&layout, 0, layout.blocks, message, out);
    assert_memory_equal(out, x, count * 4);
    vectors_free(x, ODD);
    vectors_free(out, ODD + 4);
    vectors_free(message, ODD);
}

int main(void)
{
    if (vectors_lack_kernels()) return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_short),
        cmocka_unit_test(test_long),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
