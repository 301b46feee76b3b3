/* SPDX-License-Identifier: BSD-3-Clause
 * coll_sparse.h: component `sparse` of Open MPI's framework coll. It takes the reductions, hands each to the sparse core
 * (src/sparse), and calls the module below wherever the core leaves it to the library.
 */
#ifndef LUCID_COLL_SPARSE_H
#define LUCID_COLL_SPARSE_H

#include LUCID_COMPAT_HEADER

#include <pthread.h>
#include <stdatomic.h>

#include "ompi/mca/coll/base/coll_base_util.h"
#include "ompi/op/op.h"
#include "ompi/request/request.h"

#include "sparse_collective.h"
#include "sparse_short.h"

/* The slots of a communicator's table that are taken: blocking, nonblocking, persistent. */
#define COLL_SPARSE_SLOTS(X) \
    X(reduce) X(allreduce) X(reduce_scatter) X(reduce_scatter_block) X(scan) X(exscan) \
    X(ireduce) X(iallreduce) X(ireduce_scatter) X(ireduce_scatter_block) X(iscan) X(iexscan) \
    X(reduce_init) X(allreduce_init) X(reduce_scatter_init) X(reduce_scatter_block_init) X(scan_init) X(exscan_init)

/* What was in these slots before. */
struct coll_sparse_below {
#define COLL_SPARSE_FIELD(api)                                             \
    __typeof__(((mca_coll_base_comm_coll_t *)0)->coll_##api) coll_##api; \
    mca_coll_base_module_t *coll_##api##_module;
    COLL_SPARSE_SLOTS(COLL_SPARSE_FIELD)
#undef COLL_SPARSE_FIELD
};

/* A call that was left to the module below, as far as the next one can be told from it in a few steps. */
struct coll_sparse_unseen {
    const ompi_datatype_t *type; /* predefined, as the operator is: what a program makes may have the address of what it has freed. NULL: none */
    const ompi_op_t *op;
    size_t count;
    enum sparse_kind kind;
    unsigned left; /* so many more such calls are, of blocking ones */
};

/* One for each communicator. What calls read that are passed on comes first: they should not notice that there is anything between. */
typedef struct coll_sparse_module_t {
    mca_coll_base_module_t super;
    struct coll_sparse_unseen unseen; /* of the last blocking call; what is left the core has counted */
    struct coll_sparse_unseen brief_one; /* of the last one that was too short */
    uint64_t passed;    /* calls like these; those of a communicator come one behind the other */
    size_t short_bytes; /* of shorter vectors; 0: of none */
    int size;
    struct coll_sparse_below below;
    size_t short_begun; /* short_bytes of calls that are not blocking, by which nothing is found out */
    struct coll_sparse_unseen unseen_begun; /* of the last nonblocking call */
    struct coll_sparse_module_t *next, *before; /* all there are */
    ompi_communicator_t *comm;
    struct sparse_transport transport;
    struct sparse_state *state;
    struct sparse_parameters parameters; /* the same at all processes */
    struct sparse_short brief;           /* by which parameters.short_bytes is found out, in blocking calls */
    struct sparse_parameters plain;      /* as they were before the rates were measured */
    bool located;                        /* whether all are on one node has been looked at: it is in both */
    mca_coll_base_module_t *libnbc;      /* starts nonblocking calls late (coll_sparse_below.c), or NULL */
    int tags;                            /* the lowest of nonblocking calls' tags; 0: none yet */
    unsigned begun;                      /* nonblocking calls */
    atomic_uint left_behind;             /* requests of libnbc's that were made for one call and not started, and whose buffers it has lost */
    bool asks;                           /* that is too many: all calls from that turn on, ... */
    unsigned asks_from;                  /* ... are to be looked at */
    unsigned turns, created, turn;       /* those that take turns, that are created, and decided, under `lock` */
    bool measured;                       /* parameters.rates are this machine's; at all processes or at none */
    pthread_mutex_t lock;                /* of `state` */
} coll_sparse_module_t;
OBJ_CLASS_DECLARATION(coll_sparse_module_t);

/* A user's operator and datatype, kept alive by MPI while a call that has them runs. */
struct coll_sparse_user {
    ompi_op_t *op;
    ompi_datatype_t *type;
    size_t size;
};

/* A call as MPI has it. */
struct coll_sparse_call {
    enum sparse_kind kind;
    const void *input; /* may be MPI_IN_PLACE */
    void *output;
    size_t count;
    size_t *counts; /* Reduce_scatter; owned by who made the call */
    ompi_datatype_t *type;
    ompi_op_t *op;
    int root;
};

/* Process-wide figures (MPI_T performance variables), and the settings. */
struct coll_sparse_process {
    int priority;
    bool nonblocking; /* nonblocking and persistent calls, too */
    bool threads;     /* several may be in the library; there may be more by the time, and Open MPI's own word may be taken back */
    unsigned long long taken, passed, sent, saved;
    unsigned long long density[8]; /* calls by agreed density: below 0.01, 0.1, 1, 2, 5, 10, 50 % and above */
};
extern struct coll_sparse_process coll_sparse_process;

/* All that were passed on, of modules that are gone, too. Thread-safe. */
unsigned long long coll_sparse_all_passed(void);

extern __attribute__((visibility("default"))) const mca_coll_base_component_t mca_coll_sparse_component;

/* Fills in the parameters that the user has set, for the process and, by info key "lucid_sparse", for the communicator: words with
 * commas between them: off, always, dense, or an algorithm's name. False: off. */
bool coll_sparse_settings(ompi_communicator_t *comm, struct sparse_parameters *parameters);

mca_coll_base_module_t *coll_sparse_query(ompi_communicator_t *comm, int *priority);

/* Whether the core knows this pair; `user` must live as long as `operator`. */
bool coll_sparse_operator(ompi_op_t *op, ompi_datatype_t *type, struct coll_sparse_user *user, struct sparse_operator *operator);

/* A function of liblucid's, or NULL where the program has not loaded it: it may yet do so. */
void *coll_sparse_lucid(const char *name, _Atomic(void *) *found);
/* Tells liblucid, if it is there, that messages of these tags, the first being the lowest, belong to the call that the program makes. */
void coll_sparse_tell_tags(ompi_communicator_t *comm, int first, int count);
/* ... and that a rank reads so many bytes here in place of a message with this tag. */
void coll_sparse_tell_shown(void *comm, size_t bytes, int peer, int tag);

void coll_sparse_transport(ompi_communicator_t *comm, struct sparse_transport *transport);
/* Whether a message is complete. */
bool coll_sparse_arrived(const union sparse_request *request);

/* Gives all processes the rates of one (collective, blocking; the communicator's first call of some size). */
void coll_sparse_measure(coll_sparse_module_t *module);

/* A blocking call shorter than what is looked at. True: now that length is settled (collective). False: the call is the module below's, and
 * timed, and coll_sparse_passed() is to follow. */
bool coll_sparse_settle(coll_sparse_module_t *module, size_t bytes);

/* Finds out whether all processes are on one node, for calls that come before that. Without a message. */
void coll_sparse_locate(coll_sparse_module_t *module);

/* Runs a blocking call. COLL_SPARSE_PASS: it is the library's, nothing was touched. Else OMPI_SUCCESS or an error code. */
#define COLL_SPARSE_PASS 1
#define COLL_SPARSE_PASS_TIMED 2 /* the same, and coll_sparse_passed() is to follow */
int coll_sparse_run(coll_sparse_module_t *module, const struct coll_sparse_call *call);
/* The module below has run such a call. Returns `rc`, its answer. */
int coll_sparse_passed(coll_sparse_module_t *module, int rc);

/* Libnbc runs a call that was found to be dense: late, when its tags were reserved by the program's call, or in that (coll_sparse_below.c). */
enum { COLL_SPARSE_BELOW_TAGS = 1 };
void coll_sparse_below_look(coll_sparse_module_t *module);
struct sparse_library coll_sparse_below_known(const coll_sparse_module_t *module, enum sparse_kind kind, size_t bytes);
/* Starts it, or, if it lasts, makes a request that can be started again and again. `tag`: 0: the communicator's next. */
int coll_sparse_below_make(coll_sparse_module_t *module, const struct coll_sparse_call *call, bool lasts, int tag, ompi_request_t **request);
int coll_sparse_below_now(coll_sparse_module_t *module, const struct coll_sparse_call *call, ompi_request_t **request);

/* Begins (nonblocking) or prepares (persistent) a call; the same results. Takes the counts over if it is not passed on. */
int coll_sparse_begin(coll_sparse_module_t *module, const struct coll_sparse_call *call, bool persistent, ompi_request_t **request);
void coll_sparse_requests_close(void);

/* Elements of a call's whole vector. */
static inline size_t coll_sparse_elements(const coll_sparse_module_t *module, const struct coll_sparse_call *call)
{
    size_t count = call->counts ? 0 : call->count;
    if (call->kind != SPARSE_REDUCE_SCATTER) return count;
    for (int i = 0; call->counts && i < module->size; i++) count += call->counts[i];
    return call->counts ? count : count * (size_t)module->size;
}

/* Whether a vector of so many elements is shorter than `bytes`: most calls, and nothing more is done for them. */
static inline bool coll_sparse_short(size_t bytes, size_t elements, const ompi_datatype_t *type)
{
    ptrdiff_t lower, extent;
    if (elements >= bytes) return false;
    opal_datatype_get_extent(&type->super, &lower, &extent);
    return lower == 0 && extent >= 0 && (extent <= SPARSE_MAX_SIZE || elements == 0) && elements * (size_t)extent < bytes;
}

void coll_sparse_count_passed(void);

static inline bool coll_sparse_is(const struct coll_sparse_unseen *last, enum sparse_kind kind, size_t count, const ompi_datatype_t *type,
                                  const ompi_op_t *op)
{
    return type == last->type && count == last->count && op == last->op && kind == last->kind;
}

/* Whether a call is such as that one. */
static inline bool coll_sparse_same(const struct coll_sparse_unseen *last, const struct coll_sparse_call *call)
{
    return coll_sparse_is(last, call->kind, call->count, call->type, call->op) && !call->counts;
}

/* Makes it the one. */
void coll_sparse_note(struct coll_sparse_unseen *last, const struct coll_sparse_call *call, unsigned left);

/* Whether a blocking call is such as one of the last two that were left to the module below, and is left, too. Then it is counted: the figures may be
 * read meanwhile. This is what is between a program and the library where nothing can be gained, cold where other ranks share the processor: two
 * lines of the module, a few of code. */
static inline bool coll_sparse_again(coll_sparse_module_t *module, enum sparse_kind kind, size_t count, const ompi_datatype_t *type,
                                     const ompi_op_t *op)
{
    struct coll_sparse_unseen *last = coll_sparse_is(&module->unseen, kind, count, type, op)      ? &module->unseen
                                      : coll_sparse_is(&module->brief_one, kind, count, type, op) ? &module->brief_one : NULL;
    if (!last || last->left == 0) return false;
    last->left--;
    __atomic_store_n(&module->passed, module->passed + 1, __ATOMIC_RELAXED);
    return true;
}

/* Makes the core's description of a call. False: it is not for the core. */
bool coll_sparse_describe(coll_sparse_module_t *module, const struct coll_sparse_call *call, struct coll_sparse_user *user,
                          struct sparse_call *described);
/* The first of the SPARSE_TAGS tags of blocking calls: those of the library's own blocking reductions. Messages of a pair and a tag
 * stay in order, blocking collectives come in one order, and each returns with all its receives matched. Tags from the counter of
 * nonblocking ones would not be the same everywhere: MPI_Comm_idup draws from it whenever it makes progress. */
enum { COLL_SPARSE_TAG = MCA_COLL_BASE_TAG_REDUCE - SPARSE_TAGS + 1 };
_Static_assert(COLL_SPARSE_TAG >= MCA_COLL_BASE_TAG_SCAN, "REDUCE, REDUCE_SCATTER, REDUCE_SCATTER_BLOCK and SCAN follow each other");

/* What became of a call, for the figures; says on the way what went wrong. Returns OMPI_SUCCESS or an error code. */
int coll_sparse_account(coll_sparse_module_t *module, const struct sparse_collective *run, enum sparse_status status);

/* The functions of the slots. */
void coll_sparse_install(mca_coll_base_module_t *super);

#endif
