/* SPDX-License-Identifier: BSD-3-Clause
 * matrix_read.c: see matrix_read.h.
 */
#include "matrix_read.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    FILE *stream;
    char line[1024];
    long number; /* of the line */
    bool pattern, symmetric;
    char *why;
    size_t why_size;
};

static int complain(const struct reader *r, const char *what)
{
    snprintf(r->why, r->why_size, "line %ld: %s", r->number, what);
    return -1;
}

/** The next line that is not a comment. 1, 0 at the end, -1 if it is too long. */
static int next_line(struct reader *r)
{
    do {
        if (!fgets(r->line, sizeof r->line, r->stream)) return 0;
        r->number++;
        if (!strchr(r->line, '\n') && !feof(r->stream)) return complain(r, "too long");
    } while (r->line[0] == '%' || r->line[strspn(r->line, " \t\r\n")] == '\0');
    return 1;
}

static int read_banner(struct reader *r)
{
    char object[16] = "", format[16] = "", field[16] = "", symmetry[16] = "";
    if (!fgets(r->line, sizeof r->line, r->stream)) return complain(r, "the file is empty");
    r->number = 1;
    for (char *c = r->line; *c; c++) *c = (char)tolower((unsigned char)*c);
    if (sscanf(r->line, "%%%%matrixmarket %15s %15s %15s %15s", object, format, field, symmetry) != 4)
        return complain(r, "not a Matrix Market file (%%MatrixMarket matrix coordinate ... is missing)");
    r->pattern = strcmp(field, "pattern") == 0;
    r->symmetric = strcmp(symmetry, "symmetric") == 0;
    if (strcmp(object, "matrix") != 0 || strcmp(format, "coordinate") != 0 ||
        !(r->pattern || strcmp(field, "integer") == 0 || strcmp(field, "real") == 0) ||
        !(r->symmetric || strcmp(symmetry, "general") == 0))
        return complain(r, "only coordinate integer, real or pattern, general or symmetric, is understood");
    return 0;
}

/** Reads a number within limits and moves on. */
static int read_number(const char **at, unsigned long long low, unsigned long long high, unsigned long long *value)
{
    char *end;
    while (**at == ' ' || **at == '\t') ++*at;
    if (!isdigit((unsigned char)**at)) return -1;
    errno = 0;
    *value = strtoull(*at, &end, 10);
    if (errno != 0 || *value < low || *value > high || !strchr(" \t\r\n.eE", *end)) return -1;
    *at = end;
    return 0;
}

/** A whole number is read exactly, any other as a real one, rounded. */
static int read_value(const char *at, uint64_t *value)
{
    unsigned long long whole;
    const char *rest = at;
    char *end;
    if (read_number(&rest, 0, UINT64_MAX, &whole) == 0 && !strchr(".eE", *rest)) {
        *value = whole;
        return 0;
    }
    double real = strtod(at, &end);
    if (end == at || !(real >= 0 && real < 1.8e19)) return -1;
    *value = (uint64_t)(real + 0.5);
    return 0;
}

int lucid_matrix_read_mtx(FILE *stream, int *size, void (*entry)(int row, int column, uint64_t value, void *arg), void *arg,
                          char *why, size_t why_size)
{
    struct reader r = {.stream = stream, .why = why, .why_size = why_size};
    unsigned long long rows, columns, entries;
    if (read_banner(&r) != 0) return -1;
    int more = next_line(&r);
    if (more < 0) return -1;
    const char *at = r.line;
    if (!more || read_number(&at, 1, INT_MAX, &rows) != 0 || read_number(&at, 1, INT_MAX, &columns) != 0 ||
        read_number(&at, 0, ULLONG_MAX, &entries) != 0 || rows != columns)
        return complain(&r, "not the size of a square matrix: rows, columns, entries");
    *size = (int)rows;
    for (unsigned long long i = 0; i < entries; i++) {
        unsigned long long row, column;
        uint64_t value = 1;
        if ((more = next_line(&r)) < 0) return -1;
        if (!more) return complain(&r, "the file ends before its last entry");
        at = r.line;
        if (read_number(&at, 1, rows, &row) != 0 || read_number(&at, 1, rows, &column) != 0)
            return complain(&r, "not a row and a column of the matrix");
        if (!r.pattern && read_value(at, &value) != 0) return complain(&r, "not a value of 0 or more");
        entry((int)row - 1, (int)column - 1, value, arg);
        if (r.symmetric && row != column) entry((int)column - 1, (int)row - 1, value, arg);
    }
    return 0;
}
