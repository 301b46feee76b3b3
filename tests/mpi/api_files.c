/* SPDX-License-Identifier: BSD-3-Clause
 * api_files.c: a file appears whole or not at all. Where the disk is full (simulated by a limit on the size of files)
 * or the name cannot be written, all processes get the code, what stood under the name is untouched, and no scrap is
 * left.
 */
#include <MPI_Monitoring.h>
#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api_check.h"

static int size;
static char directory[4096];
static MPI_M_msid session;

static const char *path(const char *name)
{
    static char text[2][4400];
    static int which;
    which = !which;
    snprintf(text[which], sizeof(text[which]), "%s/%s", directory, name);
    return text[which];
}

/* The number of files in the directory, and that each has `bytes` bytes (-1: any but 0). At rank 0. */
static int files(long bytes)
{
    int n = 0;
    DIR *d = opendir(directory);
    for (struct dirent *e = readdir(d); e != NULL; e = readdir(d)) {
        struct stat status;
        if (e->d_name[0] == '.' && (e->d_name[1] == '\0' || e->d_name[1] == '.')) continue;
        n++;
        CHECK_OK(stat(path(e->d_name), &status));
        if (!S_ISDIR(status.st_mode)) CHECK(bytes < 0 ? status.st_size > 0 : status.st_size == bytes);
    }
    closedir(d);
    return n;
}

static void check_files(int n, long bytes)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0) CHECK_EQUAL(files(bytes), n);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void empty_directory(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0) {
        DIR *d = opendir(directory);
        for (struct dirent *e = readdir(d); e != NULL; e = readdir(d))
            if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0) CHECK_OK(remove(path(e->d_name)));
        closedir(d);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Files of this process may have at most `bytes` bytes; SIGXFSZ is ignored, so that a longer write fails. */
static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    CHECK_OK(setrlimit(RLIMIT_FSIZE, &limit));
}

static int flush(void) { return MPI_M_flush(session, path("f"), MPI_M_ALL_COMM); }
static int rootflush(void) { return MPI_M_rootflush(session, 0, path("r"), MPI_M_ALL_COMM); }
static int json(void) { return lucid_session_write(session, path("s.json")); }
static int mtx(void) { return lucid_session_write(session, path("s.mtx")); }
static int prof(void) { return lucid_session_write(session, path("s.prof")); }

static const struct {
    const char *name;
    int (*write)(void);
    int code; /* of a failure */
    int root_alone;
    const char *first; /* one of the names that it writes; "%d": by rank */
} writers[] = {{"flush", flush, MPI_M_INTERNAL_FAIL, 0, "f.%d.prof"},
               {"rootflush", rootflush, MPI_M_INTERNAL_FAIL, 1, "r_sizes.0.prof"},
               {"json", json, LUCID_ERR_IO, 1, "s.json"},
               {"mtx", mtx, LUCID_ERR_IO, 1, "s.mtx"},
               {"prof", prof, LUCID_ERR_IO, 1, "s.prof"}};
#define WRITERS ((int)(sizeof(writers) / sizeof(*writers)))

static int files_of(int w)
{
    return writers[w].write == flush ? size : writers[w].write == rootflush ? 2 : 1;
}

static void full_disk(int w)
{
    limit_files(1);
    int code = writers[w].write();
    limit_files(RLIM_INFINITY);
    CHECK_EQUAL(code, writers[w].code);
    check_files(0, 0);
}

/* What is there already is replaced by a success and survives a failure. */
static void old_files(int w)
{
    CHECK_OK(writers[w].write());
    check_files(files_of(w), -1);
    CHECK_OK(writers[w].write());
    check_files(files_of(w), -1);
    limit_files(1);
    CHECK_EQUAL(writers[w].write(), writers[w].code);
    limit_files(RLIM_INFINITY);
    check_files(files_of(w), -1);
    empty_directory();
}

/* There is room for the first of two files, not for the second: both stay as they were. */
static void second_of_two(void)
{
    struct stat first, second, now;
    CHECK_OK(rootflush());
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(stat(path("r_counts.0.prof"), &first));
    CHECK_OK(stat(path("r_sizes.0.prof"), &second));
    CHECK(first.st_size < second.st_size);
    limit_files((rlim_t)first.st_size);
    CHECK_EQUAL(rootflush(), MPI_M_INTERNAL_FAIL);
    limit_files(RLIM_INFINITY);
    check_files(2, -1);
    CHECK_OK(stat(path("r_counts.0.prof"), &now));
    CHECK_EQUAL(now.st_ino, first.st_ino);
    CHECK_OK(stat(path("r_sizes.0.prof"), &now));
    CHECK_EQUAL(now.st_ino, second.st_ino);
    empty_directory();
}

/* A directory stands under the name. */
static void in_the_way(int w)
{
    char name[64];
    snprintf(name, sizeof(name), writers[w].first, check_rank);
    if (!writers[w].root_alone || check_rank == 0) CHECK_OK(mkdir(path(name), 0777));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQUAL(writers[w].write(), writers[w].code);
    check_files(writers[w].root_alone ? 1 : size, -1);
    empty_directory();
}

int main(int argc, char **argv)
{
    const char *tmp = getenv("TMPDIR");
    char data[100] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    signal(SIGXFSZ, SIG_IGN);
    snprintf(directory, sizeof(directory), "%s/lucid-files-XXXXXX", tmp != NULL ? tmp : "/tmp");
    if (check_rank == 0) CHECK(mkdtemp(directory) != NULL);
    MPI_Bcast(directory, sizeof(directory), MPI_CHAR, 0, MPI_COMM_WORLD);
    CHECK_OK(MPI_M_init());
    CHECK_OK(MPI_M_start(MPI_COMM_WORLD, &session));
    MPI_Sendrecv(data, 50, MPI_BYTE, 0, 0, data + 50, 50, MPI_BYTE, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    CHECK_OK(MPI_M_suspend(session));
    for (int w = 0; w < WRITERS; w++) {
        full_disk(w);
        old_files(w);
        in_the_way(w);
    }
    second_of_two();
    CHECK_OK(MPI_M_finalize());
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0) CHECK_OK(rmdir(directory));
    int outcome = check_outcome();
    MPI_Finalize();
    return outcome;
}
