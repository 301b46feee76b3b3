/* SPDX-License-Identifier: BSD-3-Clause */
/* See sparse_plan.h. Slices are as large as the parameter says, larger with many ranks (a part should have 8 KiB, for its
 * headers are some 30 bytes) and smaller where an algorithm keeps a message of every rank. */
#include "sparse_plan.h"

#include "sparse_boards.h"
#include "sparse_state.h"

enum { PART_BYTES = 8192, LEAST_PER_RANK = 320, TABLES_PER_RANK = 2 + 2 * SPARSE_RUNS + sizeof(struct sparse_layout) / sizeof(size_t),
       SLACK = 128, /* a header, and an element more where a length is rounded up */
       LONGEST = 1 << 27 /* a slice may be nearly twice as long, areas eight times that, of which half may be one message,
                          * shorter than 2 GiB */ };

/* EQUAL: one part for every place of the cube; PIECES: of every rank's share, as long as they are no shorter than PART_BYTES. In both
 * a slice has its piece of each part of the vector: what only some ranks have, or is where much is, is in no slice alone. OWN: of what each
 * rank is to fill. */
enum cut { WHOLE, EQUAL, PIECES, OWN, SHARES_BY_PLACE, SHARES_BY_RANK };

/* `halved`: over leaders. */
static enum cut cut_of(enum sparse_algorithm algorithm, bool halved)
{
    switch (algorithm) {
    case SPARSE_REDUCE_HALVING:
    case SPARSE_ALLREDUCE_HALVING: return EQUAL;
    case SPARSE_ALLREDUCE_LEADERS: return halved ? EQUAL : WHOLE;
    case SPARSE_ALLREDUCE_RING: return PIECES;
    case SPARSE_ALLREDUCE_SHARES: return OWN;
    case SPARSE_SCATTER_HALVING: return SHARES_BY_PLACE;
    case SPARSE_SCATTER_PAIRWISE: return SHARES_BY_RANK;
    default: return WHOLE;
    }
}

static size_t round_up(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

static size_t ranks(const struct sparse_plan *plan)
{
    return (size_t)plan->call->transport->size;
}

/* The most bytes that one of `slices` slices of `count` elements takes, whose blocks are for `owners`. */
static size_t bound_of(const struct sparse_plan *plan, size_t count, size_t slices, size_t owners)
{
    struct sparse_layout layout;
    if (count == 0) return 0;
    sparse_layout_init(&layout, &plan->call->operator, count / slices + (slices > 1 && count % slices != 0), owners);
    return SPARSE_MARK + sparse_bound(&layout, 0, layout.blocks) + SLACK;
}

static size_t share(const struct sparse_plan *plan, size_t rank)
{
    return plan->offset[rank + 1] - plan->offset[rank];
}

static size_t greatest_share(const struct sparse_plan *plan)
{
    size_t greatest = 0;
    for (size_t r = 0; r < ranks(plan); r++)
        if (share(plan, r) > greatest) greatest = share(plan, r);
    return greatest;
}

/* Bytes of an area: any message of a slice. */
static size_t room_of(const struct sparse_plan *plan, size_t slices)
{
    size_t bytes = 0;
    if (plan->call->kind != SPARSE_REDUCE_SCATTER)
        return round_up(bound_of(plan, plan->elements, slices, 1) + ranks(plan) * (SPARSE_MARK + SLACK));
    for (size_t r = 0; r < ranks(plan); r++) bytes += bound_of(plan, share(plan, r), slices, 1);
    return round_up(bytes);
}

/* Whether all slices are shown, once ranks have agreed to read each other's; whether they have. */
static bool may_show(const struct sparse_plan *plan, enum sparse_algorithm algorithm)
{
    return algorithm == SPARSE_ALLREDUCE_HALVING && sparse_boards_near(plan->call);
}

static bool shows(const struct sparse_plan *plan, enum sparse_algorithm algorithm)
{
    const struct sparse_call *call = plan->call;
    struct sparse_nodes nodes;
    if (!may_show(plan, algorithm) || !call->state->boards.agreed) return false;
    sparse_nodes_init(&nodes, call->transport->rank, call->transport->size, call->parameters->rates.ranks_per_node);
    return call->state->boards.per_node == nodes.per_node;
}

static size_t pieces_of(const struct sparse_plan *plan, size_t slices)
{
    size_t pieces = plan->elements * plan->call->operator.size / slices / PART_BYTES;
    if (slices == 1 || pieces < 1) return 1;
    return pieces < ranks(plan) ? pieces : ranks(plan);
}

/* Where all pieces of a vector are in one slice, its blocks end where the ranks' shares do, so that who fills its own has whole blocks. */
static size_t owners_of(const struct sparse_plan *plan, size_t slices)
{
    const size_t least = 2048; /* a header is 16 bytes */
    bool each = plan->elements * plan->call->operator.size / least >= ranks(plan);
    return slices == 1 && each ? ranks(plan) : 1;
}

/* Bytes of all areas. */
static size_t need_of(const struct sparse_plan *plan, enum sparse_algorithm algorithm, size_t slices)
{
    size_t room = room_of(plan, slices);
    size_t pieces = pieces_of(plan, slices);
    if (algorithm == SPARSE_ALLREDUCE_RING)
        return ranks(plan) * pieces * bound_of(plan, plan->elements, slices * pieces, owners_of(plan, slices));
    if (algorithm == SPARSE_SCATTER_PAIRWISE) return room + ranks(plan) * bound_of(plan, greatest_share(plan), slices, 1);
    return (algorithm == SPARSE_ALLREDUCE_SHARES ? 2 : SPARSE_AREAS) * room;
}

/* So that any fits. */
static size_t slices_shown(const struct sparse_plan *plan)
{
    struct sparse_fold fold;
    sparse_fold_init(&fold, 0, plan->call->transport->size, -1, 1);
    return sparse_boards_slices(plan->elements * plan->call->operator.size, (size_t)fold.cube);
}

static size_t slices_sent(const struct sparse_plan *plan, enum sparse_algorithm algorithm, bool dense)
{
    const struct sparse_rates *rates = &plan->call->parameters->rates;
    const int size = plan->call->transport->size;
    const size_t bytes = plan->elements * plan->call->operator.size, most = plan->elements;
    size_t slices = sparse_is_chain(algorithm) ? plan->slices : sparse_slices(algorithm, dense, sparse_near(rates, size), plan->slices);
    if (algorithm == SPARSE_ALLREDUCE_SHARES) slices = sparse_shares_slices(size, plan->slices);
    slices = sparse_least_slices(algorithm, dense, rates, size, bytes, slices);
    while (slices < most && need_of(plan, algorithm, slices) > plan->areas) slices += (slices + 7) / 8;
    return slices;
}

size_t sparse_plan_slices(const struct sparse_plan *plan, enum sparse_algorithm algorithm, bool dense)
{
    const size_t sent = slices_sent(plan, algorithm, dense), shown = !dense && shows(plan, algorithm) ? slices_shown(plan) : 0;
    return shown > sent ? shown : sent;
}

/* Of any algorithm of the kind. */
static size_t most_slices(const struct sparse_plan *plan)
{
    size_t most = plan->slices, other = 0;
    if (plan->call->kind == SPARSE_REDUCE) other = sparse_plan_slices(plan, SPARSE_REDUCE_CHAIN, true);
    if (plan->call->kind == SPARSE_ALLREDUCE) other = sparse_plan_slices(plan, SPARSE_ALLREDUCE_RING, true);
    if (plan->call->kind == SPARSE_SCAN || plan->call->kind == SPARSE_EXSCAN) other = sparse_plan_slices(plan, SPARSE_SCAN_CHAIN, true);
    if (plan->call->kind == SPARSE_REDUCE_SCATTER) other = sparse_plan_slices(plan, SPARSE_SCATTER_PAIRWISE, true);
    return other > most ? other : most;
}

/* The one with the longest slices. */
static enum sparse_algorithm longest_of(enum sparse_kind kind)
{
    switch (kind) {
    case SPARSE_REDUCE: return SPARSE_REDUCE_HALVING;
    case SPARSE_ALLREDUCE: return SPARSE_ALLREDUCE_HALVING;
    case SPARSE_REDUCE_SCATTER: return SPARSE_SCATTER_HALVING;
    default: return SPARSE_SCAN_DOUBLING;
    }
}

/* Bytes of a lane's areas: of a ring as much as is kept, of the other algorithms what their slices need. */
static size_t areas_of(const struct sparse_plan *plan)
{
    const struct sparse_call *call = plan->call;
    const int size = call->transport->size;
    const bool near = sparse_near(&call->parameters->rates, size);
    const size_t longer = SPARSE_AREAS * room_of(plan, sparse_slices(longest_of(call->kind), false, near, plan->slices));
    if (call->kind != SPARSE_ALLREDUCE) return longer;
    const size_t bytes = plan->elements * call->operator.size;
    const size_t ring = (size_t)sparse_ring_room(size, bytes / plan->slices, plan->slices == 1) * room_of(plan, plan->slices);
    return ring > longer ? ring : longer;
}

void sparse_plan_init(struct sparse_plan *plan, const struct sparse_call *call, const size_t *offset, size_t elements,
                      size_t slice_bytes)
{
    *plan = (struct sparse_plan){.call = call, .offset = offset, .elements = elements};
    size_t bytes = elements * call->operator.size, least = ranks(plan) * PART_BYTES;
    if (slice_bytes < least) slice_bytes = least;
    if (slice_bytes > LONGEST) slice_bytes = LONGEST;
    plan->slices = bytes / slice_bytes > 1 ? bytes / slice_bytes : 1;
    plan->areas = round_up(areas_of(plan) + ranks(plan) * LEAST_PER_RANK);
    plan->lanes = most_slices(plan) > 1 ? SPARSE_LANES : 1;
    plan->tables = round_up((ranks(plan) * (1 + TABLES_PER_RANK) + 4) * sizeof(size_t));
    if (call->kind != SPARSE_REDUCE_SCATTER) return;
    plan->result = share(plan, (size_t)call->transport->rank) * call->operator.size;
    if (call->input == call->output) plan->parked = round_up(plan->result);
}

size_t sparse_plan_memory(const struct sparse_plan *plan)
{
    return plan->lanes * (plan->areas + plan->tables) + plan->parked;
}

static size_t *table(size_t **free, size_t entries)
{
    size_t *begin = *free;
    *free += entries;
    return begin;
}

/* By words: of one node; of several, if the result fits in the window of each node's first rank. */
static bool has_words(const struct sparse_plan *plan, const struct sparse_slice *lane)
{
    const struct sparse_call *call = plan->call;
    const size_t bytes = plan->elements * call->operator.size;
    if (!sparse_may_have_words(call, lane->nodes.per_node)) return false;
    if (sparse_near(&call->parameters->rates, call->transport->size)) return bytes / ranks(plan) + call->operator.size <= SPARSE_WINDOW_SLOT;
    return lane->gathering == SPARSE_GATHER_LEADERS && bytes <= SPARSE_WINDOW_SLOT;
}

/* Those of results that are longer than the caches are read where they are, and those in one slice. */
static void gather_shares(const struct sparse_plan *plan, size_t slices, struct sparse_slice *lane)
{
    const struct sparse_call *call = plan->call;
    const int size = call->transport->size;
    lane->gathering = sparse_shares_gathering(&call->parameters->rates, size, plan->elements * call->operator.size, slices);
    const bool direct = lane->gathering == SPARSE_GATHER_DIRECTLY && size <= SPARSE_SHARES_DIRECT && slices > 1 && lane->past;
    if (call->order == SPARSE_UNORDERED || call->series || call->parameters->keep < SPARSE_WINDOW_BYTES) return;
    lane->words = slices == 1 && has_words(plan, lane);
    if (lane->words) lane->windows = &call->state->boards;
    else if (direct) lane->windows = &call->state->windows[call->order];
}

/* Of vectors in one slice, each of which goes to all who need it. */
static void read_vectors(const struct sparse_plan *plan, enum sparse_algorithm algorithm, size_t slices, struct sparse_slice *lane)
{
    const bool straight = sparse_goes_straight(algorithm);
    lane->words = may_show(plan, algorithm) || (straight && slices == 1 && sparse_boards_fit(plan->call, plan->elements));
    if (lane->words) lane->windows = &plan->call->state->boards;
}

/* By pieces what is twice as long, for where there are caches left for the result that is no gain. */
static enum sparse_past how_past(const struct sparse_parameters *parameters, size_t bytes)
{
    if (bytes < parameters->past_bytes) return SPARSE_CACHED;
    return bytes / 2 < parameters->past_bytes ? SPARSE_PAST : SPARSE_PAST_BY_PIECES;
}

void sparse_plan_lane(const struct sparse_plan *plan, enum sparse_algorithm algorithm, size_t slices, char *memory,
                      struct sparse_slice *lane)
{
    const struct sparse_call *call = plan->call;
    size_t *tables = (size_t *)(memory + plan->areas), entries = ranks(plan);
    bool rooted = call->kind == SPARSE_REDUCE;
    lane->transport = call->transport;
    lane->operator = &call->operator;
    lane->input = call->input;
    lane->output = call->output;
    lane->root = call->root;
    lane->plan = plan;
    lane->slices = slices;
    lane->group = shows(plan, algorithm) ? slices / slices_sent(plan, algorithm, false) : 0;
    lane->astray = SIZE_MAX;
    lane->windows = NULL;
    lane->words = false;
    lane->past = how_past(call->parameters, plan->elements * call->operator.size);
    lane->exclusive = call->kind == SPARSE_EXSCAN;
    sparse_fold_init(&lane->fold, call->transport->rank, call->transport->size, rooted ? call->root : -1, 1);
    sparse_nodes_init(&lane->nodes, call->transport->rank, call->transport->size, call->parameters->rates.ranks_per_node);
    if (algorithm == SPARSE_ALLREDUCE_SHARES) gather_shares(plan, slices, lane);
    else read_vectors(plan, algorithm, slices, lane);
    if (algorithm == SPARSE_REDUCE_LEADERS || algorithm == SPARSE_ALLREDUCE_LEADERS) lane->fold = lane->nodes.leaders;
    lane->room = room_of(plan, slices);
    for (size_t i = 0; i < SPARSE_AREAS; i++) lane->area[i] = memory + i * lane->room;
    lane->first = table(&tables, entries + 4);
    lane->from = table(&tables, entries);
    lane->count = table(&tables, entries);
    lane->layout = (struct sparse_layout *)table(&tables, entries * (sizeof *lane->layout / sizeof *tables));
    for (int i = 0; i < SPARSE_RUNS; i++) {
        lane->runs[i].at = table(&tables, entries);
        lane->runs[i].length = table(&tables, entries);
    }
}

static void part(struct sparse_slice *lane, size_t index, size_t from, size_t end, size_t owners)
{
    lane->from[index] = from;
    lane->count[index] = end - from;
    sparse_layout_init(&lane->layout[index], lane->operator, end - from, owners);
}

/* Without a product that could overflow. */
static size_t portion(size_t count, size_t index, size_t slices)
{
    if (slices == 1) return index * count;
    size_t each = count / slices, more = count % slices;
    return index * each + (index < more ? index : more);
}

static void cut_equally(const struct sparse_plan *plan, size_t slices, size_t first, size_t behind, size_t parts, size_t owners,
                        struct sparse_slice *lane)
{
    lane->positions = parts;
    for (size_t i = 0; i < parts; i++) {
        size_t from = portion(plan->elements, i, parts), count = portion(plan->elements, i + 1, parts) - from;
        lane->first[i] = i;
        part(lane, i, from + portion(count, first, slices), from + portion(count, behind, slices), owners);
    }
    lane->first[parts] = parts;
}

static void cut_share(const struct sparse_plan *plan, size_t slices, size_t index, struct sparse_slice *lane, size_t rank,
                      size_t at)
{
    size_t count = share(plan, rank), from = plan->offset[rank];
    part(lane, at, from + portion(count, index, slices), from + portion(count, index + 1, slices), 1);
}

static void cut_own(const struct sparse_plan *plan, size_t slices, size_t index, struct sparse_slice *lane)
{
    const size_t size = ranks(plan), own = (size_t)plan->call->transport->rank;
    for (size_t r = 0, from = 0, to; r < size; r++, from = to) {
        to = sparse_share_of(plan->elements, (int)r, (int)size).to;
        lane->first[r] = r;
        lane->from[r] = from + portion(to - from, index, slices);
        lane->count[r] = from + portion(to - from, index + 1, slices) - lane->from[r];
    }
    sparse_layout_init(&lane->layout[own], lane->operator, lane->count[own], 1); /* the others' are sent as they are */
    lane->positions = lane->first[size] = size;
    lane->whole = slices == 1;
    lane->index = index;
}

/* Shares in the order of the places' reversed bits; see sparse_scatter_halving.c for what is behind them. */
static void cut_by_place(const struct sparse_plan *plan, size_t slices, size_t index, struct sparse_slice *lane)
{
    const struct sparse_fold *fold = &lane->fold;
    int own = sparse_fold_position(fold, sparse_fold_place(fold, plan->call->transport->rank));
    size_t at = 0, cube = (size_t)fold->cube;
    for (int position = 0; position < fold->cube; position++) {
        int place = sparse_fold_position(fold, position), rank = sparse_fold_rank(fold, place);
        lane->first[position] = at;
        cut_share(plan, slices, index, lane, (size_t)rank, at++);
        if (place < fold->extra) cut_share(plan, slices, index, lane, (size_t)rank + 1, at++);
    }
    lane->positions = cube;
    lane->first[cube] = at;
    for (size_t i = 0; i < 3; i++) lane->first[cube + 1 + i] = lane->first[own] + i;
}

void sparse_plan_cut(const struct sparse_plan *plan, enum sparse_algorithm algorithm, size_t slices, size_t index,
                     struct sparse_slice *lane)
{
    enum cut cut = cut_of(algorithm, lane->dense && lane->room >= SPARSE_LEADERS_HALVE);
    lane->shift = 0;
    if (cut == WHOLE) cut_equally(plan, slices, index, index + 1, 1, 1, lane);
    else if (cut == EQUAL) cut_equally(plan, slices, index, index + 1, (size_t)lane->fold.cube, 1, lane);
    else if (cut == PIECES) cut_equally(plan, slices, index, index + 1, pieces_of(plan, slices), owners_of(plan, slices), lane);
    else if (cut == OWN) cut_own(plan, slices, index, lane);
    else lane->shift = plan->offset[plan->call->transport->rank];
    if (cut == SHARES_BY_PLACE) cut_by_place(plan, slices, index, lane);
    if (cut != SHARES_BY_RANK) return;
    lane->positions = ranks(plan);
    for (size_t r = 0; r < ranks(plan); r++) {
        lane->first[r] = r;
        cut_share(plan, slices, index, lane, r, r);
    }
    lane->first[ranks(plan)] = ranks(plan);
}

void sparse_plan_cut_group(struct sparse_slice *lane, size_t index)
{
    const size_t first = index * lane->group, behind = first + lane->group;
    cut_equally(lane->plan, lane->slices, first, behind < lane->slices ? behind : lane->slices, (size_t)lane->fold.cube, 1, lane);
}
