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
static int keyval = MPI_KEYVAL_INVALID;
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

static int key(void)
{
    pthread_mutex_lock(&lock);
    if (keyval == MPI_KEYVAL_INVALID && PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &keyval, NULL) != MPI_SUCCESS)
        keyval = MPI_KEYVAL_INVALID;
    int found = keyval;
    pthread_mutex_unlock(&lock);
    return found;
}

static struct brief *find(MPI_Comm comm)
{
    struct brief *own = NULL;
    int found = 0;
    PMPI_Comm_get_attr(comm, key(), &own, &found);
    return found ? own : NULL;
}

/* NULL: there is no memory. */
static struct brief *make(MPI_Comm comm)
{
    struct brief *own = calloc(1, sizeof *own);
    if (!own || PMPI_Comm_set_attr(comm, key(), own) != MPI_SUCCESS) {
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

size_t lucid_reduce_short_bytes(MPI_Comm comm)
{
    (void)pthread_once(&once, read_settings);
    if (settings.always) return 0;
    const struct brief *own = settings.short_measured ? find(comm) : NULL;
    return own && own->times.settled ? own->bytes : settings.short_bytes;
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
}

enum lucid_reduce_brief lucid_reduce_short(MPI_Comm comm, size_t bytes)
{
    static const struct sparse_short none;
    (void)pthread_once(&once, read_settings);
    struct brief *own = settings.short_measured ? find(comm) : NULL;
    if (sparse_short_unsettled(own ? &own->times : &none, &settings, bytes)) {
        if (!own && !(own = make(comm))) return LUCID_REDUCE_NO_MEMORY;
        if (!sparse_short_begin(&own->times, bytes, settings.clock())) {
            running = own;
            return LUCID_REDUCE_TIMED;
        }
        settle(comm, own);
    }
    return settings.always || bytes >= (own && own->times.settled ? own->bytes : settings.short_bytes) ? LUCID_REDUCE_LONG : LUCID_REDUCE_SHORT;
}

void lucid_reduce_short_left(void)
{
    if (running) sparse_short_end(&running->times, settings.clock());
    running = NULL;
}

void lucid_reduce_short_seen(MPI_Comm comm, size_t bytes, double density)
{
    struct brief *own = bytes < settings.short_bytes && settings.short_measured ? find(comm) : NULL;
    if (!own || !sparse_short_gives_up(&own->times, density)) return;
    own->bytes = settings.short_bytes;
    lucid_reduce_again_forget(); /* who has the call in mind would go on counting it in the core, and others not */
}

/* Those of communicators that are never freed. */
void lucid_reduce_short_close(void)
{
    while (all)
        if (PMPI_Comm_delete_attr(all->comm, keyval) != MPI_SUCCESS) break;
}
