/* SPDX-License-Identifier: BSD-3-Clause
 * json.h: writes JSON to a stream: commas and escapes are looked after. C only writes JSON, it never reads any.
 */
#ifndef LUCID_JSON_H
#define LUCID_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/** Containers inside each other. */
#define LUCID_JSON_DEPTH 15

struct lucid_json {
    FILE *stream;
    unsigned depth;
    bool started[LUCID_JSON_DEPTH + 1]; /* whether the container at this depth has an element */
};

/** key: NULL inside arrays and at the top. Strings may hold any bytes: what is not UTF-8 is replaced. */
void lucid_json_open(struct lucid_json *json, const char *key, char bracket); /* '{' or '[' */
void lucid_json_close(struct lucid_json *json, char bracket);                 /* '}' or ']' */
void lucid_json_string(struct lucid_json *json, const char *key, const char *value); /* NULL: null */
void lucid_json_uint(struct lucid_json *json, const char *key, uint64_t value);
void lucid_json_int_or_null(struct lucid_json *json, const char *key, int value); /* negative: null */
void lucid_json_seconds(struct lucid_json *json, const char *key, double value);
void lucid_json_bool(struct lucid_json *json, const char *key, bool value);
/** An array of numbers on a line of its own. */
void lucid_json_row(struct lucid_json *json, unsigned n, const uint64_t *values);

#endif
