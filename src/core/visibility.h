/* SPDX-License-Identifier: BSD-3-Clause
 * visibility.h: symbols that liblucid shares with its own modules, but not with programs. They carry the prefix and the
 * default visibility, and are not in an installed header.
 */
#ifndef LUCID_VISIBILITY_H
#define LUCID_VISIBILITY_H

#if defined(__GNUC__)
#define LUCID_INTERNAL __attribute__((visibility("default")))
#define LUCID_INTERNAL_TLS __attribute__((visibility("default"), tls_model("initial-exec")))
#define LUCID_LIKELY(x) __builtin_expect(!!(x), 1)
#define LUCID_UNLIKELY(x) __builtin_expect(!!(x), 0)
#else
#define LUCID_INTERNAL
#define LUCID_INTERNAL_TLS
#define LUCID_LIKELY(x) (x)
#define LUCID_UNLIKELY(x) (x)
#endif

#endif
