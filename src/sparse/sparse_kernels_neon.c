/* SPDX-License-Identifier: BSD-3-Clause */
/* NEON (aarch64, where it is always there): the scans, which read all of a vector, and the operators' loops as the compiler makes
 * vectors of them. Run by emulation only (tools/aarch64), so what would have to be measured is not here: lists during a scan, reading
 * ahead, ways past the caches. */
#include <arm_neon.h>

#include "sparse_combine_loops.h"
#include "sparse_format.h"
#include "sparse_strands.h"

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

static inline uint8x16_t equal_bytes_1(const unsigned char *at, uint8x16_t all)
{
    return vceqq_u8(vld1q_u8(at), all);
}

static inline uint16x8_t equal_2(const unsigned char *at, uint8x16_t all)
{
    return vceqq_u16(vreinterpretq_u16_u8(vld1q_u8(at)), vreinterpretq_u16_u8(all));
}

static inline uint32x4_t equal_4(const unsigned char *at, uint8x16_t all)
{
    return vceqq_u32(vreinterpretq_u32_u8(vld1q_u8(at)), vreinterpretq_u32_u8(all));
}

static inline uint64x2_t equal_8(const unsigned char *at, uint8x16_t all)
{
    return vceqq_u64(vreinterpretq_u64_u8(vld1q_u8(at)), vreinterpretq_u64_u8(all));
}

static inline uint64x2_t equal_16(const unsigned char *at, uint8x16_t all)
{
    uint64x2_t first = equal_8(at, all), second = equal_8(at + 16, all);
    return vandq_u64(vuzp1q_u64(first, second), vuzp2q_u64(first, second)); /* both halves of both elements */
}

/* 16 elements: a byte of ones for each that is equal. Wider answers are halved, two at a time, until they are bytes. */
static inline uint8x16_t equal_bytes_2(const unsigned char *at, uint8x16_t all)
{
    return vuzp1q_u8(vreinterpretq_u8_u16(equal_2(at, all)), vreinterpretq_u8_u16(equal_2(at + 16, all)));
}

static inline uint8x16_t halved_4(uint32x4_t a, uint32x4_t b, uint32x4_t c, uint32x4_t d)
{
    uint16x8_t low = vuzp1q_u16(vreinterpretq_u16_u32(a), vreinterpretq_u16_u32(b));
    uint16x8_t high = vuzp1q_u16(vreinterpretq_u16_u32(c), vreinterpretq_u16_u32(d));
    return vuzp1q_u8(vreinterpretq_u8_u16(low), vreinterpretq_u8_u16(high));
}

static inline uint32x4_t halved_8(uint64x2_t a, uint64x2_t b)
{
    return vuzp1q_u32(vreinterpretq_u32_u64(a), vreinterpretq_u32_u64(b));
}

static inline uint8x16_t equal_bytes_4(const unsigned char *at, uint8x16_t all)
{
    return halved_4(equal_4(at, all), equal_4(at + 16, all), equal_4(at + 32, all), equal_4(at + 48, all));
}

static inline uint8x16_t equal_bytes_8(const unsigned char *at, uint8x16_t all)
{
    uint32x4_t quarter[4];
    for (size_t q = 0; q < 4; q++) quarter[q] = halved_8(equal_8(at + 32 * q, all), equal_8(at + 32 * q + 16, all));
    return halved_4(quarter[0], quarter[1], quarter[2], quarter[3]);
}

static inline uint8x16_t equal_bytes_16(const unsigned char *at, uint8x16_t all)
{
    uint32x4_t quarter[4];
    for (size_t q = 0; q < 4; q++) quarter[q] = halved_8(equal_16(at + 64 * q, all), equal_16(at + 64 * q + 32, all));
    return halved_4(quarter[0], quarter[1], quarter[2], quarter[3]);
}

/* A bit for each of four times 16 bytes: each keeps the bit of its place among 8, and neighbours are added up three times. */
static inline uint64_t bits(uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d)
{
    const uint8x16_t place = vreinterpretq_u8_u64(vdupq_n_u64(UINT64_C(0x8040201008040201)));
    uint8x16_t low = vpaddq_u8(vandq_u8(a, place), vandq_u8(b, place)), high = vpaddq_u8(vandq_u8(c, place), vandq_u8(d, place));
    low = vpaddq_u8(low, high);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(low, low)), 0);
}

#define SCAN(bytes)                                                                                                      \
    static size_t scan_##bytes(const void *dense, size_t count, size_t size, const void *background, uint64_t *mask)     \
    {                                                                                                                    \
        const unsigned char *at = dense;                                                                                 \
        unsigned char repeated[16];                                                                                      \
        size_t found = 0;                                                                                                \
        for (size_t i = 0; i < 16; i += bytes) memcpy(repeated + i, background, bytes);                                  \
        const uint8x16_t all = vld1q_u8(repeated);                                                                       \
        for (; count >= 64; count -= 64, at += 64 * bytes, mask++) {                                                     \
            *mask = ~bits(equal_bytes_##bytes(at, all), equal_bytes_##bytes(at + 16 * bytes, all),                       \
                          equal_bytes_##bytes(at + 32 * bytes, all), equal_bytes_##bytes(at + 48 * bytes, all));         \
            found += (size_t)__builtin_popcountll(*mask);                                                                \
        }                                                                                                                \
        return found + plain_scan_##bytes(at, count, bytes, background, mask);                                           \
    }
SCAN(1)
SCAN(2)
SCAN(4)
SCAN(8)
SCAN(16)

void sparse_kernels_neon(struct sparse_kernels *kernels)
{
    static sparse_scan_fn *const scans[] = {scan_1, scan_2, scan_4, scan_8, scan_16};
    for (size_t i = 0; i < sizeof scans / sizeof *scans; i++) kernels->moves[i].scan = scans[i];
    fill_combinations(kernels);
}
