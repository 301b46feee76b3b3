/* SPDX-License-Identifier: BSD-3-Clause
 * reduce_comm.c: what sparse reductions keep with a communicator: a private duplicate, the core's state, the machine's rates.
 */
#include "reduce_pending.h"
#include "reduce_sites.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "../sparse/sparse_measure.h"
#include "../sparse/sparse_memory.h"
#include "../sparse/sparse_settings.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct lucid_reduce_comm *all;
static struct lucid_reduce_comm *retired; /* the program's communicator is gone */
static struct lucid_reduce_comm nothing; /* a communicator that goes without */

static void destroy(struct lucid_reduce_comm *own)
{
    if (own->comm != MPI_COMM_NULL) PMPI_Comm_free(&own->comm);
    sparse_state_destroy(own->state);
    pthread_mutex_destroy(&own->lock);
    free(own->nodes);
    free(own);
}

static struct lucid_reduce_comm *take_retired(void)
{
    pthread_mutex_lock(&lock);
    struct lucid_reduce_comm *found = retired;
    retired = NULL;
    pthread_mutex_unlock(&lock);
    return found;
}

static void retire(struct lucid_reduce_comm *own)
{
    pthread_mutex_lock(&lock);
    own->next = retired;
    retired = own;
    pthread_mutex_unlock(&lock);
}

/* A communicator of which the duplicate was not there when last asked; it is in use until it has been asked again. NULL: no other that
 * `pass` has not had. */
static struct lucid_reduce_comm *borrow_unmade(unsigned pass)
{
    pthread_mutex_lock(&lock);
    struct lucid_reduce_comm *own = all;
    while (own && (own->ready || own->pass == pass)) own = own->next;
    if (own) {
        own->pass = pass;
        lucid_reduce_use(own, 1);
    }
    pthread_mutex_unlock(&lock);
    return own;
}

static bool is_made(struct lucid_reduce_comm *own)
{
    pthread_mutex_lock(&own->lock);
    bool made = lucid_reduce_comm_ready(own);
    pthread_mutex_unlock(&own->lock);
    return made;
}

/* MPICH keeps a communicator that the program has freed, attributes and all, until somebody has tested the request of its duplicate.
 * That may end in forget(). */
static void ask_for_duplicates(bool wait)
{
    static _Atomic unsigned passes;
    const unsigned pass = ++passes;
    struct lucid_reduce_comm *own;
    while ((own = borrow_unmade(pass))) {
        for (unsigned n = 0; !is_made(own) && wait; n++) lucid_reduce_poke(n);
        lucid_reduce_use(own, -1);
    }
}

/* The last call of a communicator may end inside MPI's progress, where nothing can be freed, and a duplicate that is still being made
 * cannot be freed either: this is done when the next occasion comes. */
static void reap(bool wait)
{
    ask_for_duplicates(wait);
    struct lucid_reduce_comm *own = take_retired(), *next;
    for (; own; own = next) {
        next = own->next;
        for (unsigned n = 0; wait && !is_made(own); n++) lucid_reduce_poke(n);
        if (lucid_reduce_unused(own) && is_made(own)) destroy(own);
        else retire(own);
    }
}

void lucid_reduce_reap(void)
{
    if (!lucid_reduce_hook_running()) reap(false);
}

static int forget(MPI_Comm comm, int key, void *value, void *extra)
{
    struct lucid_reduce_comm *own = value;
    if (own == &nothing) return MPI_SUCCESS;
    lucid_reduce_again_forget();
    pthread_mutex_lock(&lock);
    struct lucid_reduce_comm **link = &all;
    while (*link && *link != own) link = &(*link)->next;
    if (*link) *link = own->next;
    pthread_mutex_unlock(&lock);
    lucid_reduce_reap();
    if (own->ready && lucid_reduce_unused(own)) destroy(own);
    else retire(own);
    return MPI_SUCCESS;
}

int lucid_reduce_key(struct lucid_reduce_key *key)
{
    pthread_mutex_lock(&lock);
    if (!key->made) key->made = PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, key->forget, &key->value, NULL) == MPI_SUCCESS;
    int found = key->made ? key->value : MPI_KEYVAL_INVALID;
    pthread_mutex_unlock(&lock);
    return found;
}

static struct lucid_reduce_key key = {.forget = forget};

/* Which node every rank is on, by its lowest rank there. */
static bool find_nodes(struct lucid_reduce_comm *own)
{
    MPI_Comm node;
    int leader = own->transport.rank;
    own->nodes = malloc((size_t)own->transport.size * sizeof *own->nodes);
    int ok = own->nodes != NULL, everywhere = 0;
    PMPI_Allreduce(&ok, &everywhere, 1, MPI_INT, MPI_MIN, own->comm);
    if (!everywhere || PMPI_Comm_split_type(own->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node) != MPI_SUCCESS) return false;
    PMPI_Bcast(&leader, 1, MPI_INT, 0, node);
    PMPI_Comm_free(&node);
    return PMPI_Allgather(&leader, 1, MPI_INT, own->nodes, 1, MPI_INT, own->comm) == MPI_SUCCESS;
}

static bool on_my_node(void *context, int rank)
{
    const struct lucid_reduce_comm *own = context;
    return own->nodes[rank] == own->nodes[own->transport.rank];
}

static void measure(struct lucid_reduce_comm *own)
{
    const struct sparse_surroundings surroundings = {on_my_node, NULL, own};
    struct sparse_rates rates;
    own->measured = true; /* or never */
    if (!own->parameters.clock || !find_nodes(own)) return;
    if (sparse_measure(&own->transport, 0, &surroundings, &rates) == 0) own->parameters.rates = rates;
}

/* All processes in this process's MPI_COMM_WORLD have Lucid, and have agreed on what steps nonblocking calls; others may not. Where there is
 * no MPI_COMM_WORLD, but sessions only, there are no others. */
static bool within_world(MPI_Comm comm)
{
    MPI_Group group, world, both;
    int size = 0, found = 0, begun = 0, ended = 0;
    PMPI_Initialized(&begun);
    PMPI_Finalized(&ended);
    if (!begun || ended) return true;
    PMPI_Comm_group(comm, &group);
    PMPI_Comm_group(MPI_COMM_WORLD, &world);
    PMPI_Group_intersection(group, world, &both);
    PMPI_Group_size(group, &size);
    PMPI_Group_size(both, &found);
    PMPI_Group_free(&both);
    PMPI_Group_free(&world);
    PMPI_Group_free(&group);
    return found == size;
}

static struct lucid_reduce_comm *allocate(MPI_Comm comm)
{
    struct lucid_reduce_comm *own = calloc(1, sizeof *own);
    if (!own || !(own->state = sparse_state_create())) {
        free(own);
        return NULL;
    }
    pthread_mutex_init(&own->lock, NULL);
    own->owner = comm;
    own->comm = MPI_COMM_NULL;
    own->duplicating = MPI_REQUEST_NULL;
    sparse_settings(lucid_params(), &own->plain);
    own->parameters = own->plain;
    own->stepped = lucid_reduce_engine() != LUCID_REDUCE_NO_ENGINE;
    return own;
}

/* What goes wrong here is nothing to the program: its error handler is away for so long. */
static MPI_Errhandler hush(MPI_Comm comm)
{
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    PMPI_Comm_get_errhandler(comm, &handler);
    PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return handler;
}

static void unhush(MPI_Comm comm, MPI_Errhandler handler)
{
    PMPI_Comm_set_errhandler(comm, handler);
    PMPI_Errhandler_free(&handler);
}

bool lucid_reduce_twin(MPI_Comm comm, bool able, MPI_Comm *twin)
{
    MPI_Comm made = MPI_COMM_NULL;
    int rank, everywhere = 0;
    MPI_Errhandler handler = hush(comm);
    PMPI_Comm_rank(comm, &rank);
    const bool split = PMPI_Comm_split(comm, 0, rank, &made) == MPI_SUCCESS;
    const int ok = split && able;
    if (PMPI_Allreduce(&ok, &everywhere, 1, MPI_INT, MPI_MIN, comm) != MPI_SUCCESS) everywhere = 0;
    unhush(comm, handler);
    if (split && !everywhere) PMPI_Comm_free(&made);
    *twin = everywhere ? made : MPI_COMM_NULL;
    return everywhere;
}

static void complete(struct lucid_reduce_comm *own)
{
    PMPI_Comm_set_errhandler(own->comm, MPI_ERRORS_RETURN); /* errors go to the user's communicator */
    lucid_reduce_transport(own);
    own->ready = true;
}

static struct lucid_reduce_comm *create(MPI_Comm comm)
{
    lucid_reduce_reap();
    struct lucid_reduce_comm *own = allocate(comm);
    MPI_Comm twin;
    if (!lucid_reduce_twin(comm, own != NULL, &twin)) {
        if (own) destroy(own);
        return NULL;
    }
    own->comm = twin;
    complete(own);
    return own;
}

/* Open MPI duplicates a communicator by several nonblocking collectives that it starts from its progress, on the communicator
 * itself, where they can come between the program's in another order at another process. MPICH takes all tags at once. */
static struct lucid_reduce_comm *create_nonblocking(MPI_Comm comm)
{
    lucid_reduce_reap();
    struct lucid_reduce_comm *own = allocate(comm);
    MPI_Errhandler handler = hush(comm);
    const bool begun = own && PMPI_Comm_idup(comm, &own->comm, &own->duplicating) == MPI_SUCCESS;
    unhush(comm, handler);
    if (begun) return own;
    if (own) {
        own->comm = MPI_COMM_NULL;
        destroy(own);
    }
    return NULL;
}

bool lucid_reduce_comm_ready(struct lucid_reduce_comm *own)
{
    bool done;
    MPI_Status status;
    if (own->ready) return true;
    if (lucid_reduce_test(&own->duplicating, &done, &status) == MPI_SUCCESS && done) complete(own);
    return own->ready;
}

/* NULL, the communicator's, or `nothing`. */
static struct lucid_reduce_comm *find(MPI_Comm comm)
{
    struct lucid_reduce_comm *own = NULL;
    int found = 0, name = lucid_reduce_key(&key);
    if (name == MPI_KEYVAL_INVALID) return &nothing;
    PMPI_Comm_get_attr(comm, name, &own, &found);
    return found ? own : NULL;
}

static struct lucid_reduce_comm *keep(MPI_Comm comm, struct lucid_reduce_comm *own)
{
    if (PMPI_Comm_set_attr(comm, lucid_reduce_key(&key), own ? own : &nothing) != MPI_SUCCESS && own) {
        destroy(own);
        return NULL;
    }
    if (!own) return NULL;
    pthread_mutex_lock(&lock);
    own->next = all;
    all = own;
    pthread_mutex_unlock(&lock);
    return own;
}

static bool settled(struct lucid_reduce_comm *own)
{
    pthread_mutex_lock(&own->lock);
    bool is = lucid_reduce_comm_ready(own) && own->turn == own->issued;
    pthread_mutex_unlock(&own->lock);
    return is;
}

struct lucid_reduce_comm *lucid_reduce_comm(MPI_Comm comm)
{
    struct lucid_reduce_comm *own = find(comm);
    if (!own) own = keep(comm, within_world(comm) ? create(comm) : NULL);
    if (!own || own == &nothing) return NULL;
    for (unsigned n = 0; !settled(own); n++) lucid_reduce_poke(n);
    if (!own->measured) measure(own);
    return own;
}

struct lucid_reduce_comm *lucid_reduce_comm_nonblocking(MPI_Comm comm, bool *broken)
{
    struct lucid_reduce_comm *own = lucid_reduce_engine() == LUCID_REDUCE_NO_ENGINE ? NULL : find(comm);
    if (!own && lucid_reduce_engine() == LUCID_REDUCE_HOOK && within_world(comm)) {
        own = create_nonblocking(comm);
        *broken = own == NULL;
        if (own) own = keep(comm, own);
    }
    return own && own != &nothing && own->stepped ? own : NULL;
}

/* Communicators that are never freed, such as MPI_COMM_WORLD, do not forget by themselves. What the program has left behind, such as a
 * persistent request, still has its communicator. */
void lucid_reduce_close(void)
{
    lucid_reduce_engine_stop();
    lucid_persistent_close();
    if (strcmp(lucid_params()->sparse, "measure") == 0) lucid_reduce_report();
    ask_for_duplicates(true);
    while (all)
        if (PMPI_Comm_delete_attr(all->owner, key.value) != MPI_SUCCESS) break;
    reap(true);
    lucid_reduce_short_close();
    sparse_memory_forget();
}
