/* SPDX-License-Identifier: BSD-3-Clause */
/* Of each mask of eight lanes, in eight bytes: the numbers of the masked lanes, packed; and of each lane which of the packed values it takes, or
 * 0x80. For sparse_kernels_avx2.c: AVX2 has no instruction for either, and to draw them from the mask (by pext and pdep, and a multiplication)
 * takes longer than to look them up. */
#ifndef LUCID_SPARSE_TABLES_AVX2_H
#define LUCID_SPARSE_TABLES_AVX2_H

#include <stdint.h>

#define BIT(m, i) ((m) >> (i)&1u)
#define BITS(m) (BIT(m, 0) + BIT(m, 1) + BIT(m, 2) + BIT(m, 3) + BIT(m, 4) + BIT(m, 5) + BIT(m, 6) + BIT(m, 7))
#define BEFORE(m, i) BITS((m) & ((1u << (i)) - 1))
#define PACK(m, i) (BIT(m, i) ? UINT64_C(i) << 8 * BEFORE(m, i) : 0)
#define UNPACK(m, i) ((uint64_t)(BIT(m, i) ? BEFORE(m, i) : 0x80) << 8 * (i))
#define LANES_OF(which, m) \
    which(m, 0) | which(m, 1) | which(m, 2) | which(m, 3) | which(m, 4) | which(m, 5) | which(m, 6) | which(m, 7)
#define MASKS_4(which, m) LANES_OF(which, (m)), LANES_OF(which, (m) + 1), LANES_OF(which, (m) + 2), LANES_OF(which, (m) + 3)
#define MASKS_16(which, m) MASKS_4(which, (m)), MASKS_4(which, (m) + 4), MASKS_4(which, (m) + 8), MASKS_4(which, (m) + 12)
#define MASKS_64(which, m) MASKS_16(which, (m)), MASKS_16(which, (m) + 16), MASKS_16(which, (m) + 32), MASKS_16(which, (m) + 48)

static const uint64_t sparse_packing[] = {MASKS_64(PACK, 0u), MASKS_64(PACK, 64u), MASKS_64(PACK, 128u), MASKS_64(PACK, 192u)};
static const uint64_t sparse_unpacking[] = {MASKS_64(UNPACK, 0u), MASKS_64(UNPACK, 64u), MASKS_64(UNPACK, 128u), MASKS_64(UNPACK, 192u)};

#undef BIT
#undef BITS
#undef BEFORE
#undef PACK
#undef UNPACK
#undef LANES_OF
#undef MASKS_4
#undef MASKS_16
#undef MASKS_64

#endif
