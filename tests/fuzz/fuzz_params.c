/* SPDX-License-Identifier: BSD-3-Clause
 * fuzz_params.c: any text as the value of any parameter. Whatever comes out is a valid value; what was complained about is
 * the default.
 *
 * Input: a byte that chooses the parameter, then the text.
 */
#include "fuzz.h"
#include "params.h"

static const char *const names[] = {
#define LUCID_PARAM(NAME, field, type, def, range, level, help) "LUCID_" #NAME,
#include "params.def"
#undef LUCID_PARAM
};
#define NAMES (sizeof names / sizeof *names)

static const char *name, *text;
static int bad_calls;

static const char *get(const char *wanted)
{
    return name && strcmp(wanted, name) == 0 ? text : NULL;
}

static void bad(const char *which, const char *what, const char *range, const char *def)
{
    FUZZ_CHECK(strcmp(which, name) == 0 && what == text && range && def);
    bad_calls++;
}

static int is_one_of(const char *word, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(word, *words) == 0) return 1;
    return 0;
}

static void check_valid(const struct lucid_params *params)
{
    static const char *const sources[] = {"auto", "pml", "mpit", "pmpi", NULL};
    static const char *const levels[] = {"error", "warn", "info", "debug", NULL};
    FUZZ_CHECK(is_one_of(params->source, sources));
    FUZZ_CHECK(is_one_of(params->log, levels));
    FUZZ_CHECK(params->max_sessions >= 1 && params->max_sessions <= 1000000);
    FUZZ_CHECK(params->phases == 0 || params->phases == 1);
    FUZZ_CHECK(params->libdir && params->dir);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct lucid_params params, defaults;
    char *own = fuzz_text(data + (size > 0), size - (size > 0));
    name = NULL;
    bad_calls = 0;
    memset(&defaults, 0, sizeof defaults);
    lucid_params_read(&defaults, get, bad);
    check_valid(&defaults);
    FUZZ_CHECK(bad_calls == 0);
    name = names[(size > 0 ? data[0] : 0) % NAMES];
    text = own;
    memset(&params, 0, sizeof params);
    lucid_params_read(&params, get, bad);
    check_valid(&params);
    FUZZ_CHECK(bad_calls <= 1);
    if (bad_calls || !text[0]) FUZZ_CHECK(memcmp(&params, &defaults, sizeof params) == 0);
    free(own);
    return 0;
}
