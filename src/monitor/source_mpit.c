/* SPDX-License-Identifier: BSD-3-Clause
 * source_mpit.c: the traffic source of the paper: Open MPI's monitoring components, read through MPI_T.
 *
 * Open MPI counts every message of the process, per peer in MPI_COMM_WORLD, from MPI_Init on. The handles are started
 * once and never stopped (stopping one stops all recording), the flush variable is never bound (binding it erases all
 * counters); what is booked is the difference between two reads. The variables add the user's messages and those that
 * collectives are made of together. The user's own are known from the wrapped calls; the rest is the collectives'.
 *
 * Cost: nothing on the way of a message beyond Open MPI's own monitoring; a read is O(P), and so is the memory
 * (80 bytes per process of MPI_COMM_WORLD here, 608 in Open MPI).
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lucid.h>

#include "calls.h"
#include "counters.h"
#include "log.h"
#include "source.h"
#include "source_mpit.h"

/* What is known of one peer. Guarded by the lock, but for what on_send() adds to. */
struct mpit_peer {
    uint64_t seen_count; /* the variables, when they were read last */
    uint64_t seen_bytes;
    _Atomic uint64_t user_count; /* the user's sends since then, booked already */
    _Atomic uint64_t user_bytes;
    int64_t owed_count; /* user's sends that the variables had not shown yet at the last read */
    int64_t owed_bytes;
};

enum mpit_read { MPIT_BOOK, MPIT_DROP };

static struct {
    pthread_mutex_t lock;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle count;
    MPI_T_pvar_handle bytes;
    int peers;
    struct mpit_peer *peer;
    uint64_t *count_now;
    uint64_t *bytes_now;
    int own;          /* stretches of Lucid's own communication under way */
    bool interposed;  /* on_send() tells of the user's messages */
    bool concurrent;  /* MPI_THREAD_MULTIPLE: a send may be counted by Open MPI and not yet by on_send() */
    bool decomposed;  /* the variables hold the collectives' messages too (pml_monitoring_enable 1) */
    bool failed;      /* a read failed; reported */
} mpit = {.lock = PTHREAD_MUTEX_INITIALIZER};

static unsigned mpit_sees(bool interposed)
{
    unsigned sees = mpit.decomposed ? LUCID_SEES_DECOMPOSED : 0;
    return interposed ? sees | LUCID_SEES_ONE_SIDED | LUCID_SEES_PERSISTENT | LUCID_SEES_USER : sees;
}

static int read_variables(void)
{
    if (MPI_T_pvar_read(mpit.session, mpit.count, mpit.count_now) == MPI_SUCCESS &&
        MPI_T_pvar_read(mpit.session, mpit.bytes, mpit.bytes_now) == MPI_SUCCESS) {
        return 0;
    }
    if (!mpit.failed) lucid_error("mpit: Open MPI's monitoring variables cannot be read; the counts stand still");
    mpit.failed = true;
    return -1;
}

/* What is left of a peer's messages when the user's are taken away belongs to collectives. With several threads in MPI
 * a send may be in the variables but not yet reported by its wrapper, or the other way round; the debt is settled at
 * the next read. With one thread there is no such moment: a lack means that the variables missed a message. */
static void book_rest(uint32_t peer, struct mpit_peer *p, uint64_t count, uint64_t bytes)
{
    int64_t rest_count = (int64_t)(count - atomic_exchange(&p->user_count, 0)) + p->owed_count;
    int64_t rest_bytes = (int64_t)(bytes - atomic_exchange(&p->user_bytes, 0)) + p->owed_bytes;
    p->owed_count = 0;
    p->owed_bytes = 0;
    if (rest_count > 0) {
        unsigned kind = mpit.interposed ? LUCID_KIND_OTHER_COLL : LUCID_KIND_UNDIVIDED;
        lucid_count_sum(peer, kind, (uint64_t)rest_count, rest_bytes > 0 ? (uint64_t)rest_bytes : 0);
        if (rest_bytes > 0) return;
    } else if (mpit.concurrent) {
        p->owed_count = rest_count;
    }
    if (mpit.concurrent) p->owed_bytes = rest_bytes;
}

static void forget_rest(struct mpit_peer *p)
{
    atomic_store(&p->user_count, 0);
    atomic_store(&p->user_bytes, 0);
    p->owed_count = 0;
    p->owed_bytes = 0;
}

/* Reads the variables and books what came since the last read, or only remembers where they stand. Lock held. */
static int advance(enum mpit_read what)
{
    if (read_variables() != 0) return -1;
    for (int i = 0; i < mpit.peers; i++) {
        struct mpit_peer *p = &mpit.peer[i];
        if (what == MPIT_BOOK) {
            book_rest((uint32_t)i, p, mpit.count_now[i] - p->seen_count, mpit.bytes_now[i] - p->seen_bytes);
        } else {
            forget_rest(p);
        }
        p->seen_count = mpit.count_now[i];
        p->seen_bytes = mpit.bytes_now[i];
    }
    return 0;
}

/* While Lucid itself communicates, on whatever thread, nothing that the variables show can be booked. */
static int mpit_sync(void)
{
    pthread_mutex_lock(&mpit.lock);
    int rc = advance(mpit.own > 0 ? MPIT_DROP : MPIT_BOOK);
    pthread_mutex_unlock(&mpit.lock);
    return rc;
}

/* Nobody listened until now. */
static int mpit_activate(void)
{
    pthread_mutex_lock(&mpit.lock);
    int rc = advance(MPIT_DROP);
    pthread_mutex_unlock(&mpit.lock);
    return rc;
}

static void mpit_deactivate(void)
{
    /* The last session has read what it wanted; Open MPI counts on, and the next session starts from there. */
}

static bool somebody_listens(void)
{
    return atomic_load_explicit(&lucid_listening, memory_order_relaxed) > 0;
}

static void mpit_own_begin(void)
{
    pthread_mutex_lock(&mpit.lock);
    if (mpit.own++ == 0 && somebody_listens()) advance(MPIT_BOOK);
    pthread_mutex_unlock(&mpit.lock);
}

static void mpit_own_end(void)
{
    pthread_mutex_lock(&mpit.lock);
    if (somebody_listens()) advance(MPIT_DROP);
    mpit.own--;
    pthread_mutex_unlock(&mpit.lock);
}

static void mpit_on_send(uint32_t peer, uint64_t bytes)
{
    lucid_count(peer, LUCID_KIND_P2P, 1, bytes);
    if (peer >= (uint32_t)mpit.peers) return; /* outside MPI_COMM_WORLD: Open MPI does not count those */
    atomic_fetch_add_explicit(&mpit.peer[peer].user_count, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&mpit.peer[peer].user_bytes, bytes, memory_order_relaxed);
}

static int allocate(int peers)
{
    mpit.peers = peers;
    mpit.peer = calloc((size_t)peers, sizeof(*mpit.peer));
    mpit.count_now = calloc((size_t)peers, sizeof(*mpit.count_now));
    mpit.bytes_now = calloc((size_t)peers, sizeof(*mpit.bytes_now));
    return mpit.peer != NULL && mpit.count_now != NULL && mpit.bytes_now != NULL ? 0 : -1;
}

/* A message to ourselves, on a communicator that nobody else can receive from, must show in the variables. */
static int prove_that_it_counts(void)
{
    MPI_Comm self = MPI_COMM_NULL;
    MPI_Group group;
    int rank, rc;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_group(MPI_COMM_SELF, &group);
    rc = PMPI_Comm_create(MPI_COMM_SELF, group, &self);
    PMPI_Group_free(&group);
    if (rc != MPI_SUCCESS || read_variables() != 0) return -1;
    uint64_t before = mpit.count_now[rank];
    rc = PMPI_Sendrecv(NULL, 0, MPI_BYTE, 0, 0, NULL, 0, MPI_BYTE, 0, 0, self, MPI_STATUS_IGNORE);
    PMPI_Comm_free(&self);
    if (rc != MPI_SUCCESS || read_variables() != 0) return -1;
    return mpit.count_now[rank] == before + 1 ? 0 : -1;
}

static int mpit_open(bool interposed, char *why, size_t why_size)
{
    int peers = 0, mode = 0, level = MPI_THREAD_SINGLE;
    if (lucid_mpit_prepare(&mpit.session, &mpit.count, &mpit.bytes, &mode, why, why_size) != 0) return -1;
    PMPI_Comm_size(MPI_COMM_WORLD, &peers);
    PMPI_Query_thread(&level);
    mpit.interposed = interposed;
    mpit.concurrent = level == MPI_THREAD_MULTIPLE;
    mpit.decomposed = mode == 1;
    if (allocate(peers) != 0) {
        snprintf(why, why_size, "no memory for the counters of %d processes", peers);
        return -1;
    }
    mpit.failed = true; /* a failure of the proof is told by `why` */
    if (prove_that_it_counts() != 0) {
        snprintf(why, why_size, "Open MPI's monitoring is loaded but counts nothing: is a PML forced (pml=ob1, cm or "
                 "ucx)? remove it or exclude the others instead (pml=^ucx,cm)");
        return -1;
    }
    mpit.failed = false;
    return mpit_activate();
}

const struct lucid_source lucid_source_mpit = {
    .name = "mpit",
    .sees = mpit_sees,
    .open = mpit_open,
    .activate = mpit_activate,
    .deactivate = mpit_deactivate,
    .sync = mpit_sync,
    .own_begin = mpit_own_begin,
    .own_end = mpit_own_end,
    .on_send = mpit_on_send,
};
