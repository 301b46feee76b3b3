/* SPDX-License-Identifier: BSD-3-Clause
 * wire_pair: figures 2 and 3 of "Improving MPI application communication time with an introspection monitoring library"
 * (Inria RR 9292, section 6.1). Rank 0 sends messages of random sizes to rank 1, on another node, with random pauses; a thread
 * of rank 0 reads both a Lucid session (suspend, get, reset, continue) and the card's counters every few milliseconds.
 *
 *   wire_pair FILE.csv [messages [smallest pause in ms [largest pause in ms [seed]]]]
 *
 * FILE.csv gets a row per reading: seconds, and what was seen since the row before by the session and by the card. Standard
 * output gets the totals, "name value": what was sent, what the readings and a second session over all of it say, what the card says.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <lucid.h>
#include <mpi.h>

#include "wire_nic.h"

enum { SMALLEST = 1000, LARGEST = 800000, INTERVAL_MS = 10, MAX_ROWS = 1 << 20, DATA = 1, END = 2, ARRIVED = 3 };

#define DEVICE "eth0"

struct row {
    double seconds;
    uint64_t messages, bytes;
    struct wire_nic nic;
};

static struct row rows[MAX_ROWS];
static int n_rows;
static lucid_session_t sampled, whole;
static atomic_int stop;

static void check(int code, const char *what)
{
    if (code == LUCID_SUCCESS) return;
    fprintf(stderr, "wire: %s: %s\n", what, lucid_error_string(code));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void pause_ms(double ms)
{
    struct timespec t = {.tv_sec = (time_t)(ms / 1e3)};
    t.tv_nsec = (long)((ms - 1e3 * (double)t.tv_sec) * 1e6);
    nanosleep(&t, NULL);
}

static void read_session(lucid_session_t session, uint64_t *messages, uint64_t *bytes)
{
    uint64_t counts[2], sizes[2];
    check(lucid_session_suspend(session), "suspend");
    check(lucid_session_get(session, LUCID_KINDS_ALL, counts, sizes), "get");
    *messages = counts[0] + counts[1];
    *bytes = sizes[0] + sizes[1];
}

static void read_both(double start)
{
    if (n_rows == MAX_ROWS) return;
    struct row *row = &rows[n_rows++];
    read_session(sampled, &row->messages, &row->bytes);
    check(lucid_session_reset(sampled), "reset");
    check(lucid_session_continue(sampled), "continue");
    row->nic = wire_nic_sent(DEVICE);
    row->seconds = now() - start;
}

static void *sample(void *start)
{
    while (!atomic_load(&stop)) {
        read_both(*(double *)start);
        pause_ms(INTERVAL_MS);
    }
    read_both(*(double *)start);
    return NULL;
}

/* xorshift64*: the same messages on every machine. */
static double next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (double)((*state * UINT64_C(2685821657736338717)) >> 11) / (double)(UINT64_C(1) << 53);
}

static uint64_t send_all(char *buffer, int messages, double pause_min, double pause_max, uint64_t seed)
{
    uint64_t total = 0;
    for (int i = 0; i < messages; i++) {
        int size = SMALLEST + (int)(next_random(&seed) * (LARGEST - SMALLEST + 1));
        MPI_Send(buffer, size, MPI_BYTE, 1, DATA, MPI_COMM_WORLD);
        total += (uint64_t)size;
        pause_ms(pause_min + next_random(&seed) * (pause_max - pause_min));
    }
    MPI_Send(buffer, 0, MPI_BYTE, 1, END, MPI_COMM_WORLD);
    MPI_Recv(buffer, 0, MPI_BYTE, 1, ARRIVED, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    pause_ms(5 * INTERVAL_MS);
    return total;
}

static void receive_all(char *buffer)
{
    MPI_Status status;
    do {
        MPI_Recv(buffer, LARGEST, MPI_BYTE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    } while (status.MPI_TAG != END);
    MPI_Send(buffer, 0, MPI_BYTE, 0, ARRIVED, MPI_COMM_WORLD);
}

static void write_rows(const char *path, struct wire_nic before)
{
    FILE *file = fopen(path, "w");
    if (!file) {
        fprintf(stderr, "wire: cannot write %s\n", path);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    fprintf(file, "seconds,session_messages,session_bytes,nic_bytes,nic_packets\n");
    for (int i = 0; i < n_rows; i++) {
        struct wire_nic nic = rows[i].nic;
        fprintf(file, "%.6f,%llu,%llu,%llu,%llu\n", rows[i].seconds, (unsigned long long)rows[i].messages,
                (unsigned long long)rows[i].bytes, (unsigned long long)(nic.bytes - before.bytes),
                (unsigned long long)(nic.packets - before.packets));
        before = nic;
    }
    fclose(file);
}

static void print_totals(uint64_t sent, struct wire_nic before)
{
    uint64_t bytes = 0, whole_messages, whole_bytes;
    for (int i = 0; i < n_rows; i++) bytes += rows[i].bytes;
    read_session(whole, &whole_messages, &whole_bytes);
    struct wire_nic last = rows[n_rows - 1].nic;
    printf("sent_bytes %llu\nsampled_bytes %llu\nsession_bytes %llu\nsession_messages %llu\nnic_bytes %llu\nnic_packets %llu\n",
           (unsigned long long)sent, (unsigned long long)bytes, (unsigned long long)whole_bytes,
           (unsigned long long)whole_messages, (unsigned long long)(last.bytes - before.bytes),
           (unsigned long long)(last.packets - before.packets));
}

static void run_sender(char **argv, int argc, char *buffer)
{
    int messages = argc > 2 ? atoi(argv[2]) : 380;
    double pause_min = argc > 3 ? atof(argv[3]) : 5, pause_max = argc > 4 ? atof(argv[4]) : 100;
    uint64_t seed = argc > 5 ? strtoull(argv[5], NULL, 10) : 1;
    pthread_t thread;
    struct wire_nic before = wire_nic_sent(DEVICE);
    double start = now();
    pthread_create(&thread, NULL, sample, &start);
    uint64_t sent = send_all(buffer, messages, pause_min, pause_max, seed);
    atomic_store(&stop, 1);
    pthread_join(thread, NULL);
    write_rows(argv[1], before);
    print_totals(sent, before);
}

int main(int argc, char **argv)
{
    int rank, size, level;
    static char buffer[LARGEST];

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2 || argc < 2 || level < MPI_THREAD_MULTIPLE) {
        if (rank == 0) fprintf(stderr, "usage: wire_pair FILE.csv [messages [pause-min-ms [pause-max-ms [seed]]]], on 2 ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    check(lucid_init(), "init");
    check(lucid_session_start(MPI_COMM_WORLD, "sampled", &sampled), "start");
    check(lucid_session_start(MPI_COMM_WORLD, "whole", &whole), "start");
    /* Connects the two. What this sends is forgotten again. */
    MPI_Barrier(MPI_COMM_WORLD);
    pause_ms(5 * INTERVAL_MS);
    check(lucid_session_suspend(LUCID_ALL_SESSIONS), "suspend");
    check(lucid_session_reset(LUCID_ALL_SESSIONS), "reset");
    check(lucid_session_continue(LUCID_ALL_SESSIONS), "continue");
    if (rank == 0) run_sender(argv, argc, buffer);
    else receive_all(buffer);
    /* Rank 0 has suspended one of them already. */
    (void)lucid_session_suspend(LUCID_ALL_SESSIONS);
    check(lucid_session_free(LUCID_ALL_SESSIONS), "free");
    check(lucid_finalize(), "finalize");
    MPI_Finalize();
    return 0;
}
