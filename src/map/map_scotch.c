/* SPDX-License-Identifier: BSD-3-Clause
 * map_scotch.c: finds the plug-in that maps by libscotch (lucid/lucid_scotch.so beside liblucid, or in LUCID_LIBDIR). It is a
 * plug-in so that Lucid itself neither needs nor links Scotch, whose licence is another (CeCILL-C).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "../core/params.h"
#include "map_algorithms.h"

static const struct map_algorithm *plugin;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void)
{
    char path[4096];
    Dl_info here;
    const char *libdir = lucid_params()->libdir;
    if (libdir[0]) {
        snprintf(path, sizeof path, "%s/lucid_scotch.so", libdir);
    } else {
        if (!dladdr((void *)load, &here) || !here.dli_fname) return;
        const char *slash = strrchr(here.dli_fname, '/');
        snprintf(path, sizeof path, "%.*s/lucid/lucid_scotch.so", slash ? (int)(slash - here.dli_fname) : 1,
                 slash ? here.dli_fname : ".");
    }
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (module) plugin = dlsym(module, "lucid_map_scotch");
}

const struct map_algorithm *map_scotch(void)
{
    (void)pthread_once(&once, load);
    return plugin;
}
