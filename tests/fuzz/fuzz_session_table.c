/* SPDX-License-Identifier: BSD-3-Clause
 * fuzz_session_table.c: any sequence of operations on the session table, failures included, against a plain model
 * (tests/unit/session_model.h).
 */
#include "../unit/session_model.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    model_play(data, size);
    return 0;
}
