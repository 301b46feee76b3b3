/* SPDX-License-Identifier: BSD-3-Clause
 * lazy_check.h: what the tests of coll/lazy share: its counters, which say whether it is there and what it did.
 */
#ifndef LAZY_CHECK_H
#define LAZY_CHECK_H

#include "api_check.h"

/* The value of a performance variable that is a level, -1 where there is none. */
static inline long long lazy_counter_of(const char *full)
{
    int index, count;
    unsigned long long value = 0;
    long long found = -1;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    if (init_mpi_t() != MPI_SUCCESS) return -1;
    if (MPI_T_pvar_get_index(full, MPI_T_PVAR_CLASS_LEVEL, &index) == MPI_SUCCESS &&
        MPI_T_pvar_session_create(&session) == MPI_SUCCESS) {
        if (MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count) == MPI_SUCCESS) {
            if (MPI_T_pvar_read(session, handle, &value) == MPI_SUCCESS) found = (long long)value;
            MPI_T_pvar_handle_free(session, &handle);
        }
        MPI_T_pvar_session_free(&session);
    }
    MPI_T_finalize();
    return found;
}

static inline long long lazy_counter(const char *name)
{
    char full[64];
    snprintf(full, sizeof full, "coll_lazy_%s", name);
    return lazy_counter_of(full);
}

/* Whether coll/lazy makes communicators wait here. */
static inline int lazy_is_on(void)
{
    return lazy_counter("created") > 0 && lazy_counter("selected_at_once") < lazy_counter("created");
}

/* Whether nonblocking operations leave them waiting, so that parents do: not where libnbc does not serve them. */
static inline int lazy_is_partial(void)
{
    const char *wanted = getenv("LUCID_TEST_LAZY");
    return lazy_is_on() && (wanted == NULL || strcmp(wanted, "shadow") != 0);
}

/* Whether it was meant to be there, and to make communicators wait: what LUCID_TEST_LAZY says must be so. */
static inline void lazy_check_presence(void)
{
    const char *wanted = getenv("LUCID_TEST_LAZY");
    if (wanted == NULL) return;
    if (strcmp(wanted, "wait") == 0 || strcmp(wanted, "shadow") == 0) CHECK(lazy_is_on());
    if (strcmp(wanted, "none") == 0) CHECK_EQUAL(lazy_counter("created"), -1);
    if (strcmp(wanted, "refused") == 0 || strcmp(wanted, "off") == 0) CHECK(lazy_counter("created") <= 0);
}

#endif
