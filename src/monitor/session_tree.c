/* SPDX-License-Identifier: BSD-3-Clause
 * session_tree.c: the members' sparse rows, up a binomial tree to one of them.
 *
 * Cost: log2 P messages at the root and as many levels, P - 1 in all; 24 bytes per entry and level. Beside an MPI library's own
 * gather of vectors, in which every member sends to the root, the entries travel further; but the root opens connections to log2 P
 * members and not to all, and these are in use already by broadcasts: on sockets that is most of the time.
 *
 * A parcel is what a subtree has gathered, in words of 64 bits: a status; if it is LUCID_SUCCESS, the number of entries of each
 * member, in the order of the ranks counted from the root, and the entries in the same order.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "session.h"

enum { TAG = 1, WORD = sizeof(uint64_t), CELL = sizeof(struct lucid_cell) / WORD };
_Static_assert(sizeof(struct lucid_cell) % WORD == 0, "entries are whole words");

struct parcel {
    uint64_t *word;
    size_t words;
    int status;
};

static void lose(struct parcel *parcel, int status)
{
    free(parcel->word);
    *parcel = (struct parcel){.status = parcel->status < status ? parcel->status : status};
}

/** Adds n words at the end. */
static void grow(struct parcel *parcel, const void *words, size_t n)
{
    uint64_t *longer = realloc(parcel->word, (parcel->words + n) * WORD);
    if (!longer) {
        lose(parcel, LUCID_ERR_INTERNAL);
        return;
    }
    if (n) memcpy(longer + parcel->words, words, n * WORD);
    parcel->word = longer;
    parcel->words += n;
}

/** Members in the subtree of v, ranks counted from the root. */
static int subtree(int v, int size)
{
    int most = v ? v & -v : size;
    return most < size - v ? most : size - v;
}

/** A parcel with one member's row in it and room for the lengths of the others'. */
static struct parcel make(int span, int status, const struct lucid_cells *row)
{
    struct parcel parcel = {.status = status, .words = (size_t)span + 1};
    if (status != LUCID_SUCCESS) return (struct parcel){.status = status};
    parcel.word = calloc(parcel.words, WORD);
    if (!parcel.word) return (struct parcel){.status = LUCID_ERR_INTERNAL};
    parcel.word[1] = row->n;
    grow(&parcel, row->cell, row->n * CELL);
    return parcel;
}

/** Takes a child's parcel; what there is no memory for is taken from the network all the same. */
static struct parcel receive(const struct lucid_members *m, int child)
{
    struct parcel parcel = {.status = LUCID_SUCCESS};
    MPI_Message message;
    MPI_Status found;
    int n = 0;
    if (PMPI_Mprobe(child, TAG, m->own, &message, &found) != MPI_SUCCESS) return (struct parcel){.status = LUCID_ERR_MPI};
    PMPI_Get_count(&found, MPI_UINT64_T, &n);
    parcel.word = malloc((size_t)n * WORD);
    int rc = PMPI_Mrecv(parcel.word, parcel.word ? n : 0, MPI_UINT64_T, &message, MPI_STATUS_IGNORE);
    parcel.words = (size_t)n;
    if (!parcel.word) lose(&parcel, LUCID_ERR_INTERNAL);
    else if (rc != MPI_SUCCESS) lose(&parcel, LUCID_ERR_MPI);
    else if ((int64_t)parcel.word[0] != LUCID_SUCCESS) lose(&parcel, (int)(int64_t)parcel.word[0]);
    return parcel;
}

/** Puts a child's parcel behind what is there already: `at` members' rows. */
static void append(struct parcel *parcel, int at, struct parcel *child, int span)
{
    if (child->status != LUCID_SUCCESS) lose(parcel, child->status);
    if (parcel->status == LUCID_SUCCESS) {
        memcpy(parcel->word + 1 + at, child->word + 1, (size_t)span * WORD);
        grow(parcel, child->word + 1 + span, child->words - 1 - (size_t)span);
    }
    free(child->word);
}

static int send(const struct lucid_members *m, int parent, struct parcel *parcel)
{
    if (parcel->words > INT_MAX) lose(parcel, LUCID_ERR_TOO_LARGE);
    uint64_t bad = (uint64_t)(int64_t)parcel->status;
    int ok = parcel->status == LUCID_SUCCESS;
    int rc = PMPI_Send(ok ? parcel->word : &bad, ok ? (int)parcel->words : 1, MPI_UINT64_T, parent, TAG, m->own);
    return rc == MPI_SUCCESS ? parcel->status : LUCID_ERR_MPI;
}

/** From the root's parcel, in which ranks are counted from it, to rows by rank. */
static int unpack(const struct parcel *parcel, int root, int size, struct lucid_rows *rows)
{
    const uint64_t *length = parcel->word + 1;
    const struct lucid_cell *cells = (const struct lucid_cell *)(length + size);
    size_t total = (parcel->words - 1 - (size_t)size) / CELL, before = 0;
    rows->start = malloc(((size_t)size + 1) * sizeof *rows->start);
    rows->cell = malloc((total ? total : 1) * sizeof *rows->cell);
    if (!rows->start || !rows->cell) return LUCID_ERR_INTERNAL;
    rows->start[0] = 0;
    for (int rank = 0; rank < size; rank++) rows->start[rank + 1] = rows->start[rank] + length[(rank - root + size) % size];
    for (int v = 0; v < size - root; v++) before += length[v];
    memcpy(rows->cell + (total - before), cells, before * sizeof *cells);
    memcpy(rows->cell, cells + before, (total - before) * sizeof *cells);
    return LUCID_SUCCESS;
}

int lucid_rows_up(const struct lucid_members *m, int root, int status, const struct lucid_cells *row, struct lucid_rows *rows)
{
    int v = (m->rank - root + m->size) % m->size, at = 1;
    struct parcel parcel = make(subtree(v, m->size), status, row);
    *rows = (struct lucid_rows){0};
    lucid_own_begin();
    for (int bit = 1; v + bit < m->size && !(v & bit); bit <<= 1) {
        struct parcel child = receive(m, (v + bit + root) % m->size);
        int span = subtree(v + bit, m->size);
        append(&parcel, at, &child, span);
        at += span;
    }
    status = parcel.status;
    if (v != 0) status = send(m, (v - (v & -v) + root) % m->size, &parcel);
    else if (status == LUCID_SUCCESS) status = unpack(&parcel, root, m->size, rows);
    lucid_own_end();
    free(parcel.word);
    return status;
}
