/* SPDX-License-Identifier: BSD-3-Clause
 * overhead_reduce: figure 4 of Inria RR 9292. MPI_Reduce of integers over MPI_COMM_WORLD, with a session active and with
 * none in turn. A measurement is the time of --batch reductions after a barrier, that of the rank which it takes longest; some
 * more, not timed, come before, so that neither case is measured right after a session was switched on or off.
 *
 * --repetitions R   with, and as many without      --ints A,B,...   sizes
 * --batch B         reductions per measurement
 *
 * Output of rank 0: "time <ints> <repetition> <us without> <us with>", per reduction, in the order of measurement; then
 * "counted <ints> <reductions with a session> <messages of all ranks>" per size, and "source <name>". All sizes are passed through in every repetition,
 * so that a disturbance of the machine does not fall on one size alone.
 */
#define _GNU_SOURCE
#include "overhead_clock.h"
#include "overhead_session.h"

enum { SIZES_LIMIT = 32 };

static int rank, batch, sizes, ints[SIZES_LIMIT];
static int *in, *out;
static unsigned long long counted[SIZES_LIMIT], made[SIZES_LIMIT];

static void read_sizes(const char *text)
{
    for (char *end = (char *)text; sizes < SIZES_LIMIT && *end; sizes++) {
        ints[sizes] = (int)strtol(text, &end, 10);
        if (end == text || ints[sizes] < 1) overhead_fail("--ints: a list of numbers");
        text = end + (*end == ',');
    }
}

/** A number from 1 to 4 that all ranks agree on. */
static int some(int s, int repetition)
{
    const uint32_t mixed = ((uint32_t)repetition * 32 + (uint32_t)s) * UINT32_C(2654435761);
    return 1 + (int)(mixed >> 30);
}

/* The same is done in both cases before the measurement, but for the session's last state. Which rank leaves a barrier first
 * repeats itself with period 2 (np 2: a reduction takes 1 us after an odd number of them, 3 us after an even number), so
 * their number is mixed. */
static void prepare(int n, int on, int rounds)
{
    overhead_sessions_on(1);
    overhead_sessions_on(0);
    if (on) overhead_sessions_on(1);
    for (int i = 0; i < rounds; i++) {
        MPI_Reduce(in, out, n, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/** us per reduction: the longest of all ranks. */
static double measurement(int n, int on, int rounds)
{
    double mine, longest = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    prepare(n, on, rounds);
    const double since = overhead_ns(CLOCK_MONOTONIC);
    for (int b = 0; b < batch; b++) MPI_Reduce(in, out, n, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    mine = (overhead_ns(CLOCK_MONOTONIC) - since) / 1e3 / batch;
    MPI_Barrier(MPI_COMM_WORLD); /* suspending would take time from ranks on the same processor that are not done yet */
    if (on) overhead_sessions_on(0);
    MPI_Reduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    return longest;
}

static void measure(int s, int repetition)
{
    double us[2];
    for (int half = 0; half < 2; half++) {
        const int on = half ^ (repetition & 1);
        us[on] = measurement(ints[s], on, some(s, repetition));
    }
    if (rank == 0 && repetition >= 0) printf("time %d %d %.3f %.3f\n", ints[s], repetition, us[0], us[1]);
    made[s] += (unsigned long long)(some(s, repetition) + batch);
    if (sessions.n == 0) return;
    counted[s] += overhead_counted(LUCID_KIND_BIT(LUCID_KIND_REDUCE));
    overhead_check(sessions.reset(LUCID_ALL_SESSIONS), "lucid_session_reset");
}

static void print_counted(void)
{
    unsigned long long all[SIZES_LIMIT];
    MPI_Reduce(counted, all, sizes, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    for (int s = 0; rank == 0 && s < sizes; s++) printf("counted %d %llu %llu\n", ints[s], made[s], all[s]);
    if (rank == 0) printf("source %s\n", overhead_source());
}

int main(int argc, char **argv)
{
    int largest = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    read_sizes(overhead_option(argc, argv, "--ints", "1,3,10,30,100,300,1000,3000,10000,30000,100000"));
    batch = overhead_number(argc, argv, "--batch", "1");
    const int repetitions = overhead_number(argc, argv, "--repetitions", "180");
    for (int s = 0; s < sizes; s++) largest = ints[s] > largest ? ints[s] : largest;
    in = calloc((size_t)largest, sizeof *in);
    out = calloc((size_t)largest, sizeof *out);
    if (!in || !out || batch < 1) overhead_fail("getting memory (or --batch is no positive number)");
    overhead_sessions_make(overhead_number(argc, argv, "--sessions", "1"));
    for (int r = -2; r < repetitions; r++) /* the first two are not written down */
        for (int s = 0; s < sizes; s++) measure(s, r);
    print_counted();
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
