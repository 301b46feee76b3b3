/* SPDX-License-Identifier: BSD-3-Clause
 * lazy_mix.c: every way to make a communicator, every kind of operation as its first one, and the results they must have.
 */
#include <unistd.h>

#include "lazy_check.h"

static int rank, size;

static int sum_on(MPI_Comm comm)
{
    int one = 1, sum = 0;
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    return sum;
}

static void wait_for(MPI_Request *request)
{
    CHECK_OK(MPI_Wait(request, MPI_STATUS_IGNORE));
}

static MPI_Comm dup_of(MPI_Comm comm)
{
    MPI_Comm made = MPI_COMM_NULL;
    CHECK_OK(MPI_Comm_dup(comm, &made));
    return made;
}

static void freed_unused(void)
{
    long long before = lazy_counter("waiting");
    MPI_Comm made = dup_of(MPI_COMM_WORLD);
    if (lazy_is_partial()) CHECK_EQUAL(lazy_counter("waiting"), before + 1);
    CHECK_OK(MPI_Comm_free(&made));
    CHECK_EQUAL(lazy_counter("waiting"), before);
}

/* Nonblocking, then blocking; nonblocking operations that are complete only later; two in another order than their starts. */
static void nonblocking_first(void)
{
    MPI_Comm made = dup_of(MPI_COMM_WORLD), other = dup_of(MPI_COMM_WORLD);
    MPI_Request requests[2];
    int mine = rank + 1, sum = -1, root = rank == 0 ? 42 : -1;
    CHECK_OK(MPI_Ibarrier(made, &requests[0]));
    wait_for(&requests[0]);
    CHECK_OK(MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, made, &requests[rank % 2]));
    CHECK_OK(MPI_Ibcast(&root, 1, MPI_INT, 0, other, &requests[1 - rank % 2]));
    CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    CHECK_EQUAL(sum, size * (size + 1) / 2);
    CHECK_EQUAL(root, 42);
    CHECK_OK(MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_MAX, made, &requests[0]));
    CHECK_EQUAL(sum_on(other), size);
    CHECK_EQUAL(sum_on(made), size);
    wait_for(&requests[0]);
    CHECK_EQUAL(sum, size);
    CHECK_OK(MPI_Comm_free(&made));
    CHECK_OK(MPI_Comm_free(&other));
}

/* Freed while an operation is under way: the standard lets it finish. */
static void freed_in_flight(void)
{
    MPI_Comm made = dup_of(MPI_COMM_WORLD);
    MPI_Request request;
    int mine = rank, largest = -1;
    CHECK_OK(MPI_Iallreduce(&mine, &largest, 1, MPI_INT, MPI_MAX, made, &request));
    wait_for(&request);
    CHECK_OK(MPI_Comm_free(&made));
    CHECK_EQUAL(largest, size - 1);
}

/* The child of an idup that is under way, and its grandchild; its parent is not selected for. */
static void idup_chain(void)
{
    MPI_Comm made = dup_of(MPI_COMM_WORLD), child, grandchild;
    MPI_Request request;
    long long before = lazy_counter("waiting");
    CHECK_OK(MPI_Comm_idup(made, &child, &request));
    wait_for(&request);
    CHECK_OK(MPI_Comm_idup(child, &grandchild, &request));
    wait_for(&request);
    if (lazy_is_partial()) CHECK_EQUAL(lazy_counter("waiting"), before + 2);
    CHECK_EQUAL(sum_on(grandchild), size);
    CHECK_EQUAL(sum_on(made), size);
    CHECK_EQUAL(sum_on(child), size);
    CHECK_OK(MPI_Comm_free(&child));
    CHECK_OK(MPI_Comm_free(&made));
    CHECK_OK(MPI_Comm_free(&grandchild));
}

static void check_ring(const int *got)
{
    CHECK_EQUAL(got[0], (rank + size - 1) % size);
    CHECK_EQUAL(got[1], (rank + 1) % size);
}

static void topologies(void)
{
    MPI_Comm ring, again, graph;
    MPI_Request request;
    int dimension = size, periodic = 1, got[2] = {-1, -1}, from = (rank + size - 1) % size, to = (rank + 1) % size, one = -1;
    CHECK_OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &dimension, &periodic, 0, &ring));
    CHECK_OK(MPI_Neighbor_allgather(&rank, 1, MPI_INT, got, 1, MPI_INT, ring));
    check_ring(got);
    again = dup_of(ring);
    got[0] = got[1] = -1;
    CHECK_OK(MPI_Ineighbor_allgather(&rank, 1, MPI_INT, got, 1, MPI_INT, again, &request));
    wait_for(&request);
    check_ring(got);
    CHECK_EQUAL(sum_on(again), size);
    CHECK_OK(MPI_Comm_free(&again));
    CHECK_OK(MPI_Comm_free(&ring));
    CHECK_OK(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &from, MPI_UNWEIGHTED, 1, &to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                            &graph));
    CHECK_OK(MPI_Neighbor_alltoall(&rank, 1, MPI_INT, &one, 1, MPI_INT, graph));
    CHECK_EQUAL(one, from);
    CHECK_OK(MPI_Comm_free(&graph));
}

static void intercommunicators(void)
{
    MPI_Comm half, inter, again, merged;
    int one = 1, sum = 0, others;
    if (size < 2) return;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half));
    CHECK_OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank % 2 ? 0 : 1, 7, &inter));
    CHECK_OK(MPI_Comm_remote_size(inter, &others));
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, inter));
    CHECK_EQUAL(sum, others);
    again = dup_of(inter);
    CHECK_OK(MPI_Barrier(again));
    CHECK_OK(MPI_Comm_free(&again));
    CHECK_OK(MPI_Intercomm_merge(inter, rank % 2, &merged));
    CHECK_EQUAL(sum_on(merged), size);
    CHECK_OK(MPI_Comm_free(&merged));
    CHECK_OK(MPI_Comm_free(&inter));
    CHECK_OK(MPI_Comm_free(&half));
}

static void from_groups(void)
{
    MPI_Group all, reversed;
    MPI_Comm made, of_node;
    int backwards[3] = {size - 1, 0, -1}, position = -1, own;
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    CHECK_OK(MPI_Comm_create_group(MPI_COMM_WORLD, all, 5, &made));
    CHECK_EQUAL(sum_on(made), size);
    CHECK_OK(MPI_Comm_free(&made));
    CHECK_OK(MPI_Group_range_incl(all, 1, &backwards, &reversed));
    CHECK_OK(MPI_Comm_create(MPI_COMM_WORLD, reversed, &made));
    CHECK_OK(MPI_Comm_rank(made, &own));
    CHECK_OK(MPI_Exscan(&own, &position, 1, MPI_INT, MPI_SUM, made));
    if (own > 0) CHECK_EQUAL(position, own * (own - 1) / 2);
    CHECK_EQUAL(own, size - 1 - rank);
    CHECK_OK(MPI_Comm_free(&made));
    CHECK_OK(MPI_Group_free(&reversed));
    CHECK_OK(MPI_Group_free(&all));
    CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, size - rank, MPI_INFO_NULL, &of_node));
    CHECK_OK(MPI_Comm_size(of_node, &own));
    CHECK_EQUAL(sum_on(of_node), own);
    CHECK_OK(MPI_Comm_free(&of_node));
}

/* Those outside get MPI_COMM_NULL, and the parent is theirs too. */
static void some_left_out(void)
{
    MPI_Comm parent = dup_of(MPI_COMM_WORLD), part;
    CHECK_OK(MPI_Comm_split(parent, rank == size - 1 ? MPI_UNDEFINED : 1, -rank, &part));
    CHECK_EQUAL(part == MPI_COMM_NULL, rank == size - 1);
    if (part != MPI_COMM_NULL) {
        CHECK_EQUAL(sum_on(part), size - 1);
        CHECK_OK(MPI_Comm_free(&part));
    }
    CHECK_OK(MPI_Comm_free(&parent));
}

static void windows_and_files(void)
{
    MPI_Comm parent = dup_of(MPI_COMM_WORLD);
    MPI_File file;
    char name[256];
    int cell = -1, read = -1, pid = (int)getpid();
    CHECK_OK(MPI_Bcast(&pid, 1, MPI_INT, 0, parent));
    snprintf(name, sizeof name, "%s/lucid-lazy-%d", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", pid);
    CHECK_OK(MPI_File_open(parent, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
    CHECK_OK(MPI_File_write_at_all(file, rank * (MPI_Offset)sizeof rank, &rank, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_read_at_all(file, rank * (MPI_Offset)sizeof rank, &read, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_EQUAL(read, rank);
    CHECK_OK(MPI_File_close(&file));
    if (getenv("LUCID_TEST_NO_WINDOW") == NULL) {
        MPI_Win window;
        CHECK_OK(MPI_Win_create(&cell, sizeof cell, sizeof cell, MPI_INFO_NULL, parent, &window));
        CHECK_OK(MPI_Win_fence(0, window));
        CHECK_OK(MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, window));
        CHECK_OK(MPI_Win_fence(0, window));
        CHECK_EQUAL(cell, (rank + size - 1) % size);
        CHECK_OK(MPI_Win_free(&window));
    }
    CHECK_OK(MPI_Comm_free(&parent));
}

/* MPI_Reduce_local belongs to no communicator of the program's: it must make none ready. */
static void reduce_local(void)
{
    long long waiting = lazy_counter("waiting");
    int a = 2, b = 3;
    CHECK_OK(MPI_Reduce_local(&a, &b, 1, MPI_INT, MPI_PROD));
    CHECK_EQUAL(b, 6);
    CHECK_EQUAL(lazy_counter("waiting"), waiting);
}

static void self(void)
{
    MPI_Comm made = dup_of(MPI_COMM_SELF);
    MPI_Request request;
    CHECK_OK(MPI_Ibarrier(made, &request));
    wait_for(&request);
    CHECK_EQUAL(sum_on(made), 1);
    CHECK_EQUAL(sum_on(MPI_COMM_SELF), 1);
    CHECK_OK(MPI_Comm_free(&made));
}

/* The second communicator of a group gets the first one's modules, another order of the group does not. */
static void shares(void)
{
    MPI_Comm first = dup_of(MPI_COMM_WORLD), second = dup_of(MPI_COMM_WORLD), turned;
    const char *given = getenv("OMPI_MCA_coll_lazy"), *level = given ? given : getenv("LUCID_LAZY");
    CHECK_EQUAL(sum_on(first), size);
    long long shared = lazy_counter("shared"), groups = lazy_counter("groups");
    CHECK_EQUAL(sum_on(second), size);
    int sharing = lazy_is_on() && (level == NULL || strcmp(level, "share") == 0) && getenv("LUCID_TEST_NO_SHARE") == NULL;
    CHECK_EQUAL(lazy_counter("shared"), shared + sharing);
    CHECK_EQUAL(lazy_counter("groups"), groups);
    CHECK_OK(MPI_Comm_free(&first));
    CHECK_EQUAL(sum_on(second), size);
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned));
    CHECK_EQUAL(sum_on(turned), size);
    if (size > 2) CHECK_EQUAL(lazy_counter("groups"), groups + sharing);
    CHECK_OK(MPI_Comm_free(&turned));
    CHECK_OK(MPI_Comm_free(&second));
}

int main(int argc, char **argv)
{
    MPI_Comm left;
    int provided;
    CHECK_OK(MPI_Init_thread(&argc, &argv, argc > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided));
    CHECK_OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    CHECK_OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    check_rank = rank;
    if (!is_open_mpi()) return skip_test("coll/lazy is a component of Open MPI");
    lazy_check_presence();
    (void)sum_on(MPI_COMM_WORLD);
    freed_unused();
    self();
    reduce_local();
    nonblocking_first();
    freed_in_flight();
    idup_chain();
    topologies();
    intercommunicators();
    shares();
    from_groups();
    some_left_out();
    windows_and_files();
    left = dup_of(MPI_COMM_WORLD); /* two are left for MPI_Finalize, one of them used */
    CHECK_EQUAL(sum_on(left), size);
    left = dup_of(left);
    int outcome = check_outcome();
    MPI_Finalize();
    return outcome;
}
