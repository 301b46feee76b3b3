/* SPDX-License-Identifier: BSD-3-Clause
 * outfile.c: see outfile.h.
 */
#include "outfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"

static void forget(struct lucid_outfile *file)
{
    free(file->path);
    free(file->temporary);
    *file = (struct lucid_outfile){0};
}

/** mkstemp makes private files; a report should have the permissions that the user's umask gives. */
static void usual_permissions(int fd)
{
    mode_t mask = umask(0);
    (void)umask(mask);
    (void)fchmod(fd, 0666 & ~mask);
}

int lucid_outfile_open(struct lucid_outfile *file, const char *path)
{
    static const char suffix[] = ".XXXXXX";
    size_t length = strlen(path);
    *file = (struct lucid_outfile){.path = strdup(path), .temporary = malloc(length + sizeof suffix)};
    if (!file->path || !file->temporary) {
        lucid_error("cannot write %s: out of memory", path);
        forget(file);
        return -1;
    }
    memcpy(file->temporary, path, length);
    memcpy(file->temporary + length, suffix, sizeof suffix);
    int fd = mkstemp(file->temporary);
    if (fd >= 0) {
        usual_permissions(fd);
        file->stream = fdopen(fd, "w");
    }
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
    int failed = ferror(file->stream) || fflush(file->stream) != 0 || fsync(fileno(file->stream)) != 0;
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
        lucid_error("cannot write %s: %s", file->path, strerror(why ? why : EIO));
    }
    forget(file);
    return failed ? -1 : 0;
}
