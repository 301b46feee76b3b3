/* SPDX-License-Identifier: BSD-3-Clause
 * log.c: see log.h.
 */
#include "log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "params.h"

static _Atomic int rank = -1;
static const char *const names[] = {"error", "warn", "info", "debug"};

void lucid_log_set_rank(int new_rank)
{
    atomic_store_explicit(&rank, new_rank, memory_order_relaxed);
}

static enum lucid_log_level level_wanted(void)
{
    const char *word = lucid_params()->log;
    for (int i = LUCID_LOG_DEBUG; i > LUCID_LOG_ERROR; i--)
        if (strcmp(word, names[i]) == 0) return (enum lucid_log_level)i;
    return LUCID_LOG_ERROR;
}

void lucid_log(enum lucid_log_level level, const char *format, ...)
{
    char line[1024];
    int saved = errno;
    if (level > level_wanted()) return;
    int r = atomic_load_explicit(&rank, memory_order_relaxed);
    int n = r < 0 ? snprintf(line, sizeof line, "lucid: %s: ", names[level])
                  : snprintf(line, sizeof line, "lucid: rank %d: %s: ", r, names[level]);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(line + n, sizeof line - (size_t)n - 1, format, arguments); /* a longer text is cut */
    va_end(arguments);
    size_t length = strlen(line);
    for (size_t i = 0; i < length; i++)
        if (line[i] == '\n') line[i] = ' '; /* a file may have such a name */
    line[length++] = '\n';
    if (write(STDERR_FILENO, line, length) < 0) {
        /* nowhere left to say so */
    }
    errno = saved;
}
