/* SPDX-License-Identifier: BSD-3-Clause
 * pml_library.c: the MPI library's own communicators and requests, and its collective modules.
 */
#include "pml_source.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Communicators of windows. osc/pt2pt sends its data over them with user tags, after they have been booked as one-sided. */
struct set {
    const void **item;
    size_t n, capacity;
};
static struct set owned, before;
_Atomic size_t lucid_pml_library_count;

static bool contains(const struct set *set, const void *item)
{
    for (size_t i = 0; i < set->n; i++)
        if (set->item[i] == item) return true;
    return false;
}

static void insert(struct set *set, const void *item)
{
    if (set->n == set->capacity) {
        size_t more = set->capacity ? set->capacity * 2 : 16;
        const void **grown = realloc(set->item, more * sizeof *grown);
        if (!grown) return;
        set->item = grown;
        set->capacity = more;
    }
    set->item[set->n++] = item;
}

static void read_living(struct set *set)
{
    int n = opal_pointer_array_get_size(&ompi_mpi_communicators);
    set->n = 0;
    for (int i = 0; i < n; i++) {
        const void *comm = opal_pointer_array_get_item(&ompi_mpi_communicators, i);
        if (comm) insert(set, comm);
    }
}

void lucid_pml_library_begin(void)
{
    pthread_mutex_lock(&lock);
    read_living(&before);
    pthread_mutex_unlock(&lock);
}

void lucid_pml_library_end(void)
{
    struct set now = {0};
    pthread_mutex_lock(&lock);
    read_living(&now);
    size_t kept = 0;
    for (size_t i = 0; i < owned.n; i++)
        if (contains(&now, owned.item[i])) owned.item[kept++] = owned.item[i];
    owned.n = kept;
    for (size_t i = 0; i < now.n; i++)
        if (!contains(&before, now.item[i])) insert(&owned, now.item[i]);
    atomic_store_explicit(&lucid_pml_library_count, owned.n, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
    free(now.item);
}

bool lucid_pml_is_library(const ompi_communicator_t *comm)
{
    if (LUCID_LIKELY(atomic_load_explicit(&lucid_pml_library_count, memory_order_relaxed) == 0)) return false;
    pthread_mutex_lock(&lock);
    bool found = contains(&owned, comm);
    pthread_mutex_unlock(&lock);
    return found;
}

/* Requests between isend_init and start: a handful, within one collective call. */
struct pending {
    const void *request;
    uint32_t key;
    uint64_t bytes;
};
static struct pending *pending;
static size_t pending_count, pending_capacity;
static _Atomic bool any_pending;
static pthread_mutex_t pending_lock = PTHREAD_MUTEX_INITIALIZER;

void lucid_pml_remember_request(const void *request, uint32_t key, uint64_t bytes)
{
    pthread_mutex_lock(&pending_lock);
    if (pending_count == pending_capacity) {
        size_t more = pending_capacity ? pending_capacity * 2 : 64;
        struct pending *grown = realloc(pending, more * sizeof *grown);
        if (grown) {
            pending = grown;
            pending_capacity = more;
        }
    }
    if (pending_count < pending_capacity) pending[pending_count++] = (struct pending){request, key, bytes};
    atomic_store_explicit(&any_pending, pending_count > 0, memory_order_relaxed);
    pthread_mutex_unlock(&pending_lock);
}

bool lucid_pml_take_request(const void *request, uint32_t *key, uint64_t *bytes)
{
    bool found = false;
    if (!atomic_load_explicit(&any_pending, memory_order_relaxed)) return false;
    pthread_mutex_lock(&pending_lock);
    for (size_t i = 0; i < pending_count && !found; i++) {
        if (pending[i].request != request) continue;
        found = true;
        *key = pending[i].key;
        *bytes = pending[i].bytes;
        pending[i] = pending[--pending_count];
    }
    atomic_store_explicit(&any_pending, pending_count > 0, memory_order_relaxed);
    pthread_mutex_unlock(&pending_lock);
    return found;
}

/** Whether a coll component moves data by other means than the PML. */
static bool bypasses_pml(const char *component)
{
    static const char *const names[] = {"sm", "xhc", "acoll", "ucc", "hcoll", "fca", "portals4", "smdirect", "shmem"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(component, names[i]) == 0) return true;
    return false;
}

static void append(char *text, size_t size, const char *word, const char *before_first)
{
    size_t n = strlen(text);
    snprintf(text + n, size - n, "%s%s", n ? ", " : before_first, word);
}

/** The names of the common collectives of comm that `module` serves. */
static void served_by(const ompi_communicator_t *comm, const mca_coll_base_module_t *module, char *text, size_t size)
{
    const struct {
        const char *name;
        const mca_coll_base_module_t *module;
    } calls[] = {
        {"barrier", comm->c_coll->coll_barrier_module},     {"bcast", comm->c_coll->coll_bcast_module},
        {"reduce", comm->c_coll->coll_reduce_module},       {"allreduce", comm->c_coll->coll_allreduce_module},
        {"gather", comm->c_coll->coll_gather_module},       {"scatter", comm->c_coll->coll_scatter_module},
        {"allgather", comm->c_coll->coll_allgather_module}, {"alltoall", comm->c_coll->coll_alltoall_module},
        {"alltoallv", comm->c_coll->coll_alltoallv_module}, {"reduce_scatter", comm->c_coll->coll_reduce_scatter_module},
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i].module == module) append(text, size, calls[i].name, "");
}

void lucid_pml_blind(ompi_communicator_t *comm, char *text, size_t size)
{
    mca_coll_base_avail_coll_t *entry;
    text[0] = '\0';
    if (!comm->c_coll || !comm->c_coll->module_list) return;
    OPAL_LIST_FOREACH(entry, comm->c_coll->module_list, mca_coll_base_avail_coll_t) {
        char calls[256] = "", line[320];
        if (!bypasses_pml(entry->ac_component_name)) continue;
        served_by(comm, entry->ac_module, calls, sizeof calls);
        if (!calls[0]) continue;
        snprintf(line, sizeof line, "coll/%s serves %s of %s: messages that bypass the PML are not seen", entry->ac_component_name,
                 calls, comm->c_name);
        append(text, size, line, "");
    }
}
