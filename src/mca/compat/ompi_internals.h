/* SPDX-License-Identifier: BSD-3-Clause
 * ompi_internals.h: Open MPI's internal headers, and what else all series share; ULFM is in none of 4.1.
 */
#ifndef LUCID_OMPI_INTERNALS_H
#define LUCID_OMPI_INTERNALS_H

#include "ompi_config.h"

#include "ompi/communicator/communicator.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/group/group.h"
#include "ompi/mca/coll/base/base.h"
#include "ompi/mca/coll/base/coll_base_functions.h"
#include "ompi/mca/coll/base/coll_base_util.h"
#include "ompi/mca/coll/base/coll_tags.h"
#include "ompi/mca/coll/coll.h"
#include "ompi/mca/pml/base/base.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/op/op.h"
#include "ompi/proc/proc.h"
#include "ompi/runtime/mpiruntime.h"
#include "ompi/runtime/params.h"
#include "opal/mca/base/base.h"

/** Whether the library looks after failed processes. */
static inline bool lucid_ompi_ft_enabled(void)
{
#if OPAL_ENABLE_FT_MPI
    return ompi_ftmpi_enabled;
#else
    return false;
#endif
}

#endif
