/* SPDX-License-Identifier: BSD-3-Clause
 * hier_map.c: the node of every rank of the job, from what the runtime has told this process anyway (PMIx: two questions per
 * node to the client's cache, no message to another rank). Made once per job, kept once per node: the first process makes it,
 * in a file of the job's session directory that the last one to open it unlinks and that the runtime removes in any case.
 * Where that fails, or another process takes too long, a process has one of its own.
 */
#define LUCID_WANT_JOB_MAP
#include "hier.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct shared_map {
    _Atomic uint32_t ready; /* 1: complete, 2: could not be made */
    _Atomic int32_t opened;
    int32_t size;
    int node[];
} shared_map_t;

enum { PATIENCE = 2000 }; /* turns given to the process that makes the map */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool tried;
static int *own_map;      /* private */
static shared_map_t *map; /* or shared */
static const int *nodes;
static const int *truth; /* nodes, whatever the tests' fault has made of them */
static int *spoilt;
static int job_size;

static size_t map_bytes(int size)
{
    return sizeof(shared_map_t) + sizeof(int) * (size_t)size;
}

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

static shared_map_t *attach(int file, int size, bool make)
{
    if (make && ftruncate(file, (off_t)map_bytes(size)) != 0) return NULL;
    struct stat status;
    for (int i = 0; i < PATIENCE; i++) { /* the maker opens the file before it gives it a length */
        if (fstat(file, &status) != 0) return NULL;
        if (status.st_size == (off_t)map_bytes(size)) break;
        sched_yield();
    }
    if (status.st_size != (off_t)map_bytes(size) || status.st_uid != geteuid()) return NULL;
    void *memory = mmap(NULL, map_bytes(size), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static void wait_for_maker(shared_map_t *shared)
{
    for (int i = 0; i < PATIENCE && atomic_load_explicit(&shared->ready, memory_order_acquire) == 0; i++) sched_yield();
}

/* Opens or makes the node's file. NULL: a private map is due. */
static const int *make_shared(const char *path, int size)
{
    int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool make = file >= 0;
    if (!make && errno == EEXIST) file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (file < 0) return NULL;
    shared_map_t *shared = attach(file, size, make);
    close(file);
    if (!shared) return NULL;
    if (make) {
        shared->size = size;
        atomic_store_explicit(&shared->ready, fill(shared->node, size) ? 1 : 2, memory_order_release);
    } else {
        wait_for_maker(shared);
    }
    bool good = atomic_load_explicit(&shared->ready, memory_order_acquire) == 1 && shared->size == size;
    if (atomic_fetch_add(&shared->opened, 1) + 1 == lucid_ompi_local_size()) unlink(path);
    if (!good || mprotect(shared, map_bytes(size), PROT_READ) != 0) {
        munmap(shared, map_bytes(size));
        return NULL;
    }
    map = shared;
    return map->node;
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
    if (map) munmap(map, map_bytes(job_size));
    free(own_map);
    free(spoilt);
    own_map = spoilt = NULL;
    map = NULL;
    nodes = truth = NULL;
    tried = false;
}
