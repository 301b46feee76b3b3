/* SPDX-License-Identifier: BSD-3-Clause
 * session_json.c: the session file, format "lucid-session" version 1 (docs/session-file.md).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "calls.h"
#include "counters.h"
#include "json.h"
#include "log.h"
#include "outfile.h"
#include "session_places.h"
#include "source.h"

/** What rank 0 knows of all members when it writes. */
struct document {
    const char *name;
    int size;
    int nodes;
    struct lucid_place *places;
    struct lucid_rows cells;
    struct lucid_rows outside;
    uint64_t (*bins)[LUCID_HISTOGRAM_BINS]; /* [kind] */
    double seconds;
    double in_mpi[2]; /* most and sum of the members; 0: not measured */
    uint64_t lost;
    char blind[512];
};

static void put_command(struct lucid_json *json)
{
    char text[4096];
    FILE *stream = fopen("/proc/self/cmdline", "r");
    size_t n = stream ? fread(text, 1, sizeof text - 1, stream) : 0;
    if (stream) fclose(stream);
    text[n] = '\0';
    lucid_json_open(json, "command", '[');
    for (size_t i = 0; i < n; i += strlen(text + i) + 1) lucid_json_string(json, NULL, text + i);
    lucid_json_close(json, ']');
}

static void put_created(struct lucid_json *json)
{
    char text[32] = "";
    time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc)) (void)strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    lucid_json_string(json, "created", text);
}

static const char *thread_level(void)
{
    int level = MPI_THREAD_SINGLE;
    (void)PMPI_Query_thread(&level);
    return level == MPI_THREAD_MULTIPLE     ? "multiple"
           : level == MPI_THREAD_SERIALIZED ? "serialized"
           : level == MPI_THREAD_FUNNELED   ? "funneled"
                                            : "single";
}

static void put_mpi(struct lucid_json *json)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "", standard[32];
    int length = 0, major = 0, minor = 0;
    (void)PMPI_Get_library_version(version, &length);
    (void)PMPI_Get_version(&major, &minor);
    version[strcspn(version, "\n")] = '\0';
    snprintf(standard, sizeof standard, "%d.%d", major, minor);
    lucid_json_open(json, "mpi", '{');
    lucid_json_string(json, "library", version);
    lucid_json_string(json, "standard", standard);
    lucid_json_string(json, "thread_level", thread_level());
    lucid_json_close(json, '}');
}

static void put_source(struct lucid_json *json, const struct document *document)
{
    bool interposed = lucid_wrappers_interposed();
    unsigned sees = lucid_source->sees(interposed);
    lucid_json_open(json, "source", '{');
    lucid_json_string(json, "name", lucid_source->name);
    lucid_json_bool(json, "decomposed", sees & LUCID_SEES_DECOMPOSED);
    lucid_json_bool(json, "one_sided", sees & LUCID_SEES_ONE_SIDED);
    lucid_json_bool(json, "kinds", sees & LUCID_SEES_KINDS);
    lucid_json_bool(json, "persistent", sees & LUCID_SEES_PERSISTENT);
    lucid_json_bool(json, "user", sees & LUCID_SEES_USER);
    lucid_json_bool(json, "interposed", interposed);
    lucid_json_open(json, "blind", '[');
    if (document->blind[0]) lucid_json_string(json, NULL, document->blind);
    lucid_json_close(json, ']');
    lucid_json_close(json, '}');
}

static void put_nodes(struct lucid_json *json, const struct document *document)
{
    int next = 0;
    lucid_json_open(json, "nodes", '[');
    for (int i = 0; i < document->size; i++) {
        const struct lucid_place *place = &document->places[i];
        if (place->node_number != next) continue;
        next++;
        lucid_json_open(json, NULL, '{');
        lucid_json_string(json, "name", place->host);
        lucid_json_string(json, "model", place->node.model);
        lucid_json_uint(json, "packages", (uint64_t)place->node.packages);
        lucid_json_uint(json, "numa", (uint64_t)place->node.numa);
        lucid_json_uint(json, "cores", (uint64_t)place->node.cores);
        lucid_json_uint(json, "pus", (uint64_t)place->node.pus);
        lucid_json_close(json, '}');
    }
    lucid_json_close(json, ']');
}

static void put_ranks(struct lucid_json *json, const struct document *document)
{
    lucid_json_open(json, "ranks", '[');
    for (int i = 0; i < document->size; i++) {
        const struct lucid_place *place = &document->places[i];
        lucid_json_open(json, NULL, '{');
        lucid_json_uint(json, "rank", (uint64_t)i);
        lucid_json_uint(json, "world", (uint64_t)place->world);
        lucid_json_uint(json, "node", (uint64_t)place->node_number);
        lucid_json_uint(json, "pid", (uint64_t)place->pid);
        lucid_json_string(json, "cpus", place->cpus);
        lucid_json_int_or_null(json, "package", place->binding.package);
        lucid_json_int_or_null(json, "numa", place->binding.numa);
        lucid_json_int_or_null(json, "core", place->binding.core);
        lucid_json_close(json, '}');
    }
    lucid_json_close(json, ']');
}

static void put_set(struct lucid_json *json, const char *key, uint64_t set)
{
    lucid_json_open(json, key, '[');
    for (int kind = 0; kind < LUCID_KIND_COUNT; kind++)
        if (set >> kind & 1) lucid_json_string(json, NULL, lucid_kind_name(kind));
    lucid_json_close(json, ']');
}

static void put_kinds(struct lucid_json *json)
{
    put_set(json, "kinds", LUCID_KINDS_ALL);
    lucid_json_open(json, "classes", '{');
    put_set(json, "p2p", LUCID_KINDS_P2P);
    put_set(json, "coll", LUCID_KINDS_COLL);
    put_set(json, "osc", LUCID_KINDS_OSC);
    lucid_json_close(json, '}');
}

static void put_cells(struct lucid_json *json, const struct document *document)
{
    uint64_t messages = 0, bytes = 0;
    lucid_json_open(json, "cells", '[');
    for (int row = 0; row < document->size; row++)
        for (size_t i = document->cells.start[row]; i < document->cells.start[row + 1]; i++) {
            const struct lucid_cell *cell = &document->cells.cell[i];
            lucid_json_row(json, 5, (uint64_t[]){(uint64_t)row, cell->peer, cell->kind, cell->count, cell->bytes});
            messages += cell->count;
            bytes += cell->bytes;
        }
    lucid_json_close(json, ']');
    lucid_json_open(json, "outside", '[');
    for (int row = 0; row < document->size; row++)
        for (size_t i = document->outside.start[row]; i < document->outside.start[row + 1]; i++) {
            const struct lucid_cell *cell = &document->outside.cell[i];
            lucid_json_row(json, 4, (uint64_t[]){(uint64_t)row, cell->kind, cell->count, cell->bytes});
        }
    lucid_json_close(json, ']');
    lucid_json_open(json, "totals", '{');
    lucid_json_uint(json, "messages", messages);
    lucid_json_uint(json, "bytes", bytes);
    lucid_json_close(json, '}');
}

static void put_histograms(struct lucid_json *json, const struct document *document)
{
    lucid_json_open(json, "histograms", '{');
    for (int kind = 0; kind < LUCID_KIND_COUNT; kind++) {
        uint64_t sum = 0;
        for (int bin = 0; bin < LUCID_HISTOGRAM_BINS; bin++) sum += document->bins[kind][bin];
        if (sum == 0) continue;
        lucid_json_open(json, lucid_kind_name(kind), '[');
        for (int bin = 0; bin < LUCID_HISTOGRAM_BINS; bin++) lucid_json_uint(json, NULL, document->bins[kind][bin]);
        lucid_json_close(json, ']');
    }
    lucid_json_close(json, '}');
}

static int write_document(const struct document *document, const char *path)
{
    struct lucid_outfile file;
    if (lucid_outfile_open(&file, path) != 0) return LUCID_ERR_IO;
    struct lucid_json json = {.stream = file.stream};
    lucid_json_open(&json, NULL, '{');
    lucid_json_string(&json, "format", "lucid-session");
    lucid_json_uint(&json, "version", 1);
    lucid_json_string(&json, "lucid", LUCID_VERSION);
    lucid_json_string(&json, "name", document->name[0] ? document->name : NULL);
    put_created(&json);
    lucid_json_seconds(&json, "seconds", document->seconds);
    if (document->in_mpi[0] > 0) {
        lucid_json_open(&json, "seconds_in_mpi", '{');
        lucid_json_seconds(&json, "mean", document->in_mpi[1] / document->size);
        lucid_json_seconds(&json, "most", document->in_mpi[0]);
        lucid_json_close(&json, '}');
    }
    put_command(&json);
    put_mpi(&json);
    put_source(&json, document);
    lucid_json_uint(&json, "size", (uint64_t)document->size);
    put_nodes(&json, document);
    put_ranks(&json, document);
    put_kinds(&json);
    lucid_json_uint(&json, "lost", document->lost);
    put_cells(&json, document);
    put_histograms(&json, document);
    lucid_json_close(&json, '}');
    return lucid_outfile_commit(&file) == 0 ? LUCID_SUCCESS : LUCID_ERR_IO;
}

/** Sums and maxima over the members. */
static int reduce_figures(const struct lucid_members *m, const struct lucid_session_data *data, struct document *document)
{
    const int n = LUCID_KIND_COUNT * LUCID_HISTOGRAM_BINS;
    uint64_t lost = lucid_counters_lost();
    uint64_t *mine = calloc((size_t)n, sizeof *mine);
    document->bins = calloc(LUCID_KIND_COUNT, sizeof *document->bins);
    int status = lucid_agree(m, mine && document->bins ? LUCID_SUCCESS : LUCID_ERR_INTERNAL);
    if (status == LUCID_SUCCESS) {
        for (size_t i = 0; i < data->sizes.n; i++)
            mine[data->sizes.cell[i].kind * LUCID_HISTOGRAM_BINS + data->sizes.cell[i].peer] += data->sizes.cell[i].count;
        int rc = PMPI_Reduce(mine, document->bins, n, MPI_UINT64_T, MPI_SUM, 0, m->own);
        if (rc == MPI_SUCCESS) rc = PMPI_Reduce(&data->seconds, &document->seconds, 1, MPI_DOUBLE, MPI_MAX, 0, m->own);
        if (rc == MPI_SUCCESS) rc = PMPI_Reduce(&data->in_mpi, &document->in_mpi[0], 1, MPI_DOUBLE, MPI_MAX, 0, m->own);
        if (rc == MPI_SUCCESS) rc = PMPI_Reduce(&data->in_mpi, &document->in_mpi[1], 1, MPI_DOUBLE, MPI_SUM, 0, m->own);
        if (rc == MPI_SUCCESS) rc = PMPI_Reduce(&lost, &document->lost, 1, MPI_UINT64_T, MPI_SUM, 0, m->own);
        if (rc != MPI_SUCCESS) status = LUCID_ERR_MPI;
    }
    free(mine);
    return status;
}

static int gather_cells(const struct lucid_members *m, const struct lucid_session_data *data, bool outside,
                        struct lucid_rows *rows)
{
    struct lucid_cells row = {0};
    int status = lucid_row(data, m, LUCID_KINDS_ALL, false, outside, &row);
    status = lucid_gather_rows(m, 0, status, &row, rows);
    lucid_cells_clear(&row);
    return status;
}

int lucid_write_json(const struct lucid_members *m, const struct lucid_session_data *data, const char *path)
{
    struct document document = {.name = data->name, .size = m->size};
    lucid_own_begin();
    int status = gather_cells(m, data, false, &document.cells);
    if (status == LUCID_SUCCESS) status = gather_cells(m, data, true, &document.outside);
    if (status == LUCID_SUCCESS) status = reduce_figures(m, data, &document);
    if (status == LUCID_SUCCESS) status = lucid_places_gather(m, &document.places, &document.nodes);
    if (status == LUCID_SUCCESS && m->rank == 0) {
        if (lucid_source->blind) lucid_source->blind(MPI_COMM_WORLD, document.blind, sizeof document.blind);
        status = write_document(&document, path);
    }
    status = lucid_follow(m, 0, status);
    lucid_own_end();
    lucid_rows_free(&document.cells);
    lucid_rows_free(&document.outside);
    free(document.bins);
    free(document.places);
    return status;
}
