/* SPDX-License-Identifier: BSD-3-Clause
 * overhead_session.h: sessions by name, so that one and the same binary runs with Lucid and without: the functions are
 * those of a preloaded liblucid, or there are none.
 */
#ifndef OVERHEAD_SESSION_H
#define OVERHEAD_SESSION_H

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <mpi.h>

#include <lucid.h>

#define OVERHEAD_SESSIONS 64

static struct {
    int n;
    lucid_session_t id[OVERHEAD_SESSIONS];
    int (*init)(void);
    int (*start)(MPI_Comm, const char *, lucid_session_t *);
    int (*suspend)(lucid_session_t);
    int (*resume)(lucid_session_t);
    int (*reset)(lucid_session_t);
    int (*size)(lucid_session_t, int *);
    int (*get)(lucid_session_t, uint64_t, uint64_t *, uint64_t *);
    int (*source)(const char **, unsigned *);
} sessions;

static void overhead_fail(const char *what)
{
    fprintf(stderr, "overhead: %s failed\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

static void overhead_check(int rc, const char *what)
{
    if (rc != 0) overhead_fail(what);
}

static void *overhead_function(const char *name)
{
    void *function = dlsym(RTLD_DEFAULT, name);
    if (!function) overhead_fail(name);
    return function;
}

/** Starts `n` sessions on MPI_COMM_WORLD and suspends them. Collective. Nothing happens for n = 0. */
static void overhead_sessions_make(int n)
{
    if (n == 0) return;
    if (n < 0 || n > OVERHEAD_SESSIONS) overhead_fail("that number of sessions");
    *(void **)&sessions.init = overhead_function("lucid_init");
    *(void **)&sessions.start = overhead_function("lucid_session_start");
    *(void **)&sessions.suspend = overhead_function("lucid_session_suspend");
    *(void **)&sessions.resume = overhead_function("lucid_session_continue");
    *(void **)&sessions.reset = overhead_function("lucid_session_reset");
    *(void **)&sessions.size = overhead_function("lucid_session_size");
    *(void **)&sessions.get = overhead_function("lucid_session_get");
    *(void **)&sessions.source = overhead_function("lucid_source_info");
    overhead_check(sessions.init(), "lucid_init");
    for (sessions.n = 0; sessions.n < n; sessions.n++)
        overhead_check(sessions.start(MPI_COMM_WORLD, NULL, &sessions.id[sessions.n]), "lucid_session_start");
    overhead_check(sessions.suspend(LUCID_ALL_SESSIONS), "lucid_session_suspend");
    overhead_check(sessions.reset(LUCID_ALL_SESSIONS), "lucid_session_reset");
}

static void overhead_sessions_on(int on)
{
    if (sessions.n == 0) return;
    if (on) overhead_check(sessions.resume(LUCID_ALL_SESSIONS), "lucid_session_continue");
    else overhead_check(sessions.suspend(LUCID_ALL_SESSIONS), "lucid_session_suspend");
}

/** Messages of `kinds` that this process sent while the sessions were active; every session must say the same. */
static uint64_t overhead_counted(uint64_t kinds)
{
    uint64_t first = 0;
    for (int s = 0; s < sessions.n; s++) {
        int size = 0;
        uint64_t sum = 0;
        overhead_check(sessions.size(sessions.id[s], &size), "lucid_session_size");
        uint64_t *counts = calloc((size_t)size, sizeof *counts);
        if (!counts) overhead_fail("calloc");
        overhead_check(sessions.get(sessions.id[s], kinds, counts, NULL), "lucid_session_get");
        for (int peer = 0; peer < size; peer++) sum += counts[peer];
        free(counts);
        if (s == 0) first = sum;
        else if (sum != first) overhead_fail("counting the same in every session");
    }
    return first;
}

static const char *overhead_source(void)
{
    const char *name = "none";
    unsigned sees;
    if (sessions.n > 0) overhead_check(sessions.source(&name, &sees), "lucid_source_info");
    return name;
}

#endif
