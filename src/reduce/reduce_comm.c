/* SPDX-License-Identifier: BSD-3-Clause
 * reduce_comm.c: what sparse reductions keep with a communicator: a private duplicate, the core's state, the machine's rates.
 */
#include "reduce_sites.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "../sparse/sparse_measure.h"
#include "../sparse/sparse_settings.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int keyval = MPI_KEYVAL_INVALID;
static struct lucid_reduce_comm *all;
static struct lucid_reduce_comm nothing; /* a communicator that goes without */

static void destroy(struct lucid_reduce_comm *own)
{
    if (own->comm != MPI_COMM_NULL) PMPI_Comm_free(&own->comm);
    sparse_state_destroy(own->state);
    free(own->nodes);
    free(own);
}

static int forget(MPI_Comm comm, int key, void *value, void *extra)
{
    struct lucid_reduce_comm *own = value;
    if (own == &nothing) return MPI_SUCCESS;
    pthread_mutex_lock(&lock);
    struct lucid_reduce_comm **link = &all;
    while (*link && *link != own) link = &(*link)->next;
    if (*link) *link = own->next;
    pthread_mutex_unlock(&lock);
    destroy(own);
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
    if (!find_nodes(own)) return;
    if (sparse_measure(&own->transport, 0, &surroundings, &rates) == 0) own->parameters.rates = rates;
}

/* A process without memory says so to the others: the communicator then goes without at all of them. */
static struct lucid_reduce_comm *create(MPI_Comm comm)
{
    struct lucid_reduce_comm *own = calloc(1, sizeof *own);
    struct sparse_state *state = sparse_state_create();
    int ok = own && state, everywhere = 0;
    if (PMPI_Allreduce(&ok, &everywhere, 1, MPI_INT, MPI_MIN, comm) != MPI_SUCCESS || !everywhere) {
        sparse_state_destroy(state);
        free(own);
        return NULL;
    }
    own->state = state;
    own->owner = comm;
    own->comm = MPI_COMM_NULL;
    if (PMPI_Comm_dup(comm, &own->comm) != MPI_SUCCESS) {
        destroy(own);
        return NULL;
    }
    PMPI_Comm_set_errhandler(own->comm, MPI_ERRORS_RETURN); /* errors go to the user's communicator */
    lucid_reduce_transport(own);
    sparse_settings(lucid_params(), &own->parameters);
    measure(own);
    return own;
}

struct lucid_reduce_comm *lucid_reduce_comm(MPI_Comm comm)
{
    struct lucid_reduce_comm *own = NULL;
    int found = 0, name = key();
    if (name == MPI_KEYVAL_INVALID) return NULL;
    PMPI_Comm_get_attr(comm, name, &own, &found);
    if (found) return own == &nothing ? NULL : own;
    own = create(comm);
    if (PMPI_Comm_set_attr(comm, name, own ? own : &nothing) != MPI_SUCCESS && own) {
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

/* Communicators that are never freed, such as MPI_COMM_WORLD, do not forget by themselves. */
void lucid_reduce_close(void)
{
    if (strcmp(lucid_params()->sparse, "measure") == 0) lucid_reduce_report();
    while (all)
        if (PMPI_Comm_delete_attr(all->owner, keyval) != MPI_SUCCESS) break;
}
