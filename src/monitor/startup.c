/* SPDX-License-Identifier: BSD-3-Clause
 * startup.c: see startup.h. Rank 0 puts the processes' records together: those of one communicator have the group, the number and
 * its occurrence in common. Costs are added up, bytes, ids and seconds as well as the largest of a process.
 */
#include "startup.h"

#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "log.h"
#include "outfile.h"
#include "params.h"

const struct lucid_startup_source *lucid_startup_source;

/** All records of the job, sorted; on rank 0. */
struct book {
    struct lucid_startup_record *record;
    size_t n;
    int ranks;
};

void lucid_startup_attach(const struct lucid_startup_source *source)
{
    if (source->version == LUCID_STARTUP_VERSION) lucid_startup_source = source;
}

static int by_key(const void *a, const void *b)
{
    const struct lucid_startup_record *first = a, *second = b;
    if (first->number != second->number) return first->number < second->number ? -1 : 1;
    if (first->occurrence != second->occurrence) return first->occurrence < second->occurrence ? -1 : 1;
    if (first->group != second->group) return first->group < second->group ? -1 : 1;
    return 0;
}

/** Gathers the records on rank 0. 0, or -1 if some process has no memory for it. */
static int gather(const struct lucid_startup_record *own, size_t n, struct book *book)
{
    int rank, ranks, mine = (int)(n * sizeof *own), *sizes = NULL, *places = NULL, good = 1;
    long long total = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank == 0) {
        sizes = calloc((size_t)ranks, sizeof *sizes);
        places = calloc((size_t)ranks, sizeof *places);
        good = sizes != NULL && places != NULL;
    }
    PMPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (good) PMPI_Gather(&mine, 1, MPI_INT, sizes, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; good && rank == 0 && i < ranks; i++) {
        places[i] = (int)total;
        total += sizes[i];
        if (total > INT_MAX) good = 0;
    }
    if (good && rank == 0) good = (book->record = malloc((size_t)total + 1)) != NULL;
    PMPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (good) PMPI_Gatherv(own, mine, MPI_BYTE, book->record, sizes, places, MPI_BYTE, 0, MPI_COMM_WORLD);
    book->n = (size_t)total / sizeof *own;
    book->ranks = ranks;
    free(sizes);
    free(places);
    if (!good && rank == 0) lucid_error("what communicators cost is not reported: too many of them");
    return good ? 0 : -1;
}

static void add(struct lucid_startup_cost *sum, struct lucid_startup_cost *largest, const struct lucid_startup_cost *one)
{
    sum->bytes += one->bytes;
    sum->messages += one->messages;
    sum->message_bytes += one->message_bytes;
    if (one->bytes > largest->bytes) largest->bytes = one->bytes;
    if (one->ids > largest->ids) largest->ids = one->ids;
    if (one->seconds > largest->seconds) largest->seconds = one->seconds;
}

static void write_cost(struct lucid_json *json, const char *key, const struct lucid_startup_cost *sum,
                       const struct lucid_startup_cost *largest)
{
    lucid_json_open(json, key, '{');
    lucid_json_uint(json, "bytes", (uint64_t)(sum->bytes > 0 ? sum->bytes : 0));
    lucid_json_uint(json, "bytes_of_a_process", (uint64_t)(largest->bytes > 0 ? largest->bytes : 0));
    lucid_json_uint(json, "ids", (uint64_t)(largest->ids > 0 ? largest->ids : 0));
    lucid_json_uint(json, "messages", sum->messages);
    lucid_json_uint(json, "message_bytes", sum->message_bytes);
    lucid_json_seconds(json, "seconds", largest->seconds);
    lucid_json_close(json, '}');
}

static const char *const states[] = {"waiting", "own", "shared"};

/** Writes what n records say about one communicator. */
static void write_one(struct lucid_json *json, const struct lucid_startup_record *first, size_t n)
{
    struct lucid_startup_cost sum[2] = {0}, largest[2] = {0};
    for (size_t i = 0; i < n; i++) {
        add(&sum[0], &largest[0], &first[i].creation);
        add(&sum[1], &largest[1], &first[i].use);
    }
    lucid_json_open(json, NULL, '{');
    lucid_json_string(json, "name", first->name);
    lucid_json_uint(json, "number", first->number);
    lucid_json_uint(json, "size", (uint64_t)first->size);
    lucid_json_string(json, "created_by", first->created_by[0] ? first->created_by : NULL);
    lucid_json_string(json, "used_by", first->used_by[0] ? first->used_by : NULL);
    lucid_json_string(json, "modules", states[first->state]);
    lucid_json_string(json, "allreduce", first->module[0] ? first->module : NULL);
    lucid_json_bool(json, "freed", first->freed);
    write_cost(json, "creation", &sum[0], &largest[0]);
    write_cost(json, "first_use", &sum[1], &largest[1]);
    lucid_json_close(json, '}');
}

static void write_book(struct lucid_json *json, struct book *book)
{
    qsort(book->record, book->n, sizeof *book->record, by_key);
    lucid_json_open(json, NULL, '{');
    lucid_json_string(json, "format", "lucid-startup");
    lucid_json_uint(json, "version", 1);
    lucid_json_string(json, "layer", lucid_startup_source->layer());
    lucid_json_uint(json, "ranks", (uint64_t)book->ranks);
    lucid_json_open(json, "communicators", '[');
    for (size_t i = 0, n; i < book->n; i += n) {
        for (n = 1; i + n < book->n && by_key(&book->record[i], &book->record[i + n]) == 0;) n++;
        write_one(json, &book->record[i], n);
    }
    lucid_json_close(json, ']');
    lucid_json_close(json, '}');
}

void lucid_startup_report(void)
{
    const struct lucid_startup_record *own;
    struct book book = {0};
    struct lucid_outfile file;
    char path[PATH_MAX];
    if (lucid_startup_source == NULL || !lucid_params()->dir[0]) return;
    size_t n = lucid_startup_source->records(&own);
    if (gather(own, n, &book) != 0) return;
    if (book.record == NULL) return;
    if (snprintf(path, sizeof path, "%s/startup.json", lucid_params()->dir) < (int)sizeof path &&
        lucid_outfile_open(&file, path) == 0) {
        struct lucid_json json = {.stream = file.stream};
        write_book(&json, &book);
        (void)lucid_outfile_commit(&file);
    }
    free(book.record);
}
