/* SPDX-License-Identifier: BSD-3-Clause
 * log.h: one line on standard error, where LUCID_LOG allows it. The function that finds an error reports it, once.
 * Lower case, what, where, what to do. Nothing is ever printed on standard output.
 */
#ifndef LUCID_LOG_H
#define LUCID_LOG_H

#include "visibility.h"

enum lucid_log_level { LUCID_LOG_ERROR, LUCID_LOG_WARN, LUCID_LOG_INFO, LUCID_LOG_DEBUG };

/** Prints "lucid: [rank R] <level>: <text>" in one write. Thread-safe; leaves errno alone. */
LUCID_INTERNAL void lucid_log(enum lucid_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** The rank that is named in the lines; -1 for none yet. */
LUCID_INTERNAL void lucid_log_set_rank(int rank);

#define lucid_error(...) lucid_log(LUCID_LOG_ERROR, __VA_ARGS__)
#define lucid_warn(...) lucid_log(LUCID_LOG_WARN, __VA_ARGS__)
#define lucid_info(...) lucid_log(LUCID_LOG_INFO, __VA_ARGS__)
#define lucid_debug(...) lucid_log(LUCID_LOG_DEBUG, __VA_ARGS__)

#endif
