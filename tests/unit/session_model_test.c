/* SPDX-License-Identifier: BSD-3-Clause
 * session_model_test.c: random sequences of overlapping and nested sessions against the model of session_model.h.
 */
#include "session_model.h"
#include "unit.h"

#define ROUNDS 150
#define LENGTH 1500

static void test_random(void **state)
{
    uint64_t seed = 2026;
    uint8_t bytes[LENGTH];
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < LENGTH; i++) bytes[i] = (uint8_t)(unit_random(&seed) >> 32);
        model_play(bytes, LENGTH);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
