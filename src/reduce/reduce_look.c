/* SPDX-License-Identifier: BSD-3-Clause
 * reduce_look.c: LUCID_SPARSE=measure: what reductions are given, by where the program calls them.
 *
 * Every process encodes its input block by block into scratch memory and counts what stands out; the call itself is the library's, and
 * is timed. Of some calls it keeps where (reduce_overlap.c). At MPI_Finalize the figures go to sparse.json (reduce_report.c), with the
 * model's prediction of what the sparse form would take: for positions that overlap as was seen, and at best, for the same positions at
 * all processes.
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

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
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

/* Where a call's exceptions are to be kept, for comparison with other processes'. */
struct sampled {
    uint64_t *sample; /* NULL: not of this call */
    int number;
};

/* Room for an encoded block, which fits L2 (sparse_layout.c). One stays for the next call: new memory would count as time of looking. */
enum { ROOM = 512 * 1024 };
static void *_Atomic spare;

static bool encode_all(const struct sparse_operator *operator, const void *input, size_t count, struct sampled to,
                       struct sparse_tally *tally, uint64_t *bytes)
{
    struct sparse_layout layout;
    sparse_layout_init(&layout, operator, count, 1);
    void *scratch = atomic_exchange(&spare, NULL);
    if (!scratch) scratch = malloc(ROOM);
    if (!scratch) return false;
    for (size_t i = 0; i < layout.blocks; i++) {
        *bytes += sparse_encode(&layout, i, 1, (const char *)input + sparse_layout_start(&layout, i) * operator->size, false, scratch,
                                tally);
        if (to.sample) lucid_reduce_sample_block(to.sample, to.number, &layout, i, scratch);
    }
    free(atomic_exchange(&spare, scratch));
    return true;
}

void lucid_reduce_look(const struct lucid_reduction *reduction, size_t count, const struct sparse_operator *operator)
{
    struct sparse_tally tally = {0};
    uint64_t bytes = 0;
    struct sampled to = {NULL, 0};
    int size = 0;
    if (count == 0) return;
    PMPI_Comm_size(reduction->comm, &size);
    pthread_mutex_lock(&lock);
    to.sample = lucid_reduce_sample_of(reduction, count, &to.number);
    pthread_mutex_unlock(&lock);
    double since = now(CLOCK_THREAD_CPUTIME_ID);
    if (!encode_all(operator, reduction->in_place ? reduction->output : reduction->input, count, to, &tally, &bytes)) return;
    double looking = now(CLOCK_THREAD_CPUTIME_ID) - since;
    int sort = magnitude(count * operator->size) * 128 + (tally.exceptions ? magnitude(count / tally.exceptions) : 127);
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
    watched.since = now(CLOCK_MONOTONIC);
}

void lucid_reduce_look_anew(void)
{
    watched.site = NULL;
}

void lucid_reduce_look_done(void)
{
    if (!watched.site) return;
    double spent = now(CLOCK_MONOTONIC) - watched.since;
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
