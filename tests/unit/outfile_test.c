/* SPDX-License-Identifier: BSD-3-Clause
 * outfile_test.c: a file appears whole under its name or not at all, whatever happens; nothing else is left behind.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "outfile.h"
#include "unit.h"

#define LARGE 300000

static char directory[64]; /* every test works in an empty one */

static int make_directory(void **state)
{
    snprintf(directory, sizeof directory, "/tmp/lucid-outfile-XXXXXX");
    return mkdtemp(directory) && chdir(directory) == 0 ? 0 : -1;
}

static int remove_directory(void **state)
{
    DIR *open = opendir(directory);
    for (struct dirent *entry; open && (entry = readdir(open));) (void)unlinkat(dirfd(open), entry->d_name, 0);
    if (open) closedir(open);
    return chdir("/") == 0 && rmdir(directory) == 0 ? 0 : -1;
}

static int entries(void)
{
    int n = 0;
    DIR *open = opendir(".");
    while (open && readdir(open)) n++;
    if (open) closedir(open);
    return n - 2; /* . and .. */
}

static void put(const char *path, const char *text)
{
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    fputs(text, stream);
    fclose(stream);
}

static bool holds(const char *path, const char *text)
{
    char found[256] = "";
    FILE *stream = fopen(path, "r");
    if (!stream) return false;
    found[fread(found, 1, sizeof found - 1, stream)] = '\0';
    fclose(stream);
    return strcmp(found, text) == 0;
}

static void test_commit(void **state)
{
    struct lucid_outfile file;
    char large[LARGE];
    struct stat status;
    memset(large, 'a', LARGE);
    assert_int_equal(lucid_outfile_open(&file, "run.json"), 0);
    assert_int_equal(fwrite(large, 1, LARGE, file.stream), LARGE);
    assert_int_equal(access("run.json", F_OK), -1); /* not before it is whole */
    assert_int_equal(entries(), 1);
    assert_int_equal(lucid_outfile_commit(&file), 0);
    assert_null(file.stream);
    assert_int_equal(stat("run.json", &status), 0);
    assert_int_equal(status.st_size, LARGE);
    assert_int_equal(entries(), 1);
}

static void test_replace(void **state)
{
    struct lucid_outfile file;
    put("run.json", "old");
    assert_int_equal(lucid_outfile_open(&file, "run.json"), 0);
    fputs("new", file.stream);
    assert_int_equal(fflush(file.stream), 0);
    assert_true(holds("run.json", "old"));
    assert_int_equal(lucid_outfile_commit(&file), 0);
    assert_true(holds("run.json", "new"));
    assert_int_equal(entries(), 1);
}

static void test_abandon(void **state)
{
    struct lucid_outfile file;
    put("run.json", "old");
    assert_int_equal(lucid_outfile_open(&file, "run.json"), 0);
    fputs("new", file.stream);
    lucid_outfile_abandon(&file);
    assert_true(holds("run.json", "old"));
    assert_int_equal(entries(), 1);
    lucid_outfile_abandon(&file); /* once more does nothing */
}

/** Two at once, under one name: the last one to be committed stands, whole. */
static void test_two(void **state)
{
    struct lucid_outfile one, two;
    assert_int_equal(lucid_outfile_open(&one, "x"), 0);
    assert_int_equal(lucid_outfile_open(&two, "x"), 0);
    fputs("one", one.stream);
    fputs("two", two.stream);
    assert_int_equal(lucid_outfile_commit(&two), 0);
    assert_int_equal(lucid_outfile_commit(&one), 0);
    assert_true(holds("x", "one"));
    assert_int_equal(entries(), 1);
}

static void test_permissions(void **state)
{
    static const mode_t masks[] = {0, 022, 027, 077};
    mode_t before = umask(0);
    for (size_t i = 0; i < COUNT_OF(masks); i++) {
        struct lucid_outfile file;
        struct stat status;
        (void)umask(masks[i]);
        assert_int_equal(lucid_outfile_open(&file, "x"), 0);
        assert_int_equal(fcntl(fileno(file.stream), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
        assert_int_equal(lucid_outfile_commit(&file), 0);
        assert_int_equal(umask(masks[i]), masks[i]);
        assert_int_equal(stat("x", &status), 0);
        assert_int_equal(status.st_mode & 0777, 0666 & ~masks[i]);
        assert_int_equal(unlink("x"), 0);
    }
    (void)umask(before);
}

/** As long as names may be. */
static void test_long_name(void **state)
{
    struct lucid_outfile file;
    char name[256];
    for (size_t length = 230; length < sizeof name; length += 5) {
        memset(name, 'n', length);
        name[length] = '\0';
        assert_int_equal(lucid_outfile_open(&file, name), 0);
        assert_int_equal(lucid_outfile_commit(&file), 0);
        assert_int_equal(access(name, F_OK), 0);
        assert_int_equal(entries(), 1);
        assert_int_equal(unlink(name), 0);
    }
}

/* What cannot be. */

static int open_it(void *path)
{
    struct lucid_outfile file;
    int rc = lucid_outfile_open(&file, path);
    if (rc == 0) fputs("new", file.stream);
    if (rc == 0) rc = lucid_outfile_commit(&file);
    else CHILD_CHECK(!file.stream && !file.path && !file.temporary);
    return rc == 0 ? 9 : 0;
}

static void assert_refused(char *path, const char *why)
{
    struct caught caught;
    char expected[512];
    snprintf(expected, sizeof expected, "lucid: error: cannot write %s: %s\n", path, why);
    unit_catch(&caught, open_it, path);
    assert_string_equal(caught.err, expected);
    assert_string_equal(caught.out, "");
    assert_int_equal(caught.status, 0);
}

static void test_refused(void **state)
{
    assert_refused("no/such/run.json", strerror(ENOENT));
    assert_refused("", strerror(ENOENT));
    assert_refused("/proc/self/run.json", strerror(ENOENT));
    put("plain", "file");
    assert_refused("plain/run.json", strerror(ENOTDIR));
    assert_int_equal(mkdir("folder", 0777), 0);
    assert_refused("folder", strerror(EISDIR)); /* found when it is committed */
    assert_true(holds("plain", "file"));
    assert_int_equal(entries(), 2);
    assert_int_equal(rmdir("folder"), 0);
}

static int open_unprivileged(void *path)
{
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) return 1;
    return open_it(path);
}

static void test_unwritable_directory(void **state)
{
    struct caught caught;
    put("run.json", "old");
    assert_int_equal(chmod(".", 0555), 0);
    unit_catch(&caught, open_unprivileged, "run.json");
    assert_int_equal(chmod(".", 0755), 0);
    assert_string_equal(caught.err, "lucid: error: cannot write run.json: Permission denied\n");
    assert_int_equal(caught.status, 0);
    assert_true(holds("run.json", "old"));
    assert_int_equal(entries(), 1);
}

/* A disk that fills up. */

/** Writes more than fits, in pieces of `piece` bytes. */
static int overfill(size_t piece)
{
    static const char block[65536];
    struct lucid_outfile file;
    CHILD_CHECK(lucid_outfile_open(&file, "run.json") == 0);
    for (size_t n = 0; n < LARGE; n += piece) (void)fwrite(block, 1, piece, file.stream);
    errno = ENOENT; /* something else has failed since */
    CHILD_CHECK(lucid_outfile_commit(&file) == -1);
    CHILD_CHECK(holds("run.json", "old") && entries() == 1);
    return 0;
}

static int with_file_limit(void *piece)
{
    const struct rlimit limit = {100000, 100000};
    (void)signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
    return overfill(*(size_t *)piece);
}

static void test_file_limit(void **state)
{
    static const size_t pieces[] = {1, 100, 4096, 65536};
    put("run.json", "old");
    for (size_t i = 0; i < COUNT_OF(pieces); i++) {
        struct caught caught;
        size_t piece = pieces[i];
        unit_catch(&caught, with_file_limit, &piece);
        if (strcmp(caught.err, "lucid: error: cannot write run.json: File too large\n") != 0)
            assert_string_equal(caught.err, "lucid: error: cannot write run.json: a write failed, the disk may be full\n");
        assert_int_equal(caught.status, 0);
        assert_true(holds("run.json", "old"));
    }
}

#define CANNOT_MOUNT 77

/** A tmpfs of 64 KiB, which only this child sees. */
static int with_full_disk(void *piece)
{
    if (unshare(CLONE_NEWNS) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return CANNOT_MOUNT;
    if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) return CANNOT_MOUNT;
    if (mount("tmpfs", directory, "tmpfs", 0, "size=64k") != 0 || chdir(directory) != 0) return CANNOT_MOUNT;
    FILE *old = fopen("run.json", "w");
    CHILD_CHECK(old && fputs("old", old) >= 0 && fclose(old) == 0);
    return overfill(*(size_t *)piece);
}

static void test_full_disk(void **state)
{
    static const size_t pieces[] = {1, 100, 4096, 65536};
    for (size_t i = 0; i < COUNT_OF(pieces); i++) {
        struct caught caught;
        size_t piece = pieces[i];
        unit_catch(&caught, with_full_disk, &piece);
        if (caught.status == CANNOT_MOUNT) skip();
        if (strcmp(caught.err, "lucid: error: cannot write run.json: No space left on device\n") != 0)
            assert_string_equal(caught.err, "lucid: error: cannot write run.json: a write failed, the disk may be full\n");
        assert_string_equal(caught.out, "");
        assert_int_equal(caught.status, 0);
    }
}

#define IN_DIRECTORY(test) cmocka_unit_test_setup_teardown(test, make_directory, remove_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(test_commit),      IN_DIRECTORY(test_replace),   IN_DIRECTORY(test_abandon),
        IN_DIRECTORY(test_two),         IN_DIRECTORY(test_permissions), IN_DIRECTORY(test_long_name),
        IN_DIRECTORY(test_refused),     IN_DIRECTORY(test_unwritable_directory),
        IN_DIRECTORY(test_file_limit),  IN_DIRECTORY(test_full_disk),
    };
    unsetenv("LUCID_LOG");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
