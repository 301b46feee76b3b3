/* SPDX-License-Identifier: BSD-3-Clause
 * session_members.c: who belongs to a session, and the communicator on which Lucid talks about it.
 *
 * MPI_Comm_create rather than MPI_Comm_dup: it copies no attributes, so it runs none of the user's code.
 */
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "counters.h"
#include "log.h"
#include "session.h"

/* Up to this size the MPI library translates ranks; it compares all pairs, so beyond it the members tell each other. */
#define TRANSLATE_LIMIT 1024

/** Differs between jobs that were started separately (spawned and connected ones). */
static uint64_t job_mark(void)
{
    static const char *const names[] = {"PMIX_NAMESPACE", "OMPI_MCA_orte_ess_jobid", "PMI_JOBID", "PMI_SPAWNED",
                                        "SLURM_STEP_ID", "SLURM_JOB_ID"};
    uint64_t mark = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = getenv(names[i]);
        for (const char *c = text ? text : ""; *c; c++) mark = (mark ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
        mark = (mark ^ i) * UINT64_C(0x100000001b3);
    }
    return mark;
}

static int ask_members(const struct lucid_members *m, uint32_t *world)
{
    uint64_t mine[2] = {0, job_mark()};
    int rank;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    mine[0] = (uint64_t)rank;
    uint64_t *all = malloc((size_t)m->size * sizeof mine);
    int status = lucid_agree(m, all ? LUCID_SUCCESS : LUCID_ERR_INTERNAL);
    if (status == LUCID_SUCCESS && PMPI_Allgather(mine, 2, MPI_UINT64_T, all, 2, MPI_UINT64_T, m->own) != MPI_SUCCESS)
        status = LUCID_ERR_MPI;
    for (int i = 0; status == LUCID_SUCCESS && i < m->size; i++)
        world[i] = all[2 * i + 1] == mine[1] ? (uint32_t)all[2 * i] : LUCID_PEER_OUTSIDE;
    free(all);
    return status;
}

static int translate(const struct lucid_members *m, uint32_t *world)
{
    MPI_Group group, world_group;
    int ranks[TRANSLATE_LIMIT], theirs[TRANSLATE_LIMIT];
    for (int i = 0; i < m->size; i++) ranks[i] = i;
    if (PMPI_Comm_group(m->own, &group) != MPI_SUCCESS) return LUCID_ERR_MPI;
    if (PMPI_Comm_group(MPI_COMM_WORLD, &world_group) != MPI_SUCCESS) {
        PMPI_Group_free(&group);
        return LUCID_ERR_MPI;
    }
    int rc = PMPI_Group_translate_ranks(group, m->size, ranks, world_group, theirs);
    PMPI_Group_free(&group);
    PMPI_Group_free(&world_group);
    for (int i = 0; rc == MPI_SUCCESS && i < m->size; i++)
        world[i] = theirs[i] == MPI_UNDEFINED ? LUCID_PEER_OUTSIDE : (uint32_t)theirs[i];
    return rc == MPI_SUCCESS ? LUCID_SUCCESS : LUCID_ERR_MPI;
}

static int compare(const void *a, const void *b)
{
    const struct lucid_member *x = a, *y = b;
    return x->world < y->world ? -1 : x->world > y->world;
}

/** Keeps the table ordered by world rank, unless the ranks are the world ranks. */
static int index_members(struct lucid_members *m, const uint32_t *world)
{
    int identical = 1;
    for (int i = 0; i < m->size && identical; i++) identical = world[i] == (uint32_t)i;
    if (identical) return LUCID_SUCCESS;
    m->by_world = malloc((size_t)m->size * sizeof *m->by_world);
    if (!m->by_world) return LUCID_ERR_INTERNAL;
    for (int i = 0; i < m->size; i++) m->by_world[i] = (struct lucid_member){world[i], i};
    qsort(m->by_world, (size_t)m->size, sizeof *m->by_world, compare);
    return LUCID_SUCCESS;
}

static int find_world_ranks(struct lucid_members *m, MPI_Comm comm)
{
    if (comm == MPI_COMM_WORLD) return LUCID_SUCCESS;
    uint32_t *world = malloc((size_t)m->size * sizeof *world);
    int status = lucid_agree(m, world ? LUCID_SUCCESS : LUCID_ERR_INTERNAL);
    if (status == LUCID_SUCCESS) status = m->size <= TRANSLATE_LIMIT ? translate(m, world) : ask_members(m, world);
    if (status == LUCID_SUCCESS) status = index_members(m, world);
    free(world);
    return lucid_agree(m, status);
}

static int make_own(struct lucid_members *m, MPI_Comm comm)
{
    MPI_Group group;
    int inter = 0;
    if (comm == MPI_COMM_NULL || PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || inter) {
        lucid_error("a session needs an intra-communicator");
        return LUCID_ERR_MPI;
    }
    if (PMPI_Comm_group(comm, &group) != MPI_SUCCESS) return LUCID_ERR_MPI;
    int rc = PMPI_Comm_create(comm, group, &m->own);
    PMPI_Group_free(&group);
    if (rc != MPI_SUCCESS) return LUCID_ERR_MPI;
    PMPI_Comm_set_errhandler(m->own, MPI_ERRORS_RETURN);
    PMPI_Comm_size(m->own, &m->size);
    PMPI_Comm_rank(m->own, &m->rank);
    return LUCID_SUCCESS;
}

int lucid_members_make(MPI_Comm comm, struct lucid_members **members)
{
    struct lucid_members *m = calloc(1, sizeof *m);
    if (!m) return LUCID_ERR_INTERNAL;
    m->own = MPI_COMM_NULL;
    lucid_own_begin();
    int status = make_own(m, comm);
    if (status == LUCID_SUCCESS) status = find_world_ranks(m, comm);
    lucid_own_end();
    if (status == LUCID_SUCCESS) *members = m;
    else lucid_members_free(m);
    return status;
}

void lucid_members_free(struct lucid_members *m)
{
    lucid_own_begin();
    if (m->own != MPI_COMM_NULL) PMPI_Comm_free(&m->own);
    lucid_own_end();
    free(m->by_world);
    free(m);
}

int lucid_members_rank(const struct lucid_members *m, uint32_t world)
{
    if (!m->by_world) return world < (uint32_t)m->size ? (int)world : -1;
    int low = 0, high = m->size;
    while (low < high) {
        int mid = low + (high - low) / 2;
        if (m->by_world[mid].world < world) low = mid + 1;
        else high = mid;
    }
    return low < m->size && m->by_world[low].world == world ? m->by_world[low].rank : -1;
}
