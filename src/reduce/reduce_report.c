/* SPDX-License-Identifier: BSD-3-Clause
 * reduce_report.c: LUCID_SPARSE=measure at MPI_Finalize: the call sites of all processes in one file, sparse.json.
 *
 * A call site is named by the file it is in and its offset there, which are the same at every process, and by the function
 * where the dynamic loader knows one. The prediction is the cost model's, with the rates measured on MPI_COMM_WORLD.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../core/json.h"
#include "../core/log.h"
#include "../core/outfile.h"
#include "../sparse/sparse_state.h"
#include "reduce_sites.h"

/* A site as it goes to rank 0. */
struct record {
    char object[128], function[96], name[32];
    uint64_t offset;
    int32_t kind;
    struct lucid_reduce_figures figures;
};

static struct record describe(const struct lucid_reduce_site *site)
{
    struct record record;
    Dl_info info;
    memset(&record, 0, sizeof record);
    snprintf(record.name, sizeof record.name, "%s", site->name);
    record.kind = (int32_t)site->kind;
    record.figures = site->figures;
    record.offset = (uint64_t)(uintptr_t)site->address;
    if (!dladdr(site->address, &info) || !info.dli_fname) return record;
    const char *slash = strrchr(info.dli_fname, '/');
    snprintf(record.object, sizeof record.object, "%s", slash ? slash + 1 : info.dli_fname);
    if (info.dli_sname) snprintf(record.function, sizeof record.function, "%s", info.dli_sname);
    record.offset -= (uint64_t)(uintptr_t)info.dli_fbase;
    return record;
}

static bool same(const struct record *a, const struct record *b)
{
    return a->offset == b->offset && strcmp(a->object, b->object) == 0 && strcmp(a->name, b->name) == 0;
}

/* Adds up the records of one site. Returns how many sites there are. */
static size_t add_up(struct record *records, size_t n)
{
    size_t sites = 0;
    for (size_t i = 0; i < n; i++) {
        size_t j = 0;
        while (j < sites && !same(&records[j], &records[i])) j++;
        if (j == sites) {
            records[sites++] = records[i];
            continue;
        }
        struct lucid_reduce_figures *sum = &records[j].figures;
        const struct lucid_reduce_figures *more = &records[i].figures;
        sum->calls += more->calls;
        sum->elements += more->elements;
        sum->exceptions += more->exceptions;
        sum->encoded += more->encoded;
        sum->ranks += more->ranks;
    }
    return sites;
}

/* Time of the library's routine over that of what the model would choose, for inputs whose positions grow like that. */
static double gain(const struct record *record, double growth, const struct sparse_parameters *parameters)
{
    const struct lucid_reduce_figures *f = &record->figures;
    struct sparse_estimate estimate = {.elements = f->elements / f->calls, .size = f->size, .ranks = (int)(f->ranks / f->calls),
                                       .commutative = true, .density = (double)f->exceptions / (double)f->elements, .growth = growth};
    if (estimate.elements * estimate.size < parameters->short_bytes) return 1;
    enum sparse_kind kind = (enum sparse_kind)record->kind;
    struct sparse_choice choice = sparse_choose(kind, true, &estimate, parameters, NULL);
    if (choice.algorithm == SPARSE_LIBRARY) return 1;
    return sparse_cost(SPARSE_LIBRARY, choice.algorithm, true, &estimate, parameters) /
           sparse_cost(choice.algorithm, choice.algorithm, choice.dense, &estimate, parameters);
}

static void write_site(struct lucid_json *json, const struct record *record, const struct sparse_parameters *parameters)
{
    const struct lucid_reduce_figures *f = &record->figures;
    lucid_json_open(json, NULL, '{');
    lucid_json_string(json, "call", record->name);
    lucid_json_string(json, "object", record->object);
    lucid_json_string(json, "function", record->function[0] ? record->function : NULL);
    lucid_json_uint(json, "offset", record->offset);
    lucid_json_uint(json, "calls", f->calls);
    lucid_json_uint(json, "ranks", f->ranks / f->calls);
    lucid_json_uint(json, "elements", f->elements);
    lucid_json_uint(json, "element_bytes", f->size);
    lucid_json_uint(json, "exceptions", f->exceptions);
    lucid_json_uint(json, "encoded_bytes", f->encoded);
    lucid_json_seconds(json, "predicted_ratio", gain(record, 1, parameters));
    lucid_json_seconds(json, "bound_ratio", gain(record, 0, parameters));
    lucid_json_close(json, '}');
}

static void write_file(const struct record *records, size_t n, const struct sparse_parameters *parameters)
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
    for (size_t i = 0; i < n; i++) write_site(&json, &records[i], parameters);
    lucid_json_close(&json, ']');
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

void lucid_reduce_report(void)
{
    static struct record mine[LUCID_REDUCE_SITES];
    struct sparse_parameters parameters;
    int n = 0, rank, size;
    size_t total = 0;
    for (size_t i = 0; i < LUCID_REDUCE_SITES; i++)
        if (lucid_reduce_sites[i].figures.calls) mine[n++] = describe(&lucid_reduce_sites[i]);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    struct record *all = gather(mine, n, rank, size, &total);
    struct lucid_reduce_comm *world = size > 1 ? lucid_reduce_comm(MPI_COMM_WORLD) : NULL;
    sparse_parameters_default(&parameters);
    if (world) parameters = world->parameters;
    if (all) write_file(all, add_up(all, total), &parameters);
    free(all);
}
