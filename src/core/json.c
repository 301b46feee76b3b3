/* SPDX-License-Identifier: BSD-3-Clause
 * json.c: see json.h.
 */
#include "json.h"

#include <inttypes.h>

/** Length of the valid UTF-8 sequence at s, or 0. */
static unsigned utf8_length(const unsigned char *s)
{
    unsigned n = s[0] < 0x80 ? 1 : s[0] >= 0xC2 && s[0] < 0xE0 ? 2 : (s[0] & 0xF0) == 0xE0 ? 3 : s[0] >= 0xF0 && s[0] < 0xF5 ? 4 : 0;
    for (unsigned i = 1; i < n; i++)
        if ((s[i] & 0xC0) != 0x80) return 0;
    if (n == 3 && ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F))) return 0;
    if (n == 4 && ((s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F))) return 0;
    return n;
}

static void put_string(FILE *stream, const char *text)
{
    fputc('"', stream);
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        unsigned n = utf8_length(s);
        if (n == 0) {
            fputs("\\ufffd", stream);
            n = 1;
        } else if (*s == '"' || *s == '\\') {
            fprintf(stream, "\\%c", *s);
        } else if (*s < 0x20 || *s == 0x7f) {
            fprintf(stream, "\\u%04x", *s);
        } else {
            fwrite(s, 1, n, stream);
        }
        s += n;
    }
    fputc('"', stream);
}

/** Comma, line break and key before an element. */
static void begin(struct lucid_json *json, const char *key)
{
    if (json->depth > 0) {
        if (json->started[json->depth]) fputc(',', json->stream);
        json->started[json->depth] = true;
        fputc(json->depth < 3 ? '\n' : ' ', json->stream);
        for (unsigned i = 0; json->depth < 3 && i < json->depth; i++) fputc(' ', json->stream);
    }
    if (key) {
        put_string(json->stream, key);
        fputs(": ", json->stream);
    }
}

void lucid_json_open(struct lucid_json *json, const char *key, char bracket)
{
    begin(json, key);
    fputc(bracket, json->stream);
    json->started[++json->depth] = false;
}

void lucid_json_close(struct lucid_json *json, char bracket)
{
    json->depth--;
    fputc(bracket, json->stream);
    if (json->depth == 0) fputc('\n', json->stream);
}

void lucid_json_string(struct lucid_json *json, const char *key, const char *value)
{
    begin(json, key);
    if (value) put_string(json->stream, value);
    else fputs("null", json->stream);
}

void lucid_json_uint(struct lucid_json *json, const char *key, uint64_t value)
{
    begin(json, key);
    fprintf(json->stream, "%" PRIu64, value);
}

void lucid_json_int_or_null(struct lucid_json *json, const char *key, int value)
{
    begin(json, key);
    if (value < 0) fputs("null", json->stream);
    else fprintf(json->stream, "%d", value);
}

void lucid_json_seconds(struct lucid_json *json, const char *key, double value)
{
    /* microseconds by integer arithmetic: printf's %f would follow the program's locale */
    uint64_t us = value > 0 ? (uint64_t)((value < 1e12 ? value : 1e12) * 1e6 + 0.5) : 0;
    begin(json, key);
    fprintf(json->stream, "%" PRIu64 ".%06" PRIu64, us / 1000000, us % 1000000);
}

void lucid_json_bool(struct lucid_json *json, const char *key, bool value)
{
    begin(json, key);
    fputs(value ? "true" : "false", json->stream);
}

void lucid_json_row(struct lucid_json *json, unsigned n, const uint64_t *values)
{
    begin(json, NULL);
    fputc('[', json->stream);
    for (unsigned i = 0; i < n; i++) fprintf(json->stream, i ? ", %" PRIu64 : "%" PRIu64, values[i]);
    fputc(']', json->stream);
}
