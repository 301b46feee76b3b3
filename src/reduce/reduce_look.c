/* SPDX-License-Identifier: BSD-3-Clause
 * reduce_look.c: LUCID_SPARSE=measure: what reductions are given, by where the program calls them.
 *
 * Every process encodes its input block by block into scratch memory and counts what stands out; the call itself is the library's, and
 * is timed. Of some calls it keeps where (reduce_overlap.c), and the input (reduce_kept.c). At MPI_Finalize those are run again, with and
 * without Lucid (reduce_replay.c), and the figures go to sparse.json (reduce_report.c), with a prediction of what LUCID_SPARSE=on would gain.
 */
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
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
    uint64_t faults;
} watched;

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t faults(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_THREAD, &usage) == 0 ? (uint64_t)usage.ru_minflt : 0;
}

static int magnitude(uint64_t n)
{
    return n ? 64 - __builtin_clzll(n) : 0;
}

/* Bytes by magnitude, and the share's after it; 127: there are no exceptions. */
int lucid_reduce_sort(uint64_t elements, uint64_t size, uint64_t exceptions)
{
    return magnitude(elements * size) * 128 + (exceptions ? magnitude(elements / exceptions) : 127);
}

int lucid_reduce_sort_distance(int one, int other)
{
    return one / 128 == other / 128 ? abs(one % 128 - other % 128) : INT_MAX;
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

/* Room for an encoded block, which fits L2 (sparse_layout.c). One stays for the next call: new memory would count as time of looking. */
enum { ROOM = 512 * 1024 };
static void *_Atomic spare;

/* What is found in a call's input. */
struct look {
    struct sparse_tally tally;
    uint64_t bytes;
    double seconds; /* of this processor, for looking alone */
};

/* Keeps a block for later, out of the time of looking. NULL: nothing is kept any more. */
static struct lucid_reduce_kept *keep(struct lucid_reduce_kept *kept, const void *message, size_t bytes, struct look *look)
{
    look->seconds += now(CLOCK_THREAD_CPUTIME_ID);
    const bool there = lucid_reduce_keep_block(kept, message, bytes);
    look->seconds -= now(CLOCK_THREAD_CPUTIME_ID);
    return there ? kept : NULL;
}

static bool encode_all(const struct lucid_reduction *reduction, size_t count, const struct sparse_operator *operator,
                       const struct lucid_reduce_sampled *to, struct look *look)
{
    const char *input = reduction->in_place ? reduction->output : reduction->input;
    struct lucid_reduce_kept *kept = NULL;
    struct sparse_layout layout;
    sparse_layout_init(&layout, operator, count, 1);
    void *scratch = atomic_exchange(&spare, NULL);
    if (!scratch) scratch = malloc(ROOM);
    if (!scratch) return false;
    if (to->kept) kept = lucid_reduce_keep(reduction, count, operator, to->order);
    look->seconds = -now(CLOCK_THREAD_CPUTIME_ID);
    for (size_t i = 0; i < layout.blocks; i++) {
        const char *block = input + sparse_layout_start(&layout, i) * operator->size;
        const size_t bytes = sparse_encode(&layout, i, 1, block, false, scratch, &look->tally);
        look->bytes += bytes;
        if (to->sample) lucid_reduce_sample_block(to->sample, to->number, &layout, i, scratch);
        if (kept) kept = keep(kept, scratch, bytes, look);
    }
    look->seconds += now(CLOCK_THREAD_CPUTIME_ID);
    free(atomic_exchange(&spare, scratch));
    if (!kept) return true;
    kept->exceptions = look->tally.exceptions;
    lucid_reduce_keep_done(kept);
    *to->kept = kept;
    return true;
}

void lucid_reduce_look(const struct lucid_reduction *reduction, size_t count, const struct sparse_operator *operator)
{
    struct look look = {.bytes = 0};
    int size = 0;
    if (count == 0) return;
    PMPI_Comm_size(reduction->comm, &size);
    pthread_mutex_lock(&lock);
    const struct lucid_reduce_sampled to = lucid_reduce_sample_of(reduction, count);
    pthread_mutex_unlock(&lock);
    if (!encode_all(reduction, count, operator, &to, &look)) return;
    const int sort = lucid_reduce_sort(count, operator->size, look.tally.exceptions);
    pthread_mutex_lock(&lock);
    struct lucid_reduce_site *site = find(reduction, sort);
    if (site) {
        site->figures.calls++;
        site->figures.elements += count;
        site->figures.exceptions += look.tally.exceptions;
        site->figures.encoded += look.bytes;
        site->figures.size = operator->size;
        site->figures.ranks += (uint64_t)size;
        site->figures.looking += look.seconds;
    }
    pthread_mutex_unlock(&lock);
    watched.site = site;
    watched.faults = faults();
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
    uint64_t pages = faults() - watched.faults;
    pthread_mutex_lock(&lock);
    watched.site->figures.seconds += spent;
    watched.site->figures.faults += pages;
    pthread_mutex_unlock(&lock);
    watched.site = NULL;
}

double lucid_reduce_faults_of(const struct lucid_reduction *reduction, int sort)
{
    const struct lucid_reduce_site *site = find(reduction, sort);
    return site && site->figures.calls ? (double)site->figures.faults / (double)site->figures.calls : 0;
}

void lucid_reduce_not_declared(void)
{
    undeclared++;
}

uint64_t lucid_reduce_undeclared(void)
{
    return undeclared;
}
