/* SPDX-License-Identifier: BSD-3-Clause */
/* One reduction from its description to its result: look, agree, choose, then the slices through the algorithm. */
#include "sparse_collective.h"

#include <stdlib.h>
#include <string.h>

#include "sparse_lanes.h"
#include "sparse_shares.h"
#include "sparse_state.h"
#include "sparse_step.h"
#include "sparse_types.h"
#include "sparse_unasked.h"

struct sparse_collective {
    struct sparse_call call;
    struct sparse_parameters parameters;
    struct sparse_class *class;
    struct sparse_agreement agreement, rehearsal;
    struct sparse_record record;
    struct sparse_plan plan;
    size_t elements;
    size_t *offset;
    char *memory;          /* of the lanes, and the parked result */
    size_t memory_bytes;
    double sampled, agreed;
    bool rehearses;
    double prepared, came, began; /* seconds: what comes before the agreement; when that began; when the rehearsal began, if there is one */
    double asking, takes;   /* seconds that all of this is expected to take, and what is chosen, as the formulas have it or as has been seen */
    struct sparse_choice choice;
    bool borrowed_handle;
    bool timed; /* at all ranks or none */
    unsigned ticket; /* of a call in turn; 0: it has none, or has ended */
    bool unseen;     /* it came behind one that nobody looked at */
    bool left;  /* to the library's routine, of which the end is wanted */
    enum sparse_status status;
    int resume;
    bool decided;
    struct sparse_lanes lanes;
};

struct sparse_state *sparse_state_create(void)
{
    struct sparse_state *state = calloc(1, sizeof *state);
    if (state) state->spare = calloc(1, sizeof *state->spare);
    if (state && state->spare) return state;
    free(state);
    return NULL;
}

void sparse_state_destroy(struct sparse_state *state)
{
    if (!state) return;
    sparse_state_give_back(state);
    for (int order = 0; order < SPARSE_UNORDERED; order++) sparse_windows_close(&state->windows[order]);
    sparse_windows_close(&state->boards);
    free(state->spare);
    free(state);
}

static void *take_memory(const struct sparse_parameters *parameters, size_t bytes)
{
    return parameters->allocate ? parameters->allocate(parameters->memory_context, bytes) : malloc(bytes);
}

static void give_memory(const struct sparse_parameters *parameters, void *memory)
{
    if (memory == NULL) return;
    if (parameters->allocate) parameters->release(parameters->memory_context, memory);
    else free(memory);
}

static struct sparse_collective *make_handle(const struct sparse_call *call)
{
    const bool first = call->blocking && !call->state->spare_lent; /* it is in the caches, from the call before */
    struct sparse_collective *c = first ? NULL : take_memory(call->parameters, sizeof *c);
    bool borrowed = c == NULL && !call->state->spare_lent;
    if (borrowed) {
        c = call->state->spare;
        call->state->spare_lent = true;
    }
    if (!c) return NULL;
    memset(c, 0, sizeof *c);
    c->borrowed_handle = borrowed;
    c->call = *call;
    c->parameters = *call->parameters;
    c->call.parameters = &c->parameters; /* the caller's may change: rates are measured in some later call */
    return c;
}

static bool make_offsets(struct sparse_collective *c)
{
    size_t p = (size_t)c->call.transport->size;
    if (c->call.kind != SPARSE_REDUCE_SCATTER) return true;
    c->offset = take_memory(&c->parameters, (p + 1) * sizeof *c->offset);
    if (!c->offset) return false;
    c->offset[0] = 0;
    for (size_t r = 0; r < p; r++) c->offset[r + 1] = c->offset[r] + (c->call.counts ? c->call.counts[r] : c->call.count);
    return true;
}

/* Everything that will be needed, whatever is chosen. */
static bool make_room(struct sparse_collective *c)
{
    if (!make_offsets(c)) return false;
    sparse_plan_init(&c->plan, &c->call, c->offset, c->elements, c->parameters.slice_bytes);
    c->memory_bytes = sparse_plan_memory(&c->plan);
    bool long_one = c->elements * c->call.operator.size >= c->parameters.large_bytes;
    bool large = long_one && sparse_near(&c->parameters.rates, c->call.transport->size); /* over a network nothing is gained */
    c->memory = sparse_state_borrow(c->call.state, &c->parameters, c->memory_bytes, large);
    return c->memory != NULL;
}

static uint32_t flags_of(const struct sparse_collective *c, bool room, bool busy, bool alone)
{
    const int stays = c->call.may_pass_on ? 0 : SPARSE_STAYS, stale = sparse_class_stale(c->class) ? SPARSE_STALE : 0;
    const int words = c->call.state->boards.all ? 0 : SPARSE_WORDLESS;
    const int asks = c->call.may_pass_on || c->call.may_leave ? 0 : SPARSE_ASKS;
    return (uint32_t)((room ? 0 : SPARSE_CANNOT) | stays | asks | stale | words | (busy ? SPARSE_BUSY : 0) | (alone ? 0 : SPARSE_SPREAD));
}

static int per_node(const struct sparse_collective *c)
{
    return sparse_agreement_per_node(&c->parameters.rates, c->call.transport->size);
}

/* Of calls in one order, from when ranks have agreed that they read each other's. */
static struct sparse_windows *windows_of(const struct sparse_collective *c)
{
    const struct sparse_call *call = &c->call;
    struct sparse_windows *boards = &call->state->boards;
    struct sparse_nodes nodes;
    if (!call->blocking || call->order != SPARSE_IN_ORDER || !boards->agreed) return NULL;
    sparse_nodes_init(&nodes, call->transport->rank, call->transport->size, c->parameters.rates.ranks_per_node);
    return boards->per_node == nodes.per_node ? boards : NULL;
}

/* A call in turn is timed if it comes alone. Returns whether it does not, here. */
static bool take_turn(struct sparse_collective *c)
{
    if (c->call.order != SPARSE_IN_TURN || !c->parameters.clock) return false;
    struct sparse_turns *turns = sparse_call_turns(&c->call, &c->parameters);
    bool busy = true;
    if (turns) c->ticket = sparse_turn_begin(&c->call, turns, &busy);
    return busy;
}

/* Of calls that have their trials. */
static struct sparse_share share_of(const struct sparse_collective *c)
{
    const struct sparse_call *call = &c->call;
    struct sparse_share share = sparse_share_of(c->elements, call->transport->rank, call->transport->size);
    const bool may = call->kind == SPARSE_ALLREDUCE && sparse_may_share(&call->operator, c->elements, call->transport->size);
    share.alone = may && (call->blocking || call->order == SPARSE_IN_TURN) && !c->class->spread;
    return share;
}

static struct sparse_trials *trials_of(const struct sparse_collective *c)
{
    return c->ticket > 0 ? &sparse_call_turns(&c->call, &c->parameters)->trials : &c->call.state->trials;
}

static void begin_asking(struct sparse_collective *c)
{
    const struct sparse_call *call = &c->call;
    c->timed = call->blocking && c->parameters.clock && !call->state->trials.outside; /* not what the library's routine calls */
    c->rehearses = c->timed && sparse_trials_rehearse(&call->state->trials);
    bool room = make_room(c); /* new only now and then, and then it takes long: not what asking takes */
    const bool busy = take_turn(c);
    struct sparse_line *line = sparse_call_line(call);
    c->unseen = line->unseen;
    line->unseen = false;
    line->ahead = 0;
    if (c->timed) c->came = c->parameters.clock();
    c->prepared = -c->came;
    struct sparse_share share = share_of(c);
    c->sampled = sparse_sample(&call->operator, call->input, c->elements, c->parameters.sample_lines, share.alone ? &share : NULL);
    const struct sparse_times last = c->ticket > 0 || c->timed ? trials_of(c)->times : (struct sparse_times){0};
    sparse_agree_init(&c->agreement, call->transport, per_node(c), windows_of(c), call->tag, &c->record, flags_of(c, room, busy, share.alone),
                      sparse_class_dear(c->class), last, c->sampled, c->class->observed ? &c->class->learned : NULL);
    if (c->rehearses) c->prepared += c->parameters.clock();
}

/* One that is to be timed, but runs beside others in turn, makes what was found out worthless: the next look says so. */
static void begin_again(struct sparse_collective *c, bool busy)
{
    const double density = sparse_sample(&c->call.operator, c->call.input, c->elements, c->parameters.sample_lines, NULL);
    c->timed = true;
    sparse_call_line(&c->call)->joined |= busy;
    if (c->ticket > 0) sparse_call_turns(&c->call, &c->parameters)->timed = c->ticket;
    sparse_trials_repeat(trials_of(c), density, c->parameters.clock());
}

/* What the ranks have agreed on in an earlier call. */
static void begin_unasked(struct sparse_collective *c, const struct sparse_answer *known)
{
    const bool joined = sparse_call_line(&c->call)->joined, busy = take_turn(c);
    c->sampled = c->agreed = -1;
    c->decided = true;
    c->choice = (struct sparse_choice){.algorithm = known->algorithm, .dense = known->dense};
    sparse_call_line(&c->call)->joined = joined;
    if (known->repeats) begin_again(c, busy);
    if (known->algorithm == SPARSE_LIBRARY) {
        c->left = true;
        c->call.state->trials.outside |= c->call.blocking;
        return;
    }
    c->lanes.confirms = sparse_line_runs_ahead(sparse_call_line(&c->call), c->elements * c->call.operator.size);
    if (make_room(c)) return;
    c->record.error = SPARSE_NO_MEMORY;
    c->status = SPARSE_FAILED;
}

enum sparse_status sparse_collective_create(const struct sparse_call *call, struct sparse_collective **collective)
{
    size_t elements = sparse_call_elements(call);
    const struct sparse_answer known = sparse_unasked(call, elements);
    *collective = NULL;
    if (known.algorithm == SPARSE_LIBRARY && !known.repeats) {
        sparse_call_line(call)->unseen = true;
        return SPARSE_NOT_OURS;
    }
    struct sparse_collective *c = make_handle(call);
    if (!c) return SPARSE_FAILED;
    c->elements = elements;
    c->record.peer = -1;
    c->status = SPARSE_PENDING;
    c->class = sparse_call_class(call, elements);
    if (known.algorithm == SPARSE_ALGORITHMS) begin_asking(c);
    else begin_unasked(c, &known);
    *collective = c;
    return SPARSE_PENDING;
}

/* Whether a call that is not timed is to show how inputs overlap, in the place of the library's routine or a dense form: the 2nd look at a
 * shape, the 16th, the 128th. Timed ones have their trials; ranks do not count alike what is in no order; and without a clock the
 * choice is to follow from the inputs. */
static bool shows(struct sparse_collective *c)
{
    const struct sparse_parameters *parameters = &c->parameters;
    const bool dense = c->choice.algorithm == SPARSE_LIBRARY || c->choice.dense;
    const bool free = !parameters->dense && !parameters->always && parameters->clock && c->call.order != SPARSE_UNORDERED;
    unsigned looks = ++c->class->looks;
    while (looks >= 16 && looks % 8 == 0) looks /= 8;
    return looks == 2 && dense && free;
}

/* What the last call took; the trials that this one belongs to, and whether it is timed. */
static struct sparse_trials *learn_times(struct sparse_collective *c, const struct sparse_estimate *estimate)
{
    const struct sparse_terms *terms = &c->agreement.terms;
    const struct sparse_times last = sparse_unasked_times(&c->call, terms, estimate);
    if (c->ticket > 0) {
        struct sparse_turns *turns = sparse_call_turns(&c->call, &c->parameters);
        c->timed = sparse_turns_learn(turns, terms->flags & SPARSE_BUSY, c->unseen, last);
        if (c->timed) turns->timed = c->ticket;
    } else if (c->timed) {
        sparse_trials_learn(&c->call.state->trials, last);
    }
    return trials_of(c);
}

static bool among_nodes(const struct sparse_collective *c)
{
    return sparse_nodes_matter(c->call.transport->size, c->parameters.rates.ranks_per_node);
}

/* Over a network ranks wait for each other, in the agreement or in what follows, but for those that only send. Between nodes of several ranks what
 * calls take without an agreement shows that, if it is known; with one on each, they take too little. */
static bool waits_anyway(const struct sparse_collective *c, const struct sparse_trial *trial)
{
    const bool shown = trial->twice && among_nodes(c);
    return c->call.kind != SPARSE_REDUCE && !sparse_near(&c->parameters.rates, c->call.transport->size) && !shown;
}

static void choose(struct sparse_collective *c, bool may_pass_on, const struct sparse_estimate *estimate)
{
    enum { SHARED = 4 }; /* times as long as asking is taken for, unmeasured, it may take where ranks share processors (8 on two: 0.1 ms for 12 us) */
    struct sparse_trials *trials = learn_times(c, estimate);
    const struct sparse_sort sort = sparse_choice_sort(estimate);
    struct sparse_trial *trial = c->timed ? sparse_trials_at(trials, c->class->shape, sort) : NULL;
    c->asking = c->call.blocking && c->timed ? sparse_trials_asking(trials, sparse_cost_of_asking(estimate, &c->parameters))
                                             : sparse_choice_asking(estimate, &c->parameters);
    if (trial) {
        trial->asking = c->asking;
        c->class->dear = (double)c->agreement.terms.dear / SPARSE_DEAR;
        trial->share = sparse_class_seen(c->class, sort, waits_anyway(c, trial), &c->parameters);
    }
    if (!c->call.blocking && sparse_near(&c->parameters.rates, estimate->ranks)) c->asking *= SHARED;
    c->choice = sparse_choose(c->call.kind, may_pass_on, estimate, &c->parameters, trial);
    c->takes = trial ? sparse_trial_expected(trial, c->choice.contender, c->choice.predicted) : c->choice.predicted;
    if (!trial && shows(c) && may_pass_on) c->choice = sparse_choice_to_learn(c->call.kind, estimate, &c->parameters, c->choice);
    if (!trial) return;
    double now = c->parameters.clock(), asked = c->rehearses ? c->prepared + now - c->began : 0;
    if (c->call.blocking) sparse_class_looked(c->class, c->came, c->rehearses ? c->began : now, now);
    sparse_trials_begin(trials, trial, c->choice.contender, c->choice.predicted, asked, now);
    if (c->call.blocking) trials->outside = c->left = c->choice.algorithm == SPARSE_LIBRARY;
}

/* Whether not to ask would save anything: of a long vector's time an agreement is hardly a part. Not before all have been tried, and where
 * the inputs make a difference, not if they have not been timed. */
static struct sparse_answer answer_of(const struct sparse_collective *c)
{
    const struct sparse_choice *choice = &c->choice;
    bool encoded = choice->algorithm != SPARSE_LIBRARY && !choice->dense;
    struct sparse_answer answer = {.grounds = 1, .algorithm = choice->algorithm, .dense = choice->dense};
    if (encoded) answer.grounds = c->timed && c->class->same > 1 ? 2 + choice->algorithm : 0;
    if (!choice->settled || !sparse_trial_refuses(c->asking, c->takes)) answer.grounds = 0;
    return answer;
}

/* The same of a call that had to stay here: by the formulas, for the library's routine has not been tried. */
static struct sparse_answer answer_for_others(const struct sparse_collective *c, const struct sparse_estimate *estimate)
{
    const struct sparse_choice choice = sparse_choose(c->call.kind, true, estimate, &c->parameters, NULL);
    const bool leaves = c->call.order == SPARSE_IN_TURN && !(c->agreement.terms.flags & SPARSE_ASKS);
    const bool plain = choice.algorithm == SPARSE_LIBRARY || choice.dense;
    if (!leaves || !plain || !sparse_trial_refuses(c->asking, choice.predicted)) return sparse_ask;
    return (struct sparse_answer){.grounds = 1, .algorithm = choice.algorithm, .dense = choice.dense};
}

/* Another one runs once, to be seen again or to show how inputs overlap, in the place of what calls run without a look: the next look will
 * tell. */
static bool stands_in(const struct sparse_collective *c)
{
    return c->timed && c->class->same > 1 && !c->choice.settled && !c->choice.open && c->class->answer.grounds > 0;
}

/* Whether to run it once more without asking. Of a long vector's time an agreement is hardly a part (between nodes, where such calls take tens of
 * milliseconds, others are not tried twice in a row where it is less than an eighth); an encoded form is for such inputs, and one that stands in is not worth two calls. Where
 * messages go one way, to a root or to higher ranks, calls without an agreement run into each other, and what one takes at a rank says little. */
static bool repeats(const struct sparse_collective *c)
{
    const struct sparse_choice *choice = &c->choice;
    const bool encoded = choice->algorithm != SPARSE_LIBRARY && !choice->dense, alike = c->timed && c->class->same > 1;
    const double part = choice->open && !sparse_near(&c->parameters.rates, c->call.transport->size) ? 0.08 : 1;
    return sparse_both_ways(c->call.kind) && alike && sparse_trial_refuses(part * c->asking, c->takes) && (!encoded || choice->open || choice->settled);
}

/* Sets the choice; false when it is the library's own routine's turn, or nobody's. */
static bool decide(struct sparse_collective *c)
{
    const struct sparse_terms *terms = &c->agreement.terms;
    struct sparse_estimate estimate = sparse_choice_estimate(&c->call, &c->parameters, c->elements, terms);
    c->agreed = estimate.density;
    const bool may_pass_on = !(terms->flags & SPARSE_STAYS);
    if (terms->flags & SPARSE_CANNOT) {
        if (!may_pass_on) c->record.error = SPARSE_NO_MEMORY;
        return false;
    }
    if (c->call.order == SPARSE_IN_ORDER && !(terms->flags & SPARSE_WORDLESS)) c->call.state->boards.agreed = true;
    choose(c, may_pass_on, &estimate);
    const bool lasts = may_pass_on || c->call.order == SPARSE_IN_TURN;
    if (lasts && !(may_pass_on && stands_in(c))) sparse_class_answer(c->class, may_pass_on ? answer_of(c) : answer_for_others(c, &estimate));
    if (may_pass_on && repeats(c)) sparse_unasked_repeat(&c->call, c->class, &c->choice, estimate.grain);
    return c->choice.algorithm != SPARSE_LIBRARY;
}

/* Ranks tell each other where their windows are in the first call in an order that has any use for them, and asks: calls that have asked are decided in that
 * order. */
static void begin_lanes(struct sparse_collective *c)
{
    sparse_lanes_begin(&c->lanes, &c->plan, c->choice.algorithm, c->choice.dense, c->memory, c->call.tag + 1, &c->record);
    struct sparse_slice *first = &c->lanes.lane[0];
    first->opens = first->windows && !first->windows->begun && c->agreed >= 0;
    if (first->opens) first->windows->begun = true;
}

/* Shares are for encoded forms and elements without padding, whatever has been asked for. */
static enum sparse_algorithm possible(const struct sparse_collective *c)
{
    const struct sparse_choice *choice = &c->choice;
    const bool may = !choice->dense && sparse_may_share(&c->call.operator, c->elements, c->call.transport->size);
    return choice->algorithm == SPARSE_ALLREDUCE_SHARES && !may ? SPARSE_ALLREDUCE_RING : choice->algorithm;
}

/* Ranks have more than their shares. The ring takes all, of this call, and of those to come: at once if they come one behind the other, else
 * from the next look on, before which some may have begun at one rank and not at another. */
static void begin_ring(struct sparse_collective *c)
{
    if (!sparse_failed(&c->lanes.lane[0])) sparse_lanes_restore(&c->lanes, &c->plan);
    c->class->spread = true;
    if (c->call.blocking) sparse_unasked_forget(&c->call, c->class);
    c->choice.algorithm = SPARSE_ALLREDUCE_RING;
    begin_lanes(c);
}

static void end_turn(struct sparse_collective *c, double now)
{
    if (c->ticket > 0) sparse_turn_end(c->call.state, c->call.series, c->ticket, now);
    c->ticket = 0;
}

static enum sparse_status finish(struct sparse_collective *c)
{
    if (c->record.error != SPARSE_NO_ERROR) return SPARSE_FAILED;
    const struct sparse_operator *operator = &c->call.operator;
    const char *parked = sparse_lanes_parked(&c->lanes, &c->plan, c->memory);
    if (parked) sparse_copy_data(operator, parked, c->call.output, c->plan.result / operator->size);
    if (c->ticket > 0) end_turn(c, c->parameters.clock());
    else if (c->timed) sparse_trials_end(&c->call.state->trials, c->parameters.clock());
    if (!c->choice.dense) sparse_class_learn(c->class, &c->record, operator->size, c->agreed >= 0);
    return SPARSE_DONE;
}

/* The same once more, now that all ranks are here. */
static void rehearse(struct sparse_collective *c)
{
    sparse_agree_init(&c->rehearsal, c->call.transport, per_node(c), windows_of(c), c->call.tag, &c->record, 0, 0,
                      (struct sparse_times){0}, c->sampled, NULL);
    c->began = c->parameters.clock();
}

static enum sparse_status turn_of(const struct sparse_collective *c)
{
    return c->call.decided == NULL || *c->call.decided == c->call.turn ? SPARSE_DONE : SPARSE_PENDING;
}

static enum sparse_status go_on(struct sparse_collective *c)
{
    STEP_BEGIN(c->resume);
    if (!c->decided) {
        STEP_AWAIT(sparse_agree(&c->agreement));
        if (c->rehearses) {
            rehearse(c);
            STEP_AWAIT(sparse_agree(&c->rehearsal));
        }
        STEP_AWAIT(turn_of(c));
        c->decided = true;
        if (!decide(c)) {
            if (c->record.error != SPARSE_NO_ERROR) return SPARSE_FAILED;
            c->left |= c->ticket > 0;
            return SPARSE_NOT_OURS;
        }
    }
    if (c->choice.algorithm == SPARSE_LIBRARY) return SPARSE_NOT_OURS;
    c->choice.algorithm = possible(c);
    begin_lanes(c);
    if (c->lanes.lane[0].opens) {
        STEP_AWAIT(sparse_windows_begin(&c->lanes.lane[0]));
        if (c->timed && c->ticket == 0) c->call.state->trials.began = c->parameters.clock(); /* once and for all: not what the call takes */
    }
    STEP_AWAIT(sparse_lanes_run(&c->lanes, &c->plan));
    if (!c->record.spread) STEP_RETURN;
    begin_ring(c);
    STEP_AWAIT(sparse_lanes_run(&c->lanes, &c->plan));
    STEP_END;
}

bool sparse_collective_decided(const struct sparse_collective *c)
{
    return c->decided;
}

enum sparse_status sparse_collective_step(struct sparse_collective *c)
{
    if (c->status != SPARSE_PENDING) return c->status;
    c->record.awaited = NULL;
    c->status = go_on(c);
    if (c->status == SPARSE_DONE) c->status = finish(c);
    return c->status;
}

const union sparse_request *sparse_collective_awaits(const struct sparse_collective *c)
{
    return c->decided && c->plan.lanes > 1 ? NULL : c->record.awaited;
}

/* A look at what is short takes a noticeable part of it, whoever runs; but a dense form may be much better, and, if it has been timed without a
 * look, is. Not between nodes of one rank each, where that is not so. */
static enum sparse_worth worth(const struct sparse_collective *c)
{
    if (c->parameters.rates.ranks_per_node <= 1 || !sparse_both_ways(c->call.kind)) return SPARSE_IDLE;
    if (!c->choice.settled) return SPARSE_OPEN;
    return c->choice.algorithm == SPARSE_LIBRARY ? SPARSE_IDLE : SPARSE_WORTH;
}

void sparse_collective_outcome(const struct sparse_collective *c, struct sparse_outcome *outcome)
{
    const struct sparse_record *r = &c->record;
    *outcome = (struct sparse_outcome){
        .algorithm = c->choice.algorithm, .dense = c->choice.dense, .left = c->left, .worth = worth(c), .ticket = c->ticket, .error = r->error,
        .code = r->code, .peer = r->peer, .sampled = c->sampled, .agreed = c->agreed, .messages = r->messages, .sent = r->sent,
        .sent_dense = r->sent_dense, .received = r->received, .elements = r->input.elements, .exceptions = r->input.exceptions};
}

void sparse_collective_destroy(struct sparse_collective *c)
{
    if (!c) return;
    const struct sparse_parameters parameters = c->parameters;
    if (!c->left) end_turn(c, 0);
    sparse_agree_cancel(&c->agreement);
    sparse_agree_cancel(&c->rehearsal);
    sparse_lanes_cancel(&c->lanes);
    sparse_state_return(c->call.state, &c->parameters, c->memory, c->memory_bytes);
    give_memory(&c->parameters, c->offset);
    if (c->borrowed_handle) c->call.state->spare_lent = false;
    else give_memory(&parameters, c);
}
