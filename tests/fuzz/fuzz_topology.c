/* SPDX-License-Identifier: BSD-3-Clause
 * fuzz_topology.c: lucid_topology_read() takes any text: it makes a machine with at least one leaf, or says in one line why not.
 */
#include <lucid_map.h>

#include "fuzz.h"

#define WHY 256

/** Machines of millions of cores are made all right, but slowly: the time is better spent on other texts. */
static int is_huge(const uint8_t *data, size_t size)
{
    size_t digits = 0;
    for (size_t i = 0; i < size; i++) digits += data[i] >= '0' && data[i] <= '9';
    return digits > 8;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (is_huge(data, size)) return 0;
    char *text = fuzz_text(data, size);
    char why[WHY];
    lucid_topology_t *topology = NULL;
    memset(why, 'x', sizeof why);
    if (lucid_topology_read(text, &topology, why, sizeof why) == 0) {
        FUZZ_CHECK(topology != NULL && lucid_topology_leaves(topology) > 0);
        lucid_topology_free(topology);
    } else {
        FUZZ_CHECK(topology == NULL);
        FUZZ_CHECK(memchr(why, '\0', sizeof why) != NULL && why[0] != '\0' && strchr(why, '\n') == NULL);
    }
    free(text);
    return 0;
}
