/* SPDX-License-Identifier: BSD-3-Clause */
/* See sparse_turns.h. */
#include "sparse_turns.h"

enum {
    ALONE = 2,          /* looks in a row before calls are timed: fewer than those after which not every call is looked at */
    MOST_ALONE = 1 << 20
};

unsigned sparse_turns_begin(struct sparse_turns *turns)
{
    turns->running++;
    turns->tickets += turns->tickets == UINT32_MAX ? 2 : 1;
    return turns->tickets;
}

void sparse_turns_end(struct sparse_turns *turns, unsigned ticket, double now)
{
    turns->running--;
    if (ticket != turns->timed) return;
    turns->timed = 0;
    if (now > 0) sparse_trials_end(&turns->trials, now);
}

static unsigned wanted(const struct sparse_turns *turns)
{
    return turns->wanted > 0 ? turns->wanted : ALONE;
}

bool sparse_turns_may_time(const struct sparse_turns *turns)
{
    return turns->alone >= wanted(turns);
}

/* Programs that now and then have several calls under way are believed ever less. */
bool sparse_turns_learn(struct sparse_turns *turns, bool busy, bool unseen, struct sparse_times last)
{
    turns->wanted = wanted(turns);
    if (busy) {
        if (turns->trials.last && turns->wanted < MOST_ALONE) turns->wanted *= 2;
        sparse_trials_forget(&turns->trials);
        turns->alone = 0;
        return false;
    }
    sparse_trials_learn(&turns->trials, last);
    if (!unseen && turns->alone < MOST_ALONE) turns->alone++;
    return turns->alone > turns->wanted;
}
