/* SPDX-License-Identifier: BSD-3-Clause
 * outfile.c: see outfile.h.
 */
#include "outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "log.h"

static void forget(struct lucid_outfile *file)
{
    free(file->path);
    free(file->temporary);
    *file = (struct lucid_outfile){0};
}

/* Names of files may have 255 bytes. */
#define LONGEST_BASE 240
#define SUFFIX_SIZE 8

/** Room for `path` and a suffix; a very long name is cut so that the suffix fits. *at: where the suffix goes. */
static char *make_temporary(const char *path, size_t *at)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    size_t length = strlen(base);
    *at = (size_t)(base - path) + (length > LONGEST_BASE ? LONGEST_BASE : length);
    char *temporary = malloc(*at + SUFFIX_SIZE);
    if (temporary) memcpy(temporary, path, *at);
    return temporary;
}

/**
 * Creates the temporary file and returns its descriptor, or -1. Not by mkstemp: that makes private files, a report should
 * have the permissions that the user's umask gives, and a library cannot ask for the umask without changing it for a moment.
 */
static int create(char *temporary, size_t at)
{
    static atomic_uint serial;
    struct timespec now;
    int fd = -1;
    for (int i = 0; i < 1000; i++) {
        (void)clock_gettime(CLOCK_REALTIME, &now);
        unsigned mark = (unsigned)getpid() * 40503u + (unsigned)now.tv_nsec + (atomic_fetch_add(&serial, 1) << 12);
        (void)snprintf(temporary + at, SUFFIX_SIZE, ".%06x", mark & 0xffffff);
        fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST) break;
    }
    return fd;
}

int lucid_outfile_open(struct lucid_outfile *file, const char *path)
{
    size_t at;
    *file = (struct lucid_outfile){.path = strdup(path), .temporary = make_temporary(path, &at)};
    if (!file->path || !file->temporary) {
        lucid_error("cannot write %s: out of memory", path);
        forget(file);
        return -1;
    }
    int fd = create(file->temporary, at);
    if (fd >= 0) file->stream = fdopen(fd, "w");
    if (!file->stream) {
        lucid_error("cannot write %s: %s", path, strerror(errno));
        if (fd >= 0) {
            (void)close(fd);
            (void)unlink(file->temporary);
        }
        forget(file);
        return -1;
    }
    return 0;
}

void lucid_outfile_abandon(struct lucid_outfile *file)
{
    if (!file->stream) return;
    (void)fclose(file->stream);
    (void)unlink(file->temporary);
    forget(file);
}

int lucid_outfile_commit(struct lucid_outfile *file)
{
    errno = 0; /* where an earlier write failed, its reason is gone, but flushing mostly fails for the same one */
    int failed = fflush(file->stream) != 0 || ferror(file->stream) || fsync(fileno(file->stream)) != 0;
    int why = errno;
    if (fclose(file->stream) != 0 && !failed) {
        failed = 1;
        why = errno;
    }
    if (!failed && rename(file->temporary, file->path) != 0) {
        failed = 1;
        why = errno;
    }
    if (failed) {
        (void)unlink(file->temporary);
        lucid_error("cannot write %s: %s", file->path, why ? strerror(why) : "a write failed, the disk may be full");
    }
    forget(file);
    return failed ? -1 : 0;
}
