/* SPDX-License-Identifier: BSD-3-Clause
 * reduce_look.c: LUCID_SPARSE=measure: what reductions are given, by where the program calls them.
 *
 * Every process encodes its input block by block into scratch memory and counts what stands out; the call itself is the library's, and
 * is timed. At MPI_Finalize the figures go to sparse.json (reduce_report.c), with the model's prediction of what the sparse form would
 * take: for positions that are independent of each other, and at best, for the same positions at all processes.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "../sparse/sparse_block.h"
#include "reduce_sites.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
struct lucid_reduce_site lucid_reduce_sites[LUCID_REDUCE_SITES];
static size_t used;
static _Atomic uint64_t undeclared;

/* The call of this thread that the library is about to run. */
static _Thread_local struct {
    struct lucid_reduce_site *site; /* NULL: one that is not timed */
    double since;
} watched;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int magnitude(uint64_t n)
{
    return n ? 64 - __builtin_clzll(n) : 0;
}

/* NULL: more call sites than there is room for; they are not looked at. */
static struct lucid_reduce_site *find(const struct lucid_reduction *reduction, int sort)
{
    size_t i = (((uint64_t)(uintptr_t)reduction->site >> 2) + ((uint64_t)sort << 40)) * 0x9E3779B97F4A7C15u >> 52;
    struct lucid_reduce_site *site = &lucid_reduce_sites[i];
    while (site->figures.calls && (site->address != reduction->site || site->name != reduction->name || site->sort != sort))
        site = &lucid_reduce_sites[i = (i + 1) % LUCID_REDUCE_SITES];
    if (site->figures.calls) return site;
    if (used + 1 == LUCID_REDUCE_SITES) return NULL;
    used++;
    site->address = reduction->site;
    site->name = reduction->name;
    site->kind = reduction->kind;
    site->sort = sort;
    return site;
}

static bool encode_all(const struct sparse_operator *operator, const void *input, size_t count, struct sparse_tally *tally,
                       uint64_t *bytes)
{
    struct sparse_layout layout;
    sparse_layout_init(&layout, operator, count, 1);
    void *scratch = malloc(sparse_bound(&layout, 0, 1));
    if (!scratch) return false;
    for (size_t i = 0; i < layout.blocks; i++)
        *bytes += sparse_encode(&layout, i, 1, (const char *)input + sparse_layout_start(&layout, i) * operator->size, false, scratch,
                                tally);
    free(scratch);
    return true;
}

void lucid_reduce_look(const struct lucid_reduction *reduction, size_t count, const struct sparse_operator *operator)
{
    struct sparse_tally tally = {0};
    uint64_t bytes = 0;
    int size = 0;
    if (count == 0) return;
    double since = now();
    if (!encode_all(operator, reduction->in_place ? reduction->output : reduction->input, count, &tally, &bytes)) return;
    double looking = now() - since;
    int sort = magnitude(count * operator->size) * 128 + (tally.exceptions ? magnitude(count / tally.exceptions) : 127);
    PMPI_Comm_size(reduction->comm, &size);
    pthread_mutex_lock(&lock);
    struct lucid_reduce_site *site = find(reduction, sort);
    if (site) {
        site->figures.calls++;
        site->figures.elements += count;
        site->figures.exceptions += tally.exceptions;
        site->figures.encoded += bytes;
        site->figures.size = operator->size;
        site->figures.ranks += (uint64_t)size;
        site->figures.looking += looking;
    }
    pthread_mutex_unlock(&lock);
    watched.site = site;
    watched.since = now();
}

void lucid_reduce_look_anew(void)
{
    watched.site = NULL;
}

void lucid_reduce_look_done(void)
{
    if (!watched.site) return;
    double spent = now() - watched.since;
    pthread_mutex_lock(&lock);
    watched.site->figures.seconds += spent;
    pthread_mutex_unlock(&lock);
    watched.site = NULL;
}

void lucid_reduce_not_declared(void)
{
    undeclared++;
}

uint64_t lucid_reduce_undeclared(void)
{
    return undeclared;
}
