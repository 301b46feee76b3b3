/* SPDX-License-Identifier: BSD-3-Clause
 * formats_sample.c: prints a document of the core's writers on standard output, for formats_test.py to read.
 * formats_sample json | mtx | prof | counts | bytes [seed]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "matrix.h"

#define SIZE 9

static void print_strings(struct lucid_json *json)
{
    char one[] = "a?b";
    lucid_json_open(json, "bytes", '[');
    for (int byte = 1; byte < 256; byte++) {
        one[1] = (char)byte;
        lucid_json_string(json, NULL, one);
    }
    lucid_json_close(json, ']');
    lucid_json_string(json, "text", "tab\there \"quoted\" back\\slash \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
    lucid_json_string(json, "broken", "\xff\xc3(\xed\xa0\x80)\xf4\x90\x80\x80");
    lucid_json_string(json, "key \"with\" \\ \n and \xc3\xa9", "odd");
    lucid_json_string(json, "null", NULL);
}

static void print_json(void)
{
    struct lucid_json json = {.stream = stdout};
    lucid_json_open(&json, NULL, '{');
    print_strings(&json);
    lucid_json_uint(&json, "most", UINT64_MAX);
    lucid_json_int_or_null(&json, "none", -1);
    lucid_json_seconds(&json, "seconds", 12.25);
    lucid_json_bool(&json, "true", true);
    lucid_json_open(&json, "rows", '[');
    for (uint64_t i = 0; i < 3; i++) lucid_json_row(&json, 3, (uint64_t[]){i, i * i, UINT64_MAX - i});
    lucid_json_row(&json, 0, NULL);
    lucid_json_close(&json, ']');
    for (int i = 0; i < LUCID_JSON_DEPTH - 1; i++) lucid_json_open(&json, i % 2 == 0 ? "deeper" : NULL, "[{"[i % 2]);
    for (int i = LUCID_JSON_DEPTH - 2; i >= 0; i--) lucid_json_close(&json, "]}"[i % 2]);
    lucid_json_open(&json, "empty", '{');
    lucid_json_close(&json, '}');
    lucid_json_close(&json, '}');
}

/** Row r, column c: a message of r * 1000 + c bytes, (c + 1) times, wherever (r * c + seed) % 3 is 0; large at the end. */
static void make_matrix(struct lucid_matrix *matrix, int seed)
{
    static struct lucid_cell cells[SIZE * SIZE];
    size_t start[SIZE + 1] = {0}, n = 0;
    for (int row = 0; row < SIZE; row++) {
        for (int column = 0; column < SIZE; column++)
            if ((row * column + seed) % 3 == 0)
                cells[n++] = (struct lucid_cell){(uint32_t)column, 0, (uint64_t)column + 1,
                                                 (uint64_t)(column + 1) * (uint64_t)(row * 1000 + column)};
        start[row + 1] = n;
    }
    if (n > 0) cells[n - 1].bytes = UINT64_MAX;
    if (lucid_matrix_from_rows(matrix, SIZE, cells, start, 1) != 0) exit(1);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    struct lucid_matrix matrix;
    if (strcmp(what, "json") == 0) {
        print_json();
        return 0;
    }
    make_matrix(&matrix, argc > 2 ? atoi(argv[2]) : 0);
    if (strcmp(what, "mtx") == 0) lucid_matrix_write_mtx(&matrix, stdout);
    else if (strcmp(what, "prof") == 0) lucid_matrix_write_prof(&matrix, stdout);
    else lucid_matrix_write_dense(&matrix, strcmp(what, "bytes") == 0, stdout);
    lucid_matrix_free(&matrix);
    return 0;
}
