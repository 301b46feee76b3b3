/* SPDX-License-Identifier: BSD-3-Clause
 * api_check.h: what the MPI tests of the sessions share: checks that count failures, and the end that tells them.
 */
#ifndef API_CHECK_H
#define API_CHECK_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_failures;
static int check_rank = -1;

/* At most a few lines per process: the first failures tell the story. */
static inline void check_that(int good, const char *file, int line, const char *text)
{
    if (good) return;
    if (check_failures++ < 20) fprintf(stderr, "%s:%d: rank %d: failed: %s\n", file, line, check_rank, text);
}

static inline void check_equal(long long found, long long wanted, const char *file, int line, const char *text)
{
    char message[512];
    if (found == wanted) return;
    snprintf(message, sizeof(message), "%s is %lld, should be %lld", text, found, wanted);
    check_that(0, file, line, message);
}

#define CHECK(condition) check_that((condition) != 0, __FILE__, __LINE__, #condition)
#define CHECK_EQUAL(found, wanted) check_equal((long long)(found), (long long)(wanted), __FILE__, __LINE__, #found)
#define CHECK_OK(call) CHECK_EQUAL(call, 0)

static inline int skip_test(const char *reason)
{
    if (check_rank <= 0) printf("SKIP: %s\n", reason);
    MPI_Finalize();
    return 77;
}

/* All processes agree on the outcome; to be called before MPI_Finalize. */
static inline int check_outcome(void)
{
    int all = 0;
    MPI_Allreduce(&check_failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return all == 0 ? 0 : 1;
}

/* The major version of Open MPI, 0 for another library. */
static inline int open_mpi_major(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length, major = 0;
    MPI_Get_library_version(version, &length);
    return sscanf(version, "Open MPI v%d", &major) == 1 ? major : 0;
}

static inline int is_open_mpi(void)
{
    return open_mpi_major() > 0;
}

/* After MPI_Init. Open MPI makes the level that this call asks for that of the whole library: it must not be a lower one. */
static inline int init_mpi_t(void)
{
    int level = MPI_THREAD_SINGLE, provided;
    MPI_Query_thread(&level);
    return MPI_T_init_thread(level, &provided);
}

/* Open MPI 6.0.0rc2 hangs in one of ten programs whose threads do no more than send round a ring, without Lucid. */
static inline int threads_hang_by_themselves(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length;
    MPI_Get_library_version(version, &length);
    return strstr(version, "Open MPI v6.0.0rc") != NULL;
}

/* LUCID_SOURCE asks for a source that cannot work with this library: pml and mpit are for Open MPI, and enabling Open
 * MPI's monitoring crashes 6.0. */
static inline int source_is_not_for_this_mpi(void)
{
    const char *source = getenv("LUCID_SOURCE");
    if (source == NULL) return 0;
    if (strcmp(source, "mpit") == 0) return open_mpi_major() < 4 || open_mpi_major() > 5;
    return strcmp(source, "pml") == 0 && !is_open_mpi();
}

#endif
