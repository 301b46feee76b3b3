/* SPDX-License-Identifier: BSD-3-Clause
 * coll_sparse_module.c: one communicator's module: what it keeps of the modules below, and what it knows of the machine.
 */
#include "coll_sparse.h"

#include <string.h>

#include "opal/runtime/opal_progress.h"

static struct {
    pthread_mutex_t lock;
    coll_sparse_module_t *first;
} modules = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void enlist(coll_sparse_module_t *module)
{
    pthread_mutex_lock(&modules.lock);
    module->before = NULL;
    module->next = modules.first;
    if (modules.first) modules.first->before = module;
    modules.first = module;
    pthread_mutex_unlock(&modules.lock);
}

/* Its figures stay. */
static void delist(coll_sparse_module_t *module)
{
    pthread_mutex_lock(&modules.lock);
    if (module->before) module->before->next = module->next;
    else modules.first = module->next;
    if (module->next) module->next->before = module->before;
    __atomic_fetch_add(&coll_sparse_process.passed, module->passed, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&modules.lock);
}

unsigned long long coll_sparse_all_passed(void)
{
    pthread_mutex_lock(&modules.lock);
    unsigned long long all = __atomic_load_n(&coll_sparse_process.passed, __ATOMIC_RELAXED);
    for (const coll_sparse_module_t *m = modules.first; m; m = m->next) all += __atomic_load_n(&m->passed, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&modules.lock);
    return all;
}

static void module_construct(coll_sparse_module_t *module)
{
    memset(&module->below, 0, sizeof module->below);
    module->comm = NULL;
    module->state = NULL;
    module->measured = module->located = false;
    module->tags = 0;
    module->begun = 0;
    atomic_init(&module->left_behind, 0);
    module->asks = false;
    module->asks_from = 0;
    module->turns = module->created = module->turn = 0;
    module->unseen = module->brief_one = module->unseen_begun = (struct coll_sparse_unseen){0};
    module->brief = (struct sparse_short){0};
    pthread_mutex_init(&module->lock, NULL);
    module->passed = 0;
    enlist(module);
}

static void module_destruct(coll_sparse_module_t *module)
{
    delist(module);
#define LET_GO(api) if (module->below.coll_##api##_module) OBJ_RELEASE(module->below.coll_##api##_module);
    COLL_SPARSE_SLOTS(LET_GO)
#undef LET_GO
    sparse_state_destroy(module->state);
    pthread_mutex_destroy(&module->lock);
}

OBJ_CLASS_INSTANCE(coll_sparse_module_t, mca_coll_base_module_t, module_construct, module_destruct);

/* Every slot needs a routine below it to pass calls on to; where one is missing, the communicator goes without this module. */
static bool complete(const mca_coll_base_comm_coll_t *table)
{
#define HAS(api) && table->coll_##api
    return true COLL_SPARSE_SLOTS(HAS);
#undef HAS
}

static int enable(mca_coll_base_module_t *super, ompi_communicator_t *comm)
{
    coll_sparse_module_t *module = (coll_sparse_module_t *)super;
    if (!complete(comm->c_coll)) return OMPI_ERR_NOT_FOUND;
    module->state = sparse_state_create();
    if (!module->state) return OMPI_ERR_OUT_OF_RESOURCE;
    module->comm = comm;
    module->size = ompi_comm_size(comm);
    module->short_bytes = module->short_begun = module->parameters.always ? 0 : module->parameters.short_bytes;
    if (sparse_short_unsettled(&module->brief, &module->parameters, SPARSE_SHORT_LEAST)) module->short_bytes = SPARSE_SHORT_LEAST;
    coll_sparse_transport(comm, &module->transport);
#define TAKE(api) LUCID_OMPI_COLL_TAKE(comm, &module->below, super, api);
    COLL_SPARSE_SLOTS(TAKE)
#undef TAKE
    coll_sparse_below_look(module);
    return OMPI_SUCCESS;
}

static int disable(mca_coll_base_module_t *super, ompi_communicator_t *comm)
{
    coll_sparse_module_t *module = (coll_sparse_module_t *)super;
    (void)module; /* where there is nothing to give back */
#define GIVE_BACK(api) LUCID_OMPI_COLL_GIVE_BACK(comm, &module->below, super, api);
    COLL_SPARSE_SLOTS(GIVE_BACK)
#undef GIVE_BACK
    return OMPI_SUCCESS;
}

mca_coll_base_module_t *coll_sparse_query(ompi_communicator_t *comm, int *priority)
{
    if (coll_sparse_process.priority <= 0 || OMPI_COMM_IS_INTER(comm) || ompi_comm_size(comm) < 2) return NULL;
    coll_sparse_module_t *module = OBJ_NEW(coll_sparse_module_t);
    if (!module) return NULL;
    if (!coll_sparse_settings(comm, &module->parameters)) {
        OBJ_RELEASE(module);
        return NULL;
    }
    module->plain = module->parameters;
    coll_sparse_process.threads |= lucid_ompi_threads();
    *priority = coll_sparse_process.priority;
    module->super.coll_module_enable = enable;
    module->super.coll_module_disable = disable;
    coll_sparse_install(&module->super);
    return &module->super;
}
