/* SPDX-License-Identifier: BSD-3-Clause
 * A program that knows nothing of Lucid: what it prints and how it ends must not depend on whether Lucid is there.
 * usage: pmpi_plain done|abort|die
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { N = 1000 };

static int copied, deleted;

static int copy_attribute(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    copied++;
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete_attribute(MPI_Comm comm, int keyval, void *value, void *extra)
{
    deleted++;
    return MPI_SUCCESS;
}

/* The program's own attributes go where they should. */
static void attributes(void)
{
    MPI_Comm other;
    int keyval, value = 1, data = 0;
    MPI_Comm_create_keyval(copy_attribute, delete_attribute, &keyval, NULL);
    MPI_Comm_set_attr(MPI_COMM_WORLD, keyval, &value);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Bcast(&data, 1, MPI_INT, 0, other);
    MPI_Comm_free(&other);
    MPI_Comm_delete_attr(MPI_COMM_WORLD, keyval);
    MPI_Comm_free_keyval(&keyval);
}

/* An error comes back to the program as the library reports it. */
static int error_class(void)
{
    int class, code, data = 0;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    code = MPI_Send(&data, 1, MPI_INT, 1 << 20, 0, MPI_COMM_WORLD);
    MPI_Error_class(code, &class);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    return class;
}

static double work(int rank, int size)
{
    double out[N], in[N], sum = 0, all = 0;
    MPI_Request requests[2];
    for (int i = 0; i < N; i++) out[i] = rank + 1.0 / (i + 1);
    MPI_Send_init(out, N, MPI_DOUBLE, (rank + 1) % size, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(in, N, MPI_DOUBLE, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &requests[1]);
    for (int round = 0; round < 10; round++) {
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < N; i++) sum += (out[i] = in[i] * 0.999);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    MPI_Iallreduce(&sum, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    return all;
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    attributes();
    MPI_Pcontrol(2);
    const double result = work(rank, size);
    const int class = error_class();
    if (rank == 0) printf("%.17g, attributes %d %d, error class %d of rank %d\n", result, copied, deleted, class, MPI_ERR_RANK);
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    if (argc > 1 && strcmp(argv[1], "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 5);
    if (argc > 1 && strcmp(argv[1], "die") == 0) raise(SIGKILL);
    MPI_Finalize();
    return 3;
}
