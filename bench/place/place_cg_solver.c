/* SPDX-License-Identifier: BSD-3-Clause
 * place_cg_solver.c: see place_cg_solver.h. From the specification of the NAS Parallel Benchmarks (Bailey et al., RNR-94-007,
 * section 2.4) and its published parallel form: the matrix in blocks on a grid of processes. A product is summed over each row of
 * processes in log2(columns) exchanges with partners at halving distances, then its pieces go to the transposed processes; the
 * scalar products take the same partners. 25 steps make a solution, a solution makes an iteration of the inverse power method.
 */
#include "place_cg_solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "place_bench.h"

enum { INNER = 25, TAG = 7 };

static void make_grid(struct cg_solver *s)
{
    int size, log = 0;
    MPI_Comm_size(s->comm, &size);
    MPI_Comm_rank(s->comm, &s->rank);
    while (1 << log < size) log++;
    s->rows = 1 << log / 2;
    s->columns = size / s->rows;
    place_need(1 << log == size && s->kind->na % s->columns == 0, "CG needs a power of two of processes that divides its order");
    int row = s->rank / s->columns, column = s->rank % s->columns, high = s->kind->na / s->rows, wide = s->kind->na / s->columns;
    s->block = (struct cg_block){row * high, (row + 1) * high, column * wide, (column + 1) * wide};
    s->steps = 0;
    for (int distance = s->columns / 2; distance > 0; distance /= 2)
        s->partner[s->steps++] = row * s->columns + (column ^ distance);
    s->piece = wide;
    s->piece_start = 0;
    if (s->columns == s->rows) {
        s->transposed = column * s->rows + row;
    } else {
        int half = s->rank / 2;
        s->transposed = 2 * (half % s->rows * s->rows + half / s->rows) + s->rank % 2;
        s->piece_start = s->rank % 2 * wide;
    }
}

void cg_solver_make(struct cg_solver *s, const struct cg_class *kind, MPI_Comm comm)
{
    *s = (struct cg_solver){.kind = kind, .comm = comm};
    make_grid(s);
    double **vector[] = {&s->x, &s->z, &s->p, &s->q, &s->r, &s->w, &s->in};
    size_t longest = (size_t)(kind->na / s->rows);
    for (size_t i = 0; i < sizeof vector / sizeof *vector; i++) *vector[i] = place_allocate(longest * sizeof(double));
    cg_solver_reset(s);
}

void cg_solver_free(struct cg_solver *s)
{
    double *vector[] = {s->x, s->z, s->p, s->q, s->r, s->w, s->in};
    for (size_t i = 0; i < sizeof vector / sizeof *vector; i++) free(vector[i]);
    *s = (struct cg_solver){0};
}

void cg_solver_reset(struct cg_solver *s)
{
    for (int i = 0; i < s->piece; i++) s->x[i] = 1;
    s->communicating = 0;
}

static void exchange(struct cg_solver *s, int with, const double *out, int n_out, double *in, int n_in)
{
    MPI_Request request;
    double begin = MPI_Wtime();
    MPI_Irecv(in, n_in, MPI_DOUBLE, with, TAG, s->comm, &request);
    MPI_Send(out, n_out, MPI_DOUBLE, with, TAG, s->comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    s->communicating += MPI_Wtime() - begin;
}

/** Sums over a row of processes. */
static void sum_row(struct cg_solver *s, double *value, int n)
{
    double in[2];
    for (int step = 0; step < s->steps; step++) {
        exchange(s, s->partner[step], value, n, in, n);
        for (int i = 0; i < n; i++) value[i] += in[i];
    }
}

static double dot(struct cg_solver *s, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; !s->only_messages && i < s->piece; i++) sum += a[i] * b[i];
    sum_row(s, &sum, 1);
    return sum;
}

static void multiply(const struct cg_solver *s, const struct cg_matrix *matrix, const double *in)
{
    for (int row = 0; !s->only_messages && row < matrix->rows; row++) {
        double sum = 0;
        for (int i = matrix->start[row]; i < matrix->start[row + 1]; i++) sum += matrix->value[i] * in[matrix->column[i]];
        s->w[row] = sum;
    }
}

/** out = matrix * in, both for this process's columns. With twice as many columns as rows of processes, the first exchange of
 *  the sum is between neighbours and leaves each of them its half. */
static void product(struct cg_solver *s, const struct cg_matrix *matrix, const double *in, double *out)
{
    int rows = s->kind->na / s->rows, square = s->rows == s->columns;
    multiply(s, matrix, in);
    for (int step = s->steps - 1; step >= 0; step--) {
        int halving = !square && step == s->steps - 1;
        int from = halving ? rows - s->piece - s->piece_start : s->piece_start, n = square ? rows : s->piece;
        exchange(s, s->partner[step], s->w + from, n, s->in, n);
        for (int i = 0; !s->only_messages && i < n; i++) s->w[s->piece_start + i] += s->in[i];
    }
    if (s->steps == 0) memcpy(out, s->w, (size_t)s->piece * sizeof *out);
    else exchange(s, s->transposed, s->w + s->piece_start, s->piece, out, s->piece);
}

static void inner_step(struct cg_solver *s, const struct cg_matrix *matrix, double *rho)
{
    int n = s->only_messages ? 0 : s->piece;
    product(s, matrix, s->p, s->q);
    double alpha = *rho / dot(s, s->p, s->q), before = *rho;
    for (int i = 0; i < n; i++) {
        s->z[i] += alpha * s->p[i];
        s->r[i] -= alpha * s->q[i];
    }
    *rho = dot(s, s->r, s->r);
    double beta = *rho / before;
    for (int i = 0; i < n; i++) s->p[i] = s->r[i] + beta * s->p[i];
}

/** z = the solution of matrix * z = x, and the residual's norm. */
static void solve(struct cg_solver *s, const struct cg_matrix *matrix)
{
    size_t bytes = (size_t)s->piece * sizeof(double);
    memset(s->z, 0, bytes);
    memcpy(s->r, s->x, bytes);
    memcpy(s->p, s->x, bytes);
    double rho = dot(s, s->r, s->r), sum = 0;
    for (int i = 0; i < INNER; i++) inner_step(s, matrix, &rho);
    product(s, matrix, s->z, s->r);
    for (int i = 0; i < s->piece; i++) sum += (s->x[i] - s->r[i]) * (s->x[i] - s->r[i]);
    sum_row(s, &sum, 1);
    s->residual = sqrt(sum);
}

void cg_solver_step(struct cg_solver *s, const struct cg_matrix *matrix)
{
    double norm[2] = {0, 0};
    solve(s, matrix);
    for (int i = 0; i < s->piece; i++) {
        norm[0] += s->x[i] * s->z[i];
        norm[1] += s->z[i] * s->z[i];
    }
    sum_row(s, norm, 2);
    s->zeta = s->kind->shift + 1 / norm[0];
    for (int i = 0; !s->only_messages && i < s->piece; i++) s->x[i] = s->z[i] / sqrt(norm[1]);
}
