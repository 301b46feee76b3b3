/* SPDX-License-Identifier: BSD-3-Clause */
/* What goes wrong on purpose: the copy of a message is changed. See sim_ranks.h. */
#include "sim_ranks.h"

#include <string.h>

size_t sim_damage(enum sim_damage damage, char *copy, size_t bytes, uint64_t *random)
{
    uint32_t length;
    switch (bytes > 0 ? damage : SIM_INTACT) {
    case SIM_TRUNCATE: return bytes - 1;
    case SIM_EMPTY: return 0;
    case SIM_FIRST_BYTE: copy[0] ^= 0x40; break;
    case SIM_LENGTH:
        if (bytes < 8) break;
        memcpy(&length, copy + 4, 4);
        length += 1 + (uint32_t)(sim_random(random) >> 40);
        memcpy(copy + 4, &length, 4);
        break;
    case SIM_ANY_BIT: copy[sim_random(random) % bytes] ^= (char)(1 << sim_random(random) % 8); break;
    case SIM_NOISE:
        for (size_t i = 0; i < bytes; i++) copy[i] = (char)(sim_random(random) >> 40);
        break;
    default: break;
    }
    return bytes;
}
