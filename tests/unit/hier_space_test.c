/* SPDX-License-Identifier: BSD-3-Clause
 * hier_space_test.c: memory that the processes of a node share: counted by Pss, and what happens where it cannot be had.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "hier_space.h"

enum { PROCESSES = 4, HEAD = 4000, INTS = 1 << 19, BYTES = INTS * 4 };

static char directory[] = "/tmp/lucid-space-XXXXXX", path[64];
static pthread_barrier_t *together;
static bool full; /* the file system */

/* Linked in the place of the real one. */
int __real_posix_fallocate(int file, off_t from, off_t bytes);
int __wrap_posix_fallocate(int file, off_t from, off_t bytes);
int __wrap_posix_fallocate(int file, off_t from, off_t bytes)
{
    return full ? ENOSPC : __real_posix_fallocate(file, from, bytes);
}

/* 0: the head cannot be made */
static bool fill(void *head, void *value)
{
    memset(head, *(char *)value, HEAD);
    return *(char *)value != 0;
}

static hier_space_t *open_space(size_t room, int openers, char value)
{
    return hier_space_open(path, HEAD, room, openers, fill, &value);
}

static int *some_table(int salt)
{
    int *table = malloc(BYTES);
    for (int i = 0; i < INTS; i++) table[i] = i * 7 + salt;
    return table;
}

/* Kilobytes of the mapping that holds an address, by the kernel's books. */
static long kilobytes(const void *address, const char *what)
{
    FILE *file = fopen("/proc/self/smaps", "r");
    char line[512];
    bool inside = false;
    long found = -1;
    while (found < 0 && fgets(line, sizeof line, file)) {
        unsigned long from, to;
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2) inside = (uintptr_t)address >= from && (uintptr_t)address < to;
        else if (inside && strncmp(line, what, strlen(what)) == 0) found = atol(line + strlen(what));
    }
    fclose(file);
    return found;
}

static long sum_of(const int *table)
{
    long sum = 0;
    for (int i = 0; i < INTS; i++) sum += table[i];
    return sum;
}

/* One of the node's processes: what it finds, as bits of its exit code. */
static int one_of_them(int number)
{
    int *own = some_table(0), bad = 0;
    hier_space_t *space = open_space(2 * BYTES + 4096, PROCESSES, 'a');
    const int *kept = hier_space_keep(space, own, BYTES, 5);
    bad |= (space == NULL) | 2 * (!kept || memcmp(kept, own, BYTES) != 0);
    if (bad) kept = own; /* the others wait all the same */
    long sum = sum_of(kept);
    pthread_barrier_wait(together); /* all have it in their page tables */
    long pss = kilobytes(kept, "Pss:"), rss = kilobytes(kept, "Rss:");
    bad |= 4 * (rss < BYTES / 1024 || pss < 0 || pss * (PROCESSES - 1) > rss);
    bad |= 8 * (access(path, F_OK) == 0); /* unlinked when all were there */
    bad |= 16 * (space && ((const char *)hier_space_head(space))[number] != 'a');
    pthread_barrier_wait(together);
    bad |= 32 * (sum != sum_of(kept));
    hier_space_close(space);
    free(own);
    return bad;
}

static void test_once_per_node(void **state)
{
    pid_t child[PROCESSES];
    for (int i = 0; i < PROCESSES; i++)
        if ((child[i] = fork()) == 0) _exit(one_of_them(i));
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        assert_int_equal(waitpid(child[i], &status, 0), child[i]);
        assert_int_equal(WIFEXITED(status) ? WEXITSTATUS(status) : 256, 0);
    }
}

static void test_what_is_kept(void **state)
{
    hier_space_t *space = open_space(2 * BYTES, 1, 'x');
    int *first = some_table(1), *second = some_table(2), *third = some_table(3);
    assert_non_null(space);
    assert_int_not_equal(access(path, F_OK), 0);
    const int *a = hier_space_keep(space, first, BYTES, 1), *b = hier_space_keep(space, second, BYTES, 1);
    assert_non_null(a);
    assert_non_null(b);
    assert_ptr_not_equal(a, b); /* the hash is the same, the bytes are not */
    assert_ptr_equal(hier_space_keep(space, first, BYTES, 1), a);
    assert_null(hier_space_keep(space, third, BYTES, 3)); /* no room */
    assert_null(hier_space_keep(space, first, BYTES, 2));
    assert_ptr_equal(hier_space_keep(space, second, BYTES, 1), b);
    assert_memory_equal(b, second, BYTES);
    assert_null(hier_space_keep(NULL, first, BYTES, 1));
    hier_space_close(space);
    free(first);
    free(second);
    free(third);
}

/* Who writes to it is ended by the kernel. */
static void test_read_only(void **state)
{
    hier_space_t *space = open_space(4096, 1, 'x');
    char data[64] = {1};
    char *kept = (char *)hier_space_keep(space, data, sizeof data, 9);
    assert_non_null(kept);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        kept[0] = 2;
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    hier_space_close(space);
}

/* No directory; no room on the file system; a maker that cannot make it; a file that is another's. */
static void test_where_it_cannot_be_had(void **state)
{
    char value = 'x';
    struct rlimit before, little = {100, 100};
    assert_null(hier_space_open("/nowhere/lucid", HEAD, 4096, 1, fill, &value));
    assert_null(open_space(4096, 1, 0));
    assert_int_not_equal(access(path, F_OK), 0);
    getrlimit(RLIMIT_FSIZE, &before);
    little.rlim_max = before.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &little);
    assert_null(open_space(4096, 1, 'x'));
    setrlimit(RLIMIT_FSIZE, &before);
    full = true;
    assert_null(open_space(4096, 1, 'x'));
    full = false;
    assert_int_not_equal(access(path, F_OK), 0);
    int file = open(path, O_CREAT | O_WRONLY, 0600);
    assert_int_equal(write(file, "not ours", 8), 8);
    close(file);
    assert_null(open_space(4096, 1, 'x'));
    unlink(path);
}

/* The file system is full when something is to be kept: nothing is, and nobody dies of it. */
static void test_full_later(void **state)
{
    int *table = some_table(4);
    hier_space_t *space = open_space(4 * BYTES, 1, 'x');
    assert_non_null(space);
    full = true;
    assert_null(hier_space_keep(space, table, BYTES, 4));
    full = false;
    assert_non_null(hier_space_keep(space, table, BYTES, 4));
    hier_space_close(space);
    free(table);
}

static int set_up(void **state)
{
    pthread_barrierattr_t shared;
    together = mmap(NULL, sizeof *together, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!mkdtemp(directory) || together == MAP_FAILED) return -1;
    snprintf(path, sizeof path, "%s/map", directory);
    pthread_barrierattr_init(&shared);
    pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    return pthread_barrier_init(together, &shared, PROCESSES);
}

static int tear_down(void **state)
{
    return rmdir(directory); /* fails if anything is left */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_once_per_node), cmocka_unit_test(test_what_is_kept),           cmocka_unit_test(test_read_only),
        cmocka_unit_test(test_full_later),    cmocka_unit_test(test_where_it_cannot_be_had),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
