/* SPDX-License-Identifier: BSD-3-Clause
 * hier_map.c: the node of every rank of the job, from what the runtime has told this process anyway (PMIx: two questions per
 * node to the client's cache, no message to another rank). Made once per job, kept once per node: the first process makes it,
 * in a file of the job's session directory that the last one to open it unlinks and that the runtime removes in any case.
 * Where that fails, or another process takes too long, a process has one of its own.
 */
#define LUCID_WANT_JOB_MAP
#include "hier.h"
#include "hier_space.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool tried;
static int *own_map;      /* private */
static hier_space_t *space; /* or the node's */
static const int *nodes;
static const int *truth; /* nodes, whatever the tests' fault has made of them */
static int *spoilt;
static int job_size;

/* A list such as 0,0,1,1, repeated as often as needed: makes one machine look like several nodes. */
static bool read_test_nodes(int *node, int size)
{
    const char *text = lucid_hier.test_nodes;
    int count = 0;
    while (count < size && *text) {
        char *end;
        long number = strtol(text, &end, 10);
        if (end == text || number < 0 || number > 1000000) return false;
        node[count++] = (int)number;
        text = *end == ',' ? end + 1 : end;
        if (end == text && *end) return false;
    }
    for (int i = count; i < size && count > 0; i++) node[i] = node[i % count];
    return count > 0;
}

static bool fill(int *node, int size)
{
    for (int i = 0; i < size; i++) node[i] = -1;
    if (lucid_hier.test_nodes ? !read_test_nodes(node, size) : !lucid_ompi_job_map(node, size)) return false;
    for (int i = 0; i < size; i++)
        if (node[i] < 0) return false;
    return true;
}

static const int *make_private(int size)
{
    own_map = malloc(sizeof *own_map * (size_t)size);
    if (own_map && fill(own_map, size)) return own_map;
    free(own_map);
    own_map = NULL;
    return NULL;
}

static bool fill_head(void *head, void *size)
{
    return fill(head, *(int *)size);
}

/* Bytes of a layout's tables, with as many nodes as ranks. */
static size_t layout_bytes(int size)
{
    return (4 * (size_t)size + 1) * sizeof(int) + 64;
}

static const int *make_shared(const char *path, int size)
{
    size_t room = (size_t)lucid_hier.shared_layouts * layout_bytes(size);
    space = hier_space_open(path, sizeof(int) * (size_t)size, room, lucid_ompi_local_size(), fill_head, &size);
    return space ? hier_space_head(space) : NULL;
}

const void *lucid_hier_keep(const void *data, size_t bytes, uint64_t hash)
{
    return hier_space_keep(space, data, bytes, hash);
}

static const int *make_map(int size)
{
    const char *directory = lucid_ompi_session_dir();
    const int *found = NULL;
    char path[4096];
    if (lucid_hier.shared_map && directory) {
        int length = snprintf(path, sizeof path, "%s/lucid-hier-map", directory);
        if (length > 0 && (size_t)length < sizeof path) found = make_shared(path, size);
    }
    if (!found) found = make_private(size);
    return found;
}

/* For tests: a rank that has been told something else than the others. */
static void spoil(void)
{
    spoilt = malloc(sizeof *spoilt * (size_t)job_size);
    if (!spoilt) return;
    for (int i = 0; i < job_size; i++) spoilt[i] = truth[i] / 2;
    nodes = spoilt;
}

const int *lucid_hier_map(int *size)
{
    pthread_mutex_lock(&lock);
    if (!tried) {
        tried = true;
        job_size = lucid_ompi_job_size();
        nodes = truth = make_map(job_size);
        if (nodes && lucid_hier.test_fault == (int)OMPI_PROC_MY_NAME->vpid) spoil();
    }
    *size = job_size;
    const int *found = nodes;
    pthread_mutex_unlock(&lock);
    return found;
}

int lucid_hier_test_node(int rank)
{
    int size;
    (void)lucid_hier_map(&size);
    return truth && rank >= 0 && rank < size ? truth[rank] : -1;
}

void lucid_hier_map_close(void)
{
    hier_space_close(space);
    free(own_map);
    free(spoilt);
    own_map = spoilt = NULL;
    space = NULL;
    nodes = truth = NULL;
    tried = false;
}
