/* SPDX-License-Identifier: BSD-3-Clause
 * world_rank.c: ranks of MPI_COMM_WORLD for the ranks of communicators and windows.
 *
 * A translation costs O(size) in the MPI library, so it is made once for each peer and kept in a table that hangs on
 * the communicator or window as an attribute and goes with it. Untouched pages of a table cost nothing, so its memory
 * follows the peers, too. (Comparing groups to find those equal to MPI_COMM_WORLD's would cost O(size^2) in some
 * libraries.)
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "../core/counters.h"
#include "../core/log.h"
#include "calls.h"

#define NOT_YET 0 /* else the world rank + 1 */

struct table {
    MPI_Group group;
    int size;
    _Atomic uint32_t world_plus_one[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* making keyvals and tables */
static atomic_int comm_keyval = MPI_KEYVAL_INVALID;
static atomic_int win_keyval = MPI_KEYVAL_INVALID;

static void delete_table(struct table *table)
{
    int finalized = 0;
    PMPI_Finalized(&finalized);
    if (!finalized) PMPI_Group_free(&table->group);
    free(table);
}

static int on_comm_free(MPI_Comm comm, int keyval, void *value, void *extra)
{
    delete_table(value);
    return MPI_SUCCESS;
}

static int on_win_free(MPI_Win win, int keyval, void *value, void *extra)
{
    delete_table(value);
    return MPI_SUCCESS;
}

/* Takes over the group. */
static struct table *make_table(MPI_Group group)
{
    int size = 0;
    PMPI_Group_size(group, &size);
    struct table *table = calloc(1, sizeof *table + (size_t)size * sizeof table->world_plus_one[0]);
    if (table == NULL) {
        lucid_error("out of memory: messages over a communicator of %d processes are booked as going outside", size);
        PMPI_Group_free(&group);
        return NULL;
    }
    table->size = size;
    table->group = group;
    return table;
}

static uint32_t ask_library(MPI_Group group, int rank)
{
    MPI_Group world;
    int result = MPI_UNDEFINED;
    if (PMPI_Comm_group(MPI_COMM_WORLD, &world) != MPI_SUCCESS) return LUCID_PEER_OUTSIDE;
    PMPI_Group_translate_ranks(group, 1, &rank, world, &result);
    PMPI_Group_free(&world);
    return result < 0 ? LUCID_PEER_OUTSIDE : (uint32_t)result; /* MPI_UNDEFINED is negative */
}

static uint32_t look_up(struct table *table, int rank)
{
    if (table == NULL || rank < 0 || rank >= table->size) return LUCID_PEER_OUTSIDE;
    uint32_t entry = atomic_load_explicit(&table->world_plus_one[rank], memory_order_relaxed);
    if (entry == NOT_YET) {
        entry = ask_library(table->group, rank) + 1;
        atomic_store_explicit(&table->world_plus_one[rank], entry, memory_order_relaxed);
    }
    return entry - 1;
}

static struct table *find_comm_table(MPI_Comm comm)
{
    struct table *table = NULL;
    int found = 0;
    const int keyval = atomic_load_explicit(&comm_keyval, memory_order_acquire);
    if (keyval == MPI_KEYVAL_INVALID) return NULL;
    PMPI_Comm_get_attr(comm, keyval, &table, &found);
    return found ? table : NULL;
}

static struct table *make_comm_table(MPI_Comm comm)
{
    MPI_Group group;
    int inter = 0, keyval = comm_keyval;
    if (keyval == MPI_KEYVAL_INVALID) {
        if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_comm_free, &keyval, NULL) != MPI_SUCCESS) return NULL;
        atomic_store_explicit(&comm_keyval, keyval, memory_order_release);
    }
    PMPI_Comm_test_inter(comm, &inter);
    if ((inter ? PMPI_Comm_remote_group(comm, &group) : PMPI_Comm_group(comm, &group)) != MPI_SUCCESS) return NULL;
    struct table *table = make_table(group);
    if (table != NULL) PMPI_Comm_set_attr(comm, keyval, table);
    return table;
}

uint32_t lucid_world_rank(MPI_Comm comm, int rank)
{
    if (comm == MPI_COMM_WORLD) return rank < 0 ? LUCID_PEER_OUTSIDE : (uint32_t)rank;
    struct table *table = find_comm_table(comm);
    if (LUCID_UNLIKELY(table == NULL)) {
        pthread_mutex_lock(&lock);
        table = find_comm_table(comm);
        if (table == NULL) table = make_comm_table(comm);
        pthread_mutex_unlock(&lock);
    }
    return look_up(table, rank);
}

static struct table *find_win_table(MPI_Win win)
{
    struct table *table = NULL;
    int found = 0;
    const int keyval = atomic_load_explicit(&win_keyval, memory_order_acquire);
    if (keyval == MPI_KEYVAL_INVALID) return NULL;
    PMPI_Win_get_attr(win, keyval, &table, &found);
    return found ? table : NULL;
}

static struct table *make_win_table(MPI_Win win)
{
    MPI_Group group;
    int keyval = win_keyval;
    if (keyval == MPI_KEYVAL_INVALID) {
        if (PMPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_win_free, &keyval, NULL) != MPI_SUCCESS) return NULL;
        atomic_store_explicit(&win_keyval, keyval, memory_order_release);
    }
    if (PMPI_Win_get_group(win, &group) != MPI_SUCCESS) return NULL;
    struct table *table = make_table(group);
    if (table != NULL) PMPI_Win_set_attr(win, keyval, table);
    return table;
}

uint32_t lucid_world_rank_win(MPI_Win win, int rank)
{
    struct table *table = find_win_table(win);
    if (LUCID_UNLIKELY(table == NULL)) {
        pthread_mutex_lock(&lock);
        table = find_win_table(win);
        if (table == NULL) table = make_win_table(win);
        pthread_mutex_unlock(&lock);
    }
    return look_up(table, rank);
}
