/* SPDX-License-Identifier: BSD-3-Clause */
/* See sparse_lanes.h. */
#include "sparse_lanes.h"

typedef enum sparse_status algorithm_fn(struct sparse_slice *s);

static algorithm_fn *const algorithms[SPARSE_ALGORITHMS] = {
    [SPARSE_REDUCE_BINOMIAL] = sparse_reduce_binomial,       [SPARSE_REDUCE_HALVING] = sparse_reduce_halving,
    [SPARSE_REDUCE_DIRECT] = sparse_reduce_direct,           [SPARSE_REDUCE_CHAIN] = sparse_reduce_chain,
    [SPARSE_REDUCE_LEADERS] = sparse_reduce_leaders,         [SPARSE_ALLREDUCE_DOUBLING] = sparse_allreduce_doubling,
    [SPARSE_ALLREDUCE_HALVING] = sparse_allreduce_halving,   [SPARSE_ALLREDUCE_RING] = sparse_allreduce_ring,
    [SPARSE_ALLREDUCE_LEADERS] = sparse_allreduce_leaders,   [SPARSE_ALLREDUCE_SHARES] = sparse_allreduce_shares,
    [SPARSE_SCATTER_HALVING] = sparse_scatter_halving,       [SPARSE_SCATTER_PAIRWISE] = sparse_scatter_pairwise,
    [SPARSE_SCAN_DOUBLING] = sparse_scan_doubling,           [SPARSE_SCAN_CHAIN] = sparse_scan_chain};

char *sparse_lanes_parked(const struct sparse_lanes *lanes, const struct sparse_plan *plan, char *memory)
{
    bool used = lanes->slices > 1 && plan->parked > 0;
    return used ? memory + sparse_plan_memory(plan) - plan->parked : NULL;
}

void sparse_lanes_begin(struct sparse_lanes *lanes, const struct sparse_plan *plan, enum sparse_algorithm algorithm, bool dense,
                        char *memory, int tag, struct sparse_record *record)
{
    lanes->algorithm = algorithm;
    lanes->slices = sparse_plan_slices(plan, algorithm, dense);
    for (size_t i = 0; i < plan->lanes; i++) {
        struct sparse_slice *lane = &lanes->lane[i];
        char *parked = sparse_lanes_parked(lanes, plan, memory);
        sparse_plan_lane(plan, algorithm, lanes->slices, memory + i * (plan->areas + plan->tables), lane);
        lane->record = record;
        lane->tag = tag + (int)i;
        lane->dense = dense;
        if (dense) lane->windows = NULL, lane->words = false, lane->group = 0; /* what is read there is encoded */
        lane->way = (2 * (uint32_t)algorithm + dense) << 24;
        if (parked) lane->output = parked;
        lanes->next[i] = i;
        lanes->busy[i] = false;
    }
    if (lanes->lane[0].group > 0) lanes->slices = 1; /* it takes all of them itself */
}

/* Every rank sends and receives the slices of one tag in the same order. */
static enum sparse_status run_lane(struct sparse_lanes *lanes, const struct sparse_plan *plan, size_t i)
{
    while (lanes->next[i] < lanes->slices) {
        if (!lanes->busy[i]) {
            sparse_plan_cut(plan, lanes->algorithm, lanes->slices, lanes->next[i], &lanes->lane[i]);
            lanes->lane[i].resume = lanes->lane[i].middle = lanes->lane[i].inner = 0;
            lanes->lane[i].final = lanes->confirms && lanes->next[i] + plan->lanes >= lanes->slices;
            lanes->busy[i] = true;
        }
        enum sparse_status status = algorithms[lanes->algorithm](&lanes->lane[i]);
        if (status != SPARSE_DONE) return status;
        lanes->busy[i] = false;
        lanes->next[i] += plan->lanes;
    }
    return SPARSE_DONE;
}

enum sparse_status sparse_lanes_run(struct sparse_lanes *lanes, const struct sparse_plan *plan)
{
    enum sparse_status all = SPARSE_DONE;
    for (size_t i = 0; i < plan->lanes && all != SPARSE_FAILED; i++) {
        enum sparse_status one = run_lane(lanes, plan, i);
        if (one != SPARSE_DONE) all = one;
    }
    return all;
}

void sparse_lanes_restore(struct sparse_lanes *lanes, const struct sparse_plan *plan)
{
    for (size_t i = 0; i < lanes->slices; i++) {
        struct sparse_slice *lane = &lanes->lane[i % plan->lanes];
        sparse_plan_cut(plan, lanes->algorithm, lanes->slices, i, lane);
        sparse_shares_restore(lane);
    }
}

void sparse_lanes_cancel(struct sparse_lanes *lanes)
{
    for (size_t i = 0; i < SPARSE_LANES; i++)
        if (lanes->lane[i].transport) sparse_slice_cancel(&lanes->lane[i]);
}
