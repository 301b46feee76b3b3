/* SPDX-License-Identifier: BSD-3-Clause
 * params.c: see params.h.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_DEFAULT */
#endif
#include "params.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct lucid_params params;
static pthread_once_t once = PTHREAD_ONCE_INIT;

int lucid_parse_size(const char *text, size_t *value)
{
    char *end;
    if (text[0] < '0' || text[0] > '9') return -1;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    if (errno != 0) return -1;
    const char *suffixes = "KMGT";
    const char *suffix = *end ? strchr(suffixes, *end >= 'a' && *end <= 'z' ? *end - 32 : *end) : NULL;
    unsigned shift = suffix ? 10 * (unsigned)(suffix - suffixes + 1) : 0;
    if (*end && (!suffix || end[1])) return -1;
    if (n > (SIZE_MAX >> shift)) return -1;
    *value = (size_t)n << shift;
    return 0;
}

/** Whether `text` is one of the words of `range` ("a|b|c"). */
static int is_word_of(const char *text, const char *range)
{
    size_t length = strlen(text);
    if (strchr(text, '|')) return 0;
    for (const char *word = range; word; word = strchr(word, '|') ? strchr(word, '|') + 1 : NULL)
        if (strncmp(word, text, length) == 0 && (word[length] == '|' || word[length] == '\0')) return length > 0;
    return 0;
}

static int read_string(const char *text, const char *range, const char **value)
{
    if (strchr(range, '|') && !is_word_of(text, range)) return -1;
    *value = text;
    return 0;
}

static int read_int(const char *text, const char *range, int *value)
{
    size_t n;
    long low = 0, high = 0;
    if (sscanf(range, "%ld..%ld", &low, &high) != 2) return -1;
    if (lucid_parse_size(text, &n) != 0 || n < (size_t)low || n > (size_t)high) return -1;
    *value = (int)n;
    return 0;
}

/** A number, or the word that the range has behind a bar. The largest number stands for the word. */
static int read_size(const char *text, const char *range, size_t *value)
{
    const char *bar = strchr(range, '|');
    if (!bar || strcmp(text, bar + 1) != 0) return lucid_parse_size(text, value) == 0 && (!bar || *value != LUCID_SIZE_WORD) ? 0 : -1;
    *value = LUCID_SIZE_WORD;
    return 0;
}

static int read_flag(const char *text, const char *range, int *value)
{
    if (!is_word_of(text, range)) return -1;
    *value = text[0] == '1';
    return 0;
}

void lucid_params_read(struct lucid_params *read, const char *(*get)(const char *name),
                       void (*bad)(const char *name, const char *text, const char *range, const char *def))
{
    const char *text;
#define LUCID_PARAM(NAME, field, type, def, range, level, help)                                                            \
    text = get("LUCID_" #NAME);                                                                                            \
    if (!text || !text[0]) {                                                                                               \
        (void)read_##type(def, range, &read->field);                                                                       \
    } else if (read_##type(text, range, &read->field) != 0) {                                                              \
        bad("LUCID_" #NAME, text, range, def);                                                                             \
        (void)read_##type(def, range, &read->field);                                                                       \
    }
#include "params.def"
#undef LUCID_PARAM
}

/* Components have this code, too, for themselves alone: where liblucid is there, it is the one that complains. */
static int is_said_by_liblucid(void)
{
    void *first = dlsym(RTLD_DEFAULT, "lucid_params");
    return first && first != (void *)(uintptr_t)lucid_params;
}

static bool (*is_anothers)(const char *name);

void lucid_params_leave_out(bool (*others)(const char *name))
{
    is_anothers = others;
}

/* Log lines ask for the level, which is a parameter: so this one writes by itself. */
static void complain(const char *name, const char *text, const char *range, const char *def)
{
    if ((is_anothers && is_anothers(name)) || is_said_by_liblucid()) return;
    fprintf(stderr, "lucid: error: %s=%s is not valid (%s): using %s\n", name, text, range, def[0] ? def : "none");
}

/** Strings are kept apart: programs that change their title write over their environment. */
static void keep_string(const char **value)
{
    char *copy = strdup(*value);
    if (copy) *value = copy;
}
static void keep_int(int *value) { (void)value; }
static void keep_size(size_t *value) { (void)value; }
static void keep_flag(int *value) { (void)value; }

static const char *from_environment(const char *name)
{
    return getenv(name);
}

static void read_all(void)
{
    lucid_params_read(&params, from_environment, complain);
#define LUCID_PARAM(NAME, field, type, def, range, level, help) keep_##type(&params.field);
#include "params.def"
#undef LUCID_PARAM
}

const struct lucid_params *lucid_params(void)
{
    (void)pthread_once(&once, read_all);
    return &params;
}

const char *lucid_params_describe(void)
{
    return ""
#define LUCID_PARAM(NAME, field, type, def, range, level, help)                                                            \
    "LUCID_" #NAME "\t" #type "\t" def "\t" range "\t" #level "\t" help "\n"
#include "params.def"
#undef LUCID_PARAM
        ;
}
