/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_calls.c: every reduction in every form (blocking, nonblocking, persistent, in place) over vectors of several patterns,
 * against sums that every process works out by itself. Values are small integers, so that all results are exact.
 *
 * SPARSE_EXPECT=component: coll/sparse must have taken calls; preload: liblucid must have; else nobody.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include "api_check.h"
#include "lucid_sparse.h"
#include "sparse_calls.h"

static int rank, size;

static void sum_into(const struct call *call, int first, int end, size_t from, size_t n, char *result)
{
    size_t width = call->width;
    char *one = malloc(n * width + 1);
    for (int r = first; r < end; r++) {
        calls_fill(call, r, from, n, r == first ? result : one);
        if (r > first) calls_combine(call, result, one, n);
    }
    free(one);
}

static void expect(const struct call *call, const char *what, const char *found, const char *wanted, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (memcmp(found + i * call->width, wanted + i * call->width, call->data)) {
            char message[200];
            snprintf(message, sizeof message, "%s, %s, pattern %d, %zu elements: element %zu is wrong", what, call->name, call->pattern,
                     call->count, i);
            check_that(0, __FILE__, __LINE__, message);
            return;
        }
}

static void finish(enum form form, MPI_Request *request)
{
    if (form == BLOCKING) return;
    if (form == PERSISTENT) MPI_Start(request);
    MPI_Wait(request, MPI_STATUS_IGNORE);
    if (form == PERSISTENT) MPI_Request_free(request);
}

static void test_reduce(const struct call *call, enum form form, bool in_place, int root, MPI_Comm comm)
{
    size_t bytes = call->count * call->width;
    char *in = malloc(bytes + 1), *out = malloc(bytes + 1), *wanted = malloc(bytes + 1);
    MPI_Request request;
    calls_fill(call, rank, 0, call->count, in);
    memcpy(out, in, bytes);
    if (rank != root) memset(out, 0x5a, bytes);
    const void *send = in_place && rank == root ? MPI_IN_PLACE : in;
    calls_reduce(form, send, rank == root ? out : NULL, call, root, comm, &request);
    finish(form, &request);
    sum_into(call, 0, size, 0, call->count, wanted);
    if (rank == root) expect(call, "Reduce", out, wanted, call->count);
    calls_fill(call, rank, 0, call->count, wanted);
    expect(call, "Reduce's input", in, wanted, call->count);
    free(in), free(out), free(wanted);
}

static void test_allreduce(const struct call *call, enum form form, bool in_place, MPI_Comm comm)
{
    size_t bytes = call->count * call->width;
    char *in = malloc(bytes + 1), *out = malloc(bytes + 1), *wanted = malloc(bytes + 1);
    MPI_Request request;
    calls_fill(call, rank, 0, call->count, in);
    memcpy(out, in, bytes);
    calls_allreduce(form, in_place ? MPI_IN_PLACE : in, out, call, comm, &request);
    finish(form, &request);
    sum_into(call, 0, size, 0, call->count, wanted);
    expect(call, "Allreduce", out, wanted, call->count);
    free(in), free(out), free(wanted);
}

/* Uneven shares, some of them empty. */
static void test_scatter(const struct call *call, enum form form, bool in_place, bool block, MPI_Comm comm)
{
    int *counts = malloc((size_t)size * sizeof *counts);
    size_t total = 0, from = 0;
    for (int r = 0; r < size; r++) {
        counts[r] = block ? (int)(call->count / (size_t)size) : (int)(call->count / (size_t)size) * (r % 3);
        if (r == rank) from = total;
        total += (size_t)counts[r];
    }
    size_t own = (size_t)counts[rank];
    char *in = malloc(total * call->width + 1), *out = malloc(total * call->width + 1), *wanted = malloc(own * call->width + 1);
    MPI_Request request;
    calls_fill(call, rank, 0, total, in);
    memcpy(out, in, total * call->width);
    calls_scatter(form, in_place ? MPI_IN_PLACE : in, out, call, counts, block, comm, &request);
    finish(form, &request);
    sum_into(call, 0, size, from, own, wanted);
    expect(call, block ? "Reduce_scatter_block" : "Reduce_scatter", out, wanted, own);
    free(in), free(out), free(wanted), free(counts);
}

static void test_scan(const struct call *call, enum form form, bool in_place, bool exclusive, MPI_Comm comm)
{
    size_t bytes = call->count * call->width;
    char *in = malloc(bytes + 1), *out = malloc(bytes + 1), *wanted = malloc(bytes + 1);
    MPI_Request request;
    calls_fill(call, rank, 0, call->count, in);
    memcpy(out, in, bytes);
    calls_scan(form, in_place ? MPI_IN_PLACE : in, out, call, exclusive, comm, &request);
    finish(form, &request);
    sum_into(call, 0, exclusive ? rank : rank + 1, 0, call->count, wanted);
    if (!exclusive || rank > 0) expect(call, exclusive ? "Exscan" : "Scan", out, wanted, call->count);
    free(in), free(out), free(wanted);
}

static void test_call(const struct call *call, MPI_Comm comm)
{
    const enum form end = call->count > 1000 && call->pattern ? NONBLOCKING : FORMS; /* it is a test of forms as well as of patterns */
    for (enum form form = BLOCKING; form < end; form++)
        for (int in_place = 0; in_place < 2; in_place++) {
            test_reduce(call, form, in_place, 0, comm);
            test_reduce(call, form, in_place, size - 1, comm);
            test_allreduce(call, form, in_place, comm);
            test_scatter(call, form, in_place, true, comm);
            test_scatter(call, form, in_place, false, comm);
            test_scan(call, form, in_place, false, comm);
            test_scan(call, form, in_place, true, comm);
        }
}

static void test_all(MPI_Comm comm)
{
    static const size_t counts[] = {0, 1, 997, 20011};
    struct call call;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int kind = 0; calls_kind(kind, &call); kind++)
        for (int pattern = 0; pattern < PATTERNS; pattern++)
            for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
                call.pattern = pattern;
                call.count = counts[i];
                test_call(&call, comm);
            }
}

/* Two nonblocking calls and a blocking one at once, on two communicators. */
static void test_overlap(void)
{
    struct call call;
    MPI_Comm other;
    MPI_Request requests[2];
    calls_kind(0, &call);
    call.pattern = 0;
    call.count = 50021;
    size_t bytes = call.count * call.width;
    char *in = malloc(bytes), *out[3], *wanted = malloc(bytes);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    calls_fill(&call, rank, 0, call.count, in);
    for (int i = 0; i < 3; i++) out[i] = malloc(bytes);
    calls_allreduce(NONBLOCKING, in, out[0], &call, MPI_COMM_WORLD, &requests[0]);
    calls_allreduce(NONBLOCKING, in, out[1], &call, other, &requests[1]);
    calls_allreduce(BLOCKING, in, out[2], &call, MPI_COMM_WORLD, NULL);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    sum_into(&call, 0, size, 0, call.count, wanted);
    for (int i = 0; i < 3; i++) {
        expect(&call, "overlapping Allreduce", out[i], wanted, call.count);
        free(out[i]);
    }
    free(in), free(wanted);
    MPI_Comm_free(&other);
}

/* A counter counts from when its handle was made. */
static MPI_T_pvar_session session;
static MPI_T_pvar_handle taken;
static bool component;

static void watch_component(void)
{
    int provided, index, count = 0;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    component = MPI_T_pvar_get_index("coll_sparse_calls_taken", MPI_T_PVAR_CLASS_COUNTER, &index) == MPI_SUCCESS;
    if (!component) return;
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_handle_alloc(session, index, NULL, &taken, &count);
}

static unsigned long long taken_by_component(void)
{
    unsigned long long value = 0;
    if (component) MPI_T_pvar_read(session, taken, &value);
    if (component) MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    return value;
}

static void test_who_did_it(int processes)
{
    const char *who = getenv("SPARSE_EXPECT");
    void (*get)(lucid_sparse_figures_t *) = (void (*)(lucid_sparse_figures_t *))dlsym(RTLD_DEFAULT, "lucid_sparse_get_figures");
    lucid_sparse_figures_t figures = {0};
    if (get) get(&figures);
    unsigned long long there = taken_by_component();
    CHECK((there > 0) == (who && strcmp(who, "component") == 0 && processes > 1));
    CHECK((figures.taken > 0) == (who && strcmp(who, "preload") == 0 && processes > 1));
}

int main(int argc, char **argv)
{
    MPI_Comm half;
    int processes;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &processes);
    watch_component();
    calls_open();
    test_all(MPI_COMM_WORLD);
    test_overlap();
    MPI_Comm_split(MPI_COMM_WORLD, check_rank % 2, -check_rank, &half);
    struct call call;
    MPI_Comm_rank(half, &rank);
    MPI_Comm_size(half, &size);
    calls_kind(0, &call);
    call.pattern = 1;
    call.count = 20011;
    test_call(&call, half);
    MPI_Comm_free(&half);
    test_who_did_it(processes);
    calls_close();
    const int failed = check_outcome();
    MPI_Finalize();
    return failed;
}
