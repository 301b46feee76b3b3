/* SPDX-License-Identifier: BSD-3-Clause
 * hier_layouts.c: layouts of communicators. Communicators whose ranks sit alike share one. What all ranks have agreed on is
 * kept for the life of the process and never evicted: whether an agreement is due must be answered alike on all ranks.
 */
#define LUCID_WANT_JOB_MAP
#include "hier.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct entry {
    hier_layout_t *layout;
    int users;
    struct entry *next;
} entry_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static entry_t *entries;
static uint64_t *agreed; /* hashes of groups */
static size_t agreed_count, agreed_capacity;
static bool job_agreed; /* the whole job, and so each of its groups */

static bool same_layout(const hier_layout_t *a, const hier_layout_t *b)
{
    return a->hash == b->hash && a->size == b->size && a->rank == b->rank &&
           hier_layout_socket_hash(a) == hier_layout_socket_hash(b) &&
           memcmp(a->node_of, b->node_of, sizeof(int) * (size_t)a->size) == 0;
}

/* Takes `fresh` over. */
static hier_layout_t *share(hier_layout_t *fresh)
{
    pthread_mutex_lock(&lock);
    entry_t *entry = entries;
    while (entry && !same_layout(entry->layout, fresh)) entry = entry->next;
    if (entry) {
        hier_layout_destroy(fresh);
    } else if ((entry = malloc(sizeof *entry))) {
        const void *tables = lucid_hier_keep(fresh->tables, hier_layout_table_bytes(fresh), fresh->hash);
        if (tables) hier_layout_borrow(fresh, tables);
        if (tables) hier_count(in_space, 1);
        *entry = (entry_t){fresh, 0, entries};
        entries = entry;
    } else {
        hier_layout_destroy(fresh);
    }
    if (entry) entry->users++;
    pthread_mutex_unlock(&lock);
    return entry ? entry->layout : NULL;
}

void lucid_hier_layout_release(hier_layout_t *layout)
{
    if (!layout) return;
    pthread_mutex_lock(&lock);
    for (entry_t **link = &entries; *link; link = &(*link)->next) {
        entry_t *entry = *link;
        if (entry->layout != layout) continue;
        if (--entry->users == 0) {
            *link = entry->next;
            hier_layout_destroy(layout);
            free(entry);
        }
        break;
    }
    pthread_mutex_unlock(&lock);
}

static const ompi_proc_t *known_proc(ompi_communicator_t *comm, int rank)
{
    ompi_proc_t *proc = ompi_group_get_proc_ptr_raw(comm->c_local_group, rank);
    return proc && !ompi_proc_is_sentinel(proc) ? proc : NULL; /* processes of this node are never sentinels */
}

/* The number of a rank in this process's own job, or -1. */
static int job_rank(ompi_communicator_t *comm, int rank)
{
    opal_process_name_t name = ompi_group_get_proc_name(comm->c_local_group, rank);
    return name.jobid == OMPI_PROC_MY_NAME->jobid ? (int)name.vpid : -1;
}

bool lucid_hier_same_node(ompi_communicator_t *comm, int rank)
{
    if (lucid_hier.test_nodes)
        return lucid_hier_test_node(job_rank(comm, rank)) == lucid_hier_test_node(job_rank(comm, ompi_comm_rank(comm)));
    const ompi_proc_t *proc = known_proc(comm, rank);
    return rank == ompi_comm_rank(comm) || (proc && OPAL_PROC_ON_LOCAL_NODE(proc->super.proc_flags));
}

bool lucid_hier_same_socket(ompi_communicator_t *comm, int rank)
{
    if (lucid_hier.test_nodes) return lucid_hier_same_node(comm, rank);
    const ompi_proc_t *proc = known_proc(comm, rank);
    return rank == ompi_comm_rank(comm) || (proc && OPAL_PROC_ON_LOCAL_SOCKET(proc->super.proc_flags));
}

/* A process that is not bound is told no more of the others than that they are on its node. */
static bool knows_sockets(void)
{
    static atomic_int known; /* 0: not asked yet, else 1 more than the answer */
    if (lucid_hier.test_nodes) return true;
    if (known == 0) known = 1 + lucid_ompi_is_bound();
    return known == 2;
}

/* Which local ranks share a socket is known of pairs with this process only; ranks that are not on its own socket are
 * one group. On two sockets that is all there is to know; on more, the agreement finds that the ranks do not see the
 * same. */
static void add_sockets(ompi_communicator_t *comm, hier_layout_t *layout)
{
    if (!knows_sockets()) return;
    int node = layout->node_of[layout->rank], begin = layout->first[node], n = hier_node_size(layout, node);
    int *socket = malloc(sizeof *socket * (size_t)n);
    if (!socket) return;
    for (int i = 0; i < n; i++) socket[i] = lucid_hier_same_socket(comm, layout->member[begin + i]);
    (void)hier_layout_set_sockets(layout, socket);
    free(socket);
}

hier_layout_t *lucid_hier_layout(ompi_communicator_t *comm, const int *node, bool sockets)
{
    hier_layout_t *layout = hier_layout_create(node, ompi_comm_size(comm), ompi_comm_rank(comm));
    if (!layout) return NULL;
    if (sockets) add_sockets(comm, layout);
    return share(layout);
}

hier_layout_t *lucid_hier_predict(ompi_communicator_t *comm)
{
    int size = ompi_comm_size(comm), job_size;
    const int *map = lucid_hier_map(&job_size);
    int *node = map ? malloc(sizeof *node * (size_t)size) : NULL;
    if (!node) return NULL;
    bool all = true;
    for (int i = 0; i < size && all; i++) {
        int number = job_rank(comm, i);
        all = number >= 0 && number < job_size;
        if (all) node[i] = map[number];
    }
    hier_layout_t *layout = all ? lucid_hier_layout(comm, node, lucid_hier.sockets) : NULL;
    free(node);
    return layout;
}

/* ---- what has been agreed on ---------------------------------------------------------------------------------------- */

static uint64_t group_hash(ompi_communicator_t *comm)
{
    uint64_t hash = HIER_HASH_START;
    for (int i = 0; i < ompi_comm_size(comm); i++) {
        int number = job_rank(comm, i);
        hash = hier_hash(hash, &number, sizeof number);
    }
    return hash;
}

/* Threads may use communicators in different orders on different ranks, so then each communicator agrees for itself. */
static bool may_share(void)
{
    return !lucid_ompi_threads();
}

bool lucid_hier_is_agreed(ompi_communicator_t *comm)
{
    if (!may_share()) return false;
    if (job_agreed) return true;
    if (agreed_count == 0) return false;
    uint64_t hash = group_hash(comm);
    for (size_t i = 0; i < agreed_count; i++)
        if (agreed[i] == hash) return true;
    return false;
}

void lucid_hier_note_agreed(ompi_communicator_t *comm)
{
    if (!may_share() || job_agreed) return;
    if (ompi_comm_size(comm) == lucid_ompi_job_size()) {
        job_agreed = true; /* only ranks of this job are predicted */
        return;
    }
    if (agreed_count == agreed_capacity) {
        size_t more = agreed_capacity ? 2 * agreed_capacity : 16;
        uint64_t *grown = realloc(agreed, more * sizeof *grown);
        if (!grown) { /* the other ranks note it, and would wait for this one */
            fprintf(stderr, "lucid: error: coll/hier: no memory for %zu bytes; give the job more\n", more * sizeof *grown);
            abort();
        }
        agreed = grown;
        agreed_capacity = more;
    }
    agreed[agreed_count++] = group_hash(comm);
}

void lucid_hier_layouts_close(void)
{
    free(agreed);
    agreed = NULL;
    agreed_count = agreed_capacity = 0;
    job_agreed = false;
}
