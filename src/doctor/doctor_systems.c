/* SPDX-License-Identifier: BSD-3-Clause
 * doctor_systems.c: `lucid_doctor_probe --systems` does what Lucid's components serve, and says what they counted: a reduction of a
 * long sparse vector, and a dup that is used. Figures that are not there belong to components that Open MPI has not taken.
 */
#include "doctor_systems.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <lucid_sparse.h>
#include <mpi.h>

enum { LONG = 1 << 18 };

/** A performance variable; MPI_T counts from when its handle is made. */
struct figure {
    const char *name;
    MPI_T_pvar_handle handle;
    bool there;
};
static struct figure figures[] = {{.name = "coll_sparse_calls_taken"}, {.name = "coll_lazy_created"}, {.name = "coll_hier_calls"}};
enum { FIGURES = sizeof figures / sizeof *figures };
static MPI_T_pvar_session session;

/** Sends what is to be counted. */
static bool work(void)
{
    MPI_Comm comm;
    double *in = calloc(LONG, sizeof *in), *out = calloc(LONG, sizeof *out);
    bool done = in && out && MPI_Comm_dup(MPI_COMM_WORLD, &comm) == MPI_SUCCESS;
    if (done) {
        in[LONG / 2] = 1;
        done = MPI_Allreduce(in, out, LONG, MPI_DOUBLE, MPI_SUM, comm) == MPI_SUCCESS && out[LONG / 2] > 1;
        (void)MPI_Comm_free(&comm);
    }
    free(in);
    free(out);
    return done;
}

static bool find(const char *name, int *index)
{
    return MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, index) == MPI_SUCCESS ||
           MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_LEVEL, index) == MPI_SUCCESS;
}

static bool open_figures(void)
{
    int provided, index, count;
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) return false;
    if (MPI_T_pvar_session_create(&session) != MPI_SUCCESS) return false;
    for (int i = 0; i < FIGURES; i++) {
        struct figure *one = &figures[i];
        one->there = find(one->name, &index) &&
                     MPI_T_pvar_handle_alloc(session, index, NULL, &one->handle, &count) == MPI_SUCCESS && count == 1;
    }
    return true;
}

/** Those of this process that can be read. */
static void print_figures(void)
{
    for (int i = 0; i < FIGURES; i++) {
        unsigned long long value = 0;
        if (figures[i].there && MPI_T_pvar_read(session, figures[i].handle, &value) == MPI_SUCCESS)
            printf(", \"%s\": %llu", figures[i].name, value);
    }
}

static void close_figures(void)
{
    for (int i = 0; i < FIGURES; i++)
        if (figures[i].there) (void)MPI_T_pvar_handle_free(session, &figures[i].handle);
    (void)MPI_T_pvar_session_free(&session);
    (void)MPI_T_finalize();
}

int doctor_systems(int rank)
{
    lucid_sparse_figures_t preloaded = {0};
    bool counted = open_figures(), done = work();
    if (rank == 0) {
        lucid_sparse_get_figures(&preloaded);
        printf("{\"done\": %s, \"preloaded\": %llu", done ? "true" : "false", (unsigned long long)preloaded.taken);
        if (counted) print_figures();
        puts("}");
    }
    if (counted) close_figures();
    return done ? 0 : 1;
}
