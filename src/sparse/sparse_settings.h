/* SPDX-License-Identifier: BSD-3-Clause */
/* From the user's parameters (LUCID_SPARSE_*, src/core) to the core's. */
#ifndef LUCID_SPARSE_SETTINGS_H
#define LUCID_SPARSE_SETTINGS_H

#include "../core/params.h"
#include "sparse_model.h"

/* Fills in all of `parameters`: the defaults, and what the user has set. */
void sparse_settings(const struct lucid_params *user, struct sparse_parameters *parameters);

/* Bytes below which vectors are short whatever is measured. */
size_t sparse_short_least(const struct lucid_params *user);

/* The algorithm of this name (sparse_algorithm_name), or SPARSE_LIBRARY. */
enum sparse_algorithm sparse_algorithm_named(const char *name);

#endif
