/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_everywhere_test.c: what ranks on different processors must have in common, bit by bit, whatever compiler and kernels they
 * have: the formulas' results, from which each of them chooses by itself, and the messages. Held against a record: every processor,
 * compiler and set of kernels that runs this must come to the same. Who changes a formula or the format on purpose takes the new
 * record from the failure's message.
 */
#include "sparse_block.h"
#include "sparse_model.h"
#include "sparse_vectors.h"
#include "unit.h"

#define FORMULAS UINT64_C(0x1b481263e56183ea)
#define MESSAGES UINT64_C(0x2e2ed153b45abc8f)

/** FNV-1a. */
static void mix(uint64_t *hash, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) *hash = (*hash ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
}

static void mix_double(uint64_t *hash, double value)
{
    assert_true(value == value);
    mix(hash, &value, sizeof value);
}

static void check(uint64_t hash, uint64_t recorded, const char *what)
{
    if (hash != recorded)
        fail_msg("%s: 0x%016llx here, 0x%016llx in the record", what, (unsigned long long)hash, (unsigned long long)recorded);
}

static void mix_costs(uint64_t *hash, const struct sparse_estimate *e)
{
    struct sparse_parameters parameters;
    struct sparse_estimate known = *e;
    known.library = (struct sparse_library){.fresh = 32 << 20, .at_root = true};
    sparse_parameters_default(&parameters);
    for (int per_node = 1; per_node <= 16; per_node *= 4) {
        parameters.rates.ranks_per_node = per_node;
        parameters.rates.ranks_per_processor = per_node;
        mix_double(hash, sparse_cost_of_asking(e, &parameters));
        for (int a = SPARSE_REDUCE_BINOMIAL; a < SPARSE_ALGORITHMS; a++)
            for (int dense = 0; dense < 2; dense++) {
                mix_double(hash, sparse_cost((enum sparse_algorithm)a, (enum sparse_algorithm)a, dense, e, &parameters));
                mix_double(hash, sparse_cost(SPARSE_LIBRARY, (enum sparse_algorithm)a, dense, e, &parameters));
                mix_double(hash, sparse_cost(SPARSE_LIBRARY, (enum sparse_algorithm)a, dense, &known, &parameters));
            }
    }
}

static void test_formulas(void **state)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (int ranks = 2; ranks <= 1000; ranks = ranks * 7 / 3)
        for (size_t elements = 1000; elements < 100000000; elements *= 77)
            for (double density = 1e-5; density <= 1; density *= 6.3)
                for (double growth = 0; growth <= 1.5; growth += 0.3) {
                    struct sparse_estimate e = {.elements = elements, .size = elements % 3 ? 8 : 4, .ranks = ranks,
                        .commutative = true, .density = density, .growth = growth, .per_exception = 9.3, .learned = growth > 1, .shares = growth > 1};
                    const double joined = sparse_union(&e, ranks);
                    mix_double(&hash, joined);
                    mix_double(&hash, sparse_growth(density, joined, ranks));
                    mix_double(&hash, sparse_bytes_per_element(&e, joined, (double)elements / ranks, false));
                    mix_costs(&hash, &e);
                }
    check(hash, FORMULAS, "formulas");
}

enum { COUNT = 200001 };

/** Zeros, and whole numbers from 1 to 100 in `percent` of a hundred places, alike on both sides in half of them. */
static void fill(const struct sparse_operator *operator, uint64_t seed, unsigned percent, unsigned char *vector)
{
    uint64_t places = 5 + percent, state = seed + 1;
    memset(vector, 0, COUNT * operator->size);
    for (size_t i = 0; i < COUNT; i++) {
        const uint64_t own = unit_random(&state), common = unit_random(&places);
        if ((i / 100 % 2 ? own : common) >> 32 >= percent * (UINT64_C(1) << 32) / 100) continue;
        const int number = 1 + (int)(own % 100);
        const double real = number;
        if (operator->type == SPARSE_DOUBLE) memcpy(vector + i * sizeof real, &real, sizeof real);
        else memcpy(vector + i * operator->size, &number, operator->size < sizeof number ? operator->size : sizeof number);
    }
}

static void mix_messages(uint64_t *hash, const struct sparse_operator *operator, unsigned percent)
{
    struct sparse_layout layout;
    sparse_layout_init(&layout, operator, COUNT, 4);
    const size_t bound = sparse_bound(&layout, 0, layout.blocks);
    unsigned char *vector = malloc(COUNT * operator->size), *message[3];
    assert_non_null(vector);
    for (unsigned i = 0; i < COUNT_OF(message); i++) {
        size_t length;
        message[i] = malloc(bound);
        assert_non_null(message[i]);
        if (i < 2) {
            fill(operator, i, percent, vector);
            mix_double(hash, sparse_sample(operator, vector, COUNT, 64, NULL));
            length = sparse_encode(&layout, 0, layout.blocks, vector, false, message[i], &(struct sparse_tally){0});
        } else {
            length = sparse_merge(&layout, 0, layout.blocks, message[0], message[1], false, message[i], &(struct sparse_tally){0});
        }
        mix(hash, message[i], length);
    }
    for (unsigned i = 0; i < COUNT_OF(message); i++) free(message[i]);
    free(vector);
}

static void test_messages(void **state)
{
    static const enum sparse_type types[] = {SPARSE_INT8, SPARSE_INT16, SPARSE_INT32, SPARSE_INT64, SPARSE_DOUBLE};
    static const unsigned percents[] = {0, 1, 7, 30, 100};
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t t = 0; t < COUNT_OF(types); t++)
        for (size_t p = 0; p < COUNT_OF(percents); p++) {
            struct sparse_operator operator;
            assert_true(sparse_operator_predefined(SPARSE_SUM, types[t], &operator));
            mix_messages(&hash, &operator, percents[p]);
        }
    check(hash, MESSAGES, "messages");
}

int main(void)
{
    if (vectors_lack_kernels()) return 77;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_formulas), cmocka_unit_test(test_messages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
