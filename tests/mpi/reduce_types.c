/* SPDX-License-Identifier: BSD-3-Clause
 * reduce_types.c: the predefined types of C++ and Fortran whose elements C has, too: reductions of them are taken by the preloaded
 * library (LUCID_SPARSE=on, LUCID_SPARSE_ALWAYS=1), and are what the MPI library makes of them.
 */
#include <lucid_sparse.h>
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 20000, WIDEST = 32 };
enum family { WHOLE, REAL, COMPLEX, BOOLEAN };
static char in[N * WIDEST], out[N * WIDEST], wanted[N * WIDEST];

static void put(enum family family, int size, int i, int value)
{
    char *at = in + (size_t)i * (size_t)size;
    int64_t whole = value;
    float single = (float)value;
    double twice = value;
    long double wide = value;
    int part = family == COMPLEX ? size / 2 : size;
    if (family == WHOLE || family == BOOLEAN) memcpy(at, &whole, (size_t)size); /* little end first */
    else if (part == 4) memcpy(at, &single, 4);
    else if (part == 8) memcpy(at, &twice, 8);
    else memcpy(at, &wide, 10); /* the rest is no data */
}

static int check(const char *name, MPI_Datatype type, enum family family, void (*figures)(lucid_sparse_figures_t *))
{
    int rank, size, bytes;
    lucid_sparse_figures_t before, after;
    const MPI_Op op = family == BOOLEAN ? MPI_LOR : MPI_SUM;
    if (type == MPI_DATATYPE_NULL || MPI_Type_size(type, &bytes) != MPI_SUCCESS || bytes <= 0) return 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    memset(in, 0, sizeof in);
    memset(out, 0, sizeof out);
    memset(wanted, 0, sizeof wanted);
    for (int i = rank; i < N; i += 101) put(family, bytes, i, 1);
    if (PMPI_Allreduce(in, wanted, N, type, op, MPI_COMM_WORLD) != MPI_SUCCESS) return 0; /* the library has it not */
    figures(&before);
    MPI_Allreduce(in, out, N, type, op, MPI_COMM_WORLD);
    figures(&after);
    if (after.taken - before.taken == (size > 1) && memcmp(out, wanted, sizeof out) == 0) return 0;
    fprintf(stderr, "reduce_types: %s: %d taken, %s\n", name, (int)(after.taken - before.taken),
            memcmp(out, wanted, sizeof out) ? "another result" : "the right result");
    return 1;
}

int main(int argc, char **argv)
{
    int wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    void (*figures)(lucid_sparse_figures_t *) = (void (*)(lucid_sparse_figures_t *))dlsym(RTLD_DEFAULT, "lucid_sparse_get_figures");
    const struct { const char *name; MPI_Datatype type; enum family family; } types[] = {
#define OF(type, family) {#type, type, family}
        OF(MPI_INTEGER, WHOLE), OF(MPI_INTEGER1, WHOLE), OF(MPI_INTEGER2, WHOLE), OF(MPI_INTEGER4, WHOLE), OF(MPI_INTEGER8, WHOLE),
        OF(MPI_REAL, REAL), OF(MPI_DOUBLE_PRECISION, REAL), OF(MPI_REAL4, REAL), OF(MPI_REAL8, REAL), OF(MPI_COMPLEX, COMPLEX),
        OF(MPI_DOUBLE_COMPLEX, COMPLEX), OF(MPI_COMPLEX8, COMPLEX), OF(MPI_COMPLEX16, COMPLEX), OF(MPI_CXX_BOOL, BOOLEAN),
        OF(MPI_CXX_FLOAT_COMPLEX, COMPLEX), OF(MPI_CXX_DOUBLE_COMPLEX, COMPLEX), OF(MPI_CXX_LONG_DOUBLE_COMPLEX, COMPLEX)};
    if (!figures) {
        fprintf(stderr, "reduce_types: liblucid is not there\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) wrong += check(types[i].name, types[i].type, types[i].family, figures);
    MPI_Finalize();
    return wrong > 0;
}
