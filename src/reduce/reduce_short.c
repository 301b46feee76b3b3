/* SPDX-License-Identifier: BSD-3-Clause
 * reduce_short.c: from which length on a communicator's reductions are looked at (../sparse/sparse_short.h). Till that is settled it has
 * no duplicate for it: most communicators have no such calls, or few.
 */
#include "reduce.h"

#include <stdlib.h>

struct brief {
    struct sparse_short times;
    size_t bytes; /* once they are settled */
    MPI_Comm comm;
    struct brief *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct brief *all;
static _Thread_local struct brief *running; /* whose call of this thread the library is running */

static int forget(MPI_Comm comm, int key, void *value, void *extra)
{
    struct brief *own = value;
    lucid_reduce_again_forget();
    pthread_mutex_lock(&lock);
    struct brief **link = &all;
    while (*link && *link != own) link = &(*link)->next;
    if (*link) *link = own->next;
    pthread_mutex_unlock(&lock);
    free(own);
    return MPI_SUCCESS;
}

static struct lucid_reduce_key key = {.forget = forget};

static struct brief *find(MPI_Comm comm)
{
    struct brief *own = NULL;
    int found = 0, name = lucid_reduce_key(&key);
    if (name != MPI_KEYVAL_INVALID) PMPI_Comm_get_attr(comm, name, &own, &found);
    return found ? own : NULL;
}

/* NULL: there is no memory. */
static struct brief *make(MPI_Comm comm)
{
    struct brief *own = calloc(1, sizeof *own);
    if (!own || PMPI_Comm_set_attr(comm, lucid_reduce_key(&key), own) != MPI_SUCCESS) {
        free(own);
        return NULL;
    }
    own->comm = comm;
    pthread_mutex_lock(&lock);
    own->next = all;
    all = own;
    pthread_mutex_unlock(&lock);
    return own;
}

static struct sparse_parameters settings; /* the process's */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void read_settings(void)
{
    sparse_settings(lucid_params(), &settings);
}

static const struct sparse_parameters *process(void)
{
    (void)pthread_once(&once, read_settings);
    return &settings;
}

static bool is_long(const struct brief *own, size_t bytes)
{
    return bytes >= (own && own->times.settled ? own->bytes : settings.short_bytes);
}

bool lucid_reduce_long(MPI_Comm comm, size_t bytes)
{
    if (process()->always || is_long(NULL, bytes)) return true;
    return settings.short_measured && is_long(find(comm), bytes);
}

/* Collective: all processes have made as many such calls on the communicator. */
static void settle(MPI_Comm comm, struct brief *own)
{
    const struct sparse_surroundings surroundings = {NULL, NULL, NULL};
    struct lucid_reduce_comm *reducing = lucid_reduce_comm(comm);
    own->bytes = settings.short_bytes;
    own->times.settled = true;
    if (!reducing) return;
    (void)sparse_short_settle(&own->times, &reducing->transport, 0, &surroundings, &reducing->parameters);
    own->bytes = reducing->parameters.short_bytes;
    lucid_reduce_again_forget(); /* calls that were too short may not be any more */
}

enum lucid_reduce_brief lucid_reduce_short(MPI_Comm comm, size_t bytes)
{
    static const struct sparse_short none;
    if (process()->always || is_long(NULL, bytes)) return LUCID_REDUCE_LONG;
    struct brief *own = settings.short_measured ? find(comm) : NULL;
    if (sparse_short_unsettled(own ? &own->times : &none, &settings, bytes)) {
        if (!own && !(own = make(comm))) return LUCID_REDUCE_NO_MEMORY;
        if (!sparse_short_begin(&own->times, bytes, settings.clock())) {
            running = own;
            return LUCID_REDUCE_TIMED;
        }
        settle(comm, own);
    }
    return is_long(own, bytes) ? LUCID_REDUCE_LONG : LUCID_REDUCE_SHORT;
}

void lucid_reduce_short_left(void)
{
    if (running) sparse_short_end(&running->times, settings.clock());
    running = NULL;
}

void lucid_reduce_short_seen(MPI_Comm comm, size_t bytes, double density, enum sparse_worth worth)
{
    struct brief *own = bytes < settings.short_bytes && settings.short_measured ? find(comm) : NULL;
    if (!own || !sparse_short_gives_up(&own->times, density, worth)) return;
    own->bytes = settings.short_bytes;
    lucid_reduce_again_forget(); /* who has the call in mind would go on counting it in the core, and others not */
}

/* Those of communicators that are never freed. */
void lucid_reduce_short_close(void)
{
    while (all)
        if (PMPI_Comm_delete_attr(all->comm, key.value) != MPI_SUCCESS) break;
}
