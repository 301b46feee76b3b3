/* SPDX-License-Identifier: BSD-3-Clause */
/* MAXLOC and MINLOC. Equal values take the lower location, +0 and -0 are equal, and a NaN on either side leaves the higher rank's
 * pair. Members are assigned one by one: what lies between them is the program's. */
#include "sparse_operator_loops.h"
#include "sparse_pairs.h"

#define LOCATION_LOOP(name, pair, value, location, better)                                              \
    static void name(const void *in, void *inout, size_t count, void *context)                          \
    {                                                                                                   \
        typedef value value_anywhere SPARSE_ANYWHERE;                                                   \
        typedef location location_anywhere SPARSE_ANYWHERE;                                             \
        const unsigned char *from = in;                                                                 \
        unsigned char *to = inout;                                                                      \
        const size_t size = sizeof(struct sparse_##pair), behind = offsetof(struct sparse_##pair, k);   \
        for (; count > 0; count--, from += size, to += size) {                                          \
            const value a = *(const value_anywhere *)from, b = *(const value_anywhere *)to;             \
            const location i = *(const location_anywhere *)(from + behind);                             \
            const location j = *(const location_anywhere *)(to + behind);                               \
            if (a better b) {                                                                           \
                *(value_anywhere *)to = a;                                                              \
                *(location_anywhere *)(to + behind) = i;                                                \
            } else if (a == b) {                                                                        \
                *(location_anywhere *)(to + behind) = j < i ? j : i;                                    \
            }                                                                                           \
        }                                                                                               \
    }

#define BOTH(TYPE, pair, value, location)                    \
    LOCATION_LOOP(maxloc_##pair, pair, value, location, >)   \
    LOCATION_LOOP(minloc_##pair, pair, value, location, <)
SPARSE_PAIRS(BOTH)

static sparse_apply_fn *const loops[SPARSE_TYPES][SPARSE_OPS] = {
#define ENTRY(TYPE, pair, value, location) [SPARSE_##TYPE] = {[SPARSE_MAXLOC] = maxloc_##pair, [SPARSE_MINLOC] = minloc_##pair},
    SPARSE_PAIRS(ENTRY)
};

sparse_apply_fn *sparse_pair_loop(enum sparse_op op, enum sparse_type type)
{
    return loops[type][op];
}
