/* SPDX-License-Identifier: BSD-3-Clause */
/* AVX-512 with VBMI2 (Ice Lake, Zen 4 and later). Exceptions are compressed in a register and stored whole: compressing straight
 * to memory is ten times slower on Zen 4. A whole store never goes past the values that there will be (`room`), and loads are
 * masked where they could leave their vector. There are no branches on how many bits a word of a mask has: sparse masks are as
 * good as random, and a wrong guess costs more than going over some lanes for nothing. */
#include <immintrin.h>

#include "sparse_combine_loops.h"
#include "sparse_format.h"
#include "visibility.h"

static inline uint64_t low_bits(size_t n)
{
    return _bzhi_u64(~UINT64_C(0), (unsigned)n);
}

#define WORD(number) (64 * sizeof(number)) /* bytes of a mask's word's elements */

/* `lanes` elements of type `number` in a register, `T` the suffix of its instructions, `K` the type of their masks. */
#define MOVES(number, lanes, T, K)                                                                                             \
    static inline uint64_t differ_##number(const unsigned char *at, __m512i background, uint64_t wanted)                       \
    {                                                                                                                          \
        uint64_t word = 0;                                                                                                     \
        for (unsigned g = 0; g < 64; g += lanes)                                                                               \
            word |= (uint64_t)_mm512_mask_cmpneq_##T##_mask((K)(wanted >> g), background,                                      \
                        _mm512_maskz_loadu_##T((K)(wanted >> g), at + g * sizeof(number))) << g;                               \
        return word;                                                                                                           \
    }                                                                                                                          \
    static inline uint64_t differ_whole_##number(const unsigned char *at, __m512i background)                                  \
    {                                                                                                                          \
        uint64_t word = 0;                                                                                                     \
        for (unsigned g = 0; g < 64; g += lanes)                                                                               \
            word |= (uint64_t)_mm512_cmpneq_##T##_mask(background, _mm512_loadu_si512(at + g * sizeof(number))) << g;          \
        return word;                                                                                                           \
    }                                                                                                                          \
    static __m512i spread_##number(const void *background)                                                                     \
    {                                                                                                                          \
        unsigned char all[64];                                                                                                 \
        for (size_t i = 0; i < lanes; i++) memcpy(all + i * sizeof(number), background, sizeof(number));                       \
        return _mm512_loadu_si512(all);                                                                                        \
    }                                                                                                                          \
    static size_t scan_##number(const void *dense, size_t count, size_t size, const void *background, uint64_t *mask)          \
    {                                                                                                                          \
        const unsigned char *at = dense;                                                                                       \
        const __m512i all = spread_##number(background);                                                                       \
        size_t found = 0;                                                                                                      \
        for (; count >= 64; count -= 64, at += 64 * sizeof(number)) {                                                          \
            *mask = differ_whole_##number(at, all);                                                                            \
            found += (size_t)_mm_popcnt_u64(*mask++);                                                                          \
        }                                                                                                                      \
        if (count == 0) return found;                                                                                          \
        *mask = differ_##number(at, all, low_bits(count));                                                                     \
        return found + (size_t)_mm_popcnt_u64(*mask);                                                                          \
    }                                                                                                                          \
    static inline void store_##number(unsigned char *to, const unsigned char *end, __m512i packed, size_t n)                   \
    {                                                                                                                          \
        if (LUCID_LIKELY(end - to >= 64)) _mm512_storeu_si512(to, packed);                                                     \
        else _mm512_mask_storeu_##T(to, (K)low_bits(n), packed);                                                               \
    }                                                                                                                          \
    static void compress_##number(const void *dense, size_t count, size_t size, const uint64_t *mask, size_t room, void *values) \
    {                                                                                                                          \
        const unsigned char *at = dense;                                                                                       \
        unsigned char *to = values;                                                                                            \
        const unsigned char *end = to + room * sizeof(number);                                                                 \
        for (size_t w = 0; w < sparse_words(count); w++, at += 64 * sizeof(number)) {                                          \
            const uint64_t word = mask[w];                                                                                     \
            if (word == 0) continue;                                                                                           \
            const bool roomy = end - to >= (ptrdiff_t)WORD(number) + 64 && count - 64 * w >= 64;                               \
            for (unsigned g = 0; g < 64; g += lanes) {                                                                         \
                const K few = (K)(word >> g);                                                                                  \
                const unsigned char *from = at + g * sizeof(number);                                                           \
                const size_t n = (size_t)_mm_popcnt_u64(few);                                                                  \
                if (roomy) _mm512_storeu_si512(to, _mm512_maskz_compress_##T(few, _mm512_loadu_si512(from)));                  \
                else store_##number(to, end, _mm512_maskz_compress_##T(few, _mm512_maskz_loadu_##T(few, from)), n);            \
                to += n * sizeof(number);                                                                                      \
            }                                                                                                                  \
        }                                                                                                                      \
    }                                                                                                                          \
    static inline __m512i expanded_##number(const unsigned char *at, const unsigned char *end, K own, __m512i background)      \
    {                                                                                                                          \
        if (LUCID_LIKELY(end - at >= 64)) return _mm512_mask_expand_##T(background, own, _mm512_loadu_si512(at));              \
        const size_t n = (size_t)_mm_popcnt_u64(own);                                                                          \
        return _mm512_mask_expand_##T(background, own, _mm512_maskz_loadu_##T((K)low_bits(n), at));                            \
    }                                                                                                                          \
    static size_t expand_##number(const void *values, size_t count, size_t size, const uint64_t *mask, const void *background, \
                                  void *dense)                                                                                 \
    {                                                                                                                          \
        const unsigned char *at = values;                                                                                      \
        unsigned char *to = dense;                                                                                             \
        const size_t used = sparse_mask_count(mask, sparse_words(count));                                                      \
        const unsigned char *end = to + count * sizeof(number), *last = at + used * sizeof(number);                            \
        const __m512i all = spread_##number(background);                                                                       \
        for (size_t start = 0; start < count; start += 64) {                                                                   \
            const uint64_t word = *mask++;                                                                                     \
            for (unsigned g = 0; g < 64 && to < end; g += lanes, to += 64) {                                                   \
                const K own = (K)(word >> g);                                                                                  \
                store_##number(to, end, expanded_##number(at, last, own, all), (size_t)(end - to) / sizeof(number));           \
                at += (size_t)_mm_popcnt_u64(own) * sizeof(number);                                                            \
            }                                                                                                                  \
        }                                                                                                                      \
        return used;                                                                                                           \
    }                                                                                                                          \
    static size_t operand_##number(const void *values, size_t words, size_t size, const uint64_t *own, const uint64_t *all,    \
                                   const void *background, size_t room, void *out)                                             \
    {                                                                                                                          \
        const unsigned char *at = values;                                                                                      \
        unsigned char *to = out;                                                                                               \
        const size_t used = sparse_mask_count(own, words);                                                                     \
        const unsigned char *end = to + room * sizeof(number), *last = at + used * sizeof(number);                             \
        const __m512i missing = spread_##number(background);                                                                   \
        for (size_t w = 0; w < words; w++) {                                                                                   \
            const uint64_t word = all[w], mine = own[w];                                                                       \
            if (word == 0) continue;                                                                                           \
            for (unsigned g = 0; g < 64; g += lanes) {                                                                         \
                const K some = (K)(word >> g), few = (K)(mine >> g);                                                           \
                const size_t n = (size_t)_mm_popcnt_u64(some);                                                                 \
                store_##number(to, end, _mm512_maskz_compress_##T(some, expanded_##number(at, last, few, missing)), n);        \
                at += (size_t)_mm_popcnt_u64(few) * sizeof(number);                                                            \
                to += n * sizeof(number);                                                                                      \
            }                                                                                                                  \
        }                                                                                                                      \
        return used;                                                                                                           \
    }                                                                                                                          \
    static void fill_##number(void *dense, size_t count, size_t size, const void *background)                                  \
    {                                                                                                                          \
        unsigned char *to = dense;                                                                                             \
        const __m512i all = spread_##number(background);                                                                       \
        for (; count >= lanes; count -= lanes, to += 64) _mm512_storeu_si512(to, all);                                         \
        _mm512_mask_storeu_##T(to, (K)low_bits(count), all);                                                                   \
    }

MOVES(uint8_t, 64, epi8, __mmask64)
MOVES(uint16_t, 32, epi16, __mmask32)
MOVES(uint32_t, 16, epi32, __mmask16)
MOVES(uint64_t, 8, epi64, __mmask8)

/* Of 64 halves of elements of 16 bytes: which elements differ. */
static inline uint64_t whole_elements(uint64_t halves)
{
    return _pext_u64(halves | halves >> 1, UINT64_C(0x5555555555555555));
}

static size_t scan_16(const void *dense, size_t count, size_t size, const void *background, uint64_t *mask)
{
    const unsigned char *at = dense;
    unsigned char all[64];
    size_t found = 0;
    for (size_t i = 0; i < 64; i += 16) memcpy(all + i, background, 16);
    const __m512i value = _mm512_loadu_si512(all);
    for (size_t start = 0; start < count; start += 64, at += 1024) {
        size_t halves = 2 * (count - start), first = halves < 64 ? halves : 64, second = halves - first < 64 ? halves - first : 64;
        uint64_t word = whole_elements(differ_uint64_t(at, value, low_bits(first)));
        if (second > 0) word |= whole_elements(differ_uint64_t(at + 512, value, low_bits(second))) << 32;
        *mask++ = word;
        found += (size_t)_mm_popcnt_u64(word);
    }
    return found;
}

/* The numbers of 64 bits as two registers of 32. */
static void locate(const uint64_t *mask, size_t words, size_t room, unsigned char *positions)
{
    const unsigned char *end = positions + 2 * room;
    unsigned char counting[64];
    for (size_t i = 0; i < 32; i++) memcpy(counting + 2 * i, &(uint16_t){(uint16_t)i}, 2);
    const __m512i step = _mm512_set1_epi16(32);
    __m512i numbers = _mm512_loadu_si512(counting);
    for (size_t w = 0; w < 2 * words; w++, numbers = _mm512_add_epi16(numbers, step)) {
        __mmask32 bits = (__mmask32)(mask[w / 2] >> (w % 2 * 32));
        size_t n = (size_t)_mm_popcnt_u32(bits);
        store_uint16_t(positions, end, _mm512_maskz_compress_epi16(bits, numbers), n);
        positions += 2 * n;
    }
}

static void fill_moves(struct sparse_moves *moves, struct sparse_moves better)
{
    moves->scan = better.scan;
    if (better.compress) moves->compress = better.compress;
    if (better.expand) moves->expand = better.expand;
    if (better.operand) moves->operand = better.operand;
    if (better.fill) moves->fill = better.fill;
}

#define BETTER(number)                                                                                               \
    (struct sparse_moves){.scan = scan_##number, .compress = compress_##number, .expand = expand_##number,           \
                          .operand = operand_##number, .fill = fill_##number}

void sparse_kernels_avx512(struct sparse_kernels *kernels)
{
    fill_moves(&kernels->moves[SPARSE_WIDTH_1], BETTER(uint8_t));
    fill_moves(&kernels->moves[SPARSE_WIDTH_2], BETTER(uint16_t));
    fill_moves(&kernels->moves[SPARSE_WIDTH_4], BETTER(uint32_t));
    fill_moves(&kernels->moves[SPARSE_WIDTH_8], BETTER(uint64_t));
    fill_moves(&kernels->moves[SPARSE_WIDTH_16], (struct sparse_moves){.scan = scan_16});
    kernels->locate = locate;
    fill_combinations(kernels);
}
