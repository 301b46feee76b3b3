/* SPDX-License-Identifier: BSD-3-Clause
 * outfile.h: a file that appears whole under its name, or not at all. Knows no MPI.
 */
#ifndef LUCID_OUTFILE_H
#define LUCID_OUTFILE_H

#include <stdio.h>

#include "visibility.h"

struct lucid_outfile {
    FILE *stream;   /* write here; errors are found at commit */
    char *path;     /* the final name */
    char *temporary;
};

/** Opens a temporary file beside `path` (its name and six hexadecimal digits). 0, or -1 (reported, with the reason). */
LUCID_INTERNAL int lucid_outfile_open(struct lucid_outfile *file, const char *path);
/** Flushes, syncs and renames. 0, or -1 (reported; the temporary file is gone, what stood under the name is untouched). */
LUCID_INTERNAL int lucid_outfile_commit(struct lucid_outfile *file);
/** Gives up: the temporary file is removed. */
LUCID_INTERNAL void lucid_outfile_abandon(struct lucid_outfile *file);

#endif
