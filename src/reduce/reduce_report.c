/* SPDX-License-Identifier: BSD-3-Clause
 * reduce_report.c: LUCID_SPARSE=measure at MPI_Finalize: the call sites of all processes in one file, sparse.json.
 *
 * The prediction is made for each sort of vectors at a place: by what a call of it took with and without Lucid when it was run again
 * (reduce_replay.c); where none was, it compares what the library took with what the cost model says of the sparse form, with the rates
 * measured on MPI_COMM_WORLD and the overlap seen between processes.
 */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../core/json.h"
#include "../core/log.h"
#include "../core/outfile.h"
#include "../sparse/sparse_state.h"
#include "reduce_sites.h"

/* A site as it goes to rank 0. */
struct record {
    struct lucid_reduce_place place;
    int32_t kind, sort;
    double least; /* seconds of a call in the library, at the process that waits least for others */
    struct lucid_reduce_figures figures;
};

/* Seconds of all calls of a place: in the library, and with Lucid. */
struct prospect {
    double library, lucid;
    double least;  /* were reading the inputs all that is to be done */
    bool replayed; /* how `lucid` is known */
};

static struct record describe(const struct lucid_reduce_site *site)
{
    struct record record;
    memset(&record, 0, sizeof record);
    record.place = lucid_reduce_place_of(site->address, site->name);
    record.kind = (int32_t)site->kind;
    record.sort = (int32_t)site->sort;
    record.figures = site->figures;
    record.least = site->figures.seconds / (double)site->figures.calls;
    return record;
}

static bool same_place(const struct record *a, const struct record *b)
{
    return lucid_reduce_same_place(&a->place, &b->place);
}

static void add(struct record *sum, const struct record *more)
{
    struct lucid_reduce_figures *to = &sum->figures;
    const struct lucid_reduce_figures *from = &more->figures;
    to->calls += from->calls;
    to->elements += from->elements;
    to->exceptions += from->exceptions;
    to->encoded += from->encoded;
    to->ranks += from->ranks;
    to->seconds += from->seconds;
    to->looking += from->looking;
    if (more->least < sum->least) sum->least = more->least;
}

/* Adds up the records of one place and sort. Returns how many there are. */
static size_t add_up(struct record *records, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        size_t j = 0;
        while (j < kept && !(records[j].sort == records[i].sort && same_place(&records[j], &records[i]))) j++;
        if (j < kept) add(&records[j], &records[i]);
        else records[kept++] = records[i];
    }
    return kept;
}

/* What a prediction is made with. */
struct outlook {
    const struct lucid_reduce_replays *replays;
    const struct lucid_reduce_overlap *overlaps; /* as seen */
    int n;
    double sharing; /* processes that share a processor */
    const struct sparse_parameters *parameters;
};

/* What is known of the place of a record, of vectors of the length of its sort; of all lengths, if that is 0. */
static struct lucid_reduce_overlap overlap_of(const struct record *record, const struct outlook *outlook, uint64_t elements)
{
    struct lucid_reduce_overlap all = {.growth = 0};
    for (const struct lucid_reduce_overlap *o = outlook->overlaps; o < outlook->overlaps + outlook->n; o++) {
        bool as_long = elements == 0 || (o->elements <= 2 * elements && elements <= 2 * o->elements);
        if (!as_long || !lucid_reduce_same_place(&o->place, &record->place)) continue;
        all.growth += o->weight * o->growth;
        all.weight += o->weight;
        all.joined += o->samples * o->joined;
        all.samples += o->samples;
    }
    if (all.weight > 0) all.growth /= all.weight;
    if (all.samples > 0) all.joined /= all.samples;
    return all;
}

/* The vectors of a sort. Nothing is known of their overlap where there are no exceptions among those looked at, or calls were on
 * communicators of some processes only: then they are taken for independent. */
static struct sparse_estimate estimate_of(const struct record *record, const struct outlook *outlook)
{
    const struct lucid_reduce_figures *f = &record->figures;
    struct sparse_estimate estimate = {.elements = f->elements / f->calls, .size = f->size, .ranks = (int)(f->ranks / f->calls),
                                       .commutative = true, .density = (double)f->exceptions / (double)f->elements, .growth = 1};
    struct lucid_reduce_overlap seen = overlap_of(record, outlook, estimate.elements);
    if (seen.weight == 0 || f->exceptions == 0) return estimate;
    double size = (double)f->size, each = (double)f->encoded / (double)f->exceptions;
    estimate.growth = seen.growth;
    estimate.per_exception = fmax(size, fmin(each, size + 2));
    estimate.learned = true;
    return estimate;
}

/* Seconds for reading the inputs of a call, as it found them. */
static double reading_of(const struct record *record, const struct outlook *outlook)
{
    return record->figures.looking / (double)record->figures.calls * outlook->sharing;
}

/* What the memory allows: all inputs are read, and results are written, a Reduce's by one process. */
static double least_of(const struct record *record, const struct outlook *outlook)
{
    double ranks = (double)record->figures.ranks / (double)record->figures.calls, written = outlook->sharing;
    if (record->kind == SPARSE_REDUCE) written = 1;
    if (record->kind == SPARSE_REDUCE_SCATTER) written /= ranks;
    return reading_of(record, outlook) * (1 + written / outlook->sharing);
}

/* How far a call that was run again is from those of a record: 0, the same sort, to 2; and what their communicators' sizes add where there is
 * another one as near. Infinite: they have nothing to do with each other. */
static double distance(const struct lucid_reduce_replayed *replayed, const struct record *record)
{
    const int sorts = lucid_reduce_sort_distance(replayed->sort, record->sort);
    const double ranks = (double)record->figures.ranks / (double)record->figures.calls;
    if (sorts > 1 || !lucid_reduce_same_place(&replayed->place, &record->place)) return INFINITY;
    return sorts + fabs(replayed->ranks - ranks) / (replayed->ranks + ranks);
}

/* By what vectors of the same place and about the same sort took when they were run again. What else a call waits for, such as others that
 * come late, stays; but not for as long as looking takes, after which processes come late that would not without. */
static bool replayed_prospect(const struct record *record, double took, const struct outlook *outlook, struct prospect *prospect)
{
    const struct lucid_reduce_replayed *nearest = NULL;
    double least = INFINITY;
    for (int i = 0; i < outlook->replays->n; i++) {
        const struct lucid_reduce_replayed *r = &outlook->replays->calls[i];
        if (distance(r, record) >= least) continue;
        least = distance(r, record);
        nearest = r;
    }
    if (!nearest) return false;
    if (took <= 0) took = nearest->library; /* a nonblocking call */
    const double reading = reading_of(record, outlook), waits = fmax(took - nearest->library - reading, 0);
    const double library = fmin(took, nearest->library + waits);
    *prospect = (struct prospect){library, waits + (library - waits) * nearest->lucid / nearest->library, reading, true};
    return true;
}

static bool is_short(const struct record *record, const struct sparse_parameters *parameters)
{
    return record->figures.elements / record->figures.calls * record->figures.size < parameters->short_bytes;
}

/* Whether short ones are looked at all the same (../sparse/sparse_short.h): a call takes the library so long. */
static bool are_worth_it(const struct record *record, double took, const struct sparse_parameters *parameters)
{
    const struct lucid_reduce_figures *f = &record->figures;
    const bool enough = f->calls * f->calls > SPARSE_SHORT_CALLS * f->ranks; /* ranks: the sum over all calls */
    return parameters->short_measured && enough && sparse_short_worth(took);
}

/* Of one call of a sort. A Reduce's leaves are through before it is done, and a Reduce_scatter may be a Reduce and a Scatter, so that
 * their time is the mean. For the model dense vectors are taken for the library's: formulas cannot tell whether a dense form of ours is better. */
static struct prospect prospect_of(const struct record *record, const struct outlook *outlook)
{
    const enum sparse_kind kind = (enum sparse_kind)record->kind;
    const struct sparse_parameters *parameters = outlook->parameters;
    const struct sparse_estimate estimate = estimate_of(record, outlook);
    const bool early = kind == SPARSE_REDUCE || kind == SPARSE_REDUCE_SCATTER;
    double took = early ? record->figures.seconds / (double)record->figures.calls : record->least;
    struct prospect prospect;
    if (took > 0 && is_short(record, parameters) && !are_worth_it(record, took, parameters)) return (struct prospect){took, took, took, false};
    if (replayed_prospect(record, took, outlook, &prospect)) return prospect;
    struct sparse_choice ours = sparse_choose(kind, false, &estimate, parameters, NULL);
    if (took <= 0) took = sparse_cost(SPARSE_LIBRARY, ours.algorithm, true, &estimate, parameters); /* a nonblocking call */
    if (is_short(record, parameters)) return (struct prospect){took, took, took, false}; /* of which formulas know too little */
    if (estimate.density >= sparse_full(estimate.size)) return (struct prospect){took, took, reading_of(record, outlook), false};
    double seconds = sparse_cost(ours.algorithm, ours.algorithm, false, &estimate, parameters);
    seconds += sparse_cost_of_asking(&estimate, parameters);
    seconds = fmax(seconds, least_of(record, outlook));
    bool pays = seconds * parameters->margin < took;
    return (struct prospect){took, pays ? seconds : took, reading_of(record, outlook), false};
}

/* Of all calls of a place: ratios of seconds, and the share of the calls whose prospect comes from a replay. */
struct gain {
    double predicted, bound, replayed;
};

static struct gain gain_of(const struct record *records, size_t n, const struct record *first, const struct outlook *outlook)
{
    struct prospect all = {0};
    double calls = 0, replayed = 0;
    for (size_t i = 0; i < n; i++) {
        if (!same_place(first, &records[i])) continue;
        struct prospect one = prospect_of(&records[i], outlook);
        const double times = (double)records[i].figures.calls;
        all.library += times * one.library;
        all.lucid += times * one.lucid;
        all.least += times * one.least;
        calls += times;
        if (one.replayed) replayed += times;
    }
    const double predicted = all.lucid > 0 ? all.library / all.lucid : 1, bound = all.least > 0 ? all.library / all.least : 1;
    return (struct gain){predicted, fmax(predicted, bound), replayed / calls};
}

/* The place of record `first`, with all of its sorts. */
static void write_site(struct lucid_json *json, const struct record *records, size_t n, const struct record *first,
                       const struct outlook *outlook)
{
    const struct lucid_reduce_overlap seen = overlap_of(first, outlook, 0);
    struct record sum = *first;
    for (const struct record *more = first + 1; more < records + n; more++)
        if (same_place(first, more)) add(&sum, more);
    const struct lucid_reduce_figures *f = &sum.figures;
    const struct gain gain = gain_of(records, n, first, outlook);
    lucid_json_open(json, NULL, '{');
    lucid_json_string(json, "call", sum.place.name);
    lucid_json_string(json, "object", sum.place.object);
    lucid_json_string(json, "function", sum.place.function[0] ? sum.place.function : NULL);
    lucid_json_uint(json, "offset", sum.place.offset);
    lucid_json_uint(json, "calls", f->calls);
    lucid_json_uint(json, "ranks", f->ranks / f->calls);
    lucid_json_uint(json, "elements", f->elements);
    lucid_json_uint(json, "element_bytes", f->size);
    lucid_json_uint(json, "exceptions", f->exceptions);
    lucid_json_uint(json, "encoded_bytes", f->encoded);
    if (seen.samples > 0) lucid_json_seconds(json, "union_share", seen.joined);
    lucid_json_seconds(json, "library_seconds", f->seconds);
    lucid_json_seconds(json, "predicted_ratio", gain.predicted);
    lucid_json_seconds(json, "bound_ratio", gain.bound);
    lucid_json_seconds(json, "replayed_share", gain.replayed);
    lucid_json_close(json, '}');
}

static bool is_first(const struct record *records, size_t i)
{
    size_t j = 0;
    while (j < i && !same_place(&records[j], &records[i])) j++;
    return j == i;
}

static void write_file(const struct record *records, size_t n, uint64_t undeclared, const struct outlook *outlook)
{
    char path[PATH_MAX];
    struct lucid_outfile file;
    const char *directory = lucid_params()->dir;
    if (snprintf(path, sizeof path, "%s%ssparse.json", directory, directory[0] ? "/" : "") >= (int)sizeof path) return;
    if (lucid_outfile_open(&file, path) != 0) return;
    struct lucid_json json = {.stream = file.stream};
    lucid_json_open(&json, NULL, '{');
    lucid_json_uint(&json, "format", 1);
    lucid_json_open(&json, "sites", '[');
    for (size_t i = 0; i < n; i++)
        if (is_first(records, i)) write_site(&json, records, n, &records[i], outlook);
    lucid_json_close(&json, ']');
    lucid_json_uint(&json, "undeclared_calls", undeclared);
    lucid_json_close(&json, '}');
    fputc('\n', file.stream);
    (void)lucid_outfile_commit(&file);
}

/* The records of all processes, at rank 0; NULL elsewhere and without memory. */
static struct record *gather(const struct record *mine, int n, int rank, int size, size_t *total)
{
    int *bytes = NULL, *starts = NULL, own = n * (int)sizeof *mine;
    struct record *all = NULL;
    if (rank == 0) bytes = malloc(2 * (size_t)size * sizeof *bytes);
    int ok = rank != 0 || bytes != NULL;
    PMPI_Bcast(&ok, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (!ok) return NULL;
    PMPI_Gather(&own, 1, MPI_INT, bytes, 1, MPI_INT, 0, MPI_COMM_WORLD);
    *total = 0;
    if (rank == 0) {
        starts = bytes + size;
        size_t sum = 0;
        for (int i = 0; i < size; i++) {
            starts[i] = (int)sum;
            sum += (size_t)bytes[i];
        }
        *total = sum / sizeof *mine;
        all = sum < INT_MAX ? malloc(sum + 1) : NULL;
        ok = all != NULL;
    }
    PMPI_Bcast(&ok, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (ok) PMPI_Gatherv(mine, own, MPI_BYTE, all, bytes, starts, MPI_BYTE, 0, MPI_COMM_WORLD);
    else if (rank == 0) lucid_error("sparse.json is not written: out of memory");
    free(bytes);
    return all;
}

/* How many processes share a processor of this node: the rates are one process's. */
static double sharing(void)
{
    MPI_Comm node;
    int size = 1;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node) != MPI_SUCCESS) return 1;
    PMPI_Comm_size(node, &size);
    PMPI_Comm_free(&node);
    return processors > 0 && size > processors ? (double)size / (double)processors : 1;
}

/* The processor's rates are one process's while the others wait; those of messages were measured with all of them at it. */
static struct sparse_parameters shared(struct sparse_parameters parameters, double sharing)
{
    parameters.rates.scan /= sharing;
    parameters.rates.merge /= sharing;
    parameters.rates.add /= sharing;
    parameters.rates.copy /= sharing;
    return parameters;
}

void lucid_reduce_report(void)
{
    static struct record mine[LUCID_REDUCE_SITES];
    static struct lucid_reduce_overlap overlaps[LUCID_REDUCE_OVERLAPS];
    static struct lucid_reduce_replays replays;
    struct sparse_parameters parameters;
    int n = 0, rank, size;
    size_t total = 0;
    uint64_t own = lucid_reduce_undeclared(), undeclared = 0;
    for (size_t i = 0; i < LUCID_REDUCE_SITES; i++)
        if (lucid_reduce_sites[i].figures.calls) mine[n++] = describe(&lucid_reduce_sites[i]);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    PMPI_Reduce(&own, &undeclared, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    struct record *all = gather(mine, n, rank, size, &total);
    struct lucid_reduce_comm *world = size > 1 ? lucid_reduce_comm(MPI_COMM_WORLD) : NULL;
    sparse_parameters_default(&parameters);
    if (world) parameters = world->parameters;
    const double processes = sharing();
    const struct sparse_parameters parts = shared(parameters, processes);
    const int known = lucid_reduce_overlaps(overlaps);
    if (world) lucid_reduce_replay(world, overlaps, known, &replays);
    lucid_reduce_parts_end();
    const struct outlook outlook = {&replays, overlaps, known, processes, &parts};
    if (all) write_file(all, add_up(all, total), undeclared, &outlook);
    free(all);
}
