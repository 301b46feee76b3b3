/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows (sparse_windows.c) have all of their pages from the beginning. Tests make thousands for vectors of a few pages: here a page comes
 * when it is touched. The tests in MPI programs have them as they are. */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>

void *__real_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t from);
void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t from);
int __wrap_posix_fallocate(int file, off_t from, off_t bytes);

void *__wrap_mmap(void *at, size_t bytes, int protection, int flags, int file, off_t from)
{
    return __real_mmap(at, bytes, protection, flags & ~MAP_POPULATE, file, from);
}

int __wrap_posix_fallocate(int file, off_t from, off_t bytes)
{
    return ftruncate(file, from + bytes);
}
