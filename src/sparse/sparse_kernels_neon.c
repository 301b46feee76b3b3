/* SPDX-License-Identifier: BSD-3-Clause */
/* NEON (aarch64, where it is always there). Not yet run on such a machine, so it does the least that pays: scans of 64 elements
 * that skip what is equal to the background by a wide comparison, and the operators' loops as the compiler makes vectors of them.
 * Which elements of a piece differ is then told by the plain scan, so that there is nothing here that could give other bits. */
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

/* Whether `bytes` bytes, a multiple of 64, repeat the 16 of `all`. */
static inline int repeats(const unsigned char *at, size_t bytes, uint8x16_t all)
{
    uint8x16_t differ = vdupq_n_u8(0);
    for (size_t i = 0; i < bytes; i += 64)
        for (size_t g = 0; g < 64; g += 16) differ = vorrq_u8(differ, veorq_u8(vld1q_u8(at + i + g), all));
    return vmaxvq_u8(differ) == 0;
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
            *mask = 0;                                                                                                   \
            if (!repeats(at, 64 * bytes, all)) found += plain_scan_##bytes(at, 64, bytes, background, mask);             \
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
