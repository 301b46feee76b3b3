/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_mapped.h: what processes have of each other's memory, for the tests of what is read there.
 */
#ifndef LUCID_TESTS_SPARSE_MAPPED_H
#define LUCID_TESTS_SPARSE_MAPPED_H

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

/* Mappings of such memory in this process. */
static inline int sparse_mapped(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    int found = 0;
    while (maps && fgets(line, sizeof line, maps)) found += strstr(line, "/memfd:lucid") != NULL;
    if (maps) fclose(maps);
    return found;
}

/* Then nobody waits for words: of a failure the library tells who waits for a message. */
static inline bool sparse_looks_after_failures(void)
{
#if defined(OMPI_HAVE_MPI_EXT_FTMPI)
    return getenv("OMPI_MCA_mpi_ft_enable") != NULL;
#else
    return false;
#endif
}

#endif
