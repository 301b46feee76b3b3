/* SPDX-License-Identifier: BSD-3-Clause */
/* Who sends how much to whom: a 3-D stencil, a random geometric graph, the exchanges of NAS CG. The same on every machine. */
#ifndef LUCID_SCALE_PATTERNS_H
#define LUCID_SCALE_PATTERNS_H

#include "lucid_types.h"

enum scale_pattern { SCALE_STENCIL, SCALE_GEOMETRIC, SCALE_CG, SCALE_PATTERNS };
/* How the ranks come to their places: one after the other, node by node in turns, shuffled. */
enum scale_deal { SCALE_IN_ORDER, SCALE_ROUND_ROBIN, SCALE_AT_RANDOM, SCALE_DEALS };

extern const char *const scale_pattern_name[SCALE_PATTERNS], *const scale_deal_name[SCALE_DEALS];

/* 256, 1024 or 4096 ranks. `unit`: bytes of a weight of 1; a message has 64 (geometric: 1 to 127). */
lucid_matrix_t scale_pattern(enum scale_pattern pattern, enum scale_deal deal, int ranks, int per_node, uint64_t unit);

#endif
