/* SPDX-License-Identifier: BSD-3-Clause
 * floor.h: what no reduction can do without: all vectors are read, and a result is written.
 *
 * The result is written with values like its own, not with zeros: lines of zeros are written three times as fast as others by some
 * machines (77 and 26 GB/s from one core of a Zen 4 with two processors).
 */
#ifndef LUCID_BENCH_FLOOR_H
#define LUCID_BENCH_FLOOR_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Reads in a plain loop. Something of all of it comes out: have it looked at, or reading is left out. */
static inline uint64_t floor_read(const void *vector, size_t bytes)
{
    const uint64_t *words = vector;
    uint64_t any[8] = {0}, all = 0;
    for (size_t i = 0; i + 8 <= bytes / sizeof *words; i += 8)
        for (size_t k = 0; k < 8; k++) any[k] |= words[i + k];
    for (size_t k = 0; k < 8; k++) all |= any[k];
    return all;
}

/* Writes 64 bytes at a multiple of 64, past the caches where there is an instruction for it. */
static inline void floor_write_line(unsigned char *to, const unsigned char *from)
{
#ifdef __SSE2__
    for (int k = 0; k < 64; k += 16) _mm_stream_si128((__m128i *)(to + k), _mm_loadu_si128((const __m128i *)(from + k)));
#else
    memcpy(to, from, 64);
#endif
}

/* Writes a result's own first 16 KiB over and over. */
static inline void floor_write(void *result, size_t bytes)
{
    enum { SOME = 16384, LINE = 64 };
    unsigned char some[SOME], *to = (unsigned char *)result + (LINE - (uintptr_t)result % LINE) % LINE;
    if (bytes < SOME + LINE) return;
    memcpy(some, result, SOME);
    for (size_t i = 0; i + 2 * LINE <= bytes; i += LINE) floor_write_line(to + i, some + i % SOME);
#ifdef __SSE2__
    _mm_sfence();
#endif
}

#endif
