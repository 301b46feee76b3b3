/* SPDX-License-Identifier: BSD-3-Clause */
/* Nonblocking calls in turn: which of them are timed. What such a call takes, from the answer of its agreement to its end, says something
 * of who runs it only where no other is under way meanwhile. Ranks do not know that of each other, nor what the program does next; so
 * each says in its agreement whether an earlier call of this state is still under way there. One that is has made the time of the one
 * before worthless, and is not timed itself; and calls are timed only where some in a row were alone.
 *
 * Communicators that have no such call need no memory for it; a rank that has none says that it is busy, so that nothing is timed.
 * Apart from `running` everything follows from what ranks agree on, in the order of the turns. */
#ifndef LUCID_SPARSE_TURNS_H
#define LUCID_SPARSE_TURNS_H

#include "sparse_trial.h"

struct sparse_turns {
    struct sparse_trials trials;
    unsigned running, tickets; /* calls that are under way at this rank; that there were */
    unsigned timed;            /* the ticket of the one that is timed; 0: none */
    unsigned alone, wanted;    /* looks in a row that found no other call under way; how many there are to be */
};

/* A call begins that is looked at or runs here. Its ticket, never 0. */
unsigned sparse_turns_begin(struct sparse_turns *turns);

/* It has ended. `now`: seconds, if it has a result; 0: what it took is void. */
void sparse_turns_end(struct sparse_turns *turns, unsigned ticket, double now);

/* What the ranks have agreed on. `busy`: another call was under way somewhere when this one began; `unseen`: it came behind one of which
 * nobody knows that. Returns whether this call is to be timed. */
bool sparse_turns_learn(struct sparse_turns *turns, bool busy, bool unseen, struct sparse_times last);

/* Whether the next look may come to that. */
bool sparse_turns_may_time(const struct sparse_turns *turns);

#endif
