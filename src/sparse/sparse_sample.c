/* SPDX-License-Identifier: BSD-3-Clause */
/* See sparse_sample.h. */
#include "sparse_sample.h"

#include <string.h>

#include "sparse_block.h"
#include "sparse_types.h"

#define SLOTS 128
#define LINE ((size_t)64)

static unsigned slot_of(const unsigned char *element, size_t size)
{
    uint64_t hash = 0, word;
    for (; size >= 8; size -= 8, element += 8) {
        memcpy(&word, element, sizeof word);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    word = 0;
    memcpy(&word, element, size);
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    return (unsigned)(hash >> 57);
}

size_t sparse_plurality(const unsigned char *elements, size_t count, size_t size, size_t *first)
{
    uint8_t kind_in[SLOTS] = {0}, seen[SPARSE_SAMPLES + 1] = {0}; /* a kind is the number of its first element, from 1 */
    size_t most = 0;
    *first = 0;
    for (size_t i = 0; i < count; i++) {
        unsigned slot = slot_of(elements + i * size, size);
        while (kind_in[slot] && memcmp(elements + (size_t)(kind_in[slot] - 1) * size, elements + i * size, size) != 0)
            slot = (slot + 1) % SLOTS;
        if (!kind_in[slot]) kind_in[slot] = (uint8_t)(i + 1);
        if (++seen[kind_in[slot]] > most) {
            most = seen[kind_in[slot]];
            *first = kind_in[slot] - 1u;
        }
    }
    return most;
}

/* Which element of the i-th of SPARSE_SAMPLES equal parts to look at: spread unevenly, for vectors have regular patterns. */
static size_t spread(size_t i, size_t part)
{
    return (i * 2654435761u >> 7) % part;
}

size_t sparse_background(const struct sparse_operator *operator, const void *dense, size_t count, void *background)
{
    unsigned char elements[SPARSE_SAMPLES * SPARSE_MAX_SIZE];
    size_t size = operator->size, looked = count < SPARSE_SAMPLES ? count : SPARSE_SAMPLES, part = count / SPARSE_SAMPLES, first;
    for (size_t i = 0; i < looked; i++) {
        size_t at = looked < SPARSE_SAMPLES ? i : i * part + spread(i, part);
        memcpy(elements + i * size, (const unsigned char *)dense + at * size, size);
    }
    sparse_clear_padding(operator, elements, looked);
    size_t most = sparse_plurality(elements, looked, size, &first);
    memcpy(background, elements + first * size, size);
    return looked < count && most < 3 ? 0 : most;
}

/* Elements that differ from the most common one of two lines of the same neighbourhood. If none is there twice, all differ. */
static size_t differing(const struct sparse_operator *operator, const unsigned char *a, const unsigned char *b, size_t each)
{
    unsigned char elements[2 * 8 * SPARSE_MAX_SIZE];
    size_t first;
    memcpy(elements, a, each * operator->size);
    memcpy(elements + each * operator->size, b, each * operator->size);
    sparse_clear_padding(operator, elements, 2 * each);
    size_t most = sparse_plurality(elements, 2 * each, operator->size, &first);
    return most > 1 ? 2 * each - most : 2 * each;
}

/* A line of `each` elements, of which the first is number `at`. */
static void look_around(struct sparse_share *share, const unsigned char *line, size_t at, size_t each, size_t size)
{
    unsigned char some = 0;
    if (!share || (at < share->to && at + each > share->from)) return;
    for (size_t i = 0; i < each * size; i++) some |= line[i];
    share->alone &= some == 0;
}

double sparse_sample(const struct sparse_operator *operator, const void *dense, size_t count, unsigned lines, struct sparse_share *share)
{
    size_t size = operator->size, each = LINE / size, differ = 0, looked = 0;
    if (each < 2) each = 2;
    if (each > SPARSE_SAMPLES / 2) each = SPARSE_SAMPLES / 2;
    if (count == 0) return 1;
    if (count < 4 * each) {
        if (share) share->alone = false;
        unsigned char background[SPARSE_MAX_SIZE];
        size_t most = sparse_background(operator, dense, count, background);
        size_t of = count < SPARSE_SAMPLES ? count : SPARSE_SAMPLES;
        return most > 1 || of == 1 ? (double)(of - most) / (double)of : 1;
    }
    size_t pairs = lines / 2 > 0 ? lines / 2 : 1;
    if (pairs > count / (4 * each)) pairs = count / (4 * each);
    size_t part = count / pairs, near = part < 32768 ? part : 32768; /* a pair lies within a block */
    for (size_t i = 0; i < pairs; i++) {
        size_t at = i * part + spread(i, part - near + 1), apart = each + spread(i + 1, near - 2 * each + 1);
        const unsigned char *a = (const unsigned char *)dense + at * size;
        look_around(share, a, at, each, size);
        look_around(share, a + apart * size, at + apart, each, size);
        differ += differing(operator, a, a + apart * size, each);
        looked += 2 * each;
    }
    return (double)differ / (double)looked;
}
