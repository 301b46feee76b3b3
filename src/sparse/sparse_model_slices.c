/* SPDX-License-Identifier: BSD-3-Clause */
/* How many slices an algorithm takes of a vector, and what room a ring has for them. See sparse_model.h. */
#include "sparse_model.h"

/* A message of so many bytes goes at once over btl/tcp (up to 64 KiB). A longer one waits for the receiver's answer, for `ANSWER` microseconds
 * and more, in which time a slice such as this one passes, but on fast links. (What rates say of latency has others' work in it where ranks
 * share processors.) What goes at once lies with the sender or the receiver until it is taken: no more than `AHEAD`. */
enum { AT_ONCE = 49152, AHEAD = 16 << 20, ANSWER = 25 };

bool sparse_cut_in_parts(enum sparse_algorithm algorithm)
{
    return algorithm == SPARSE_REDUCE_HALVING || algorithm == SPARSE_ALLREDUCE_HALVING || algorithm == SPARSE_SCATTER_HALVING ||
           algorithm == SPARSE_SCATTER_PAIRWISE;
}

bool sparse_goes_straight(enum sparse_algorithm algorithm)
{
    return algorithm == SPARSE_REDUCE_DIRECT || algorithm == SPARSE_ALLREDUCE_RING || algorithm == SPARSE_SCATTER_PAIRWISE;
}

bool sparse_ring_doubles(int ranks)
{
    return ranks > 1 && ranks <= SPARSE_RING_DOUBLES && (ranks & (ranks - 1)) == 0;
}

int sparse_ring_room(int ranks, size_t slice_bytes, bool alone)
{
    const size_t most = (size_t)(alone ? 31 : 15) << 20; /* all lanes' are within what a communicator keeps (parameters.keep) */
    int room = slice_bytes < most / 16 ? 16 : (int)(most / slice_bytes);
    if (room > ranks) room = ranks;
    return room > 4 ? room : 4;
}

bool sparse_near(const struct sparse_rates *rates, int ranks)
{
    return ranks <= rates->ranks_per_node;
}

/* Encoded slices may be long: between nodes a slice takes as many latencies as one that is twice as long. */
static bool cut_into_longer(enum sparse_algorithm algorithm, bool near)
{
    const bool reduces = algorithm == SPARSE_REDUCE_BINOMIAL || algorithm == SPARSE_REDUCE_HALVING || algorithm == SPARSE_REDUCE_DIRECT;
    return algorithm == SPARSE_ALLREDUCE_HALVING || algorithm == SPARSE_ALLREDUCE_DOUBLING || algorithm == SPARSE_SCATTER_PAIRWISE ||
           (!near && (reduces || algorithm == SPARSE_SCATTER_HALVING));
}

size_t sparse_slices(enum sparse_algorithm algorithm, bool dense, bool near, size_t slices)
{
    if (dense && near && slices >= 2) return 2 * slices;
    return !dense && slices >= 4 && cut_into_longer(algorithm, near) ? slices / 2 : slices;
}

size_t sparse_shares_slices(int ranks, size_t slices)
{
    enum { MESSAGES = 4 };
    const size_t longer = MESSAGES * slices / (size_t)ranks;
    return slices == 1 || longer < 1 ? 1 : longer;
}

/* Where its messages, of which the last is half of all, go at once. */
bool sparse_leaders_double(int nodes, size_t bytes)
{
    return (nodes & (nodes - 1)) == 0 && bytes / 2 <= AT_ONCE;
}

/* Between nodes, where all messages of the leaders go at once. */
static bool few_messages(const struct sparse_rates *rates, int ranks, size_t bytes)
{
    const int members = rates->ranks_per_node > 1 ? rates->ranks_per_node : 1, nodes = (ranks + members - 1) / members;
    const bool direct = nodes <= SPARSE_SHARES_NODES && bytes / (size_t)nodes <= AT_ONCE;
    return members <= SPARSE_SHARES_MEMBERS && (direct || sparse_leaders_double(nodes, bytes));
}

/* On one node, where ranks take turns on its processors, for as many messages as a way has: doubling has log2 p for each rank, to a leader and
 * back are two, which is less while nobody has much (16 ranks on two processors, bare messages: 64 KiB 190 us instead of 260, 1 MiB the same). */
static bool few_turns(const struct sparse_rates *rates, int ranks, size_t bytes)
{
    enum { EACH = 8192, TURNS = 2 };
    return rates->ranks_per_processor >= TURNS && ranks <= SPARSE_SHARES_MEMBERS && bytes / (size_t)ranks <= EACH;
}

enum sparse_gathering sparse_shares_gathering(const struct sparse_rates *rates, int ranks, size_t bytes, size_t slices)
{
    const bool near = sparse_near(rates, ranks), few = ranks <= SPARSE_SHARES_DIRECT;
    if (near && few) return SPARSE_GATHER_DIRECTLY;
    if (slices > 1) return SPARSE_GATHER_RING;
    if (near) return few_turns(rates, ranks, bytes) ? SPARSE_GATHER_LEADERS : sparse_ring_doubles(ranks) ? SPARSE_GATHER_DOUBLING : SPARSE_GATHER_RING;
    return few_messages(rates, ranks, bytes) ? SPARSE_GATHER_LEADERS : SPARSE_GATHER_RING;
}

bool sparse_is_chain(enum sparse_algorithm algorithm)
{
    return algorithm == SPARSE_REDUCE_CHAIN || algorithm == SPARSE_REDUCE_LEADERS || algorithm == SPARSE_SCAN_CHAIN;
}

static bool goes_at_once(const struct sparse_rates *rates, int ranks, size_t bytes)
{
    return !sparse_near(rates, ranks) && bytes <= AHEAD && rates->bandwidth_network * ANSWER < AT_ONCE * 1e6;
}

size_t sparse_chain_slices(const struct sparse_rates *rates, bool dense, int ranks, size_t bytes)
{
    size_t each = bytes / (4 * (size_t)ranks), least = 32768;
    if (dense && goes_at_once(rates, ranks, bytes) && each > AT_ONCE) each = AT_ONCE;
    if (each < least) each = least;
    return each < bytes ? (bytes + each - 1) / each : 1;
}

/* Where ranks share a link, its messages go at once, too: parts just above that would wait for answers behind each other's. With few
 * ranks slices would be too short for it. */
static size_t halving_slices(const struct sparse_rates *rates, int ranks, size_t bytes)
{
    enum { FEW = 8, PART = 57344 };
    size_t cube = 1;
    while (cube <= (size_t)ranks / 2) cube *= 2;
    const bool shared = cube >= FEW && rates->ranks_per_node > 1 && goes_at_once(rates, ranks, 0);
    return shared ? (bytes + cube * PART - 1) / (cube * PART) : 1;
}

/* So that the leaders' halves go at once. */
static size_t leaders_slices(const struct sparse_rates *rates, int ranks, size_t bytes)
{
    enum { HALF = 57344 };
    const bool halves = rates->ranks_per_node > 0 && (ranks - 1) / rates->ranks_per_node >= 3 && goes_at_once(rates, ranks, 0);
    return halves ? (bytes + 2 * HALF - 1) / (2 * HALF) : 1;
}

size_t sparse_least_slices(enum sparse_algorithm algorithm, bool dense, const struct sparse_rates *rates, int ranks, size_t bytes, size_t slices)
{
    size_t least = 1;
    const bool halves = sparse_cut_in_parts(algorithm) && algorithm != SPARSE_SCATTER_PAIRWISE;
    if (sparse_is_chain(algorithm)) least = sparse_chain_slices(rates, dense, ranks, bytes);
    if (halves && dense && slices > 1) least = halving_slices(rates, ranks, bytes);
    if (algorithm == SPARSE_ALLREDUCE_LEADERS && dense) least = leaders_slices(rates, ranks, bytes);
    return slices > least ? slices : least;
}
