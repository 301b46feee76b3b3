/* SPDX-License-Identifier: BSD-3-Clause
 * whole_soak.c SEED PROGRAMS: random legal MPI programs, one after the other. A program makes communicators, talks on them in every
 * way, watches itself by sessions where liblucid is there, and frees everything. Standard output is a checksum of all that was
 * received, which depends on the seed and the number of ranks only. Standard error says by how much the largest process has grown
 * since a third of the programs, in bytes of its heap and in kB of its memory: what a program leaves behind adds up there.
 */
#include <malloc.h>
#include <stdio.h>

#include "soak_sessions.h"

enum { STEPS = 60 };

static void step(int number)
{
    int what = draw(40);
    if (what < 6) make();
    else if (what < 8) drop();
    else if (what < 10) MPI_Pcontrol(draw(4));
    else {
        const struct known *one = &known[draw(count)];
        if (one->n == 0) return; /* a part that got nobody */
        if (what < 18) step_messages(one, number);
        else if (what < 25) step_collective(one, number);
        else if (what < 31) step_varying(one, number);
        else if (what < 33) step_neighbours(one, number);
        else if (what < 36) step_sparse(one, number);
        else if (what < 37) step_window(one, number);
        else step_session(one);
    }
}

static void run_program(unsigned long long seed)
{
    known_begin(seed);
    for (int number = 0; number < STEPS; number++) step(number);
    end_sessions();
    known_end();
}

struct memory {
    long heap, kilobytes;
};

static struct memory memory(void)
{
    struct mallinfo2 info = mallinfo2();
    struct memory now = {(long)(info.uordblks + info.hblkhd), 0};
    char line[128];
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status)) sscanf(line, "VmRSS: %ld", &now.kilobytes);
    if (status) fclose(status);
    return now;
}

static void tell(struct memory warm, unsigned long long programs)
{
    struct memory now = memory();
    long grown[2] = {now.heap - warm.heap, now.kilobytes - warm.kilobytes}, most[2];
    uint64_t mine = checksum * (2 * (uint64_t)rank + 1), all;
    MPI_Reduce(grown, most, 2, MPI_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&mine, &all, 1, MPI_UINT64_T, MPI_BXOR, 0, MPI_COMM_WORLD);
    if (rank != 0) return;
    printf("checksum %016llx of %llu programs on %d ranks\n", (unsigned long long)all, programs, size);
    fprintf(stderr, "soak: grown by %ld bytes of heap, %ld kB of memory%s\n", most[0], most[1], is_layered() ? ", with Lucid" : "");
}

int main(int argc, char **argv)
{
    unsigned long long first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1, programs = argc > 2 ? strtoull(argv[2], NULL, 10) : 30;
    struct memory warm = {0, 0};
    CHECK_OK(MPI_Init(&argc, &argv));
    CHECK_OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    CHECK_OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    check_rank = rank;
    if (size > RANKS_LIMIT) return skip_test("made for 64 processes at most");
    outgoing = malloc(LARGEST);
    incoming = malloc(LARGEST);
    make_types();
    if (is_layered()) CHECK_OK(LIBRARY(lucid_init)());
    for (unsigned long long i = 0; i < programs; i++) {
        int before = check_failures;
        if (i == programs / 3) warm = memory();
        run_program(first + i);
        if (check_failures > before) fprintf(stderr, "soak: seed %llu failed at rank %d\n", first + i, rank);
    }
    tell(warm, programs);
    if (is_layered()) CHECK_OK(LIBRARY(lucid_finalize)());
    free_types();
    free(outgoing);
    free(incoming);
    int outcome = check_outcome();
    MPI_Finalize();
    return outcome;
}
