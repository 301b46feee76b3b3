/* SPDX-License-Identifier: BSD-3-Clause
 * session.c: the environment, and the life of sessions (lucid.h).
 */
#define _GNU_SOURCE
#include "session.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "calls.h"
#include "counters.h"
#include "log.h"
#include "params.h"
#include "source.h"
#include "source_select.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* initialized, opened */
static pthread_mutex_t source_lock = PTHREAD_MUTEX_INITIALIZER;
static bool initialized, opened;

static int update(struct lucid_cells *cells, struct lucid_cells *sizes)
{
    int rc = 0;
    pthread_mutex_lock(&source_lock);
    if (lucid_source->sync) rc = lucid_source->sync();
    pthread_mutex_unlock(&source_lock);
    return rc == 0 ? lucid_counters_read(cells, sizes) : rc;
}

static int activate(void)
{
    pthread_mutex_lock(&source_lock);
    int rc = lucid_source->activate ? lucid_source->activate() : 0;
    pthread_mutex_unlock(&source_lock);
    if (rc == 0) atomic_store(&lucid_listening, 1);
    return rc;
}

static void deactivate(void)
{
    atomic_store(&lucid_listening, 0);
    pthread_mutex_lock(&source_lock);
    if (lucid_source->deactivate) lucid_source->deactivate();
    pthread_mutex_unlock(&source_lock);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void release(void *attachment)
{
    lucid_members_free(attachment);
}

static const struct lucid_table_ops table_ops = {update, activate, deactivate, seconds, release};

void lucid_own_begin(void)
{
    if (lucid_thread.own++ > 0 || !lucid_source->own_begin) return;
    pthread_mutex_lock(&source_lock);
    lucid_source->own_begin();
    pthread_mutex_unlock(&source_lock);
}

void lucid_own_end(void)
{
    if (--lucid_thread.own > 0 || !lucid_source->own_end) return;
    pthread_mutex_lock(&source_lock);
    lucid_source->own_end();
    pthread_mutex_unlock(&source_lock);
}

static bool mpi_is_up(void)
{
    int up = 0, down = 0;
    if (PMPI_Initialized(&up) != MPI_SUCCESS || PMPI_Finalized(&down) != MPI_SUCCESS) return false;
    return up && !down;
}

static int open_locked(void)
{
    int rank = -1;
    if (!mpi_is_up()) {
        lucid_error("sessions exist between MPI_Init and MPI_Finalize only: call lucid_init() in between");
        return LUCID_ERR_MPI;
    }
    if (opened) return LUCID_SUCCESS;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    lucid_log_set_rank(rank);
    if (lucid_source_select() != 0) return LUCID_ERR_MPI;
    lucid_table_setup(&table_ops);
    opened = true;
    return LUCID_SUCCESS;
}

int lucid_monitor_open(void)
{
    pthread_mutex_lock(&lock);
    int status = open_locked();
    pthread_mutex_unlock(&lock);
    return status;
}

int lucid_init(void)
{
    pthread_mutex_lock(&lock);
    int status = initialized ? LUCID_ERR_MULTIPLE_CALL : open_locked();
    if (status == LUCID_SUCCESS) initialized = true;
    pthread_mutex_unlock(&lock);
    return status;
}

int lucid_finalize(void)
{
    pthread_mutex_lock(&lock);
    int status = initialized ? lucid_table_clear() : LUCID_ERR_MISSING_INIT;
    if (status == LUCID_SUCCESS) initialized = false;
    pthread_mutex_unlock(&lock);
    return status;
}

int lucid_ready(void)
{
    pthread_mutex_lock(&lock);
    int status = initialized ? LUCID_SUCCESS : LUCID_ERR_MISSING_INIT;
    pthread_mutex_unlock(&lock);
    return status;
}

/** A new session, active at all members or at none. */
static int open_session(MPI_Comm comm, const char *name, lucid_session_t *session)
{
    struct lucid_members *members;
    lucid_session_t id = 0;
    int status = lucid_members_make(comm, &members);
    if (status != LUCID_SUCCESS) return status;
    status = lucid_table_start(name, false, lucid_params()->max_sessions, members, &id);
    int all = lucid_agree(members, status);
    if (all == LUCID_SUCCESS) {
        *session = id;
        return LUCID_SUCCESS;
    }
    if (status == LUCID_SUCCESS) { /* another member could not: nobody has the session */
        (void)lucid_table_suspend(id);
        (void)lucid_table_free(id);
    } else {
        lucid_members_free(members);
    }
    return all;
}

int lucid_session_start(MPI_Comm comm, const char *name, lucid_session_t *session)
{
    int status = lucid_ready();
    if (status != LUCID_SUCCESS) return status;
    if (!session) return LUCID_ERR_SESSION;
    return open_session(comm, name, session);
}

int lucid_session_suspend(lucid_session_t session)
{
    int status = lucid_ready();
    return status == LUCID_SUCCESS ? lucid_table_suspend(session) : status;
}

int lucid_session_continue(lucid_session_t session)
{
    int status = lucid_ready();
    return status == LUCID_SUCCESS ? lucid_table_continue(session) : status;
}

int lucid_session_reset(lucid_session_t session)
{
    int status = lucid_ready();
    return status == LUCID_SUCCESS ? lucid_table_reset(session) : status;
}

int lucid_session_free(lucid_session_t session)
{
    int status = lucid_ready();
    return status == LUCID_SUCCESS ? lucid_table_free(session) : status;
}

int lucid_session_find(const char *name, lucid_session_t *session)
{
    int status = lucid_ready();
    if (status != LUCID_SUCCESS) return status;
    return name && session ? lucid_table_find(name, session) : LUCID_ERR_ARG;
}

int lucid_session_members(lucid_session_t session, bool suspended, struct lucid_members **members)
{
    void *attachment;
    int status = lucid_ready();
    if (status == LUCID_SUCCESS) status = lucid_table_attachment(session, suspended, &attachment);
    if (status == LUCID_SUCCESS) *members = attachment;
    return status;
}

int lucid_session_size(lucid_session_t session, int *size)
{
    struct lucid_members *members;
    int status = lucid_session_members(session, false, &members);
    if (status == LUCID_SUCCESS && !size) status = LUCID_ERR_ARG;
    if (status == LUCID_SUCCESS) *size = members->size;
    return status;
}

int lucid_source_info(const char **name, unsigned *sees)
{
    int status = lucid_ready();
    if (status != LUCID_SUCCESS) return status;
    if (name) *name = lucid_source->name;
    if (sees) *sees = lucid_source->sees(lucid_wrappers_interposed());
    return LUCID_SUCCESS;
}
