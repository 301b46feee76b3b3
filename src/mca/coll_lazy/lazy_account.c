/* SPDX-License-Identifier: BSD-3-Clause
 * lazy_account.c: see lazy_account.h.
 *
 * Costs are differences over a window: a call that creates a communicator, or the first operation on one. Windows of a thread nest
 * (the parent's first operation within a child's creation); what an inner one costs is not the outer one's, unless the outer one
 * is a first operation: what han's sub-communicators cost belongs to the operation for which they are made. The books lie in memory
 * of their own, so that they are not part of what they count.
 */
#include "lazy_account.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "../../core/log.h"
#include "../../core/params.h"
#include "lazy_meter.h"

#define RECORDS_LIMIT (1u << 16)
#define DEPTH 8

struct entry {
    const ompi_communicator_t *comm; /* NULL: it has been freed */
    mca_coll_base_comm_coll_t *aside;
    uint32_t next_same, next_living; /* chains of the two tables, index + 1 */
};

struct books {
    struct lucid_startup_record record[RECORDS_LIMIT];
    struct entry entry[RECORDS_LIMIT];
    uint32_t same[RECORDS_LIMIT], living[RECORDS_LIMIT]; /* by group and number; by address */
    uint32_t n;
};

struct window {
    struct lucid_startup_cost begin, inner;
    const char *call;             /* NULL: a first operation */
    uint32_t made;                /* index + 1 of the last communicator made in it */
};

static struct books *books;
static bool closed;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local struct window window[DEPTH];
static _Thread_local int depth;

static void open_window(const char *call)
{
    if (depth++ >= DEPTH) return;
    struct window *one = &window[depth - 1];
    memset(one, 0, sizeof *one);
    one->call = call;
    lucid_meter_read(&one->begin);
}

/** Ends the innermost window. False if it was not measured. */
static bool close_window(struct lucid_startup_cost *cost, uint32_t *made)
{
    struct lucid_startup_cost end;
    if (--depth >= DEPTH) return false;
    struct window *one = &window[depth];
    lucid_meter_read(&end);
    memset(cost, 0, sizeof *cost);
    lucid_meter_add(cost, &one->begin, &end, 1);
    if (depth > 0 && window[depth - 1].call != NULL) lucid_meter_add(&window[depth - 1].inner, &one->begin, &end, 1);
    const struct lucid_startup_cost zero = {0};
    lucid_meter_add(cost, &zero, &one->inner, -1);
    *made = one->made;
    return true;
}

static uint32_t hash_of_address(const void *address)
{
    return (uint32_t)(((uintptr_t)address >> 4) * 2654435761u) % RECORDS_LIMIT;
}

/** Index + 1 of a living communicator's record, 0 if it has none. The lock is held. */
static uint32_t find(const ompi_communicator_t *comm)
{
    uint32_t index = books->living[hash_of_address(comm)];
    while (index != 0 && books->entry[index - 1].comm != comm) index = books->entry[index - 1].next_living;
    return index;
}

static uint64_t hash_of_group(ompi_group_t *group)
{
    uint64_t hash = 14695981039346656037u;
    for (int i = 0; i < group->grp_proc_count; i++) {
        opal_process_name_t name = ompi_group_get_proc_name(group, i);
        hash = (hash ^ name.vpid ^ (uint64_t)name.jobid << 32) * 1099511628211u;
    }
    return hash;
}

static void begin_creation(const char *call)
{
    if (!closed) open_window(call);
}

static void end_creation(void)
{
    struct lucid_startup_cost cost;
    uint32_t made = 0;
    if (depth > 0 && close_window(&cost, &made) && made != 0 && !closed) books->record[made - 1].creation = cost;
}

static const char *layer(void)
{
    static const char *const names[] = {"off", "delay", "share"};
    return names[lucid_lazy.level];
}

static void take_name(struct lucid_startup_record *record, const ompi_communicator_t *comm)
{
    snprintf(record->name, sizeof record->name, "%s", comm->c_name);
}

static size_t records(const struct lucid_startup_record **all)
{
    for (uint32_t i = 0; i < books->n; i++)
        if (books->entry[i].comm != NULL) take_name(&books->record[i], books->entry[i].comm);
    closed = true;
    *all = books->record;
    return books->n;
}

static const struct lucid_startup_source source = {
    .version = LUCID_STARTUP_VERSION, .layer = layer, .begin = begin_creation, .end = end_creation, .records = records};

bool lucid_account_wanted(void)
{
    return lucid_params()->startup && lucid_params()->dir[0];
}

void lucid_account_open(void)
{
    void (*attach)(const struct lucid_startup_source *) = (void (*)(const struct lucid_startup_source *))(uintptr_t)dlsym(
        RTLD_DEFAULT, "lucid_startup_attach");
    if (!lucid_account_wanted() || attach == NULL) return;
    void *memory = mmap(NULL, sizeof *books, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return;
    books = memory;
    lucid_meter_open();
    attach(&source);
}

void lucid_account_close(void)
{
    if (books == NULL) return;
    lucid_meter_close();
    closed = true; /* the books stay: liblucid may still look at them */
}

/** Chains a record into both tables, and finds out how often its group has had its number. */
static void chain(uint32_t index, const ompi_communicator_t *comm)
{
    struct lucid_startup_record *record = &books->record[index];
    struct entry *entry = &books->entry[index];
    uint32_t *same = &books->same[(record->group ^ record->number * 2654435761u) % RECORDS_LIMIT];
    uint32_t *living = &books->living[hash_of_address(comm)];
    for (uint32_t i = *same; i != 0; i = books->entry[i - 1].next_same) {
        const struct lucid_startup_record *other = &books->record[i - 1];
        if (other->group != record->group || other->number != record->number) continue;
        record->occurrence = other->occurrence + 1;
        break;
    }
    entry->next_same = *same;
    *same = index + 1;
    entry->comm = comm;
    entry->next_living = *living;
    *living = index + 1;
}

/** By which call: the innermost creation's, unless a first operation within it makes communicators for itself. */
static const char *creator(const ompi_communicator_t *comm)
{
    if (comm == &ompi_mpi_comm_world.comm || comm == &ompi_mpi_comm_self.comm) return "MPI_Init";
    if (depth == 0 || depth > DEPTH || window[depth - 1].call == NULL) return "";
    return window[depth - 1].call;
}

static const char *server(ompi_communicator_t *comm)
{
    mca_coll_base_avail_coll_t *listed;
    OPAL_LIST_FOREACH(listed, lucid_lazy_modules(comm), mca_coll_base_avail_coll_t) {
        if (listed->ac_module == comm->c_coll->coll_allreduce_module) return listed->ac_component_name;
    }
    return "";
}

/** Makes a record. The lock is held. */
static void enter(ompi_communicator_t *comm, mca_coll_base_comm_coll_t *aside)
{
    uint32_t index = books->n++;
    struct lucid_startup_record *record = &books->record[index];
    record->group = hash_of_group(comm->c_local_group);
    record->number = lucid_ompi_comm_number(comm);
    record->size = ompi_comm_size(comm);
    record->state = lazy_is_waiting(comm) && aside == NULL ? LUCID_STARTUP_WAITING : LUCID_STARTUP_OWN;
    take_name(record, comm);
    snprintf(record->created_by, sizeof record->created_by, "%s", creator(comm));
    if (!lazy_is_waiting(comm)) snprintf(record->module, sizeof record->module, "%s", server(comm));
    books->entry[index].aside = aside;
    chain(index, comm);
    if (depth > 0 && depth <= DEPTH && window[depth - 1].call != NULL) window[depth - 1].made = index + 1;
}

bool lucid_account_created(ompi_communicator_t *comm, mca_coll_base_comm_coll_t *aside)
{
    if (books == NULL || closed) return false;
    (void)pthread_mutex_lock(&lock);
    bool room = books->n < RECORDS_LIMIT;
    if (room) enter(comm, aside);
    (void)pthread_mutex_unlock(&lock);
    return room;
}

mca_coll_base_comm_coll_t *lucid_account_aside(ompi_communicator_t *comm)
{
    mca_coll_base_comm_coll_t *aside = NULL;
    if (books == NULL) return NULL;
    (void)pthread_mutex_lock(&lock);
    uint32_t index = find(comm);
    if (index != 0) {
        aside = books->entry[index - 1].aside;
        books->entry[index - 1].aside = NULL;
    }
    (void)pthread_mutex_unlock(&lock);
    return aside;
}

void lucid_account_ready(ompi_communicator_t *comm, int slot, bool shared)
{
    if (books == NULL || closed) return;
    (void)pthread_mutex_lock(&lock);
    uint32_t index = find(comm);
    if (index != 0) {
        struct lucid_startup_record *record = &books->record[index - 1];
        record->state = shared ? LUCID_STARTUP_SHARED : LUCID_STARTUP_OWN;
        snprintf(record->used_by, sizeof record->used_by, "%s", lucid_lazy_slots[slot].name);
        snprintf(record->module, sizeof record->module, "%s", server(comm));
    }
    (void)pthread_mutex_unlock(&lock);
}

void lucid_account_freed(ompi_communicator_t *comm)
{
    if (books == NULL) return;
    (void)pthread_mutex_lock(&lock);
    uint32_t index = find(comm);
    if (index != 0) {
        if (!closed) take_name(&books->record[index - 1], comm);
        if (!closed) books->record[index - 1].freed = 1;
        books->entry[index - 1].comm = NULL;
    }
    (void)pthread_mutex_unlock(&lock);
}

void lucid_account_use_begin(ompi_communicator_t *comm, struct lazy_use *use)
{
    if (books == NULL || closed) return;
    (void)pthread_mutex_lock(&lock);
    uint32_t index = find(comm);
    (void)pthread_mutex_unlock(&lock);
    if (index == 0) return;
    use->record = &books->record[index - 1];
    open_window(NULL);
}

void lucid_account_use_end(ompi_communicator_t *comm, struct lazy_use *use)
{
    struct lucid_startup_cost cost;
    uint32_t made;
    if (use->record != NULL && close_window(&cost, &made)) ((struct lucid_startup_record *)use->record)->use = cost;
}
