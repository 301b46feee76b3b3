/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_format_test.c: how a vector is cut, which format a block gets, what a decoder refuses, and what is guessed from a sample.
 */
#include "sparse_format.h"

#include "sparse_vectors.h"
#include "unit.h"

static struct sparse_operator operator_of(enum sparse_op op, enum sparse_type type)
{
    struct sparse_operator operator;
    assert_true(sparse_operator_predefined(op, type, &operator));
    return operator;
}

static void check_layout(const struct sparse_operator *operator, size_t count, size_t parts)
{
    struct sparse_layout layout;
    sparse_layout_init(&layout, operator, count, parts);
    assert_true(layout.operator == operator && layout.count == count);
    assert_true(layout.block >= 1 && layout.block <= 65536);
    assert_true(layout.block * operator->size <= 256 * 1024);
    assert_int_equal(layout.blocks, count / layout.block + (count % layout.block != 0));
    assert_true(layout.blocks >= (parts < count ? parts : count));
    assert_int_equal(sparse_layout_start(&layout, layout.blocks), count);
    for (size_t i = 0; i < layout.blocks; i += layout.blocks / 7 + 1) {
        assert_int_equal(sparse_layout_start(&layout, i), i * layout.block);
        assert_true(sparse_block_elements(&layout, i) > 0);
    }
    assert_true(sparse_bound(&layout, 0, layout.blocks) == count * operator->size + 16 * layout.blocks);
    if (layout.block >= 1024 && operator->size >= 8 && layout.blocks > 1)
        assert_true((double)sparse_bound(&layout, 0, 1) < 1.003 * (double)(layout.block * operator->size));
}

static void test_layout(void **state)
{
    static const size_t counts[] = {0, 1, 2, 5, 63, 64, 65, 999, 1000, 4096, 65535, 65536, 65537, 1000003, ((size_t)1 << 31) + 5};
    static const size_t parts[] = {0, 1, 2, 3, 5, 8, 64, 1000};
    static const enum sparse_type types[] = {SPARSE_INT8, SPARSE_FLOAT, SPARSE_DOUBLE, SPARSE_LONG_DOUBLE_COMPLEX};
    struct sparse_operator user;
    assert_true(sparse_operator_user(NULL, NULL, 63, true, &user));
    for (size_t i = 0; i < COUNT_OF(counts); i++)
        for (size_t j = 0; j < COUNT_OF(parts); j++) {
            for (size_t t = 0; t < COUNT_OF(types); t++) {
                struct sparse_operator operator = operator_of(SPARSE_SUM, types[t]);
                check_layout(&operator, counts[i], parts[j]);
            }
            check_layout(&user, counts[i], parts[j]);
        }
}

/** Owners of equal numbers of blocks own about as many elements. */
static void test_even(void **state)
{
    struct sparse_operator operator = operator_of(SPARSE_SUM, SPARSE_DOUBLE);
    for (size_t parts = 1; parts <= 100; parts++) {
        struct sparse_layout layout;
        sparse_layout_init(&layout, &operator, 1000000, parts);
        size_t each = layout.blocks / parts + (layout.blocks % parts != 0);
        assert_true((double)(each * layout.block) < 1.02 * 1000000 / (double)parts + 128);
    }
}

/** A block of `count` doubles, the first `exceptions` of them (or scattered ones) not 0. */
static void fill(double *x, size_t count, size_t exceptions)
{
    for (size_t i = 0; i < count; i++) x[i] = 0;
    for (size_t i = 0; i < exceptions; i++) x[i * count / exceptions] = 1 + (double)i;
}

static void check_shortest(size_t count, size_t exceptions)
{
    struct sparse_operator operator = operator_of(SPARSE_SUM, SPARSE_DOUBLE);
    struct sparse_layout layout;
    struct sparse_tally tally = {0};
    sparse_layout_init(&layout, &operator, count, 1);
    assert_int_equal(layout.blocks, 1);
    double *x = malloc(count * sizeof *x);
    void *message = malloc(sparse_bound(&layout, 0, 1));
    fill(x, count, exceptions);
    size_t length = sparse_encode(&layout, 0, 1, x, false, message, &tally), best = 16 + 8 * count;
    size_t positions = 16 + 8 + 10 * exceptions, bitmap = 16 + 8 + 8 * ((count + 63) / 64) + 8 * exceptions;
    if (exceptions == 0) best = 16 + 8;
    if (positions < best) best = positions;
    if (bitmap < best) best = bitmap;
    if (length != best) fail_msg("%zu exceptions of %zu: %zu bytes, not %zu", exceptions, count, length, best);
    struct sparse_header header = sparse_header_read(message);
    assert_int_equal(tally.blocks[header.format], 1);
    assert_int_equal(tally.exceptions, header.format == SPARSE_DENSE ? count : exceptions);
    free(message);
    free(x);
}

static void test_shortest(void **state)
{
    static const size_t percents[] = {0, 1, 2, 3, 5, 6, 7, 10, 25, 50, 60, 75, 85};
    for (size_t i = 0; i < COUNT_OF(percents); i++)
        for (size_t count = 1000; count <= 32768; count += 15884) check_shortest(count, percents[i] * count / 100);
    for (size_t exceptions = 0; exceptions < 60; exceptions++) check_shortest(64, exceptions);
    check_shortest(1, 0);
    check_shortest(32768, 2048);
    check_shortest(32768, 2047);
}

/** The background is found when it is not the first element, changes from block to block, or covers less than half. */
static void test_background(void **state)
{
    struct sparse_operator operator = operator_of(SPARSE_MIN, SPARSE_INT32);
    struct sparse_layout layout;
    struct sparse_tally tally = {0};
    const size_t count = 300000;
    sparse_layout_init(&layout, &operator, count, 1);
    int32_t *x = malloc(count * sizeof *x);
    void *message = malloc(sparse_bound(&layout, 0, layout.blocks));
    uint64_t random = 5;
    for (size_t i = 0; i < count; i++) {
        unsigned share = i < count / 2 ? 10 : 65;
        x[i] = unit_random(&random) % 100 < share ? (int32_t)unit_random(&random) : (int32_t)(i / layout.block) * 1000 + 7;
    }
    size_t length = sparse_encode(&layout, 0, layout.blocks, x, false, message, &tally);
    assert_true(length < count * 4 * 6 / 10);
    assert_int_equal(tally.blocks[SPARSE_BITMAP], layout.blocks);
    free(message);
    free(x);
}

/** Exceptions that became the background are dropped. */
static void test_drop(void **state)
{
    struct sparse_operator operator = operator_of(SPARSE_MAX, SPARSE_INT64);
    struct sparse_layout layout;
    int64_t a[4096] = {0}, b[4096];
    sparse_layout_init(&layout, &operator, COUNT_OF(a), 1);
    for (size_t i = 0; i < COUNT_OF(a); i++) {
        a[i] = i % 20 ? 0 : 4;
        b[i] = 5;
    }
    unsigned char left[sizeof a + 16], right[sizeof a + 16], out[sizeof a + 16];
    (void)sparse_encode(&layout, 0, 1, a, false, left, NULL);
    (void)sparse_encode(&layout, 0, 1, b, false, right, NULL);
    assert_int_equal(sparse_merge(&layout, 0, 1, left, right, false, out, NULL), 16 + 8);
    a[77] = 9;
    (void)sparse_encode(&layout, 0, 1, a, false, left, NULL);
    assert_int_equal(sparse_merge(&layout, 0, 1, left, right, false, out, NULL), 16 + 8 + 2 + 8);
    for (size_t i = 0; i < COUNT_OF(a); i += 3) a[i] = 3; /* a bitmap; a[77] is left */
    (void)sparse_encode(&layout, 0, 1, a, false, left, NULL);
    assert_int_equal(sparse_header_read(left).format, SPARSE_BITMAP);
    assert_int_equal(sparse_merge(&layout, 0, 1, left, right, false, out, NULL), 16 + 8 + 2 + 8);
}

struct message {
    struct sparse_operator operator;
    struct sparse_layout layout;
    unsigned char *bytes;
    size_t length;
};

/** A message with a block of every format: 4 blocks of 100 floats. */
static void message_init(struct message *m)
{
    float x[400];
    m->operator = operator_of(SPARSE_SUM, SPARSE_FLOAT);
    m->layout = (struct sparse_layout){.operator = &m->operator, .count = 400, .block = 100, .blocks = 4};
    for (int i = 0; i < 400; i++)
        x[i] = i < 100 ? 0 : i < 200 ? (float)(i == 150 || i == 199) : i < 300 ? (float)(i % 2 * i) : (float)i;
    m->bytes = malloc(sparse_bound(&m->layout, 0, 4));
    m->length = sparse_encode(&m->layout, 0, 4, x, false, m->bytes, NULL);
}

static unsigned char *block_of(const struct message *m, enum sparse_format format)
{
    return m->bytes + sparse_span(&m->layout, m->bytes, (size_t)format);
}

static bool accepted(const struct message *m)
{
    return sparse_check(&m->layout, 0, 4, m->bytes, m->length);
}

static void test_check_lengths(void **state)
{
    struct message m;
    message_init(&m);
    assert_true(accepted(&m));
    for (int format = 0; format < 4; format++) assert_int_equal(sparse_header_read(block_of(&m, format)).format, format);
    for (size_t length = 0; length < m.length; length++) {
        unsigned char *exact = malloc(length + 1); /* a step too far is a step out of the memory */
        memcpy(exact + 1, m.bytes, length);
        assert_false(sparse_check(&m.layout, 0, 4, exact + 1, length));
        free(exact);
    }
    assert_false(sparse_check(&m.layout, 0, 3, m.bytes, m.length));
    assert_false(sparse_check(&m.layout, 1, 4, m.bytes, m.length));
    assert_false(sparse_check(&m.layout, 5, 0, m.bytes, 0));
    assert_false(sparse_check(&m.layout, 0, SIZE_MAX, m.bytes, m.length));
    assert_true(sparse_check(&m.layout, 4, 0, m.bytes, 0));
    free(m.bytes);
}

/** Every byte of the headers and of what says where the exceptions are, in every other value. */
static void test_check_bytes(void **state)
{
    static const size_t where[] = {[SPARSE_POSITIONS] = 4, [SPARSE_BITMAP] = 16};
    struct message m;
    message_init(&m);
    for (int format = 0; format < 4; format++) {
        unsigned char *block = block_of(&m, format);
        for (size_t i = 0; i < 16; i++)
            for (unsigned value = 1; value < 256; value++) {
                block[i] ^= (unsigned char)value;
                if (accepted(&m)) fail_msg("format %d, byte %zu xor %u is accepted", format, i, value);
                block[i] ^= (unsigned char)value;
            }
        for (size_t i = 20; format == SPARSE_BITMAP && i < 20 + where[format]; i++)
            for (unsigned bit = 0; bit < 8; bit++) {
                block[i] ^= (unsigned char)(1 << bit);
                assert_false(accepted(&m));
                block[i] ^= (unsigned char)(1 << bit);
            }
    }
    assert_true(accepted(&m));
    free(m.bytes);
}

static void test_check_positions(void **state)
{
    static const struct {
        uint16_t first, second;
        bool fine;
    } cases[] = {{50, 99, true},   {0, 1, true},      {98, 99, true},    {99, 50, false},  {50, 50, false},
                 {50, 100, false}, {0, 65535, false}, {65535, 0, false}, {100, 101, false}};
    struct message m;
    message_init(&m);
    unsigned char *block = block_of(&m, SPARSE_POSITIONS);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        memcpy(block + 20, &cases[i].first, 2);
        memcpy(block + 22, &cases[i].second, 2);
        assert_int_equal(accepted(&m), cases[i].fine);
    }
    free(m.bytes);
}

/** A bit behind the end of the bitmap in the place of one before it. */
static void test_check_bitmap_end(void **state)
{
    struct message m;
    message_init(&m);
    unsigned char *bitmap = block_of(&m, SPARSE_BITMAP) + 20;
    bitmap[0] ^= 2; /* element 1, an exception */
    bitmap[12] |= 0x10; /* element 100 of 100 */
    assert_false(accepted(&m));
    bitmap[12] ^= 0x10 | 1 << 2; /* element 98 is none, either */
    assert_true(accepted(&m));
    free(m.bytes);
}

static double sampled(size_t count, unsigned percent, bool clustered)
{
    struct sparse_operator operator = operator_of(SPARSE_SUM, SPARSE_DOUBLE);
    double *x = malloc((count + 1) * sizeof *x);
    uint64_t random = 99;
    for (size_t i = 0; i < count; i++) {
        bool exception = clustered ? i / 1000 % 100 < percent : unit_random(&random) % 100 < percent;
        x[i] = exception ? (double)i + 1 : 0;
    }
    double share = sparse_sample(&operator, x, count, 64, NULL);
    free(x);
    return share;
}

static void test_sample(void **state)
{
    assert_true(sampled(0, 0, false) == 1);
    for (size_t count = 1; count < 200; count++) {
        assert_true(sampled(count, 0, false) == 0);
        assert_true(sampled(count, 100, false) == (count == 1 ? 0 : 1));
    }
    for (unsigned percent = 0; percent <= 100; percent += 10) {
        double share = sampled(1000000, percent, false), clustered = sampled(1000000, percent, true);
        assert_true(share > percent / 100. - 0.1 && share < percent / 100. + 0.1);
        assert_true(clustered > percent / 100. - 0.3 && clustered < percent / 100. + 0.3);
    }
}

static int child_unknown(void *argument)
{
    setenv("LUCID_SIMD", argument, 1);
    CHILD_CHECK(strcmp(sparse_simd(), "generic") == 0);
    CHILD_CHECK(strcmp(sparse_simd(), "generic") == 0); /* says it once */
    return 0;
}

static void test_simd(void **state)
{
    struct caught caught;
    unit_catch(&caught, child_unknown, (void *)"sse9");
    assert_int_equal(caught.status, 0);
    assert_string_equal(caught.out, "");
    assert_non_null(strstr(caught.err, "LUCID_SIMD=sse9"));
    assert_ptr_equal(strchr(caught.err, '\n'), caught.err + strlen(caught.err) - 1);
    unit_catch(&caught, child_unknown, (void *)"generic");
    unit_assert_silent(&caught);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout),          cmocka_unit_test(test_even),        cmocka_unit_test(test_simd),
        cmocka_unit_test(test_shortest),        cmocka_unit_test(test_background),  cmocka_unit_test(test_drop),
        cmocka_unit_test(test_check_lengths),   cmocka_unit_test(test_check_bytes), cmocka_unit_test(test_check_positions),
        cmocka_unit_test(test_check_bitmap_end), cmocka_unit_test(test_sample),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
