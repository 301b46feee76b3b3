/* SPDX-License-Identifier: BSD-3-Clause
 * mca_release.c: see mca_release.h.
 */
#include "mca_release.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "../core/log.h"
#include LUCID_COMPAT_HEADER

/** The library's version, with what may follow in a candidate's: 6.0.0rc2. */
static bool same_release(void)
{
    size_t n = sizeof LUCID_OMPI_VERSION - 1;
    const char *version = ompi_version_string;
    return strncmp(version, LUCID_OMPI_VERSION, n) == 0 && strspn(version + n, ".0123456789") == 0;
}

static bool same_structures(void)
{
    return mca_coll_base_module_t_class.cls_sizeof == sizeof(mca_coll_base_module_t) &&
           ompi_communicator_t_class.cls_sizeof == sizeof(ompi_communicator_t);
}

bool lucid_mca_fits(const char *without)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    bool same = same_release();
    if (same && same_structures()) {
        lucid_log_set_rank(OMPI_PROC_MY_NAME->vpid <= INT_MAX ? (int)OMPI_PROC_MY_NAME->vpid : -1);
        return true;
    }
    if (without != NULL && (rank == NULL || strcmp(rank, "0") == 0))
        lucid_error("%s: it was built for Open MPI " LUCID_OMPI_VERSION ", and this is %s%s; build Lucid with this one", without,
                    ompi_version_string, same ? " with other structures" : "");
    return false;
}
