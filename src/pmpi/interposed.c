/* SPDX-License-Identifier: BSD-3-Clause
 * interposed.c: whether the program's MPI calls come through our wrappers. They do not when liblucid was opened with
 * dlopen, or linked behind the MPI library.
 */
#include <dlfcn.h>
#include <stddef.h>

#include "../monitor/calls.h"

/* An object of our own, not a function: its address is never that of somebody else's definition. */
static const char own_object = 0;

bool lucid_wrappers_interposed(void)
{
    Dl_info ours, theirs;
    void *send = dlsym(RTLD_DEFAULT, "MPI_Send");
    if (send == NULL || dladdr(send, &theirs) == 0 || dladdr(&own_object, &ours) == 0) return false;
    return ours.dli_fbase == theirs.dli_fbase;
}
