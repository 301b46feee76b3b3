/* SPDX-License-Identifier: BSD-3-Clause
 * fuzz_cpus.c: any text as the list of a process's processors, on a node that hwloc makes up: 2 packages of 2 NUMA nodes of
 * 3 cores of 2 threads. Input: lists, separated by line ends.
 */
#include <hwloc.h>

#include "cpus.h"
#include "fuzz.h"

#define LISTS 16

int LLVMFuzzerInitialize(int *argc, char ***argv);

static hwloc_topology_t node;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    FUZZ_CHECK(hwloc_topology_init(&node) == 0);
    FUZZ_CHECK(hwloc_topology_set_synthetic(node, "package:2 numa:2 core:3 pu:2") == 0);
    FUZZ_CHECK(hwloc_topology_load(node) == 0);
    return 0;
}

static int split(struct fuzz_input *input, char (*lists)[LUCID_CPUS_TEXT])
{
    int n = 0;
    for (size_t length = 0; input->left > 0 && n < LISTS;) {
        char c = (char)fuzz_byte(input);
        int end = c == '\n' || length == LUCID_CPUS_TEXT - 1;
        if (!end) lists[n][length++] = c;
        if (!end && input->left > 0) continue;
        lists[n++][length] = '\0';
        length = 0;
    }
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = {data, size};
    char (*lists)[LUCID_CPUS_TEXT] = malloc(LISTS * sizeof *lists);
    struct lucid_binding bindings[LISTS];
    struct lucid_cpus cpus;
    FUZZ_CHECK(lists != NULL);
    int n = split(&input, lists);
    lucid_cpus_describe_topology(node, &cpus, n, lists, bindings);
    FUZZ_CHECK(cpus.packages == 2 && cpus.numa == 4 && cpus.cores == 12 && cpus.pus == 24);
    for (int i = 0; i < n; i++) {
        const struct lucid_binding *b = &bindings[i];
        FUZZ_CHECK(b->package >= -1 && b->package < 2 && b->numa >= -1 && b->numa < 4 && b->core >= -1 && b->core < 12);
        if (b->core >= 0) FUZZ_CHECK(b->numa == b->core / 3); /* inside a core is inside all that it is in */
        if (b->numa >= 0) FUZZ_CHECK(b->package == b->numa / 2);
        if (b->package >= 0) FUZZ_CHECK(lists[i][0] >= '0' && lists[i][0] <= '9');
    }
    free(lists);
    return 0;
}
