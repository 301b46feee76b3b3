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

/* The value at `from` or the background, of which `first` has the first bytes. Without a branch, which nobody could predict, and
 * without waiting for which of both it is before it is read. */
SPARSE_INLINE void WIDTH(choose)(unsigned char *to, const unsigned char *from, const void *background, uint64_t first, bool value,
                                 size_t size)
{
    if (SIZE <= sizeof first) {
        uint64_t here = 0;
        memcpy(&here, from, SIZE);
        here = first ^ ((first ^ here) & -(uint64_t)value);
        memcpy(to, &here, SIZE);
    } else {
        memcpy(to, value ? from : (const unsigned char *)background, SIZE);
    }
}

SPARSE_INLINE uint64_t WIDTH(first_bytes)(const void *background, size_t size)
{
    uint64_t first = 0;
    memcpy(&first, background, SIZE < sizeof first ? SIZE : sizeof first);
    return first;
}

/* What a merge of lists reads and writes. */
struct WIDTH(weave) {
    struct sparse_list left, right;
    uint64_t first_left, first_right; /* bytes of the backgrounds */
    unsigned char *positions, *left_values, *right_values;
};

/* One position off a strand of the union. */
SPARSE_INLINE void WIDTH(take_next)(const struct WIDTH(weave) *w, size_t size, struct sparse_strand *s)
{
    size_t n = s->count++, a = sparse_position(w->left.positions, s->left), b = sparse_position(w->right.positions, s->right);
    uint16_t position = (uint16_t)(a < b ? a : b);
    size_t from_left = a <= b, from_right = b <= a;
    memcpy(w->positions + 2 * n, &position, sizeof position);
    WIDTH(choose)(w->left_values + n * SIZE, w->left.values + s->left * SIZE, w->left.background, w->first_left, from_left, size);
    WIDTH(choose)(w->right_values + n * SIZE, w->right.values + s->right * SIZE, w->right.background, w->first_right, from_right, size);
    s->left += from_left;
    s->right += from_right;
}

/* What is left of a strand when one of its lists has ended. */
SPARSE_INLINE void WIDTH(take_rest)(const struct WIDTH(weave) *w, size_t size, struct sparse_strand *s)
{
    for (; s->left < s->left_end; s->left++, s->count++) {
        memcpy(w->positions + 2 * s->count, w->left.positions + 2 * s->left, 2);
        memcpy(w->left_values + s->count * SIZE, w->left.values + s->left * SIZE, SIZE);
        memcpy(w->right_values + s->count * SIZE, w->right.background, SIZE);
    }
    for (; s->right < s->right_end; s->right++, s->count++) {
        memcpy(w->positions + 2 * s->count, w->right.positions + 2 * s->right, 2);
        memcpy(w->left_values + s->count * SIZE, w->left.background, SIZE);
        memcpy(w->right_values + s->count * SIZE, w->right.values + s->right * SIZE, SIZE);
    }
}

SPARSE_INLINE void WIDTH(end_strand)(const struct WIDTH(weave) *w, size_t size, struct sparse_strand *s)
{
    for (size_t steps = sparse_steps(s); steps > 0; steps = sparse_steps(s))
        for (; steps > 0; steps--) WIDTH(take_next)(w, size, s);
    WIDTH(take_rest)(w, size, s);
}

SPARSE_MOVE size_t WIDTH(pair)(const struct sparse_list *left, const struct sparse_list *right, size_t size, unsigned char *positions,
                               void *left_values, void *right_values)
{
    const struct WIDTH(weave) w = {*left, *right, WIDTH(first_bytes)(left->background, size), WIDTH(first_bytes)(right->background, size),
                                   positions, left_values, right_values};
    struct sparse_strand low, high;
    sparse_strands(left, right, &low, &high);
    for (size_t steps = 1; steps > 0;) {
        steps = sparse_steps(&low) < sparse_steps(&high) ? sparse_steps(&low) : sparse_steps(&high);
        for (size_t i = 0; i < steps; i++) {
            WIDTH(take_next)(&w, size, &low);
            WIDTH(take_next)(&w, size, &high);
        }
    }
    WIDTH(end_strand)(&w, size, &low);
    WIDTH(end_strand)(&w, size, &high);
    size_t n = high.count - high.start;
    memmove(positions + 2 * low.count, positions + 2 * high.start, 2 * n);
    memmove(w.left_values + low.count * SIZE, w.left_values + high.start * SIZE, n * SIZE);
    memmove(w.right_values + low.count * SIZE, w.right_values + high.start * SIZE, n * SIZE);
    return low.count + n;
}

SPARSE_MOVE void WIDTH(fill)(void *dense, size_t count, size_t size, const void *background)
{
    for (size_t i = 0; i < count; i++) memcpy((unsigned char *)dense + i * SIZE, background, SIZE);
}

#undef SPARSE_MOVE
#undef WIDTH
#undef SIZE
