/* SPDX-License-Identifier: BSD-3-Clause */
/* AVX2 with BMI2 (Haswell, Zen and later). There is no compress: for elements of 4, 8 and 16 bytes, the lanes of a permutation are
 * looked up by the mask; narrower ones go bit by bit. */
#include <immintrin.h>

#include "sparse_combine_loops.h"
#include "sparse_format.h"
#include "sparse_strands.h"
#include "sparse_tables_avx2.h"
#include "visibility.h"

/* The plain moves, compiled for this instruction set: for widths and ends of vectors that have nothing better. */
#define WIDTH(name) plain_##name##_1
#define SIZE 1
#include "sparse_moves_loops.h"
#define WIDTH(name) plain_##name##_2
#define SIZE 2
#include "sparse_moves_loops.h"
#define WIDTH(name) plain_##name##_4
#define SIZE 4
#include "sparse_moves_loops.h"
#define WIDTH(name) plain_##name##_8
#define SIZE 8
#include "sparse_moves_loops.h"
#define WIDTH(name) plain_##name##_16
#define SIZE 16
#include "sparse_moves_loops.h"

#define FEW(bytes) (3 * (bytes) / 2) /* exceptions in a word of 64, up to which bits are walked: three quarters of the groups */

static inline __m256i load(const unsigned char *at)
{
    return _mm256_loadu_si256((const __m256i *)at);
}

static __m256i spread(const void *background, size_t size)
{
    unsigned char all[32];
    for (size_t i = 0; i < sizeof all; i += size) memcpy(all + i, background, size);
    return load(all);
}

/* Bits of equal elements of 64, by width. */
static inline uint64_t equal_1(const unsigned char *at, __m256i all)
{
    uint64_t word = 0;
    for (unsigned g = 0; g < 2; g++)
        word |= (uint64_t)(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(load(at + 32 * g), all)) << (32 * g);
    return word;
}

static inline uint64_t equal_2(const unsigned char *at, __m256i all)
{
    uint64_t word = 0;
    for (unsigned g = 0; g < 2; g++) {
        __m256i low = _mm256_cmpeq_epi16(load(at + 64 * g), all), high = _mm256_cmpeq_epi16(load(at + 64 * g + 32), all);
        __m256i both = _mm256_permute4x64_epi64(_mm256_packs_epi16(low, high), 0xd8);
        word |= (uint64_t)(uint32_t)_mm256_movemask_epi8(both) << (32 * g);
    }
    return word;
}

static inline uint64_t equal_4(const unsigned char *at, __m256i all)
{
    uint64_t word = 0;
    for (unsigned g = 0; g < 8; g++)
        word |= (uint64_t)(unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(load(at + 32 * g), all))) << (8 * g);
    return word;
}

static inline uint64_t equal_8(const unsigned char *at, __m256i all)
{
    uint64_t word = 0;
    for (unsigned g = 0; g < 16; g++)
        word |= (uint64_t)(unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(load(at + 32 * g), all))) << (4 * g);
    return word;
}

static inline uint64_t equal_16(const unsigned char *at, __m256i all)
{
    uint64_t low = equal_8(at, all), high = equal_8(at + 512, all);
    low &= low >> 1;
    high &= high >> 1;
    return _pext_u64(low, UINT64_C(0x5555555555555555)) | _pext_u64(high, UINT64_C(0x5555555555555555)) << 32;
}

#define SCAN(bytes)                                                                                                              \
    static size_t scan_##bytes(const void *dense, size_t count, size_t size, const void *background, uint64_t *mask)             \
    {                                                                                                                            \
        const unsigned char *at = dense;                                                                                         \
        const __m256i all = spread(background, bytes);                                                                           \
        size_t found = 0;                                                                                                        \
        for (; count >= 64; count -= 64, at += 64 * bytes) {                                                                     \
            *mask = ~equal_##bytes(at, all);                                                                                     \
            found += (size_t)_mm_popcnt_u64(*mask++);                                                                            \
        }                                                                                                                        \
        return found + plain_scan_##bytes(at, count, bytes, background, mask);                                                   \
    }
SCAN(1)
SCAN(2)
SCAN(4)
SCAN(8)
SCAN(16)

/* The numbers of a word's bits, of which `at` is the first's, and how many there are. Four without asking how many: what is too much is
 * written over by the next, and a wrong guess takes longer than writing for nothing. */
static inline size_t list_word(uint64_t word, size_t at, unsigned char *positions)
{
    const size_t n = (size_t)_mm_popcnt_u64(word);
    uint64_t packed = 0;
    for (unsigned k = 0; k < 64; k += 16, word = _blsr_u64(word)) packed |= ((at + _tzcnt_u64(word)) & 0xffff) << k;
    memcpy(positions, &packed, sizeof packed);
    (void)sparse_list_bits(word, at, positions + sizeof packed);
    return n;
}

#define LIST(bytes)                                                                                                              \
    static size_t list_##bytes(const void *dense, size_t count, size_t size, const void *background, size_t first,               \
                               uint64_t *mask, unsigned char *positions)                                                         \
    {                                                                                                                            \
        const unsigned char *at = dense;                                                                                         \
        const __m256i all = spread(background, bytes);                                                                           \
        size_t found = 0;                                                                                                        \
        for (; count >= 64; count -= 64, first += 64, at += 64 * bytes) {                                                        \
            *mask = ~equal_##bytes(at, all);                                                                                     \
            found += list_word(*mask++, first, positions + 2 * found);                                                           \
        }                                                                                                                        \
        if (count == 0) return found;                                                                                            \
        (void)plain_scan_##bytes(at, count, bytes, background, mask);                                                            \
        return found + sparse_list_bits(*mask, first, positions + 2 * found);                                                    \
    }
LIST(4)
LIST(8)

/* Of 8 lanes of 4 bytes, of which `mask` has a bit for each: the numbers of the masked lanes, packed; which value each lane takes, less than 0
 * for none. */
static inline __m256i packing(uint64_t mask)
{
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)&sparse_packing[mask]));
}

static inline __m256i unpacking(uint64_t mask)
{
    return _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)&sparse_unpacking[mask]));
}

/* The mask of 8 lanes of 4 bytes for a group of elements: 8 of 4 bytes, 4 of 8 or 2 of 16. */
static inline uint64_t lanes_4(uint64_t mask) { return mask & 0xff; }
static inline uint64_t lanes_8(uint64_t mask) { return _pdep_u64(mask & 0xf, 0x55) * 3; }
static inline uint64_t lanes_16(uint64_t mask) { return _pdep_u64(mask & 3, 0x11) * 15; }

/* The first `lanes` lanes only: a vector may end there. */
static inline __m256i first_lanes(size_t lanes)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)lanes), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

static inline void store(unsigned char *to, const unsigned char *end, __m256i packed, size_t lanes)
{
    if (LUCID_LIKELY(end - to >= 32)) _mm256_storeu_si256((__m256i *)to, packed);
    else _mm256_maskstore_epi32((int *)to, first_lanes(lanes), packed);
}

/* The next values, which end at `last`, in the masked lanes. */
static inline __m256i expanded(const unsigned char *at, const unsigned char *last, uint64_t lanes, __m256i background)
{
    const bool roomy = last - at >= 32;
    const __m256i values = LUCID_LIKELY(roomy) ? load(at) : _mm256_maskload_epi32((const int *)at, first_lanes((size_t)_mm_popcnt_u64(lanes)));
    const __m256i which = unpacking(lanes), next = _mm256_permutevar8x32_epi32(values, which);
    return _mm256_castps_si256(_mm256_blendv_ps(_mm256_castsi256_ps(next), _mm256_castsi256_ps(background), _mm256_castsi256_ps(which)));
}

/* `bytes` of an element; 32 / bytes of them in a group. */
#define MOVES(bytes)                                                                                                             \
    static void compress_##bytes(const void *dense, size_t count, size_t size, const uint64_t *mask, size_t room, void *values)  \
    {                                                                                                                            \
        const unsigned char *at = dense;                                                                                         \
        unsigned char *to = values;                                                                                              \
        const unsigned char *end = to + room * bytes;                                                                            \
        for (size_t w = 0; w < sparse_words(count); w++, at += 64 * bytes) {                                                     \
            uint64_t word = mask[w];                                                                                             \
            if (_mm_popcnt_u64(word) <= FEW(bytes) || count - 64 * w < 64) {                                                     \
                for (; word; word = _blsr_u64(word), to += bytes) memmove(to, at + _tzcnt_u64(word) * bytes, bytes);             \
                continue;                                                                                                        \
            }                                                                                                                    \
            for (unsigned g = 0; g < 64; g += 32 / bytes) {                                                                      \
                uint64_t lanes = lanes_##bytes(word >> g);                                                                       \
                size_t n = (size_t)_mm_popcnt_u64(lanes);                                                                        \
                store(to, end, _mm256_permutevar8x32_epi32(load(at + g * bytes), packing(lanes)), n);                            \
                to += 4 * n;                                                                                                     \
            }                                                                                                                    \
        }                                                                                                                        \
    }                                                                                                                            \
    static size_t expand_##bytes(const void *values, size_t count, size_t size, const uint64_t *mask, const void *background,    \
                                 void *dense)                                                                                    \
    {                                                                                                                            \
        const unsigned char *at = values;                                                                                        \
        unsigned char *to = dense;                                                                                               \
        const size_t used = sparse_mask_count(mask, sparse_words(count));                                                        \
        const unsigned char *end = to + count * bytes, *last = at + used * bytes;                                                \
        const __m256i all = spread(background, bytes);                                                                           \
        for (size_t start = 0; start < count; start += 64) {                                                                     \
            uint64_t word = *mask++;                                                                                             \
            for (unsigned g = 0; g < 64 && to < end; g += 32 / bytes, to += 32) {                                                \
                uint64_t lanes = lanes_##bytes(word >> g);                                                                       \
                store(to, end, expanded(at, last, lanes, all), (size_t)(end - to) / 4);                                          \
                at += 4 * (size_t)_mm_popcnt_u64(lanes);                                                                         \
            }                                                                                                                    \
        }                                                                                                                        \
        return used;                                                                                                             \
    }                                                                                                                            \
    SPARSE_INLINE const unsigned char *word_past_##bytes(const unsigned char *at, const unsigned char *last, uint64_t word,      \
                                                         __m256i all, unsigned char *to)                                         \
    {                                                                                                                            \
        for (unsigned g = 0; g < 64; g += 32 / bytes, to += 32) {                                                                \
            const uint64_t lanes = lanes_##bytes(word >> g);                                                                     \
            _mm256_stream_si256((__m256i *)to, expanded(at, last, lanes, all));                                                  \
            at += 4 * (size_t)_mm_popcnt_u64(lanes);                                                                             \
        }                                                                                                                        \
        return at;                                                                                                               \
    }                                                                                                                            \
    static size_t spill_##bytes(const void *values, size_t count, size_t size, const uint64_t *mask, const void *background,     \
                                void *dense)                                                                                     \
    {                                                                                                                            \
        unsigned char *to = dense;                                                                                               \
        const size_t lead = (32 - (uintptr_t)to % 32) % 32 / bytes;                                                              \
        if ((uintptr_t)to % bytes || count < lead + 64) return expand_##bytes(values, count, size, mask, background, dense);     \
        const size_t used = sparse_mask_count(mask, sparse_words(count));                                                        \
        const unsigned char *at = values, *last = at + used * bytes;                                                             \
        const __m256i all = spread(background, bytes);                                                                           \
        const uint64_t first = sparse_mask_bits(mask, 0, lead);                                                                  \
        at += bytes * expand_##bytes(at, lead, size, &first, background, to);                                                    \
        to += lead * bytes;                                                                                                      \
        for (count -= lead; count >= 64; count -= 64, mask++, to += 64 * bytes)                                                  \
            at = word_past_##bytes(at, last, sparse_mask_bits(mask, lead, 64), all, to);                                         \
        const uint64_t rest = count > 0 ? sparse_mask_bits(mask, lead, count) : 0;                                               \
        expand_##bytes(at, count, size, &rest, background, to);                                                                  \
        return used;                                                                                                             \
    }                                                                                                                            \
    static size_t operand_##bytes(const void *values, size_t words, size_t size, const uint64_t *own, const uint64_t *all,       \
                                  const void *background, size_t room, void *out)                                                \
    {                                                                                                                            \
        const unsigned char *at = values;                                                                                        \
        unsigned char *to = out;                                                                                                 \
        const size_t used = sparse_mask_count(own, words);                                                                       \
        const unsigned char *end = to + room * bytes, *last = at + used * bytes;                                                 \
        const __m256i missing = spread(background, bytes);                                                                       \
        for (size_t w = 0; w < words; w++) {                                                                                     \
            uint64_t word = all[w], mine = own[w];                                                                               \
            size_t n = (size_t)_mm_popcnt_u64(word);                                                                             \
            if (n <= FEW(bytes)) {                                                                                               \
                at += bytes * plain_operand_##bytes(at, 1, bytes, &own[w], &all[w], background, n, to);                          \
                to += n * bytes;                                                                                                 \
                continue;                                                                                                        \
            }                                                                                                                    \
            for (unsigned g = 0; g < 64; g += 32 / bytes) {                                                                      \
                uint64_t some = lanes_##bytes(word >> g), few = lanes_##bytes(mine >> g);                                        \
                n = (size_t)_mm_popcnt_u64(some);                                                                                \
                store(to, end, _mm256_permutevar8x32_epi32(expanded(at, last, few, missing), packing(some)), n);                 \
                at += 4 * (size_t)_mm_popcnt_u64(few);                                                                           \
                to += 4 * n;                                                                                                     \
            }                                                                                                                    \
        }                                                                                                                        \
        return (size_t)(at - (const unsigned char *)values) / bytes;                                                             \
    }
MOVES(4)
MOVES(8)
MOVES(16)

static void stream(void *to, const void *from, size_t bytes)
{
    unsigned char *out = to;
    const unsigned char *in = from;
    const size_t lead = (32 - (uintptr_t)out % 32) % 32, whole = bytes > lead ? (bytes - lead) / 32 * 32 : 0;
    memcpy(out, in, whole ? lead : bytes);
    if (whole == 0) return;
    for (size_t i = lead; i < lead + whole; i += 32) _mm256_stream_si256((__m256i *)(out + i), load(in + i));
    memcpy(out + lead + whole, in + lead + whole, bytes - lead - whole);
}

static void fence(void)
{
    _mm_sfence();
}

#define PLAIN(width)                                                                                                             \
    {scan_##width, NULL, plain_compress_##width, plain_expand_##width, NULL, plain_operand_##width,                              \
     plain_take_##width, plain_put_##width, plain_pair_##width, plain_fill_##width}
#define BETTER(width, list)                                                                                                      \
    {scan_##width, list, compress_##width, expand_##width, spill_##width, operand_##width, plain_take_##width,                   \
     plain_put_##width, plain_pair_##width, plain_fill_##width}

void sparse_kernels_avx2(struct sparse_kernels *kernels)
{
    static const struct sparse_moves moves[] = {PLAIN(1), PLAIN(2), BETTER(4, list_4), BETTER(8, list_8), BETTER(16, NULL)};
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) kernels->moves[i] = moves[i];
    kernels->count = sparse_mask_count;
    kernels->stream = stream;
    kernels->fence = fence;
    fill_combinations(kernels);
}
