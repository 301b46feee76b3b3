/* SPDX-License-Identifier: BSD-3-Clause
 * mca_release.h: whether a component may be used with the library that it has been loaded into.
 */
#ifndef LUCID_MCA_RELEASE_H
#define LUCID_MCA_RELEASE_H

#include <stdbool.h>

/** A component only fits the very release it was built for: structures have grown inside series. Says so, one line per job, where
 *  it does not: without is what happens then ("communicators start without coll/lazy"), or NULL to say nothing. */
bool lucid_mca_fits(const char *without);

#endif
