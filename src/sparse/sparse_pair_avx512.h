/* SPDX-License-Identifier: BSD-3-Clause */
/* Two lists of positions merged, sixteen entries at a time. An entry's key is twice its position, and one more on the right, so that the
 * lists are one order and the two entries of a position differ in the lowest bit alone. Keys are merged by a network of minima and maxima;
 * values follow by expanding either side's to where its keys have gone. For sparse_kernels_avx512.c.
 * Source: Inoue, Moriyama, Komatsu and Nakatani, AA-Sort, PACT 2007 (the merge of vector registers). */
#ifndef LUCID_SPARSE_PAIR_AVX512_H
#define LUCID_SPARSE_PAIR_AVX512_H

/* What is left of the lists, and the greatest sixteen keys of what was taken off them; keys of all ones lie behind the last. */
struct keys {
    const unsigned char *left, *right;
    size_t left_count, right_count;
    __m512i rest;
};

SPARSE_INLINE __m512i keys_of(const unsigned char *positions, size_t n, unsigned side)
{
    const __mmask16 some = (__mmask16)low_bits(n);
    const __m512i places = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(some, positions));
    return _mm512_mask_add_epi32(_mm512_set1_epi32(-1), some, _mm512_add_epi32(places, places), _mm512_set1_epi32((int)side));
}

/* Of either pair of lanes that `partner` swaps, the greater key goes to the one in `upper`. */
SPARSE_INLINE __m512i exchanged(__m512i keys, __m512i partner, __mmask16 upper)
{
    return _mm512_mask_max_epu32(_mm512_min_epu32(keys, partner), upper, keys, partner);
}

/* Sorts keys that rise and then fall. */
SPARSE_INLINE __m512i sorted(__m512i keys)
{
    keys = exchanged(keys, _mm512_shuffle_i64x2(keys, keys, 0x4e), 0xff00);
    keys = exchanged(keys, _mm512_shuffle_i64x2(keys, keys, 0xb1), 0xf0f0);
    keys = exchanged(keys, _mm512_shuffle_epi32(keys, 0x4e), 0xcccc);
    return exchanged(keys, _mm512_shuffle_epi32(keys, 0xb1), 0xaaaa);
}

/* The next sixteen keys of both lists. Which list's come next nobody can predict, so that there is no branch on it. */
SPARSE_INLINE __m512i next_keys(struct keys *k)
{
    const __m512i backwards = _mm512_set_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const size_t left = k->left_count > 0 ? sparse_position(k->left, 0) : SIZE_MAX;
    const size_t right = k->right_count > 0 ? sparse_position(k->right, 0) : SIZE_MAX;
    const bool side = right < left;
    const unsigned char *at = side ? k->right : k->left;
    const size_t there = side ? k->right_count : k->left_count, n = there < 16 ? there : 16;
    const size_t from_left = side ? 0 : n, from_right = n - from_left;
    const __m512i more = _mm512_permutexvar_epi32(backwards, keys_of(at, n, side));
    const __m512i least = sorted(_mm512_min_epu32(k->rest, more));
    k->rest = sorted(_mm512_max_epu32(k->rest, more));
    k->left += 2 * from_left;
    k->left_count -= from_left;
    k->right += 2 * from_right;
    k->right_count -= from_right;
    return least;
}

SPARSE_INLINE struct keys keys_begin(const struct sparse_list *left, const struct sparse_list *right)
{
    const size_t n = left->count < 16 ? left->count : 16;
    return (struct keys){left->positions + 2 * n, right->positions, left->count - n, right->count, keys_of(left->positions, n, 0)};
}

/* Of sixteen entries of both lists in order, a bit each: which are the right's; which have the right's of the same position behind them; and
 * which stay: not those behind, whose value has moved to the one before. */
struct woven {
    unsigned left, right, twin, keep;
};

SPARSE_INLINE struct woven weave(__m512i keys, __m512i next, size_t left_over, unsigned behind_twin)
{
    const __m512i one = _mm512_set1_epi32(1), following = _mm512_alignr_epi32(next, keys, 1);
    const unsigned some = (unsigned)low_bits(left_over < 16 ? left_over : 16), right = _mm512_test_epi32_mask(keys, one) & some;
    const unsigned twin = _mm512_cmpeq_epi32_mask(_mm512_xor_si512(keys, following), one) & some;
    return (struct woven){some & ~right, right, twin, some & ~(twin << 1 | behind_twin)};
}

/* `lanes` values of type `number` in a register, `T` the suffix of its instructions, `K` the type of their masks. */
#define PAIR(number, lanes, T, K)                                                                                              \
    /* The next values of a side where its entries are, its background elsewhere. */                                           \
    SPARSE_INLINE __m512i side_##number(const unsigned char **at, const unsigned char *end, unsigned own, __m512i background)  \
    {                                                                                                                          \
        const __m512i values = expanded_##number(*at, end, (K)own, background);                                                \
        *at += (size_t)_mm_popcnt_u64((K)own) * sizeof(number);                                                                \
        return values;                                                                                                         \
    }                                                                                                                          \
    static size_t pair_##number(const struct sparse_list *left, const struct sparse_list *right, size_t size,                  \
                                unsigned char *positions, void *left_values, void *right_values)                               \
    {                                                                                                                          \
        const size_t all = left->count + right->count;                                                                         \
        const __m512i no_left = spread_##number(left->background), no_right = spread_##number(right->background);              \
        const unsigned char *l = left->values, *r = right->values;                                                             \
        const unsigned char *l_end = l + left->count * sizeof(number), *r_end = r + right->count * sizeof(number);             \
        unsigned char *to_left = left_values, *to_right = right_values, *to = positions, *end = to + 2 * all;                  \
        const unsigned char *left_room = to_left + all * sizeof(number), *right_room = to_right + all * sizeof(number);        \
        struct keys k = keys_begin(left, right);                                                                               \
        struct woven w = {0, 0, 0, 0};                                                                                         \
        __m512i keys = next_keys(&k), sides[16 / lanes + 1];                                                                   \
        for (size_t done = 0; done < all; done += 16) {                                                                        \
            const __m512i next = next_keys(&k), places = _mm512_srli_epi32(keys, 1);                                           \
            w = weave(keys, next, all - done, w.twin >> 15);                                                                   \
            const __m256i kept = _mm512_cvtepi32_epi16(_mm512_maskz_compress_epi32((__mmask16)w.keep, places));                \
            const size_t n = (size_t)_mm_popcnt_u64(w.keep);                                                                   \
            if (LUCID_LIKELY(end - to >= 32)) _mm256_storeu_si256((void *)to, kept);                                           \
            else _mm256_mask_storeu_epi16(to, (__mmask16)low_bits(n), kept);                                                   \
            to += 2 * n;                                                                                                       \
            for (unsigned g = 0; g < 16; g += lanes) sides[g / lanes] = side_##number(&r, r_end, w.right >> g, no_right);      \
            sides[16 / lanes] = _mm512_maskz_loadu_##T((K)(w.twin >> 15), r);                                                  \
            for (unsigned g = 0; g < 16; g += lanes) {                                                                         \
                const K some = (K)(w.keep >> g);                                                                               \
                const size_t few = (size_t)_mm_popcnt_u64(some);                                                               \
                const __m512i a = side_##number(&l, l_end, w.left >> g, no_left), b = sides[g / lanes];                        \
                const __m512i both = _mm512_mask_alignr_##T(b, (K)(w.twin >> g), sides[g / lanes + 1], b, 1);                  \
                store_##number(to_left, left_room, _mm512_maskz_compress_##T(some, a), few);                                   \
                store_##number(to_right, right_room, _mm512_maskz_compress_##T(some, both), few);                              \
                to_left += few * sizeof(number);                                                                               \
                to_right += few * sizeof(number);                                                                              \
            }                                                                                                                  \
            keys = next;                                                                                                       \
        }                                                                                                                      \
        return (size_t)(to - positions) / 2;                                                                                   \
    }
PAIR(uint32_t, 16, epi32, __mmask16)
PAIR(uint64_t, 8, epi64, __mmask8)

#endif
