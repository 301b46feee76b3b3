/* SPDX-License-Identifier: BSD-3-Clause */
/* The moves in plain C, to be included with WIDTH(name) and SIZE: a number that the compiler knows, or the parameter `size`. */

static size_t WIDTH(scan)(const void *dense, size_t count, size_t size, const void *background, uint64_t *mask)
{
    const unsigned char *at = dense;
    size_t found = 0;
    for (size_t start = 0; start < count; start += 64, mask++) {
        size_t n = count - start < 64 ? count - start : 64;
        uint64_t word = 0;
        for (size_t i = 0; i < n; i++, at += SIZE) word |= (uint64_t)(memcmp(at, background, SIZE) != 0) << i;
        *mask = word;
        found += (size_t)__builtin_popcountll(word);
    }
    return found;
}

static void WIDTH(compress)(const void *dense, size_t count, size_t size, const uint64_t *mask, size_t room, void *values)
{
    const unsigned char *at = dense;
    unsigned char *out = values;
    for (size_t start = 0; start < count; start += 64, at += 64 * SIZE)
        for (uint64_t left = *mask++; left; left &= left - 1, out += SIZE)
            memmove(out, at + (size_t)__builtin_ctzll(left) * SIZE, SIZE);
}

static size_t WIDTH(expand)(const void *values, size_t count, size_t size, const uint64_t *mask, const void *background, void *dense)
{
    const unsigned char *at = values;
    unsigned char *out = dense;
    for (size_t start = 0; start < count; start += 64) {
        size_t n = count - start < 64 ? count - start : 64;
        uint64_t word = *mask++;
        for (size_t i = 0; i < n; i++, out += SIZE, word >>= 1) {
            memcpy(out, word & 1 ? at : (const unsigned char *)background, SIZE);
            at += (word & 1) * SIZE;
        }
    }
    return (size_t)(at - (const unsigned char *)values) / SIZE;
}

static size_t WIDTH(operand)(const void *values, size_t words, size_t size, const uint64_t *own, const uint64_t *all,
                             const void *background, size_t room, void *out)
{
    const unsigned char *at = values;
    unsigned char *to = out;
    for (size_t w = 0; w < words; w++)
        for (uint64_t left = all[w]; left; left &= left - 1, to += SIZE) {
            bool mine = (own[w] & left & -left) != 0;
            memcpy(to, mine ? at : (const unsigned char *)background, SIZE);
            at += mine * SIZE;
        }
    return (size_t)(at - (const unsigned char *)values) / SIZE;
}

static void WIDTH(take)(const void *dense, const unsigned char *positions, size_t count, size_t size, void *out)
{
    for (size_t i = 0; i < count; i++)
        memcpy((unsigned char *)out + i * SIZE, (const unsigned char *)dense + sparse_position(positions, i) * SIZE, SIZE);
}

static void WIDTH(put)(const void *values, const unsigned char *positions, size_t count, size_t size, void *dense)
{
    for (size_t i = 0; i < count; i++)
        memcpy((unsigned char *)dense + sparse_position(positions, i) * SIZE, (const unsigned char *)values + i * SIZE, SIZE);
}

static void WIDTH(fill)(void *dense, size_t count, size_t size, const void *background)
{
    for (size_t i = 0; i < count; i++) memcpy((unsigned char *)dense + i * SIZE, background, SIZE);
}

#undef WIDTH
#undef SIZE
