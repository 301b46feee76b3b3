/* SPDX-License-Identifier: BSD-3-Clause
 * unit.h: what the unit tests of the core share: cmocka, repeatable random numbers, children whose output is caught.
 */
#ifndef LUCID_UNIT_H
#define LUCID_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/** xorshift64*: the same numbers everywhere. The state must not be 0. */
static inline uint64_t unit_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545F4914F6CDD1D);
}

struct caught {
    int status; /* exit code, or 256 + signal */
    char out[4096], err[8192];
};

static inline void unit_read_back(FILE *from, char *text, size_t size)
{
    rewind(from);
    text[fread(text, 1, size - 1, from)] = '\0';
    fclose(from);
}

/** Runs `body` in a child of its own, since parameters are read once in a process. */
static inline void unit_catch(struct caught *caught, int (*body)(void *), void *argument)
{
    FILE *out = tmpfile(), *err = tmpfile();
    int status;
    assert_non_null(out);
    assert_non_null(err);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)dup2(fileno(out), STDOUT_FILENO);
        (void)dup2(fileno(err), STDERR_FILENO);
        status = body(argument);
        fflush(NULL);
        _exit(status);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    caught->status = WIFEXITED(status) ? WEXITSTATUS(status) : 256 + WTERMSIG(status);
    unit_read_back(out, caught->out, sizeof caught->out);
    unit_read_back(err, caught->err, sizeof caught->err);
}

/** In a child: says what is wrong and ends it, for cmocka's own checks only work in the parent. */
#define CHILD_CHECK(condition)                                                                                             \
    do {                                                                                                                   \
        if (!(condition)) {                                                                                                \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                        \
            return 1;                                                                                                      \
        }                                                                                                                  \
    } while (0)

/** The child has ended well and said nothing. */
static inline void unit_assert_silent(const struct caught *caught)
{
    assert_string_equal(caught->err, "");
    assert_string_equal(caught->out, "");
    assert_int_equal(caught->status, 0);
}

#endif
