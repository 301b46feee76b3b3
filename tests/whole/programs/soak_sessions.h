/* SPDX-License-Identifier: BSD-3-Clause
 * soak_sessions.h: sessions of a random program, where liblucid is in the process. What they say about point-to-point messages must
 * be what the program has sent.
 */
#ifndef SOAK_SESSIONS_H
#define SOAK_SESSIONS_H

#include <dlfcn.h>
#include <lucid.h>

#include "soak_steps.h"

enum { SESSIONS = 4 };

static struct watch {
    lucid_session_t id;
    int alive, active, members, member[RANKS_LIMIT];
    uint64_t count[RANKS_LIMIT], bytes[RANKS_LIMIT]; /* expected; while active: less what had been sent when it became active */
} watches[SESSIONS];

/* The same at every process, member or not. */
static int owned[SESSIONS];

#define LIBRARY(name) ((__typeof__(&name))dlsym(RTLD_DEFAULT, #name))

static int is_layered(void)
{
    return LIBRARY(lucid_init) != NULL;
}

/* Begins (sign -1) or ends (sign 1) a stretch in which the session sees what is sent. */
static void stretch(struct watch *watch, int sign)
{
    for (int i = 0; i < watch->members; i++) {
        watch->count[i] += (uint64_t)sign * sent_count[watch->member[i]];
        watch->bytes[i] += (uint64_t)sign * sent_bytes[watch->member[i]];
    }
    watch->active = sign < 0;
}

static void begin(int which, const struct known *one)
{
    struct watch *watch = &watches[which];
    if (one->own < 0 || !is_layered()) return;
    memset(watch, 0, sizeof *watch);
    watch->members = one->n;
    memcpy(watch->member, one->member, sizeof watch->member);
    CHECK_OK(LIBRARY(lucid_session_start)(one->comm, NULL, &watch->id));
    watch->alive = 1;
    stretch(watch, -1);
}

static void toggle(int which)
{
    struct watch *watch = &watches[which];
    if (!watch->alive) return;
    if (watch->active) CHECK_OK(LIBRARY(lucid_session_suspend)(watch->id));
    else CHECK_OK(LIBRARY(lucid_session_continue)(watch->id));
    stretch(watch, watch->active ? 1 : -1);
}

static void end(int which, int gather)
{
    uint64_t counts[RANKS_LIMIT], bytes[RANKS_LIMIT];
    lucid_matrix_t matrix = {0};
    struct watch *watch = &watches[which];
    if (!watch->alive) return;
    if (watch->active) toggle(which);
    CHECK_OK(LIBRARY(lucid_session_get)(watch->id, LUCID_KINDS_USER, counts, bytes));
    for (int i = 0; i < watch->members; i++) {
        CHECK_EQUAL(counts[i], watch->count[i]);
        CHECK_EQUAL(bytes[i], watch->bytes[i]);
    }
    if (gather) CHECK_OK(LIBRARY(lucid_session_gather)(watch->id, 0, LUCID_KINDS_ALL, &matrix));
    if (gather) LIBRARY(lucid_matrix_free)(&matrix);
    CHECK_OK(LIBRARY(lucid_session_free)(watch->id));
    watch->alive = 0;
}

static void step_session(const struct known *one)
{
    int which = draw(SESSIONS), what = draw(3), gather = draw(2);
    if (!owned[which]) {
        begin(which, one);
        owned[which] = 1;
    } else if (what > 0) {
        toggle(which);
    } else {
        end(which, gather);
        owned[which] = 0;
    }
}

static void end_sessions(void)
{
    for (int which = 0; which < SESSIONS; which++) {
        if (owned[which]) end(which, 0);
        owned[which] = 0;
    }
}

#endif
