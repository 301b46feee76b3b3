/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_edges.c: what happens around a reduction that must not matter to it, one case for each argument. The processes make progress
 * at different moments, so that an order which is theirs alone shows.
 */
#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include "api_check.h"

#include <dlfcn.h>
#include <unistd.h>

enum { ELEMENTS = 200000 };

static double in[ELEMENTS], out[ELEMENTS];
static int rank, size;

/* Few are not 0, so that coll/sparse has something to do. */
static void fill_sparse(void)
{
    for (int i = 0; i < ELEMENTS; i++) in[i] = i % 1000 == rank;
}

static double sparse_at(int i)
{
    return i % 1000 < size;
}

static void fill_dense(void)
{
    for (int i = 0; i < ELEMENTS; i++) in[i] = i * 0.5 + rank;
}

static double dense_at(int i)
{
    return size * (i * 0.5) + size * (size - 1) / 2.0;
}

static void look_at(double (*wanted)(int))
{
    int wrong = 0;
    for (int i = 0; i < ELEMENTS; i++) wrong += out[i] != wanted(i);
    CHECK_EQUAL(wrong, 0);
}

static void linger(MPI_Request *request, int times)
{
    int done;
    for (int i = 0; i < times; i++) MPI_Test(request, &done, MPI_STATUS_IGNORE);
}

/* Open MPI's MPI_Comm_idup takes tags of the parent from its progress: at some processes before a blocking call, at others after it. */
static void idup(void)
{
    fill_sparse();
    for (int round = 0; round < 40; round++) {
        MPI_Comm child;
        MPI_Request request;
        int one = 1, sum = 0;
        MPI_Comm_idup(MPI_COMM_WORLD, &child, &request);
        if ((round + rank) % size == 0) usleep(3000);
        if (rank % 2) linger(&request, 50);
        for (int i = 0; i < 3; i++) {
            MPI_Allreduce(in, out, ELEMENTS, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
            look_at(sparse_at);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, child);
        CHECK_EQUAL(sum, size);
        MPI_Comm_free(&child);
    }
}

/* pml/ucx has 24 bits for a tag: tags that go further down are, to it, the program's. */
static void tags(void)
{
    enum { CALLS = 9000, SHORT = 1024 };
    static char buffer[1 << 16];
    MPI_Comm comm;
    MPI_Request any, request;
    int done;
    fill_sparse();
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < CALLS; i++) {
        MPI_Iallreduce(in, out, SHORT, MPI_DOUBLE, MPI_SUM, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Irecv(buffer, sizeof buffer, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &any);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Iallreduce(in, out, SHORT, MPI_DOUBLE, MPI_SUM, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Test(&any, &done, MPI_STATUS_IGNORE);
    CHECK(!done);
    MPI_Cancel(&any);
    MPI_Wait(&any, MPI_STATUS_IGNORE);
    MPI_Comm_free(&comm);
}

/* That a nonblocking call is dense is known at some processes before the communicator's first blocking operation, at others after it. */
static void behind(void)
{
    fill_dense();
    for (int round = 0; round < 30; round++) {
        MPI_Comm comm;
        MPI_Request request;
        int own = round, all[64];
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Iallreduce(in, out, ELEMENTS, MPI_DOUBLE, MPI_SUM, comm, &request);
        if ((rank + round) % 2) linger(&request, 200);
        MPI_Allgather(&own, 1, MPI_INT, all, 1, MPI_INT, comm);
        MPI_Bcast(&own, 1, MPI_INT, 0, comm);
        MPI_Barrier(comm);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        look_at(dense_at);
        MPI_Comm_free(&comm);
    }
}

/* A communicator may be freed while a call on it is under way. */
static void freed(void)
{
    static double before[ELEMENTS];
    fill_sparse();
    for (int round = 0; round < 30; round++) {
        MPI_Comm comm, other;
        MPI_Request requests[2];
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        if ((round + rank) % size == 0) usleep(2000);
        MPI_Iallreduce(in, out, ELEMENTS, MPI_DOUBLE, MPI_SUM, comm, &requests[0]);
        MPI_Iexscan(in, before, ELEMENTS, MPI_DOUBLE, MPI_SUM, comm, &requests[1]);
        MPI_Comm_free(&comm);
        MPI_Comm_dup(MPI_COMM_SELF, &other); /* takes the memory, maybe */
        if ((round + rank) % size == 1) usleep(2000);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        MPI_Comm_free(&other);
        look_at(sparse_at);
    }
}

static void add_behind(void *operand, void *inout, int *count, MPI_Datatype *type)
{
    const double *more = (double *)operand + 1;
    double *sum = (double *)inout + 1;
    for (int i = 0; i < *count; i++) sum[i] += more[i];
}

/* Liblucid, where it is loaded, tells the component. */
static void declare(MPI_Op op)
{
    int (*tell)(MPI_Op) = (int (*)(MPI_Op))dlsym(RTLD_DEFAULT, "lucid_op_set_elementwise");
    CHECK(tell != NULL && tell(op) == 0);
}

/* The data of a type may begin behind its lower bound. */
static void bounds(void)
{
    const int one = 1;
    const MPI_Aint behind_bound = sizeof(double);
    MPI_Datatype block, type;
    MPI_Op op;
    fill_sparse();
    MPI_Type_create_hindexed(1, &one, &behind_bound, MPI_DOUBLE, &block);
    MPI_Type_create_resized(block, 0, sizeof(double), &type);
    MPI_Type_commit(&type);
    MPI_Op_create(add_behind, 1, &op);
    declare(op);
    out[0] = -1;
    MPI_Allreduce(in, out, ELEMENTS - 1, type, op, MPI_COMM_WORLD);
    CHECK(out[0] == -1);
    out[0] = sparse_at(0);
    look_at(sparse_at);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    MPI_Type_free(&block);
}

#if defined(TEST_PERSISTENT)
#define GLUE(a, b) a##b
#define NAMED(prefix, name) GLUE(prefix, name)

static void add(void *operand, void *inout, int *count, MPI_Datatype *type)
{
    for (int i = 0; i < 2 * *count; i++) ((double *)inout)[i] += ((const double *)operand)[i];
}

static void spoil(void *operand, void *inout, int *count, MPI_Datatype *type)
{
    for (int i = 0; i < 2 * *count; i++) ((double *)inout)[i] = -1;
}

/* A persistent call keeps what the program frees; others take the memory, maybe. */
static void kept(void)
{
    enum { OTHERS = 8 };
    MPI_Comm comm;
    MPI_Datatype type, other_type[OTHERS];
    MPI_Op op, other_op[OTHERS];
    MPI_Request request;
    fill_sparse();
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Type_contiguous(2, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(add, 1, &op);
    declare(op);
    NAMED(TEST_PERSISTENT, Allreduce_init)(in, out, ELEMENTS / 2, type, op, comm, MPI_INFO_NULL, &request);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    MPI_Comm_free(&comm);
    for (int i = 0; i < OTHERS; i++) {
        MPI_Op_create(spoil, 1, &other_op[i]);
        MPI_Type_contiguous(3, MPI_INT, &other_type[i]);
        MPI_Type_commit(&other_type[i]);
    }
    for (int round = 0; round < 5; round++) {
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        look_at(sparse_at);
    }
    MPI_Request_free(&request);
    for (int i = 0; i < OTHERS; i++) {
        MPI_Op_free(&other_op[i]);
        MPI_Type_free(&other_type[i]);
    }
}
#endif

static const struct edge {
    const char *name;
    void (*run)(void);
} edges[] = {
#if defined(TEST_PERSISTENT)
    {"kept", kept},
#endif
    {"idup", idup}, {"tags", tags}, {"behind", behind}, {"freed", freed}, {"bounds", bounds},
};

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    check_rank = rank;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int known = 0;
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        if (argc != 2 || strcmp(argv[1], edges[i].name) != 0) continue;
        edges[i].run();
        known = 1;
    }
    CHECK(known);
    const int failed = check_outcome();
    MPI_Finalize();
    return failed;
}
