/* SPDX-License-Identifier: BSD-3-Clause
 * source.h: what a traffic source is. One source is in use in a process; it books into counters.h.
 *
 * Three things reach the counters without the source's help, from the wrapped MPI calls (calls.h): one-sided calls,
 * the start of persistent sends, and MPI_Pready. No source may count them again.
 *
 * To add a source: fill in a struct lucid_source, list it in source_select.c.
 */
#ifndef LUCID_SOURCE_H
#define LUCID_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mpi.h>

#include "../core/visibility.h"

struct lucid_coll_call; /* calls.h */

struct lucid_source {
    const char *name;

    /** "major.minor.release" of the Open MPI whose inside the source was built for; NULL where it uses public MPI only. */
    const char *built_for;

    /** LUCID_SEES_ bits. `interposed`: whether the program's MPI calls really come through our wrappers. */
    unsigned (*sees)(bool interposed);

    /** Called once, after MPI_Init, by the first lucid_init(). 0, or -1 if the source does not work here (`why`: one line). */
    int (*open)(bool interposed, char *why, size_t why_size);

    /** The first session became active / the last one was suspended. Serialized by the caller. */
    int (*activate)(void);
    void (*deactivate)(void);

    /** Brings the counters up to date before they are read; NULL where they always are. Serialized. */
    int (*sync)(void);

    /** Lucid's own communication begins / ends on this thread: what is sent meanwhile is not the program's. May be NULL. */
    void (*own_begin)(void);
    void (*own_end)(void);

    /** A user send (not persistent, not to MPI_PROC_NULL) of `bytes` to `peer` (world rank or LUCID_PEER_OUTSIDE). NULL if
     *  the source sees it by itself. Only called for outermost calls, while a session is active. */
    void (*on_send)(uint32_t peer, uint64_t bytes);
    /** A collective call. NULL if the source sees its messages. Same conditions. */
    void (*on_collective)(const struct lucid_coll_call *call);

    /** Around a nonblocking (persistent = false) or persistent collective's creation on `comm`: messages that it will cause
     *  later belong to `kind`. May be NULL. Called whether a session is active or not. */
    void (*nbc_begin)(MPI_Comm comm, int kind, bool persistent, int64_t *token);
    void (*nbc_end)(MPI_Comm comm, int kind, bool persistent, int64_t token);

    /** Such a call has tags, `first` being the lowest, that it did not draw as the MPI library does. May be NULL. */
    void (*nbc_tags)(MPI_Comm comm, int kind, int first, int count);

    /** A process of `comm` reads these bytes in this one's memory, in place of a message with that tag (sparse reductions). NULL where messages
     *  are not what the source counts. Called whether a session is active or not. */
    void (*shown)(MPI_Comm comm, int peer, int tag, uint64_t bytes);

    /** Around the creation of a window: communicators that appear meanwhile belong to the MPI library. May be NULL. */
    void (*window_begin)(void);
    void (*window_end)(void);

    /** Writes to `text` what of `comm`'s traffic the source cannot see in this job (collective modules beside the PML), or
     *  "". May be NULL. */
    void (*blind)(MPI_Comm comm, char *text, size_t size);
};

/** The source in use, or NULL before the first lucid_init(). */
extern LUCID_INTERNAL const struct lucid_source *lucid_source;

#endif
