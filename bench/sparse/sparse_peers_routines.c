/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_peers_routines.c: how each routine is reached: PMPI_ is the library's own, MPI_ comes to the preloaded liblucid; MPICH's
 * algorithms are forced by control variables, which it reads at every call; Lucid's dense twin is a second copy of liblucid, loaded
 * with other parameters.
 */
#define _GNU_SOURCE /* RTLD_DEFAULT, RTLD_DEEPBIND */
#include "sparse_peers.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lucid_sparse.h>

#define INTRA(CALL) "MPIR_CVAR_" CALL "_INTRA_ALGORITHM"
#define POSIX(CALL) "MPIR_CVAR_" CALL "_POSIX_INTRA_ALGORITHM"

const struct peer_routine peer_routines[] = {
    {"library", PEER_LIBRARY, PEER_CALLS, NULL, NULL},
    {"reduce_scatter_gather", PEER_FORCED, PEER_REDUCE, INTRA("REDUCE"), "reduce_scatter_gather"},
    {"circ_graph", PEER_FORCED, PEER_REDUCE, INTRA("REDUCE"), "circ_graph"},
    {"binomial", PEER_FORCED, PEER_REDUCE, INTRA("REDUCE"), "binomial"},
    {"reduce_scatter_allgather", PEER_FORCED, PEER_ALLREDUCE, INTRA("ALLREDUCE"), "reduce_scatter_allgather"},
    {"ring", PEER_FORCED, PEER_ALLREDUCE, INTRA("ALLREDUCE"), "ring"},
    {"release_gather", PEER_FORCED, PEER_ALLREDUCE, POSIX("ALLREDUCE"), "release_gather"},
    {"recursive_halving", PEER_FORCED, PEER_SCATTER, INTRA("REDUCE_SCATTER_BLOCK"), "recursive_halving"},
    {"pairwise", PEER_FORCED, PEER_SCATTER, INTRA("REDUCE_SCATTER_BLOCK"), "pairwise"},
    {"circulant", PEER_CIRCULANT, PEER_REDUCE, NULL, NULL},
    {"twin", PEER_TWIN, PEER_CALLS, NULL, NULL},
    {"lucid", PEER_LUCID, PEER_CALLS, NULL, NULL},
};
const int peer_routine_count = sizeof peer_routines / sizeof *peer_routines;

/* A liblucid's functions. */
typedef void figures_function(lucid_sparse_figures_t *);
typedef int reduce_function(const void *, void *, int, MPI_Datatype, MPI_Op, int, MPI_Comm);
typedef int allreduce_function(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
typedef const void *params_function(void);

static struct library {
    figures_function *figures;
    reduce_function *reduce;
    allreduce_function *allreduce, *scatter; /* the same arguments */
} preloaded, twin;

static void *symbol(void *handle, const char *name)
{
    void *found = dlsym(handle, name);
    if (!found) {
        fprintf(stderr, "sparse_peers: no %s: LD_PRELOAD must name the liblucid of this MPI library\n", name);
        PMPI_Abort(MPI_COMM_WORLD, 2);
    }
    return found;
}

/* Its parameters are read now. */
static void bind(struct library *library, void *handle)
{
    void *params;
    *(void **)&library->figures = symbol(handle, "lucid_sparse_get_figures");
    *(void **)&library->reduce = symbol(handle, "MPI_Reduce");
    *(void **)&library->allreduce = symbol(handle, "MPI_Allreduce");
    *(void **)&library->scatter = symbol(handle, "MPI_Reduce_scatter_block");
    *(void **)&params = symbol(handle, "lucid_params");
    (void)(*(params_function **)&params)();
}

void peer_open_twin(const char *path)
{
    bind(&preloaded, RTLD_DEFAULT);
    setenv("LUCID_SPARSE_ALWAYS", "1", 1);
    setenv("LUCID_SPARSE_DENSE", "1", 1);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (handle) bind(&twin, handle);
    else fprintf(stderr, "sparse_peers: no dense twin: %s\n", dlerror());
    unsetenv("LUCID_SPARSE_ALWAYS");
    unsetenv("LUCID_SPARSE_DENSE");
}

enum { TEXT = 8192 };

/* The number of an enumeration's word: they are described in their order, a line each, "word - meaning". */
static int number_of(const char *description, const char *word)
{
    int number = 0;
    char found[64];
    for (const char *line = strchr(description, '\n'); line; line = strchr(line + 1, '\n')) {
        int length = 0;
        if (sscanf(line, " %63[a-z0-9_]%*[ ]-%n", found, &length) != 1 || length == 0) continue;
        if (strcmp(found, word) == 0) return number;
        number++;
    }
    return -1;
}

/* Sets a control variable; false where the library does not have it, or not this word. NULL: back to what it was at first. */
static bool set(const char *name, const char *word)
{
    static struct { const char *name; int first; } kept[16];
    static char description[TEXT];
    int index, count, verbosity, binding, scope, number, length = TEXT, none = 0, k = 0;
    MPI_Datatype type;
    MPI_T_enum words;
    MPI_T_cvar_handle handle;
    if (MPI_T_cvar_get_index(name, &index) != MPI_SUCCESS) return false;
    if (MPI_T_cvar_get_info(index, NULL, &none, &verbosity, &type, &words, description, &length, &binding, &scope) != MPI_SUCCESS ||
        MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) != MPI_SUCCESS)
        return false;
    while (k < 15 && kept[k].name && strcmp(kept[k].name, name)) k++;
    if (!kept[k].name) {
        kept[k].name = name;
        MPI_T_cvar_read(handle, &kept[k].first);
    }
    number = word ? number_of(description, word) : kept[k].first;
    if (number >= 0) MPI_T_cvar_write(handle, &number);
    MPI_T_cvar_handle_free(&handle);
    return number >= 0;
}

/* release_gather is the device's, below its composition of levels; all others are above the device, which must be kept out. A
 * forced algorithm that cannot be is an error, and nothing else is taken instead. */
static bool force(const struct peer_routine *routine, bool on)
{
    bool device = strstr(routine->variable, "_POSIX_") != NULL;
    return set(routine->variable, on ? routine->word : NULL) && set("MPIR_CVAR_COLLECTIVE_FALLBACK", on ? "error" : NULL) &&
           (device || set("MPIR_CVAR_DEVICE_COLLECTIVES", on ? "none" : NULL));
}

void peer_select(const struct peer_routine *routine)
{
    if (routine->way == PEER_FORCED) (void)force(routine, true);
}

void peer_select_default(const struct peer_routine *routine)
{
    if (routine->way == PEER_FORCED) (void)force(routine, false);
}

bool peer_there(const struct peer_routine *routine, int kind)
{
    if (routine->kind != PEER_CALLS && routine->kind != kind) return false;
    if (routine->way == PEER_TWIN) return twin.reduce != NULL;
    if (routine->way != PEER_FORCED) return true;
    if (getenv(routine->variable)) return false; /* the user's own choice, for all that is the library's */
    bool there = force(routine, true);
    peer_select_default(routine);
    return there;
}

int peer_run(const struct peer_routine *routine, const struct peer_call *c)
{
    const struct library own = {NULL, PMPI_Reduce, PMPI_Allreduce, PMPI_Reduce_scatter_block};
    const struct library *by = routine->way == PEER_LUCID ? &preloaded : routine->way == PEER_TWIN ? &twin : &own;
    int size;
    if (routine->way == PEER_CIRCULANT) return peer_circulant(c);
    if (c->kind == PEER_REDUCE) return by->reduce(c->in, c->out, c->count, c->type, c->op, 0, c->comm);
    if (c->kind == PEER_ALLREDUCE) return by->allreduce(c->in, c->out, c->count, c->type, c->op, c->comm);
    PMPI_Comm_size(c->comm, &size);
    return by->scatter(c->in, c->out, c->count / size, c->type, c->op, c->comm);
}

unsigned long long peer_taken(const struct peer_routine *routine)
{
    lucid_sparse_figures_t figures = {0};
    if (routine->way == PEER_LUCID) preloaded.figures(&figures);
    if (routine->way == PEER_TWIN) twin.figures(&figures);
    return figures.taken;
}
