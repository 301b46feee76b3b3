/* SPDX-License-Identifier: BSD-3-Clause
 * A C program that opens a Fortran library with RTLD_LOCAL, as Python does with extensions: its calls are passed on and
 * seen. usage: pmpi_plugin_host LIBRARY
 */
#include <dlfcn.h>

#include "pmpi_row.h"

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    row_open();
    void *plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    CHECK(plugin != NULL);
    void (*exchange)(int, int) = plugin != NULL ? (void (*)(int, int))dlsym(plugin, "plugin_exchange") : NULL;
    const int right = (row_rank + 1) % row_size;
    row_begin();
    if (exchange != NULL) exchange(right, (row_rank + row_size - 1) % row_size);
    row_expect(LUCID_KIND_P2P, right, 1, 7 * sizeof(double));
    for (int i = 0; i < row_size; i++)
        if (i != row_rank) row_expect(LUCID_KIND_ALLTOALLV, i, 1, 3 * sizeof(int));
    row_end("a Fortran library opened at run time");
    row_close();
    const int failed = check_outcome();
    MPI_Finalize();
    return failed;
}
