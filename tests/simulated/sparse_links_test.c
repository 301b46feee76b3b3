/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_links_test.c: the simulator's links: how long messages take alone and behind each other, and that they come to a link in the
 * order of time, whatever order the ranks are run in.
 */
#include <math.h>

#include "sim_ranks.h"
#include "unit.h"

enum { RANKS = 6, LARGE = 125000, SMALL = 1250 }; /* bytes: 10 us and 0.1 us on a link */

/* Two nodes of three ranks. A line is what one rank does, one thing after the other. */
struct line {
    enum { END, SENDS, RECEIVES } what[3];
    int peer[3];
    size_t bytes[3];
    int at;
    bool begun;
    union sparse_request request;
};

struct play {
    struct sim *sim;
    struct line line[RANKS];
    char buffer[RANKS][LARGE];
};

static bool go_on(void *context, int rank)
{
    struct play *play = context;
    struct line *line = &play->line[rank];
    const struct sparse_transport *t = sim_transport(play->sim, rank);
    while (line->at < 3 && line->what[line->at] != END) {
        int i = line->at, peer = line->peer[i], code = 0;
        size_t bytes = 0;
        bool done = false;
        if (!line->begun && line->what[i] == SENDS) code = t->isend(t->context, play->buffer[rank], line->bytes[i], peer, 0, &line->request);
        if (!line->begun && line->what[i] == RECEIVES) code = t->irecv(t->context, play->buffer[rank], LARGE, peer, 0, &line->request);
        assert_int_equal(code, 0);
        line->begun = true;
        assert_int_equal(t->test(t->context, &line->request, &done, &bytes), 0);
        if (!done) return false;
        line->begun = false;
        line->at++;
    }
    return true;
}

/* The clocks of all ranks in microseconds. */
static void perform(struct play *play, double *clock)
{
    struct sim_links links;
    sim_links_default(&links);
    links.ranks_per_node = 3;
    struct sim_network *network = sim_network_create(SIM_FAT_TREE, RANKS, &links);
    play->sim = sim_create(&(struct sim_options){.ranks = RANKS, .network = network});
    assert_true(sim_run(play->sim, go_on, play));
    for (int r = 0; r < RANKS; r++) clock[r] = 1e6 * sim_count(play->sim, r)->clock;
    sim_destroy(play->sim);
    sim_network_destroy(network);
}

/* 1 us to set out, 0.2 us of a further link, 10 us on it. */
static void test_alone(void **state)
{
    static struct play play;
    double clock[RANKS];
    play = (struct play){.line = {[0] = {{SENDS}, {3}, {LARGE}}, [3] = {{RECEIVES}, {0}}}};
    perform(&play, clock);
    assert_true(fabs(clock[3] - 11.2) < 1e-6);
    assert_true(fabs(clock[0] - 11) < 1e-6);
    play = (struct play){.line = {[0] = {{SENDS}, {1}, {LARGE}}, [1] = {{RECEIVES}, {0}}}};
    perform(&play, clock);
    assert_true(fabs(clock[1] - (1 + 125e3 / 8e3)) < 1e-6); /* a copy within the node */
}

static void test_behind_each_other(void **state)
{
    static struct play play;
    double clock[RANKS];
    play = (struct play){.line = {[0] = {{SENDS}, {3}, {LARGE}}, [1] = {{SENDS}, {4}, {LARGE}}, [3] = {{RECEIVES}, {0}},
                                  [4] = {{RECEIVES}, {1}}}};
    perform(&play, clock);
    assert_true(fabs(clock[3] - 11.2) < 1e-6);
    assert_true(fabs(clock[4] - 21.2) < 1e-6);
}

/* Rank 3 has to wait for a long message, and sends one; rank 4 for a short one of a rank that is run after rank 3, and its answer
 * sets out long before rank 3's all the same. */
static void test_order_of_time(void **state)
{
    static struct play play;
    double clock[RANKS];
    play = (struct play){.line = {[0] = {{SENDS}, {3}, {LARGE}}, [1] = {{RECEIVES}, {3}}, [2] = {{RECEIVES}, {4}},
                                  [3] = {{RECEIVES, SENDS}, {0, 1}, {0, LARGE}}, [4] = {{RECEIVES, SENDS}, {5, 2}, {0, SMALL}},
                                  [5] = {{SENDS}, {4}, {SMALL}}}};
    perform(&play, clock);
    assert_true(fabs(clock[1] - 22.4) < 1e-6); /* 11.2 there and 11.2 back */
    assert_true(fabs(clock[2] - (1 + 1.25 / 8 + 1.3)) < 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_alone), cmocka_unit_test(test_behind_each_other),
                                       cmocka_unit_test(test_order_of_time)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
