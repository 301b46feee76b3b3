/* SPDX-License-Identifier: BSD-3-Clause */
/* sparse_settings.c: see sparse_settings.h. */
#include "sparse_settings.h"

#include "sparse_short.h"
#include "sparse_windows.h"

#include <string.h>

enum sparse_algorithm sparse_algorithm_named(const char *name)
{
    for (int i = SPARSE_LIBRARY + 1; i < SPARSE_ALGORITHMS; i++)
        if (strcmp(sparse_algorithm_name((enum sparse_algorithm)i), name) == 0) return (enum sparse_algorithm)i;
    return SPARSE_LIBRARY;
}

size_t sparse_short_least(const struct lucid_params *user)
{
    return user->sparse_short == LUCID_SIZE_WORD ? SPARSE_SHORT_LEAST : user->sparse_short;
}

void sparse_settings(const struct lucid_params *user, struct sparse_parameters *parameters)
{
    sparse_parameters_default(parameters);
    sparse_windows_spare(SPARSE_WINDOWS_SPARED);
    parameters->short_measured = user->sparse_short == LUCID_SIZE_WORD;
    if (!parameters->short_measured) parameters->short_bytes = user->sparse_short;
    parameters->slice_bytes = user->sparse_slice;
    parameters->keep = user->sparse_keep;
    parameters->algorithm = sparse_algorithm_named(user->sparse_algorithm);
    parameters->dense = user->sparse_dense;
    parameters->always = user->sparse_always;
    parameters->clock = user->sparse_reproducible ? NULL : sparse_seconds;
}
