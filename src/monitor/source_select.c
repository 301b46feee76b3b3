/* SPDX-License-Identifier: BSD-3-Clause
 * source_select.c: see source_select.h.
 *
 * The PML source is a module beside liblucid (lucid/lucid_pml.so): it alone needs Open MPI's inside, and is loaded only
 * into the very version that it was built for, since the structures it reads have changed without a version bump before.
 */
#define _GNU_SOURCE
#include "source_select.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "log.h"
#include "params.h"
#include "source.h"

extern const struct lucid_source lucid_source_mpit, lucid_source_pmpi;

const struct lucid_source *lucid_source;

/** The directory of the modules: LUCID_LIBDIR, or "lucid" beside the file that holds this function. */
static int module_path(char *path, size_t size, const char *module)
{
    Dl_info here;
    const char *libdir = lucid_params()->libdir;
    if (libdir[0]) return snprintf(path, size, "%s/%s", libdir, module) < (int)size ? 0 : -1;
    if (!dladdr((void *)lucid_source_select, &here) || !here.dli_fname) return -1;
    const char *slash = strrchr(here.dli_fname, '/');
    int length = slash ? (int)(slash - here.dli_fname) : 1;
    return snprintf(path, size, "%.*s/lucid/%s", length, slash ? here.dli_fname : ".", module) < (int)size ? 0 : -1;
}

static const struct lucid_source *load_pml(char *why, size_t size)
{
    char path[4096];
    if (module_path(path, sizeof path, "lucid_pml.so") != 0) {
        snprintf(why, size, "cannot tell where liblucid lies: set LUCID_LIBDIR");
        return NULL;
    }
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const struct lucid_source *source = module ? dlsym(module, "lucid_source_pml") : NULL;
    if (!source) snprintf(why, size, "%s", dlerror());
    return source;
}

/** Whether the running library is the one that the source was built for. */
static int right_library(const struct lucid_source *source, char *why, size_t size)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "", wanted[64];
    int length = 0;
    if (!source->built_for) return 1;
    (void)PMPI_Get_library_version(version, &length);
    snprintf(wanted, sizeof wanted, "Open MPI v%s", source->built_for);
    size_t n = strlen(wanted);
    const char *found = strstr(version, wanted);
    if (found && (found[n] < '0' || found[n] > '9') && found[n] != '.') return 1;
    version[strcspn(version, ",\n")] = '\0';
    snprintf(why, size, "it was built for %s, this is %s: build Lucid with this MPI", wanted, version);
    return 0;
}

static int try(const char *name, char *why, size_t size)
{
    const struct lucid_source *source = NULL;
    if (strcmp(name, "pml") == 0) source = load_pml(why, size);
    else source = strcmp(name, "mpit") == 0 ? &lucid_source_mpit : &lucid_source_pmpi;
    if (!source || !right_library(source, why, size) || source->open(lucid_wrappers_interposed(), why, size) != 0) return -1;
    lucid_source = source;
    lucid_sends_wanted = source->on_send != NULL;
    lucid_info("traffic source %s, MPI calls %s", name, lucid_wrappers_interposed() ? "wrapped" : "not wrapped");
    return 0;
}

int lucid_source_select(void)
{
    static const char *const order[] = {"pml", "mpit", "pmpi"};
    char why[512] = "";
    const char *wanted = lucid_params()->source;
    if (strcmp(wanted, "auto") != 0) {
        if (try(wanted, why, sizeof why) == 0) return 0;
        lucid_error("source %s does not work here: %s", wanted, why);
        return -1;
    }
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        if (try(order[i], why, sizeof why) == 0) return 0;
        lucid_info("source %s does not work here: %s", order[i], why);
    }
    lucid_error("no traffic source works here: %s", why);
    return -1;
}
