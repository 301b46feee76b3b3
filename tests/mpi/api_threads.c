/* SPDX-License-Identifier: BSD-3-Clause
 * api_threads.c: MPI_THREAD_MULTIPLE. Every thread has its own communicator, its own sessions and its own sends.
 *
 * Exact: sessions that are active while all threads send see all of it; a thread's session over a stretch in which
 * only this thread sends sees just that. Concurrent: sessions come, go and are read while the others send; each holds
 * at least its own thread's messages, and the one around it all holds the exact sum.
 */
#include <lucid.h>
#include <pthread.h>

#include "api_check.h"

#define THREADS 4
#define MESSAGES 200
#define ROUNDS 25

static int size;
static MPI_Comm comms[THREADS];
static pthread_barrier_t barrier;
static pthread_mutex_t check_lock = PTHREAD_MUTEX_INITIALIZER;

/* The checks count failures in a plain variable. */
static void check_locked(int good, const char *text)
{
    if (good) return;
    pthread_mutex_lock(&check_lock);
    check_that(0, __FILE__, __LINE__, text);
    pthread_mutex_unlock(&check_lock);
}
#define CHECK_T(condition) check_locked((condition) != 0, #condition)

static int right(void) { return (check_rank + 1) % size; }

static void ring(int thread, int messages)
{
    char out[256] = {0}, in[256];
    int bytes = thread + 1;
    for (int i = 0; i < messages; i++) {
        MPI_Request request;
        MPI_Irecv(in, sizeof(in), MPI_BYTE, (check_rank + size - 1) % size, thread, comms[thread], &request);
        MPI_Send(out, bytes, MPI_BYTE, right(), thread, comms[thread]);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

struct sum {
    uint64_t count, bytes;
};

/* What a suspended session holds for the right neighbour; it may hold nothing for others. */
static struct sum take(lucid_session_t session)
{
    uint64_t count[64], bytes[64];
    struct sum sum;
    CHECK_T(lucid_session_get(session, LUCID_KINDS_USER, count, bytes) == LUCID_SUCCESS);
    sum = (struct sum){count[right()], bytes[right()]};
    for (int i = 0; i < size; i++) CHECK_T(i == right() || count[i] == 0);
    return sum;
}

static lucid_session_t begin(int thread)
{
    lucid_session_t session = 0;
    CHECK_T(lucid_session_start(comms[thread], NULL, &session) == LUCID_SUCCESS);
    return session;
}

static struct sum end(lucid_session_t session)
{
    struct sum sum;
    CHECK_T(lucid_session_suspend(session) == LUCID_SUCCESS);
    sum = take(session);
    CHECK_T(lucid_session_free(session) == LUCID_SUCCESS);
    return sum;
}

/* All sessions are active while all threads send. */
static void together(int thread)
{
    lucid_session_t session = begin(thread);
    pthread_barrier_wait(&barrier);
    ring(thread, MESSAGES);
    pthread_barrier_wait(&barrier);
    struct sum sum = end(session);
    CHECK_T(sum.count == (uint64_t)THREADS * MESSAGES);
    CHECK_T(sum.bytes == (uint64_t)MESSAGES * THREADS * (THREADS + 1) / 2);
    pthread_barrier_wait(&barrier);
}

/* One thread after the other sends, in the same order on all processes; the others' sessions are suspended. */
static void in_turn(int thread)
{
    lucid_session_t session = begin(thread);
    CHECK_T(lucid_session_suspend(session) == LUCID_SUCCESS);
    for (int i = 0; i < THREADS; i++) {
        pthread_barrier_wait(&barrier);
        if (i != thread) continue;
        CHECK_T(lucid_session_continue(session) == LUCID_SUCCESS);
        ring(thread, MESSAGES);
        CHECK_T(lucid_session_suspend(session) == LUCID_SUCCESS);
    }
    pthread_barrier_wait(&barrier);
    struct sum sum = take(session);
    CHECK_T(sum.count == MESSAGES);
    CHECK_T(sum.bytes == (uint64_t)MESSAGES * (uint64_t)(thread + 1));
    CHECK_T(lucid_session_free(session) == LUCID_SUCCESS);
    pthread_barrier_wait(&barrier);
}

/* Everything at once. */
static void at_once(int thread)
{
    for (int i = 0; i < ROUNDS; i++) {
        lucid_session_t session = begin(thread);
        ring(thread, 5);
        CHECK_T(lucid_session_suspend(session) == LUCID_SUCCESS);
        ring(thread, 3);
        CHECK_T(lucid_session_continue(session) == LUCID_SUCCESS);
        ring(thread, 2);
        struct sum sum = end(session);
        CHECK_T(sum.count >= 7);
        CHECK_T(sum.bytes >= (uint64_t)(7 * (thread + 1)));
    }
}

static void *work(void *argument)
{
    int thread = (int)(intptr_t)argument;
    together(thread);
    in_turn(thread);
    at_once(thread);
    return NULL;
}

static void all_threads(void)
{
    pthread_t threads[THREADS];
    lucid_session_t around;
    uint64_t messages = THREADS * (2 * MESSAGES + 10 * ROUNDS);
    uint64_t bytes = (2 * MESSAGES + 10 * ROUNDS) * THREADS * (THREADS + 1) / 2;
    CHECK_OK(lucid_session_start(MPI_COMM_WORLD, "around", &around));
    for (intptr_t i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    CHECK_OK(lucid_session_suspend(around));
    struct sum sum = take(around);
    CHECK_EQUAL(sum.count, messages);
    CHECK_EQUAL(sum.bytes, bytes);
    CHECK_OK(lucid_session_free(around));
}

int main(int argc, char **argv)
{
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (source_is_not_for_this_mpi()) return skip_test("the source is not for this MPI");
    if (provided != MPI_THREAD_MULTIPLE) return skip_test("this MPI has no MPI_THREAD_MULTIPLE");
    if (threads_hang_by_themselves()) return skip_test("this MPI hangs when several threads send");
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    CHECK_OK(lucid_init());
    MPI_Query_thread(&provided);
    CHECK_EQUAL(provided, MPI_THREAD_MULTIPLE); /* a source may not take it away: MPI_T_init_thread can */
    all_threads();
    CHECK_OK(lucid_finalize());
    for (int i = 0; i < THREADS; i++) MPI_Comm_free(&comms[i]);
    int outcome = check_outcome();
    MPI_Finalize();
    return outcome;
}
