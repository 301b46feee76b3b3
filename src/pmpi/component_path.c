/* SPDX-License-Identifier: BSD-3-Clause
 * component_path.c: tells Open MPI where Lucid's components are, in the program's own processes, before MPI_Init.
 *
 * Set for the launcher, the variable would go to PMIx in Open MPI 5, which then takes the same directories for its own and
 * complains of every file in them, in every process.
 */
#include <stdlib.h>

#include "../core/params.h"

__attribute__((constructor)) static void set_component_path(void)
{
    const char *path = lucid_params()->component_path;
    if (path[0]) (void)setenv("OMPI_MCA_mca_base_component_path", path, 1);
}
