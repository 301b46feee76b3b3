/* SPDX-License-Identifier: BSD-3-Clause
 * api_limits.c: as many sessions as LUCID_MAX_SESSIONS allows, and no more (run with LUCID_MAX_SESSIONS=3); names;
 * calls outside of MPI_Init and MPI_Finalize.
 */
#include <MPI_Monitoring.h>

#include "api_check.h"

#define LIMIT 3

static void overflow(void)
{
    MPI_M_msid id[LIMIT], more = 77;
    CHECK_OK(MPI_M_init());
    for (int i = 0; i < LIMIT; i++) CHECK_OK(MPI_M_start(MPI_COMM_WORLD, &id[i]));
    CHECK_EQUAL(MPI_M_start(MPI_COMM_WORLD, &more), MPI_M_SESSION_OVERFLOW);
    CHECK_EQUAL(more, 77);
    CHECK_OK(MPI_M_suspend(MPI_M_ALL_MSID));
    CHECK_EQUAL(MPI_M_start(MPI_COMM_SELF, &more), MPI_M_SESSION_OVERFLOW); /* suspended sessions live */
    CHECK_OK(MPI_M_free(id[1]));
    CHECK_OK(MPI_M_start(MPI_COMM_SELF, &more));
    CHECK(more != id[0] && more != id[2]);
    CHECK_OK(MPI_M_suspend(more));
    CHECK_OK(MPI_M_finalize());
    CHECK_OK(MPI_M_init()); /* finalize has freed them all */
    for (int i = 0; i < LIMIT; i++) CHECK_OK(MPI_M_start(MPI_COMM_WORLD, &id[i]));
    CHECK_OK(MPI_M_suspend(MPI_M_ALL_MSID));
    CHECK_OK(MPI_M_free(MPI_M_ALL_MSID));
    CHECK_EQUAL(MPI_M_free(MPI_M_ALL_MSID), MPI_M_INVALID_MSID);
    CHECK_OK(MPI_M_finalize());
}

static void names(void)
{
    char longest[64], longer[65];
    lucid_session_t a, b, found = 0;
    memset(longest, 'x', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    memset(longer, 'x', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    CHECK_OK(lucid_init());
    CHECK_OK(lucid_session_start(MPI_COMM_WORLD, longest, &a));
    CHECK_EQUAL(lucid_session_start(MPI_COMM_WORLD, longest, &b), LUCID_ERR_ARG);
    CHECK_EQUAL(lucid_session_start(MPI_COMM_WORLD, longer, &b), LUCID_ERR_ARG);
    CHECK_OK(lucid_session_start(MPI_COMM_WORLD, NULL, &b));
    CHECK_OK(lucid_session_find(longest, &found));
    CHECK_EQUAL(found, a);
    CHECK_EQUAL(lucid_session_find("nobody", &found), LUCID_ERR_NOT_FOUND);
    CHECK_EQUAL(lucid_session_find(NULL, &found), LUCID_ERR_ARG);
    CHECK_OK(lucid_session_suspend(a));
    CHECK_OK(lucid_session_free(a));
    CHECK_EQUAL(lucid_session_find(longest, &found), LUCID_ERR_NOT_FOUND);
    CHECK_OK(lucid_session_start(MPI_COMM_WORLD, longest, &a)); /* the name is free again */
    CHECK_OK(lucid_session_suspend(LUCID_ALL_SESSIONS));
    CHECK_OK(lucid_finalize());
}

/* The lucid_ functions tell a bad argument from a failure. */
static void arguments(void)
{
    lucid_session_t s;
    uint64_t figures[LUCID_HISTOGRAM_BINS];
    lucid_matrix_t matrix;
    CHECK_EQUAL(lucid_source_info(NULL, NULL), LUCID_ERR_MISSING_INIT);
    CHECK_OK(lucid_init());
    CHECK_EQUAL(lucid_session_start(MPI_COMM_WORLD, NULL, NULL), LUCID_ERR_SESSION);
    CHECK_OK(lucid_session_start(MPI_COMM_WORLD, NULL, &s));
    CHECK_EQUAL(lucid_session_histogram(s, LUCID_KINDS_ALL, figures), LUCID_ERR_NOT_SUSPENDED);
    CHECK_OK(lucid_session_suspend(s));
    CHECK_EQUAL(lucid_session_get(s, 0, NULL, NULL), LUCID_ERR_ARG);
    CHECK_EQUAL(lucid_session_get(s, LUCID_KIND_BIT(LUCID_KIND_COUNT), NULL, NULL), LUCID_ERR_ARG);
    CHECK_EQUAL(lucid_session_outside(s, 0, NULL, NULL), LUCID_ERR_ARG);
    CHECK_EQUAL(lucid_session_histogram(s, 0, figures), LUCID_ERR_ARG);
    CHECK_EQUAL(lucid_session_histogram(s, LUCID_KINDS_ALL, NULL), LUCID_ERR_ARG);
    CHECK_EQUAL(lucid_session_size(s, NULL), LUCID_ERR_ARG);
    CHECK_EQUAL(lucid_session_gather(s, 0, 0, &matrix), LUCID_ERR_ARG);
    CHECK_EQUAL(lucid_session_gather(s, 0, LUCID_KINDS_ALL, NULL), LUCID_ERR_ARG);
    CHECK_EQUAL(lucid_session_gather(s, -1, LUCID_KINDS_ALL, &matrix), LUCID_ERR_ROOT);
    CHECK_EQUAL(lucid_session_write(s, NULL), LUCID_ERR_ARG);
    CHECK_EQUAL(lucid_session_write(s, "/tmp/lucid.unknown"), LUCID_ERR_ARG);
    CHECK_EQUAL(lucid_session_write(s, "/no such directory/lucid.json"), LUCID_ERR_IO);
    CHECK_OK(lucid_finalize());
}

static void strings(void)
{
    for (int kind = 0; kind < LUCID_KIND_COUNT; kind++) {
        CHECK(lucid_kind_name(kind) != NULL);
        for (int other = 0; other < kind; other++) CHECK(strcmp(lucid_kind_name(kind), lucid_kind_name(other)) != 0);
    }
    CHECK(lucid_kind_name(-1) == NULL);
    CHECK(lucid_kind_name(LUCID_KIND_COUNT) == NULL);
    for (int code = 0; code >= LUCID_ERR_NOT_FOUND; code--) CHECK(lucid_error_string(code)[0] != '\0');
    CHECK(lucid_error_string(1) != NULL);
}

int main(int argc, char **argv)
{
    MPI_M_msid id;
    int before = MPI_M_init(), start_before = MPI_M_start(MPI_COMM_WORLD, &id);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
    CHECK_EQUAL(before, MPI_M_MPIT_FAIL);
    CHECK_EQUAL(start_before, MPI_M_MISSING_INIT);
    overflow();
    names();
    arguments();
    strings();
    int outcome = check_outcome();
    MPI_Finalize();
    int after = MPI_M_start(MPI_COMM_WORLD, &id), init_after = MPI_M_init();
    CHECK_EQUAL(after, MPI_M_MISSING_INIT);
    CHECK_EQUAL(init_after, MPI_M_MPIT_FAIL);
    return outcome != 0 || check_failures != 0;
}
