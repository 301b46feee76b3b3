/* SPDX-License-Identifier: BSD-3-Clause */
/* Resumable functions: an algorithm reads from top to bottom, but returns SPARSE_PENDING wherever it would have to wait, and
 * goes on there at the next call. So the blocking, the nonblocking and the persistent collectives, and a thousand simulated
 * ranks in one thread, run the same lines.
 *
 *     enum sparse_status sum(struct sparse_slice *s)
 *     {
 *         STEP_BEGIN(s->resume);
 *         for (s->k = 0; s->k < 3; s->k++) {
 *             sparse_send(s, ...);
 *             STEP_AWAIT(sparse_wait(s));   // SPARSE_PENDING and SPARSE_FAILED return from here
 *         }
 *         STEP_END;
 *     }
 *
 * Rules: what must survive a wait is in the struct, not in a local variable; no two STEP_AWAIT on one line; none inside an
 * inner `switch`. A resumable function awaits another one that has its own place in the struct (s->inner). After STEP_END it
 * can start anew. The way of Duff's device and Dunkels' protothreads (SenSys 2006). */
#ifndef LUCID_SPARSE_STEP_H
#define LUCID_SPARSE_STEP_H

#include "sparse_collective.h"

#define STEP_BEGIN(place)                                                                                                          \
    int *const resume_ = &(place);                                                                                                 \
    switch (*resume_) {                                                                                                            \
    case 0:

#define STEP_AWAIT(call)                                                                                                           \
    *resume_ = __LINE__;                                                                                                           \
    __attribute__((fallthrough));                                                                                                  \
    case __LINE__: {                                                                                                               \
        enum sparse_status status_ = (call);                                                                                       \
        if (status_ != SPARSE_DONE) return status_;                                                                                \
    }

#define STEP_RETURN                                                                                                                \
    do {                                                                                                                           \
        *resume_ = 0;                                                                                                              \
        return SPARSE_DONE;                                                                                                        \
    } while (0)

#define STEP_END                                                                                                                   \
    }                                                                                                                              \
    STEP_RETURN

#endif
