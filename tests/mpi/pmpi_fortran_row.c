/* SPDX-License-Identifier: BSD-3-Clause
 * pmpi_row.h for Fortran.
 */
#include "pmpi_row.h"

void row_open_f(void)
{
    row_open();
}

void row_begin_f(void)
{
    row_begin();
}

void row_expect_f(int kind, int peer, int messages, int bytes)
{
    row_expect(kind, peer, (uint64_t)messages, (uint64_t)bytes);
}

void row_end_f(const char *what)
{
    row_end(what);
}

/* 0 if all was as it should be. */
int row_close_f(void)
{
    row_close();
    return check_outcome();
}
