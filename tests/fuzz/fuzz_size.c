/* SPDX-License-Identifier: BSD-3-Clause
 * fuzz_size.c: lucid_parse_size() against a reader of its own kind in 128 bits.
 */
#include "fuzz.h"
#include "params.h"

static int reference(const char *text, size_t *value)
{
    static const char letters[] = "KkMmGgTt";
    unsigned __int128 n = 0;
    const char *c = text;
    for (; *c >= '0' && *c <= '9'; c++)
        if (n <= SIZE_MAX) n = n * 10 + (unsigned)(*c - '0');
    if (c == text) return -1;
    if (*c) {
        const char *letter = strchr(letters, *c);
        if (!letter || c[1]) return -1;
        if (n <= SIZE_MAX) n <<= 10 * ((letter - letters) / 2 + 1);
    }
    if (n > SIZE_MAX) return -1;
    *value = (size_t)n;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = fuzz_text(data, size);
    size_t value = 4711, expected = 4711;
    int rc = lucid_parse_size(text, &value);
    FUZZ_CHECK(rc == reference(text, &expected));
    FUZZ_CHECK(value == expected);
    free(text);
    return 0;
}
