/* SPDX-License-Identifier: BSD-3-Clause
 * See threads_pthreads_mutex.h beside this file. Nothing of this header is needed here.
 */
#ifndef LUCID_SHIM_THREADS_PTHREADS_H
#define LUCID_SHIM_THREADS_PTHREADS_H
#endif
