/* SPDX-License-Identifier: BSD-3-Clause
 * params.h: the parameters of params.def, read once from the environment.
 */
#ifndef LUCID_PARAMS_H
#define LUCID_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "visibility.h"

#define LUCID_PARAM_C_string const char *
#define LUCID_PARAM_C_int int
#define LUCID_PARAM_C_size size_t
#define LUCID_PARAM_C_flag int

/* A size for which a word was given: the one behind the bar in its range ("bytes|measured"). */
#define LUCID_SIZE_WORD SIZE_MAX

struct lucid_params {
#define LUCID_PARAM(NAME, field, type, def, range, level, help) LUCID_PARAM_C_##type field;
#include "params.def"
#undef LUCID_PARAM
};

/** The parameters. The first call reads the environment; a bad value is reported once and its default used. Thread-safe. */
LUCID_INTERNAL const struct lucid_params *lucid_params(void);

/* Before the first lucid_params(): of which parameters somebody else complains. Components have a copy of this each. */
LUCID_INTERNAL void lucid_params_leave_out(bool (*others)(const char *name));

/**
 * The parameters from any source of texts. get: the text of a name ("LUCID_LOG"), or NULL; it must live as long as the
 * parameters. bad: called for a text that is not valid; the default is used then. Empty texts count as none.
 */
LUCID_INTERNAL void lucid_params_read(struct lucid_params *params, const char *(*get)(const char *name),
                                      void (*bad)(const char *name, const char *text, const char *range, const char *def));

/** The table as text, a line each: name, type, default, range, level, help, separated by tabs. */
LUCID_INTERNAL const char *lucid_params_describe(void);

/** Parses a number with an optional suffix K, M, G or T (powers of 1024). 0, or -1 if it is not one or overflows. */
LUCID_INTERNAL int lucid_parse_size(const char *text, size_t *value);

#endif
