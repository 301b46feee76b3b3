/* SPDX-License-Identifier: BSD-3-Clause
 * reduce_overlap.c: how the exceptions of different processes lie to each other, for the prediction of LUCID_SPARSE=measure: whether all
 * have the same positions or each has its own part decides more of it than how many there are.
 *
 * A place's 1st, 2nd, 4th, ... 128th call on a communicator of all processes, with vectors of one length, is looked at by every process
 * at the same 64 stretches of 64 elements, spread over the vector, others in each of these calls. At MPI_Finalize the processes' bits
 * are joined and counted. Nothing is sent before that.
 *
 * Of communicators of some processes the same calls may be kept, to be run again (reduce_parts.c), and are not looked at so.
 *
 * A place is named by the file it is in and its offset there, which are the same at every process, and by the function where the dynamic
 * loader knows one.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../sparse/sparse_format.h"
#include "reduce_sites.h"

static struct seen {
    const void *address;
    const char *name;
    uint64_t elements, calls;
    struct lucid_reduce_group *group; /* whose calls they are; NULL: all processes' */
    lucid_reduce_sample samples[LUCID_REDUCE_SAMPLES];
    struct lucid_reduce_kept *kept[LUCID_REDUCE_SAMPLES];
} table[LUCID_REDUCE_OVERLAPS];
static int used, parts; /* entries; those of groups */

/* How rank 0 asks for one. */
struct question {
    struct lucid_reduce_place place;
    uint64_t elements;
};

/* What all processes come to, sample by sample. */
struct answer {
    lucid_reduce_sample joined[LUCID_REDUCE_SAMPLES];
    uint64_t sums[LUCID_REDUCE_SAMPLES][2]; /* processes that have it; their exceptions */
};

struct lucid_reduce_place lucid_reduce_place_of(const void *address, const char *name)
{
    struct lucid_reduce_place place;
    Dl_info info;
    memset(&place, 0, sizeof place);
    snprintf(place.name, sizeof place.name, "%s", name);
    place.offset = (uint64_t)(uintptr_t)address;
    if (!dladdr(address, &info) || !info.dli_fname) return place;
    const char *slash = strrchr(info.dli_fname, '/');
    snprintf(place.object, sizeof place.object, "%s", slash ? slash + 1 : info.dli_fname);
    if (info.dli_sname) snprintf(place.function, sizeof place.function, "%s", info.dli_sname);
    place.offset -= (uint64_t)(uintptr_t)info.dli_fbase;
    return place;
}

bool lucid_reduce_same_place(const struct lucid_reduce_place *a, const struct lucid_reduce_place *b)
{
    return a->offset == b->offset && strcmp(a->object, b->object) == 0 && strcmp(a->name, b->name) == 0;
}

/* Groups have half of the entries at most: there may be many of them. */
static struct seen *find(const struct lucid_reduction *reduction, uint64_t elements, struct lucid_reduce_group *group)
{
    for (struct seen *s = table; s < table + used; s++)
        if (s->address == reduction->site && s->name == reduction->name && s->elements == elements && s->group == group) return s;
    if (used == LUCID_REDUCE_OVERLAPS || (group && parts == LUCID_REDUCE_OVERLAPS / 2)) return NULL;
    parts += group != NULL;
    table[used].address = reduction->site;
    table[used].name = reduction->name;
    table[used].elements = elements;
    table[used].group = group;
    return &table[used++];
}

/* There may be sessions only, and no MPI_COMM_WORLD. */
static bool of_all_processes(MPI_Comm comm)
{
    int begun = 0, ended = 0, result = MPI_UNEQUAL;
    if (comm == MPI_COMM_WORLD) return true;
    PMPI_Initialized(&begun);
    PMPI_Finalized(&ended);
    if (!begun || ended || PMPI_Comm_compare(comm, MPI_COMM_WORLD, &result) != MPI_SUCCESS) return false;
    return result == MPI_CONGRUENT || result == MPI_SIMILAR;
}

struct lucid_reduce_sampled lucid_reduce_sample_of(const struct lucid_reduction *reduction, size_t elements)
{
    static uint64_t order;
    const struct lucid_reduce_sampled none = {NULL, 0, NULL, 0};
    if (elements < (size_t)64 * LUCID_REDUCE_WORDS) return none;
    const bool all = of_all_processes(reduction->comm);
    struct lucid_reduce_group *group = all ? NULL : lucid_reduce_group_of(reduction->comm);
    if (!all && !group) return none;
    const uint64_t passed = all ? ++order : ++group->calls;
    struct seen *seen = find(reduction, elements, group);
    if (!seen) return none;
    const uint64_t call = ++seen->calls;
    const int number = __builtin_ctzll(call);
    if ((call & (call - 1)) != 0 || number >= LUCID_REDUCE_SAMPLES) return none;
    return (struct lucid_reduce_sampled){all ? seen->samples[number] : NULL, number, &seen->kept[number], passed};
}

/* The `k`th of the words of sample `number`, of `words` in the vector: somewhere in its share of them. */
static size_t word_at(size_t words, int number, size_t k)
{
    size_t from = words / LUCID_REDUCE_WORDS * k, share = words / LUCID_REDUCE_WORDS;
    uint64_t mixed = ((uint64_t)number * LUCID_REDUCE_WORDS + k + 1) * UINT64_C(0x9E3779B97F4A7C15);
    return from + (mixed >> 32) % share;
}

void lucid_reduce_sample_block(uint64_t *sample, int number, const struct sparse_layout *layout, size_t index, const void *message)
{
    uint64_t mask[SPARSE_MAX_WORDS];
    const size_t each = sparse_words(layout->block), own = sparse_words(sparse_block_elements(layout, index));
    const size_t words = (layout->blocks - 1) * each + sparse_words(sparse_block_elements(layout, layout->blocks - 1));
    const size_t share = words / LUCID_REDUCE_WORDS, first = index * each;
    struct sparse_view view = sparse_view_of(message);
    bool known = false;
    for (size_t k = first / share; k < LUCID_REDUCE_WORDS && k * share < first + own; k++) {
        size_t at = word_at(words, number, k);
        if (at < first || at >= first + own) continue;
        if (!known) sparse_view_mask(&view, mask);
        known = true;
        sample[k] = mask[at - first];
    }
}

static const struct seen *answering(const struct lucid_reduce_place *asked, uint64_t elements)
{
    for (const struct seen *s = table; s < table + used; s++) {
        if (s->elements != elements || s->group) continue;
        const struct lucid_reduce_place place = lucid_reduce_place_of(s->address, s->name);
        if (lucid_reduce_same_place(&place, asked)) return s;
    }
    return NULL;
}

static void join(const struct seen *seen, struct answer *all)
{
    static struct answer mine;
    memset(&mine, 0, sizeof mine);
    for (int k = 0; seen && k < LUCID_REDUCE_SAMPLES; k++) {
        memcpy(mine.joined[k], seen->samples[k], sizeof mine.joined[k]);
        mine.sums[k][0] = seen->calls >= UINT64_C(1) << k;
        mine.sums[k][1] = sparse_mask_count(mine.joined[k], LUCID_REDUCE_WORDS);
    }
    PMPI_Reduce(mine.joined, all->joined, LUCID_REDUCE_SAMPLES * LUCID_REDUCE_WORDS, MPI_UINT64_T, MPI_BOR, 0, MPI_COMM_WORLD);
    PMPI_Reduce(mine.sums, all->sums, LUCID_REDUCE_SAMPLES * 2, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
}

/* A sample shows something of growth by what stands out and by what does not: nothing, where all does. */
static void conclude(const struct answer *all, int size, struct lucid_reduce_overlap *overlap)
{
    const double bits = 64.0 * LUCID_REDUCE_WORDS;
    double total = 0;
    for (int k = 0; k < LUCID_REDUCE_SAMPLES; k++) {
        if (all->sums[k][0] != (uint64_t)size) continue;
        double joined = (double)sparse_mask_count(all->joined[k], LUCID_REDUCE_WORDS) / bits;
        double density = (double)all->sums[k][1] / size / bits, weight = fmin(density, 1 - density) * size * bits;
        overlap->growth += weight * sparse_growth(density, joined, size);
        overlap->weight += weight;
        overlap->joined += joined;
        total++;
    }
    if (overlap->weight > 0) overlap->growth /= overlap->weight;
    if (total > 0) overlap->joined /= total;
    overlap->samples = total;
}

int lucid_reduce_overlaps(struct lucid_reduce_overlap overlaps[LUCID_REDUCE_OVERLAPS])
{
    static struct question questions[LUCID_REDUCE_OVERLAPS];
    static struct answer all;
    int n = 0, rank, size;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < used && rank == 0; i++)
        if (!table[i].group) questions[n++] = (struct question){lucid_reduce_place_of(table[i].address, table[i].name), table[i].elements};
    PMPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
    PMPI_Bcast(questions, n * (int)sizeof *questions, MPI_BYTE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) {
        join(answering(&questions[i].place, questions[i].elements), &all);
        overlaps[i] = (struct lucid_reduce_overlap){.place = questions[i].place, .elements = questions[i].elements};
        if (rank == 0) conclude(&all, size, &overlaps[i]);
    }
    return n;
}

struct lucid_reduce_kept *lucid_reduce_kept_of(const struct lucid_reduce_place *place, uint64_t elements, int number)
{
    const struct seen *seen = answering(place, elements);
    return seen ? seen->kept[number] : NULL;
}

int lucid_reduce_parts(void)
{
    return used;
}

bool lucid_reduce_part_at(int i, struct lucid_reduce_part *part)
{
    struct seen *seen = &table[i];
    if (!seen->group) return false;
    memset(part, 0, sizeof *part);
    part->place = lucid_reduce_place_of(seen->address, seen->name);
    part->elements = seen->elements;
    part->ranks = (uint64_t)seen->group->size;
    part->group = seen->group;
    part->kept = seen->kept;
    return true;
}
