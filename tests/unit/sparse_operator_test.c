/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_operator_test.c: which operators are defined on which types, what they make of special elements, and that it does not
 * matter where in a vector, and by which kernel, an element is combined.
 */
#include <complex.h>
#include <math.h>

#include "sparse_combine.h"
#include "sparse_vectors.h"
#include "unit.h"

static bool is_integer(int type) { return type <= SPARSE_UINT64; }
static bool is_logical(int type) { return type >= SPARSE_BOOL && type <= SPARSE_LOGICAL64; }
static bool is_real(int type) { return type >= SPARSE_FLOAT && type <= SPARSE_LONG_DOUBLE; }
static bool is_complex(int type) { return type >= SPARSE_FLOAT_COMPLEX && type <= SPARSE_LONG_DOUBLE_COMPLEX; }
static bool is_pair(int type) { return type >= SPARSE_FLOAT_INT && type <= SPARSE_2DOUBLE_PRECISION; }

/** MPI 4.1, section 6.9.2. */
static bool mpi_defines(int op, int type)
{
    switch (op) {
    case SPARSE_MAX:
    case SPARSE_MIN: return is_integer(type) || is_real(type);
    case SPARSE_SUM:
    case SPARSE_PROD: return is_integer(type) || is_real(type) || is_complex(type);
    case SPARSE_LAND:
    case SPARSE_LOR:
    case SPARSE_LXOR: return is_integer(type) || is_logical(type);
    case SPARSE_BAND:
    case SPARSE_BOR:
    case SPARSE_BXOR: return is_integer(type) || type == SPARSE_BYTE;
    case SPARSE_MAXLOC:
    case SPARSE_MINLOC: return is_pair(type);
    default: return false;
    }
}

static void test_pairs(void **state)
{
    struct sparse_operator operator;
    unsigned defined = 0;
    for (int op = -1; op <= SPARSE_OPS; op++)
        for (int type = -1; type <= SPARSE_TYPES; type++) {
            bool is = sparse_operator_predefined((enum sparse_op)op, (enum sparse_type)type, &operator);
            bool should = op >= 0 && type >= 0 && type < SPARSE_TYPES && mpi_defines(op, type);
            if (is != should) fail_msg("operator %d on type %d: %d", op, type, is);
            if (is) assert_true(operator.commutative && operator.apply && operator.size > 0 && operator.size <= SPARSE_MAX_SIZE);
            defined += is;
        }
    assert_int_equal(defined, 132);
}

static void nothing(const void *in, void *inout, size_t count, void *context) {}

static void test_user(void **state)
{
    struct sparse_operator operator;
    assert_false(sparse_operator_user(nothing, NULL, 0, true, &operator));
    assert_false(sparse_operator_user(nothing, NULL, SPARSE_MAX_SIZE + 1, true, &operator));
    assert_true(sparse_operator_user(nothing, &operator, SPARSE_MAX_SIZE, false, &operator));
    assert_true(operator.apply == nothing && operator.context == &operator && !operator.commutative);
    assert_true(operator.op == SPARSE_USER && operator.type == SPARSE_OPAQUE && operator.size == SPARSE_MAX_SIZE);
}

/** left op right = result, as bits. */
#define CHECK(op, TYPE, type, left, right, result)                                               \
    do {                                                                                         \
        struct sparse_operator operator;                                                         \
        type a = (left), b = (right), c = (result), out;                                         \
        assert_true(sparse_operator_predefined(SPARSE_##op, SPARSE_##TYPE, &operator));          \
        assert_int_equal(operator.size, sizeof(type));                                           \
        sparse_combine(&operator, &a, &b, &out, 1);                                              \
        assert_memory_equal(&out, &c, sizeof c);                                                 \
        operator.apply(&a, &b, 1, NULL);                                                         \
        assert_memory_equal(&b, &c, sizeof c);                                                   \
    } while (0)

static void test_integers(void **state)
{
    CHECK(SUM, INT8, int8_t, 100, 100, -56);
    CHECK(SUM, UINT16, uint16_t, 60000, 60000, 54464);
    CHECK(SUM, INT32, int32_t, INT32_MAX, 1, INT32_MIN);
    CHECK(SUM, INT64, int64_t, INT64_MIN, -1, INT64_MAX);
    CHECK(PROD, UINT16, uint16_t, 65535, 65535, 1);
    CHECK(PROD, INT16, int16_t, -32768, -1, -32768);
    CHECK(PROD, INT64, int64_t, INT64_MIN, -1, INT64_MIN);
    CHECK(MAX, INT8, int8_t, -1, 1, 1);
    CHECK(MAX, UINT8, uint8_t, 255, 1, 255);
    CHECK(MIN, INT32, int32_t, INT32_MIN, 0, INT32_MIN);
    CHECK(MIN, UINT32, uint32_t, UINT32_MAX, 0, 0);
    CHECK(LAND, INT32, int32_t, 2, 4, 1);
    CHECK(LAND, UINT8, uint8_t, 2, 0, 0);
    CHECK(LOR, INT64, int64_t, 0, INT64_MIN, 1);
    CHECK(LXOR, INT16, int16_t, 5, 7, 0);
    CHECK(LXOR, INT16, int16_t, 0, 7, 1);
    CHECK(LAND, BOOL, uint8_t, 2, 4, 1); /* no _Bool that a program made, but bytes can be anything */
    CHECK(LOR, LOGICAL32, int32_t, 0, -1, 1);
    CHECK(LXOR, LOGICAL64, int64_t, -1, 0, 1);
    CHECK(BAND, INT64, int64_t, -1, 12, 12);
    CHECK(BOR, BYTE, uint8_t, 0x0f, 0xf0, 0xff);
    CHECK(BXOR, UINT16, uint16_t, 0xff00, 0xf0f0, 0x0ff0);
}

static double bits(uint64_t number)
{
    double x;
    memcpy(&x, &number, sizeof x);
    return x;
}

static void test_reals(void **state)
{
    const double nan1 = bits(UINT64_C(0x7ff8000000000001)), nan2 = bits(UINT64_C(0xfff80000000000ff));
    const double signalling = bits(UINT64_C(0x7ff0000000000123)), quieted = bits(UINT64_C(0x7ff8000000000123));
    CHECK(SUM, DOUBLE, double, -0.0, 0.0, 0.0);
    CHECK(SUM, DOUBLE, double, -0.0, -0.0, -0.0);
    CHECK(SUM, DOUBLE, double, 5e-324, 5e-324, 1e-323);
    CHECK(SUM, DOUBLE, double, nan1, nan2, nan1);
    CHECK(SUM, DOUBLE, double, 1, nan2, nan2);
    CHECK(SUM, DOUBLE, double, signalling, 0, quieted);
    CHECK(SUM, DOUBLE, double, 0, signalling, quieted);
    CHECK(SUM, DOUBLE, double, signalling, nan2, quieted);
    CHECK(PROD, DOUBLE, double, nan2, nan1, nan2);
    CHECK(PROD, DOUBLE, double, -1, 0, -0.0);
    CHECK(PROD, FLOAT, float, 1e30f, 1e30f, INFINITY);
    CHECK(MAX, DOUBLE, double, nan1, 1, nan1);
    CHECK(MAX, DOUBLE, double, 1, nan1, 1);
    CHECK(MAX, DOUBLE, double, 1, signalling, 1);
    CHECK(MAX, DOUBLE, double, -0.0, 0.0, -0.0);
    CHECK(MIN, DOUBLE, double, 0.0, -0.0, 0.0);
    CHECK(MIN, DOUBLE, double, -INFINITY, nan1, -INFINITY);
    CHECK(MIN, FLOAT, float, 2, -3, -3);
    CHECK(SUM, DOUBLE_COMPLEX, double complex, CMPLX(1, -0.0), CMPLX(2, -0.0), CMPLX(3, -0.0));
    CHECK(PROD, DOUBLE_COMPLEX, double complex, CMPLX(1, 2), CMPLX(3, 4), CMPLX(-5, 10));
    CHECK(PROD, FLOAT_COMPLEX, float complex, CMPLXF(0, 1), CMPLXF(0, 1), CMPLXF(-1, 0));
}

/** C's product, which knows infinities: (inf + i) * (1 + 0i) is not NaN + i NaN. */
static void test_infinite_product(void **state)
{
    struct sparse_operator operator;
    double complex a = CMPLX(INFINITY, 1), b = CMPLX(1, 0), out;
    assert_true(sparse_operator_predefined(SPARSE_PROD, SPARSE_DOUBLE_COMPLEX, &operator));
    sparse_combine(&operator, &a, &b, &out, 1);
    assert_true(isinf(creal(out)));
}

static void test_long_double(void **state)
{
    struct sparse_operator operator;
    long double a = 3, b = -4, out;
    assert_true(sparse_operator_predefined(SPARSE_MAX, SPARSE_LONG_DOUBLE, &operator));
    sparse_combine(&operator, &a, &b, &out, 1);
    assert_true(out == 3);
    assert_true(sparse_operator_predefined(SPARSE_PROD, SPARSE_LONG_DOUBLE, &operator));
    sparse_combine(&operator, &a, &b, &out, 1);
    assert_true(out == -12);
}

struct double_int { double v; int k; };

static struct double_int located(enum sparse_op op, double va, int ka, double vb, int kb)
{
    struct sparse_operator operator;
    struct double_int a = {va, ka}, b = {vb, kb};
    assert_true(sparse_operator_predefined(op, SPARSE_DOUBLE_INT, &operator));
    assert_int_equal(operator.size, sizeof(struct double_int));
    operator.apply(&a, &b, 1, NULL);
    return b;
}

static void test_locations(void **state)
{
    struct double_int r = located(SPARSE_MAXLOC, 1, 9, 2, 3);
    assert_true(r.v == 2 && r.k == 3);
    r = located(SPARSE_MAXLOC, 2, 9, 2, 3);
    assert_true(r.v == 2 && r.k == 3);
    r = located(SPARSE_MINLOC, 2, 1, 2, 3);
    assert_true(r.v == 2 && r.k == 1);
    r = located(SPARSE_MINLOC, -1, 7, 2, 3);
    assert_true(r.v == -1 && r.k == 7);
    r = located(SPARSE_MAXLOC, 0.0, 1, -0.0, 2); /* equal: the right value, the lower location */
    assert_true(r.v == 0 && signbit(r.v) && r.k == 1);
    r = located(SPARSE_MAXLOC, NAN, 1, 5, 2);
    assert_true(r.v == 5 && r.k == 2);
}

/** One at a time, all at once, in place on either side, at any alignment: the same bits. */
static void test_anywhere(void **state)
{
    struct sparse_operator operator;
    const char *name;
    const size_t count = 333;
    for (unsigned at = 0; vectors_operator(at, &operator, &name); at++)
        for (unsigned odd = 0; odd < 3; odd++) {
            size_t bytes = count * operator.size;
            void *a = vectors_alloc(bytes, odd), *b = vectors_alloc(bytes, odd), *out = vectors_alloc(bytes, odd);
            void *expected = vectors_alloc(bytes, 0);
            vectors_fill(&operator, odd ? SPECIAL : ALL_DIFFERENT, 0, at + 1, count, a);
            vectors_fill(&operator, odd ? SPECIAL : ALL_DIFFERENT, 1, at + 1, count, b);
            vectors_reference(&operator, a, b, count, expected);
            sparse_combine(&operator, a, b, out, count);
            if (vectors_differ(&operator, out, expected, count) != count) fail_msg("%s: apart", name);
            memcpy(out, a, bytes);
            sparse_combine(&operator, out, b, out, count);
            if (vectors_differ(&operator, out, expected, count) != count) fail_msg("%s: on the left", name);
            sparse_combine(&operator, a, b, b, count);
            if (vectors_differ(&operator, b, expected, count) != count) fail_msg("%s: on the right", name);
            vectors_free(a, odd);
            vectors_free(b, odd);
            vectors_free(out, odd);
            vectors_free(expected, 0);
        }
}

/** What is called neutral, or unchanged, leaves every bit. */
static void test_neutral(void **state)
{
    struct sparse_operator operator;
    const char *name;
    const size_t count = 200;
    unsigned neutrals = 0;
    for (unsigned at = 0; vectors_operator(at, &operator, &name); at++) {
        unsigned char *x = vectors_alloc(count * operator.size, 0), *values = vectors_alloc(count * operator.size, 0);
        unsigned char *out = vectors_alloc(count * operator.size, 0);
        vectors_fill(&operator, SPECIAL, 0, at + 1, count, x);
        vectors_fill(&operator, ALL_DIFFERENT, 1, at + 1, count / 2, values);
        memset(values, 0, operator.size);
        vectors_fill(&operator, FEW_VALUES, 1, at + 1, count / 2, values + count / 2 * operator.size);
        for (size_t v = 0; v < count; v++)
            for (int right = 0; right < 2; right++) {
                const unsigned char *value = values + v * operator.size;
                bool neutral = sparse_neutral(&operator, value, right);
                bool same = true;
                for (size_t i = 0; i < count; i++) {
                    const unsigned char *element = x + i * operator.size;
                    vectors_reference(&operator, right ? element : value, right ? value : element, 1, out);
                    same &= vectors_differ(&operator, out, element, 1) == 1;
                }
                if (neutral && !same) fail_msg("%s: not neutral", name);
                if (sparse_unchanged(&operator, value, right, x, count) && !same) fail_msg("%s: changed", name);
                neutrals += neutral;
            }
        vectors_free(x, 0);
        vectors_free(values, 0);
        vectors_free(out, 0);
    }
    assert_true(neutrals > 100);
}

int main(void)
{
    if (vectors_lack_kernels()) return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs),     cmocka_unit_test(test_user),      cmocka_unit_test(test_integers),
        cmocka_unit_test(test_reals),     cmocka_unit_test(test_long_double), cmocka_unit_test(test_locations),
        cmocka_unit_test(test_anywhere),  cmocka_unit_test(test_neutral),   cmocka_unit_test(test_infinite_product),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
