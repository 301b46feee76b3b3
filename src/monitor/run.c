/* SPDX-License-Identifier: BSD-3-Clause
 * run.c: the recording of a whole run (`lucid run`, LUCID_DIR): one session from MPI_Init to MPI_Finalize, and one per level
 * of MPI_Pcontrol with LUCID_PHASES. The program's own sessions are not touched; nothing that fails here stops it.
 *
 * MPI_Pcontrol(n), n > 0, begins phase n (again, if it has been before) and ends the one before; MPI_Pcontrol(0) ends the
 * phase. It is a local call: a process that never enters a phase has sent nothing in it. Spawned processes are a run of
 * their own, spawned-run.json.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calls.h"
#include "log.h"
#include "params.h"
#include "session.h"
#include "source_mpit.h"
#include "startup.h"

/* A program that counts its time steps by MPI_Pcontrol would make a file of each. */
#define PHASES_LIMIT 256

static struct {
    struct lucid_members *members;
    int whole; /* the session of the whole run, 0: nothing is recorded */
    int n;
    int level[PHASES_LIMIT];
    int session[PHASES_LIMIT];
    int current; /* index of the phase that is active, or -1 */
    bool full;
    bool spawned; /* by MPI_Comm_spawn: a world of its own */
} run = {.current = -1};

static void start_whole(void)
{
    int status = lucid_monitor_open();
    MPI_Comm parent = MPI_COMM_NULL;
    if (status == LUCID_SUCCESS && PMPI_Comm_get_parent(&parent) == MPI_SUCCESS) run.spawned = parent != MPI_COMM_NULL;
    if (status == LUCID_SUCCESS) status = lucid_members_make(MPI_COMM_WORLD, &run.members);
    if (status == LUCID_SUCCESS) status = lucid_table_start(NULL, true, 0, NULL, &run.whole);
    if (status != LUCID_SUCCESS) lucid_error("the run is not recorded: %s", lucid_error_string(status));
}

void lucid_call_init(void)
{
    lucid_mpit_settle();
    if (lucid_params()->dir[0] && run.whole == 0) start_whole();
    lucid_timing = run.whole != 0 && lucid_params()->time;
}

static int find_phase(int level)
{
    for (int i = 0; i < run.n; i++)
        if (run.level[i] == level) return i;
    return -1;
}

static int new_phase(int level)
{
    int id;
    if (run.n == PHASES_LIMIT) {
        if (!run.full) lucid_error("more than %d levels of MPI_Pcontrol: later ones are not recorded apart", PHASES_LIMIT);
        run.full = true;
        return -1;
    }
    if (lucid_table_start(NULL, true, 0, NULL, &id) != LUCID_SUCCESS) return -1;
    run.level[run.n] = level;
    run.session[run.n] = id;
    return run.n++;
}

void lucid_call_pcontrol(int level)
{
    if (run.whole == 0 || !lucid_params()->phases) return;
    if (run.current >= 0) (void)lucid_table_suspend(run.session[run.current]);
    run.current = -1;
    if (level <= 0) return;
    int known = find_phase(level);
    if (known < 0) run.current = new_phase(level);
    else if (lucid_table_continue(run.session[known]) == LUCID_SUCCESS) run.current = known;
}

/** DIR/stem.json, or DIR/stem-2.json ... where another job of the same run (a script may start several) has left one. */
static int choose_path(char *path, size_t size, const char *stem)
{
    const char *spawned = run.spawned ? "spawned-" : "";
    for (int n = 1; n < 10000; n++) {
        int length = n == 1 ? snprintf(path, size, "%s/%s%s.json", lucid_params()->dir, spawned, stem)
                            : snprintf(path, size, "%s/%s%s-%d.json", lucid_params()->dir, spawned, stem, n);
        if (length >= (int)size) break;
        if (access(path, F_OK) != 0) return LUCID_SUCCESS;
    }
    lucid_error("cannot write the run's report: the path of LUCID_DIR is too long, or there are too many reports in it");
    return LUCID_ERR_IO;
}

static int write_one(int session, const char *name, const char *stem)
{
    char path[PATH_MAX] = "";
    struct lucid_session_data data = {0};
    int status = session ? lucid_table_copy(session, &data) : LUCID_SUCCESS;
    snprintf(data.name, sizeof data.name, "%s", name);
    if (session == run.whole) data.in_mpi = lucid_time_in_mpi();
    if (status == LUCID_SUCCESS && run.members->rank == 0) status = choose_path(path, sizeof path, stem);
    status = lucid_agree(run.members, status);
    if (status == LUCID_SUCCESS) status = lucid_write_json(run.members, &data, path);
    lucid_session_data_clear(&data);
    return status;
}

/** The next level above `level` that any process has entered, or INT_MAX. Collective. */
static int next_level(int level)
{
    int mine = INT_MAX, next = INT_MAX;
    for (int i = 0; i < run.n; i++)
        if (run.level[i] > level && run.level[i] < mine) mine = run.level[i];
    if (PMPI_Allreduce(&mine, &next, 1, MPI_INT, MPI_MIN, run.members->own) != MPI_SUCCESS) next = INT_MAX;
    return next;
}

static int write_phases(void)
{
    int status = LUCID_SUCCESS, level = 0;
    while (status == LUCID_SUCCESS && (level = next_level(level)) != INT_MAX) {
        char name[LUCID_NAME_LENGTH + 1], stem[64];
        int index = find_phase(level);
        snprintf(name, sizeof name, "phase %d", level);
        snprintf(stem, sizeof stem, "phase-%d", level);
        status = write_one(index >= 0 ? run.session[index] : 0, name, stem);
    }
    return status;
}

void lucid_call_finalize(void)
{
    lucid_timing = false;
    if (run.whole == 0) return;
    lucid_call_pcontrol(0);
    (void)lucid_table_suspend(run.whole);
    lucid_own_begin();
    if (!run.spawned) lucid_startup_report();
    int status = LUCID_SUCCESS;
    if (lucid_params()->phases) status = write_phases();
    if (status == LUCID_SUCCESS) status = write_one(run.whole, "run", "run");
    lucid_own_end();
    if (status != LUCID_SUCCESS && status != LUCID_ERR_IO && run.members->rank == 0)
        lucid_error("the run's report was not written: %s", lucid_error_string(status));
    (void)lucid_table_free(run.whole);
    for (int i = 0; i < run.n; i++) (void)lucid_table_free(run.session[i]);
    lucid_members_free(run.members);
    run.members = NULL;
    run.whole = 0;
}
