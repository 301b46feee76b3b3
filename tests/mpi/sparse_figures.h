/* SPDX-License-Identifier: BSD-3-Clause
 * sparse_figures.h: coll/sparse's performance variables, for tests that compare them. Between MPI_T_init_thread and MPI_T_finalize.
 */
#ifndef LUCID_TESTS_SPARSE_FIGURES_H
#define LUCID_TESTS_SPARSE_FIGURES_H

#include <mpi.h>
#include <stdio.h>
#include <string.h>

#include "api_check.h"

static MPI_T_pvar_session figures;

/* Figures of this process, since it began to watch. */
static struct { char name[64]; MPI_T_pvar_handle handle; } watched[16];
static int watching;

static void watch(void)
{
    int all, count;
    CHECK_OK(MPI_T_pvar_session_create(&figures));
    MPI_T_pvar_get_num(&all);
    for (int i = 0; i < all; i++) {
        char name[256], text[256];
        int name_length = sizeof name, length = sizeof text, verbosity, class, bind, readonly, continuous, atomic;
        MPI_Datatype type;
        MPI_T_enum values;
        MPI_T_pvar_get_info(i, name, &name_length, &verbosity, &class, &type, &values, text, &length, &bind, &readonly, &continuous, &atomic);
        if (strncmp(name, "coll_sparse_", strlen("coll_sparse_")) != 0 || watching == 16) continue;
        snprintf(watched[watching].name, sizeof watched[watching].name, "%.60s", name);
        CHECK_OK(MPI_T_pvar_handle_alloc(figures, i, NULL, &watched[watching++].handle, &count));
    }
}

static void unwatch(void)
{
    MPI_T_pvar_session_free(&figures);
}

/* Of those whose names begin so. */
static long long figure(const char *name)
{
    long long sum = 0;
    int found = 0;
    for (int i = 0; i < watching; i++) {
        unsigned long long value = 0;
        if (strncmp(watched[i].name, name, strlen(name)) != 0) continue;
        CHECK_OK(MPI_T_pvar_read(figures, watched[i].handle, &value));
        sum += (long long)value;
        found++;
    }
    CHECK(found > 0);
    return sum;
}

#endif
