/* SPDX-License-Identifier: BSD-3-Clause
 * place_reorder.c: decide, map, create (lucid_place.h).
 *
 * The seed leaves the trade-off "to the designer of the application"; here the time of an iteration before and after is
 * predicted from the traffic and from what messages cost on this job, and weighed against what the change costs.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "place_job.h"

#define NOTHING_BETTER "no better order was found"
enum { FEW = 1024 };

/** One reordering, at one member. */
struct plan {
    const lucid_reorder_options_t *options;
    struct lucid_members *members;
    struct lucid_matrix matrix; /* at rank 0, or at all with options->everywhere */
    struct place_job job;
    lucid_decision_t decision;
    double begin, observed; /* when it was asked for; seconds of an iteration while it was recorded, 0: not known */
    double scale;           /* of predictions, that none exceeds what was observed */
    int *k;
    int go;    /* rank 0's; everywhere once it has been told */
    int final; /* all members know the decision */
};

static uint64_t at_least_one(uint64_t n)
{
    return n ? n : 1;
}

/** Enough for a good order of few processes, and for a first one of many. */
static double least_budget(const struct plan *plan)
{
    return 5e-4 + 1e-5 * plan->matrix.size;
}

/** The time that mapping may take: a fiftieth of what all communication to come costs, within limits. */
static double budget(const struct plan *plan)
{
    if (plan->options->seconds > 0) return plan->options->seconds;
    double most = plan->decision.before * (double)plan->options->remaining / 50;
    double usual = plan->matrix.size / 8192.0 > 0.2 ? plan->matrix.size / 8192.0 : 0.2;
    if (most > usual) most = usual;
    if (most < least_budget(plan)) most = least_budget(plan);
    return most > 8 ? 8 : most;
}

/** Seconds that are still to be spent if it is done. */
static double cost_to_come(const struct plan *plan)
{
    return plan->decision.creating + plan->decision.moving + plan->options->change_seconds;
}

/** Seconds spent so far, without the measurements that are made once per job. */
static double spent(const struct plan *plan)
{
    return PMPI_Wtime() - plan->begin - plan->job.measuring;
}

/** Predicted communication time of an iteration with the rank r at at[r], by `scale`. */
static double predict(const struct plan *plan, const int *at)
{
    return plan->scale * place_predict(&plan->job, &plan->matrix, at) / (double)at_least_one(plan->options->recorded);
}

static void say(lucid_decision_t *decision, const char *reason)
{
    snprintf(decision->reason, sizeof decision->reason, "%s", reason);
}

/** Whether anything could pay at all, before anything is measured. At rank 0. */
static int worth_asking(struct plan *plan)
{
    lucid_decision_t *d = &plan->decision;
    double all = plan->observed * (double)plan->options->remaining;
    d->break_even = UINT64_MAX;
    d->map.algorithm = "identity";
    if (plan->job.nodes < 2) {
        say(d, "all processes are on one node: nothing to gain");
        return 0;
    }
    if (plan->matrix.entries == 0) {
        say(d, "the session has recorded no traffic between the processes");
        return 0;
    }
    if (!plan->options->always && all <= spent(plan) + plan->options->change_seconds) {
        say(d, "a change costs more than all that is still to come takes");
        return 0;
    }
    return 1;
}

/** What would have to be spent, and whether that is less than all communication still to come. At rank 0. */
static int worth_mapping(struct plan *plan)
{
    lucid_decision_t *d = &plan->decision;
    const struct place_costs *costs = &plan->job.costs;
    memcpy(d->latency, costs->latency, sizeof d->latency);
    memcpy(d->bandwidth, costs->bandwidth, sizeof d->bandwidth);
    d->measuring = plan->job.measuring;
    plan->scale = 1;
    d->before = predict(plan, NULL);
    if (plan->observed > 0 && d->before > plan->observed) plan->scale = plan->observed / d->before;
    d->after = d->before *= plan->scale;
    d->creating = costs->split * plan->members->size;
    if (costs->bandwidth[PLACE_BETWEEN] > 0 && plan->options->moved_bytes > 0)
        d->moving = costs->latency[PLACE_BETWEEN] +
                    (double)plan->options->moved_bytes * plan->members->size / plan->job.nodes / costs->bandwidth[PLACE_BETWEEN];
    if (!plan->options->always && d->before * (double)plan->options->remaining <= cost_to_come(plan) + spent(plan)) {
        say(d, "creating a communicator and moving the data costs more than all communication still to come");
        return 0;
    }
    return 1;
}

/** Whether it pays, now that the mapping is known. At rank 0. */
static int decide(struct plan *plan)
{
    lucid_decision_t *d = &plan->decision;
    int *at = malloc((size_t)plan->matrix.size * sizeof *at);
    if (!at) return 0;
    for (int process = 0; process < plan->matrix.size; process++) at[plan->k[process]] = process;
    d->after = predict(plan, at);
    free(at);
    double gain = d->before - d->after, all = cost_to_come(plan) + d->mapping, iterations = ceil(all / gain);
    if (gain > 0 && iterations < 1e18) d->break_even = (uint64_t)iterations;
    if (d->map.after.cost >= d->map.before.cost) {
        say(d, NOTHING_BETTER);
        return 0;
    }
    if (plan->options->always) {
        say(d, "a better order was found; reordered as asked");
        return 1;
    }
    if (!(gain > 0)) {
        say(d, "another order would move fewer bytes between nodes, but take no less time");
        return 0;
    }
    int pays = gain * (double)plan->options->remaining > all;
    snprintf(d->reason, sizeof d->reason, "%s after %llu iterations, %llu remain", pays ? "pays" : "would pay only",
             (unsigned long long)d->break_even, (unsigned long long)plan->options->remaining);
    return pays;
}

static void identity(struct plan *plan)
{
    for (int i = 0; i < plan->members->size; i++) plan->k[i] = i;
}

/** The best of all members' mappings, each with a seed of its own. Collective. */
static int map_everywhere(struct plan *plan, lucid_map_options_t *options)
{
    struct lucid_members *m = plan->members;
    struct {
        double cost;
        int rank;
    } mine, best;
    options->seed += (uint64_t)m->rank;
    options->threads = 1;
    int status = place_map(&plan->matrix, plan->job.tree, plan->job.leaf, options, plan->k, &plan->decision.map);
    status = lucid_agree(m, status);
    if (status != LUCID_SUCCESS) return status;
    mine.cost = plan->decision.map.after.cost;
    mine.rank = m->rank;
    if (PMPI_Allreduce(&mine, &best, 1, MPI_DOUBLE_INT, MPI_MINLOC, m->own) != MPI_SUCCESS) return LUCID_ERR_MPI;
    const char *name = plan->decision.map.algorithm;
    int rc = PMPI_Bcast(plan->k, m->size, MPI_INT, best.rank, m->own);
    if (rc == MPI_SUCCESS) rc = PMPI_Bcast(&plan->decision.map, sizeof plan->decision.map, MPI_BYTE, best.rank, m->own);
    plan->decision.map.algorithm = name; /* a pointer means nothing in another process */
    return rc == MPI_SUCCESS ? LUCID_SUCCESS : LUCID_ERR_MPI;
}

/** Measuring takes longer than mapping a few processes: where no other order is better by usual costs, nothing is measured.
 *  Sets `go`. At rank 0. */
static int scout(struct plan *plan)
{
    lucid_decision_t *d = &plan->decision;
    lucid_map_options_t options = {.algorithm = plan->options->algorithm, .seed = plan->options->seed};
    if (plan->members->size > FEW || plan->job.costs.bandwidth[PLACE_BETWEEN] > 0) return LUCID_SUCCESS;
    options.seconds = least_budget(plan);
    int status = place_map(&plan->matrix, plan->job.tree, plan->job.leaf, &options, plan->k, &d->map);
    plan->go = status == LUCID_SUCCESS && d->map.after.cost < d->map.before.cost;
    if (status == LUCID_SUCCESS && !plan->go) say(d, NOTHING_BETTER);
    return status;
}

/** Maps by the measured costs. Collective. */
static int map_by_costs(struct plan *plan)
{
    lucid_map_options_t options = {.algorithm = plan->options->algorithm, .seed = plan->options->seed, .seconds = budget(plan)};
    if (plan->options->everywhere) {
        if (PMPI_Bcast(&options.seconds, 1, MPI_DOUBLE, 0, plan->members->own) != MPI_SUCCESS) return LUCID_ERR_MPI;
        int status = place_job_share(plan->members, &plan->job);
        return status == LUCID_SUCCESS ? map_everywhere(plan, &options) : status;
    }
    int status = LUCID_SUCCESS;
    if (plan->members->rank == 0)
        status = place_map(&plan->matrix, plan->job.tree, plan->job.leaf, &options, plan->k, &plan->decision.map);
    return lucid_follow(plan->members, 0, status);
}

/** Rank 0's status, and its decision so far with `go` in it, everywhere. Collective. */
static int tell(struct plan *plan, int status)
{
    static const char *const names[] = {"identity", "treematch", "multilevel", "scotch"};
    struct lucid_members *m = plan->members;
    struct {
        lucid_decision_t decision;
        size_t algorithm; /* a pointer means nothing in another process */
        int status;
    } told = {.status = status};
    if (m->rank == 0) {
        plan->decision.reordered = plan->go;
        told.decision = plan->decision;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (plan->decision.map.algorithm && strcmp(plan->decision.map.algorithm, names[i]) == 0) told.algorithm = i;
    }
    if (PMPI_Bcast(&told, sizeof told, MPI_BYTE, 0, m->own) != MPI_SUCCESS) return LUCID_ERR_MPI;
    plan->decision = told.decision;
    plan->decision.map.algorithm = names[told.algorithm];
    plan->go = told.decision.reordered;
    return told.status;
}

/** Whether to go on, by rank 0's `go`; if not, that was the decision. Collective. */
static int follow(struct plan *plan, int status)
{
    if (plan->members->rank == 0 && !plan->go) plan->decision.mapping = spent(plan);
    status = tell(plan, status);
    plan->final = status == LUCID_SUCCESS && !plan->go;
    return status;
}

/** Sets k and the decision's figures at rank 0, or at all. Collective. */
static int find_mapping(struct plan *plan)
{
    int first = plan->members->rank == 0, status = LUCID_SUCCESS;
    identity(plan);
    if (first) plan->go = worth_asking(plan);
    if (first && plan->go) status = scout(plan);
    status = follow(plan, status);
    if (status == LUCID_SUCCESS && plan->go) {
        status = place_job_measure(plan->members, &plan->job);
        if (status == LUCID_SUCCESS && first) plan->go = worth_mapping(plan);
        if (status == LUCID_SUCCESS) status = follow(plan, status);
    }
    if (status != LUCID_SUCCESS || plan->final) return status;
    status = map_by_costs(plan);
    plan->decision.mapping = spent(plan);
    if (status == LUCID_SUCCESS && first) plan->go = decide(plan);
    return status;
}

/** Tells all members the decision and, if it is yes, k. Collective. */
static int announce(struct plan *plan)
{
    int status = plan->final ? LUCID_SUCCESS : tell(plan, LUCID_SUCCESS);
    if (status != LUCID_SUCCESS) return status;
    if (!plan->go) identity(plan);
    else if (PMPI_Bcast(plan->k, plan->members->size, MPI_INT, 0, plan->members->own) != MPI_SUCCESS) return LUCID_ERR_MPI;
    return LUCID_SUCCESS;
}

static void plan_free(struct plan *plan)
{
    lucid_matrix_free(&plan->matrix);
    place_job_close(&plan->job);
    free(plan->k);
}

/** From the session to an announced decision. Collective. */
static int prepare(struct plan *plan, lucid_session_t session)
{
    int root = plan->options->everywhere ? LUCID_TO_ALL : 0;
    uint64_t kinds = plan->options->kinds ? plan->options->kinds : LUCID_KINDS_P2P;
    plan->begin = PMPI_Wtime();
    int status = lucid_session_members(session, true, &plan->members);
    if (status != LUCID_SUCCESS) return status;
    plan->k = malloc((size_t)plan->members->size * sizeof *plan->k);
    status = plan->k ? LUCID_SUCCESS : LUCID_ERR_INTERNAL;
    status = lucid_gather_matrix(session, root, status, kinds, &plan->matrix, &plan->members);
    if (status != LUCID_SUCCESS) return status;
    plan->observed = lucid_session_seconds(session) / (double)at_least_one(plan->options->recorded);
    lucid_own_begin();
    if (status == LUCID_SUCCESS) status = place_job_open(plan->members, &plan->job);
    if (status == LUCID_SUCCESS) status = find_mapping(plan);
    if (status == LUCID_SUCCESS) status = announce(plan);
    lucid_own_end();
    return status;
}

static int create(struct plan *plan, MPI_Comm comm, MPI_Comm *newcomm)
{
    double begin = PMPI_Wtime();
    MPI_Comm made = MPI_COMM_NULL;
    lucid_own_begin();
    int rc = PMPI_Comm_split(comm, 0, plan->k[plan->members->rank], &made);
    lucid_own_end();
    if (rc != MPI_SUCCESS) return LUCID_ERR_MPI;
    plan->decision.creating = PMPI_Wtime() - begin;
    place_learn_split(plan->decision.creating, plan->members->size);
    *newcomm = made;
    return LUCID_SUCCESS;
}

/** Whether comm has the session's processes in the same order. */
static int check_comm(MPI_Comm comm, lucid_session_t session)
{
    struct lucid_members *m;
    int result = MPI_UNEQUAL, status = lucid_session_members(session, true, &m);
    if (status != LUCID_SUCCESS) return status;
    if (comm == MPI_COMM_NULL || PMPI_Comm_compare(comm, m->own, &result) != MPI_SUCCESS) return LUCID_ERR_MPI;
    if (result == MPI_CONGRUENT || result == MPI_IDENT) return LUCID_SUCCESS;
    if (m->rank == 0) lucid_error("cannot reorder: the session was recorded on other processes, or in another order");
    return LUCID_ERR_ARG;
}

int lucid_comm_reorder(MPI_Comm comm, lucid_session_t session, const lucid_reorder_options_t *options, MPI_Comm *newcomm,
                       lucid_decision_t *decision)
{
    static const lucid_reorder_options_t defaults = {0};
    struct plan plan = {.options = options ? options : &defaults};
    int status = check_comm(comm, session);
    if (status == LUCID_SUCCESS && !newcomm) status = LUCID_ERR_ARG;
    if (status != LUCID_SUCCESS) return status;
    status = prepare(&plan, session);
    if (status == LUCID_SUCCESS && plan.decision.reordered) status = create(&plan, comm, newcomm);
    else if (status == LUCID_SUCCESS) *newcomm = comm;
    if (status == LUCID_SUCCESS && decision) *decision = plan.decision;
    if (status == LUCID_SUCCESS && plan.options->k)
        memcpy(plan.options->k, plan.k, (size_t)plan.members->size * sizeof *plan.k);
    plan_free(&plan);
    return status;
}

/** Whether rank 0 has been given a topology. Collective. */
static int topology_given(const struct lucid_members *m, const lucid_topology_t *topology)
{
    return lucid_follow(m, 0, topology != NULL);
}

int lucid_mapping(const lucid_topology_t *topology, lucid_session_t session, int *k)
{
    struct lucid_matrix matrix = {0};
    struct lucid_members *m;
    int status = lucid_gather_matrix(session, 0, LUCID_SUCCESS, LUCID_KINDS_P2P, &matrix, &m);
    if (status != LUCID_SUCCESS) return status;
    struct place_job job = {0};
    lucid_own_begin();
    status = place_job_open(m, &job);
    if (status == LUCID_SUCCESS && !topology_given(m, topology)) status = place_job_measure(m, &job);
    if (status == LUCID_SUCCESS && m->rank == 0)
        status = k ? place_map(&matrix, topology ? topology : job.tree, topology ? NULL : job.leaf, NULL, k, NULL) : LUCID_ERR_ARG;
    status = lucid_agree(m, status == LUCID_SUCCESS && !k ? LUCID_ERR_ARG : status);
    if (status == LUCID_SUCCESS && PMPI_Bcast(k, m->size, MPI_INT, 0, m->own) != MPI_SUCCESS) status = LUCID_ERR_MPI;
    lucid_own_end();
    place_job_close(&job);
    lucid_matrix_free(&matrix);
    return status;
}
