/* SPDX-License-Identifier: BSD-3-Clause */
/* AVX-512 with VBMI2 and VPOPCNTDQ (Ice Lake, Zen 4 and later). Exceptions are compressed in a register and stored whole: compressing straight
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
            sparse_read_ahead(at, WORD(number));                                                                               \
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
    static size_t expand_each_##number(const void *values, size_t count, size_t size, const uint64_t *mask,                    \
                                       const void *background, void *dense)                                                    \
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

/* Four registers of elements, of which so few differ that one load has all their values: loads from odd places are what takes time
 * here. False where there are more, or where the load would leave the values, which end at `last`. Then by words, past the caches
 * to where a line begins if `past`; a word returns where the next values are. */
#define FOURS(number, lanes, T, K)                                                                                             \
    static inline bool four_##number(const unsigned char *at, const unsigned char *last, uint64_t own, __m512i background,     \
                                     __m512i four[4])                                                                          \
    {                                                                                                                          \
        if ((size_t)_mm_popcnt_u64(own) > lanes || last - at < 64) return false;                                               \
        number places[lanes];                                                                                                  \
        for (size_t i = 0; i < lanes; i++) places[i] = (number)i;                                                              \
        const __m512i values = _mm512_loadu_si512(at), place = _mm512_loadu_si512(places);                                     \
        for (unsigned i = 0; i < 4; i++) {                                                                                     \
            const __m512i before = _mm512_set1_##T((long long)_mm_popcnt_u64(own & low_bits(i * lanes)));                      \
            const __m512i next = _mm512_permutexvar_##T(_mm512_add_##T(place, before), values);                                \
            four[i] = _mm512_mask_expand_##T(background, (K)(own >> i * lanes), next);                                         \
        }                                                                                                                      \
        return true;                                                                                                           \
    }                                                                                                                          \
    SPARSE_INLINE const unsigned char *word_##number(const unsigned char *at, const unsigned char *last, uint64_t word,        \
                                                     __m512i background, bool past, unsigned char *to)                         \
    {                                                                                                                          \
        for (unsigned g = 0; g < 64; g += 4 * lanes, to += 256) {                                                              \
            __m512i four[4];                                                                                                   \
            const uint64_t own = word >> g & low_bits(4 * lanes);                                                              \
            if (!LUCID_LIKELY(four_##number(at, last, own, background, four)))                                                 \
                for (unsigned i = 0; i < 4; i++) {                                                                             \
                    const size_t before = (size_t)_mm_popcnt_u64(own & low_bits(i * lanes)) * sizeof(number);                  \
                    four[i] = expanded_##number(at + before, last, (K)(own >> i * lanes), background);                         \
                }                                                                                                              \
            for (unsigned i = 0; i < 4; i++)                                                                                   \
                if (past) _mm512_stream_si512((void *)(to + 64 * i), four[i]);                                                 \
                else _mm512_storeu_si512(to + 64 * i, four[i]);                                                                \
            at += (size_t)_mm_popcnt_u64(own) * sizeof(number);                                                                \
        }                                                                                                                      \
        return at;                                                                                                             \
    }                                                                                                                          \
    static size_t expand_##number(const void *values, size_t count, size_t size, const uint64_t *mask, const void *background, \
                                  void *dense)                                                                                 \
    {                                                                                                                          \
        const size_t used = sparse_mask_count(mask, sparse_words(count));                                                      \
        const unsigned char *at = values, *last = at + used * sizeof(number);                                                  \
        const __m512i all = spread_##number(background);                                                                       \
        unsigned char *to = dense;                                                                                             \
        for (; count >= 64; count -= 64, to += WORD(number)) at = word_##number(at, last, *mask++, all, false, to);            \
        if (count > 0) expand_each_##number(at, count, size, mask, background, to);                                            \
        return used;                                                                                                           \
    }                                                                                                                          \
    static size_t spill_##number(const void *values, size_t count, size_t size, const uint64_t *mask, const void *background,  \
                                 void *dense)                                                                                  \
    {                                                                                                                          \
        unsigned char *to = dense;                                                                                             \
        const size_t lead = (64 - (uintptr_t)to % 64) % 64 / sizeof(number);                                                   \
        if ((uintptr_t)to % sizeof(number) || count < lead + 64)                                                               \
            return expand_##number(values, count, size, mask, background, dense);                                              \
        const size_t used = sparse_mask_count(mask, sparse_words(count));                                                      \
        const unsigned char *at = values, *last = at + used * sizeof(number);                                                  \
        const __m512i all = spread_##number(background);                                                                       \
        const uint64_t first = mask[0] & low_bits(lead);                                                                       \
        at += sizeof(number) * expand_each_##number(at, lead, size, &first, background, to);                                   \
        to += lead * sizeof(number);                                                                                           \
        for (count -= lead; count >= 64; count -= 64, mask++, to += WORD(number))                                              \
            at = word_##number(at, last, sparse_mask_bits(mask, lead, 64), all, true, to);                                     \
        const uint64_t rest = count > 0 ? sparse_mask_bits(mask, lead, count) : 0;                                             \
        expand_each_##number(at, count, size, &rest, background, to);                                                          \
        return used;                                                                                                           \
    }

/* 0, 1, 2, ... 63 in bytes. */
static inline __m512i counting(void)
{
    unsigned char numbers[64];
    for (size_t i = 0; i < 64; i++) numbers[i] = (unsigned char)i;
    return _mm512_loadu_si512(numbers);
}

/* The numbers of a word's bits, of which `at` is the first's, and how many there are. Without asking how many: what is too much is written
 * over by the next, and reading takes longer than writing for nothing. */
static inline size_t list_word(uint64_t word, __m512i places, size_t at, unsigned char *positions)
{
    const __m512i packed = _mm512_maskz_compress_epi8(word, places), base = _mm512_set1_epi16((short)at);
    const size_t n = (size_t)_mm_popcnt_u64(word);
    _mm512_storeu_si512(positions, _mm512_add_epi16(base, _mm512_cvtepu8_epi16(_mm512_castsi512_si256(packed))));
    if (!LUCID_LIKELY(n <= 32))
        _mm512_storeu_si512(positions + 64, _mm512_add_epi16(base, _mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64(packed, 1))));
    return n;
}

/* A word's last store ends where the room for its elements ends, however many of them and of those before there are. */
#define LIST(number)                                                                                                           \
    static size_t list_##number(const void *dense, size_t count, size_t size, const void *background, size_t first,            \
                                uint64_t *mask, unsigned char *positions)                                                      \
    {                                                                                                                          \
        const unsigned char *at = dense;                                                                                       \
        const __m512i all = spread_##number(background);                                                                       \
        const __m512i places = counting();                                                                                     \
        size_t found = 0;                                                                                                      \
        for (; count >= 64; count -= 64, at += WORD(number)) {                                                                 \
            sparse_read_ahead(at, WORD(number));                                                                               \
            *mask = differ_whole_##number(at, all);                                                                            \
            found += list_word(*mask++, places, first, positions + 2 * found);                                                 \
            first += 64;                                                                                                       \
        }                                                                                                                      \
        if (count == 0) return found;                                                                                          \
        *mask = differ_##number(at, all, low_bits(count));                                                                     \
        return found + sparse_list_bits(*mask, first, positions + 2 * found);                                                  \
    }
LIST(uint32_t)
LIST(uint64_t)

FOURS(uint32_t, 16, epi32, __mmask16)
FOURS(uint64_t, 8, epi64, __mmask8)

#include "sparse_pair_avx512.h"

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
        sparse_read_ahead(at, 1024);
        size_t halves = 2 * (count - start), first = halves < 64 ? halves : 64, second = halves - first < 64 ? halves - first : 64;
        uint64_t word = whole_elements(differ_uint64_t(at, value, low_bits(first)));
        if (second > 0) word |= whole_elements(differ_uint64_t(at + 512, value, low_bits(second))) << 32;
        *mask++ = word;
        found += (size_t)_mm_popcnt_u64(word);
    }
    return found;
}

/* Eight words are looked at together, and those that are empty passed over. */
static void locate(const uint64_t *mask, size_t words, size_t room, unsigned char *positions)
{
    const unsigned char *end = positions + 2 * room;
    const __m512i places = counting();
    for (size_t w = 0; w < words; w += 8) {
        const __m512i eight = _mm512_maskz_loadu_epi64((__mmask8)low_bits(words - w < 8 ? words - w : 8), mask + w);
        for (unsigned some = _mm512_test_epi64_mask(eight, eight); some; some = _blsr_u32(some)) {
            const size_t word = w + _tzcnt_u32(some), n = (size_t)_mm_popcnt_u64(mask[word]);
            const __m512i packed = _mm512_maskz_compress_epi8(mask[word], places);
            for (size_t half = 0; half < 2 && 32 * half < n; half++) {
                const __m256i some_of = half ? _mm512_extracti64x4_epi64(packed, 1) : _mm512_castsi512_si256(packed);
                const __m512i numbers = _mm512_add_epi16(_mm512_cvtepu8_epi16(some_of), _mm512_set1_epi16((short)(64 * word)));
                store_uint16_t(positions + 64 * half, end, numbers, n - 32 * half < 32 ? n - 32 * half : 32);
            }
            positions += 2 * n;
        }
    }
}

static void stream(void *to, const void *from, size_t bytes)
{
    unsigned char *out = to;
    const unsigned char *in = from;
    const size_t lead = (64 - (uintptr_t)out % 64) % 64, whole = bytes > lead ? (bytes - lead) / 64 * 64 : 0;
    memcpy(out, in, whole ? lead : bytes);
    if (whole == 0) return;
    for (size_t i = lead; i < lead + whole; i += 64) _mm512_stream_si512((void *)(out + i), _mm512_loadu_si512(in + i));
    memcpy(out + lead + whole, in + lead + whole, bytes - lead - whole);
}

static void fence(void)
{
    _mm_sfence();
}

static void fill_moves(struct sparse_moves *moves, struct sparse_moves better)
{
    moves->scan = better.scan;
    if (better.list) moves->list = better.list;
    if (better.compress) moves->compress = better.compress;
    if (better.expand) moves->expand = better.expand;
    if (better.spill) moves->spill = better.spill;
    if (better.operand) moves->operand = better.operand;
    if (better.pair) moves->pair = better.pair;
    if (better.fill) moves->fill = better.fill;
}

#define BETTER(number)                                                                                               \
    (struct sparse_moves){.scan = scan_##number, .compress = compress_##number, .expand = expand_each_##number,      \
                          .operand = operand_##number, .fill = fill_##number}
#define FASTER(number)                                                                                               \
    (struct sparse_moves){.scan = scan_##number, .list = list_##number, .expand = expand_##number, .spill = spill_##number,  \
                          .pair = pair_##number}

void sparse_kernels_avx512(struct sparse_kernels *kernels)
{
    fill_moves(&kernels->moves[SPARSE_WIDTH_1], BETTER(uint8_t));
    fill_moves(&kernels->moves[SPARSE_WIDTH_2], BETTER(uint16_t));
    fill_moves(&kernels->moves[SPARSE_WIDTH_4], BETTER(uint32_t));
    fill_moves(&kernels->moves[SPARSE_WIDTH_8], BETTER(uint64_t));
    fill_moves(&kernels->moves[SPARSE_WIDTH_4], FASTER(uint32_t));
    fill_moves(&kernels->moves[SPARSE_WIDTH_8], FASTER(uint64_t));
    fill_moves(&kernels->moves[SPARSE_WIDTH_16], (struct sparse_moves){.scan = scan_16});
    kernels->count = sparse_mask_count;
    kernels->locate = locate;
    kernels->stream = stream;
    kernels->fence = fence;
    fill_combinations(kernels);
}
