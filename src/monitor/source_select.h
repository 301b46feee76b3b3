/* SPDX-License-Identifier: BSD-3-Clause
 * source_select.h: which traffic source this process uses (LUCID_SOURCE).
 */
#ifndef LUCID_SOURCE_SELECT_H
#define LUCID_SOURCE_SELECT_H

/** Opens the source that was asked for, or the best that works. 0, or -1 (reported). Once, after MPI_Init. */
int lucid_source_select(void);

#endif
