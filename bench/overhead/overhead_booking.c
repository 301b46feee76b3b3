/* SPDX-License-Identifier: BSD-3-Clause
 * overhead_booking: what booking a message costs by itself (src/core/counters.h), by the number of peers that come in turn.
 * No MPI call is made: it is the counters alone, in a loop that holds nothing else.
 *
 * --bookings N   per number of peers, at most 4096 peers     --repeat R      --cpu C
 *
 * Output: "peers <K> <cpu ns per booking>", R lines for each K; then "counted <n>".
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>

#include "../../src/core/counters.h"
#include "overhead_clock.h"

static double book_in_turn(long bookings, uint32_t peers)
{
    struct overhead_time sum = {0, 0}, since = overhead_now();
    uint32_t peer = 0;
    for (long i = 0; i < bookings; i++) {
        __asm__ volatile("" : "+r"(peer)); /* the compiler may not foresee the peer, nor merge bookings */
        lucid_count_one(peer, 0, 8);
        if (++peer == peers) peer = 0;
    }
    overhead_add(&sum, since);
    return sum.cpu / (double)bookings;
}

/** Messages booked so far. */
static unsigned long long counted(void)
{
    struct lucid_cells cells = {0}, sizes = {0};
    unsigned long long n = 0;
    if (lucid_counters_read(&cells, &sizes) != 0) return 0;
    for (size_t i = 0; i < cells.n; i++) n += cells.cell[i].count;
    lucid_cells_clear(&cells);
    lucid_cells_clear(&sizes);
    return n;
}

int main(int argc, char **argv)
{
    static const uint32_t peers[] = {1, 2, 16, 256, 4096};
    const long bookings = atol(overhead_option(argc, argv, "--bookings", "1000000"));
    const int repeat = overhead_number(argc, argv, "--repeat", "20");
    if (overhead_pin(overhead_number(argc, argv, "--cpu", "-1")) != 0) {
        fprintf(stderr, "overhead_booking: cannot be pinned to that processor\n");
        return 1;
    }
    for (int r = 0; r < repeat; r++)
        for (size_t k = 0; k < sizeof peers / sizeof *peers; k++)
            printf("peers %u %.3f\n", peers[k], book_in_turn(bookings, peers[k]));
    printf("counted %llu\n", counted());
    return 0;
}
