/* SPDX-License-Identifier: BSD-3-Clause */
/* The moves in plain C, to be included with WIDTH(name) and SIZE: a number that the compiler knows, or the parameter `size`. */
#define SPARSE_MOVE __attribute__((unused)) static

SPARSE_MOVE size_t WIDTH(scan)(const void *dense, size_t count, size_t size, const void *background, uint64_t *mask)
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

SPARSE_MOVE void WIDTH(compress)(const void *dense, size_t count, size_t size, const uint64_t *mask, size_t room, void *values)
{
    const unsigned char *at = dense;
    unsigned char *out = values;
    for (size_t start = 0; start < count; start += 64, at += 64 * SIZE)
        for (uint64_t left = *mask++; left; left &= left - 1, out += SIZE)
            memmove(out, at + (size_t)__builtin_ctzll(left) * SIZE, SIZE);
}

SPARSE_MOVE size_t WIDTH(expand)(const void *values, size_t count, size_t size, const uint64_t *mask, const void *background,
                                 void *dense)
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

SPARSE_MOVE size_t WIDTH(operand)(const void *values, size_t words, size_t size, const uint64_t *own, const uint64_t *all,
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

SPARSE_MOVE void WIDTH(take)(const void *dense, const unsigned char *positions, size_t count, size_t size, void *out)
{
    for (size_t i = 0; i < count; i++)
        memcpy((unsigned char *)out + i * SIZE, (const unsigned char *)dense + sparse_position(positions, i) * SIZE, SIZE);
}

SPARSE_MOVE void WIDTH(put)(const void *values, const unsigned char *positions, size_t count, size_t size, void *dense)
{
    for (size_t i = 0; i < count; i++)
        memcpy((unsigned char *)dense + sparse_position(positions, i) * SIZE, (const unsigned char *)values + i * SIZE, SIZE);
}

/* Without a branch on which side comes first, which nobody can predict. */
SPARSE_MOVE size_t WIDTH(pair)(struct sparse_list *left, struct sparse_list *right, size_t size, size_t room,
                               unsigned char *positions, void *left_values, void *right_values)
{
    struct sparse_list l = *left, r = *right;
    unsigned char *to_left = left_values, *to_right = right_values;
    size_t n = 0;
    for (; n < room && l.count + r.count > 0; n++, positions += 2, to_left += SIZE, to_right += SIZE) {
        size_t a = l.count > 0 ? sparse_position(l.positions, 0) : SIZE_MAX;
        size_t b = r.count > 0 ? sparse_position(r.positions, 0) : SIZE_MAX;
        uint16_t position = (uint16_t)(a < b ? a : b);
        size_t from_left = a <= b, from_right = b <= a;
        memcpy(positions, &position, sizeof position);
        memcpy(to_left, from_left ? l.values : (const unsigned char *)l.background, SIZE);
        memcpy(to_right, from_right ? r.values : (const unsigned char *)r.background, SIZE);
        l.count -= from_left;
        l.positions += 2 * from_left;
        l.values += from_left * SIZE;
        r.count -= from_right;
        r.positions += 2 * from_right;
        r.values += from_right * SIZE;
    }
    *left = l;
    *right = r;
    return n;
}

SPARSE_MOVE void WIDTH(fill)(void *dense, size_t count, size_t size, const void *background)
{
    for (size_t i = 0; i < count; i++) memcpy((unsigned char *)dense + i * SIZE, background, SIZE);
}

#undef SPARSE_MOVE
#undef WIDTH
#undef SIZE
