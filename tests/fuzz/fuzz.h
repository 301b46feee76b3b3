/* SPDX-License-Identifier: BSD-3-Clause
 * fuzz.h: what the fuzz targets share: a check that stops the run, and bytes read off the input.
 */
#ifndef LUCID_FUZZ_H
#define LUCID_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_CHECK(condition)                                                                                              \
    do {                                                                                                                   \
        if (!(condition)) {                                                                                                \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                        \
            abort();                                                                                                       \
        }                                                                                                                  \
    } while (0)

struct fuzz_input {
    const uint8_t *byte;
    size_t left;
};

/** The next byte, or 0 behind the end. */
static inline unsigned fuzz_byte(struct fuzz_input *input)
{
    if (input->left == 0) return 0;
    input->left--;
    return *input->byte++;
}

/** A number of `bytes` bytes. */
static inline uint64_t fuzz_number(struct fuzz_input *input, unsigned bytes)
{
    uint64_t n = 0;
    while (bytes-- > 0) n = n << 8 | fuzz_byte(input);
    return n;
}

/** The input as a string in memory of its own size, so that a step too far is seen. To be freed. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    FUZZ_CHECK(text != NULL);
    if (size > 0) memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

#endif
