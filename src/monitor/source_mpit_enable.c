/* SPDX-License-Identifier: BSD-3-Clause
 * source_mpit_enable.c: switches Open MPI's monitoring on when the program is loaded: no launcher flag is needed.
 *
 * Open MPI reads its parameters from the environment in MPI_Init; a constructor comes before that. It acts only when
 * LUCID_SOURCE=mpit is set, on the series where the monitoring works, and never against what the user has set.
 *
 * Only the PML's monitoring is wanted. The one-sided component makes MPI_Win_shared_query fail, the collective one
 * crashes where an inter-communicator joins groups of different sizes (MPI_Intercomm_create, MPI_Comm_spawn): both are
 * excluded. The variable in the environment hides the one in a parameter file: what stands there is carried over.
 *
 * Without the collective component, Open MPI's common part lacks two things that the PML's relies on: a table of
 * communicators (it crashes at the first MPI_Comm_free) and a second user of itself (its counters are freed too early
 * in MPI_Finalize). lucid_mpit_settle() supplies both after MPI_Init, through functions that the common part exports,
 * and puts the environment back, so that programs which this one starts see what the user has set. Where MPI_Init does
 * not come through our wrappers nobody would call it: the collective component stays, and the environment, too.
 */
#define _GNU_SOURCE /* dladdr */
#include <ctype.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "calls.h"
#include "source_mpit.h"

#define VALUE_LIMIT 1024

/* A variable of the environment that was changed, and what it was (NULL: not set). */
struct change {
    char name[64];
    char *before;
};
static struct change changes[3];
static int change_count;
static bool to_settle;

static void change(const char *name, const char *value)
{
    struct change *c = &changes[change_count++];
    const char *before = getenv(name);
    snprintf(c->name, sizeof(c->name), "%s", name);
    c->before = before != NULL ? strdup(before) : NULL;
    setenv(name, value, 1);
}

static void change_back(void)
{
    while (change_count > 0) {
        struct change *c = &changes[--change_count];
        if (c->before != NULL) setenv(c->name, c->before, 1);
        else unsetenv(c->name);
        free(c->before);
    }
}

/* The value of `name = value` in a line of a parameter file, in place; NULL if the line says something else. */
static char *value_in_line(char *line, const char *name)
{
    size_t length = strlen(name);
    line += strspn(line, " \t");
    if (strncmp(line, name, length) != 0) return NULL;
    line += length;
    line += strspn(line, " \t");
    if (*line != '=') return NULL;
    line++;
    line += strspn(line, " \t");
    line[strcspn(line, "\r\n")] = '\0';
    for (size_t n = strlen(line); n > 0 && isspace((unsigned char)line[n - 1]); n--) line[n - 1] = '\0';
    return line;
}

/* true if the file sets `name` (the last line that does wins). */
static bool value_in_file(const char *path, const char *name, char *value, size_t size)
{
    char line[VALUE_LIMIT];
    bool found = false;
    FILE *file = fopen(path, "re");
    if (file == NULL) return false;
    while (fgets(line, sizeof(line), file) != NULL) {
        const char *text = value_in_line(line, name);
        if (text == NULL) continue;
        snprintf(value, size, "%s", text);
        found = true;
    }
    fclose(file);
    return found;
}

/* Open MPI's own list of files, if it is in the environment: separated by colons or commas, the first one wins. */
static bool value_in_files(const char *files, const char *name, char *value, size_t size)
{
    char list[4096];
    char *rest = NULL;
    snprintf(list, sizeof(list), "%s", files);
    for (char *path = strtok_r(list, ":,", &rest); path != NULL; path = strtok_r(NULL, ":,", &rest)) {
        if (value_in_file(path, name, value, size)) return true;
    }
    return false;
}

/* The directory above the one in which the MPI library lies, as of `<prefix>/lib/libmpi.so`. */
static void library_prefix(char *prefix, size_t size)
{
    Dl_info info;
    prefix[0] = '\0';
    if (dladdr((void *)&PMPI_Init, &info) == 0 || info.dli_fname == NULL) return;
    snprintf(prefix, size, "%s", info.dli_fname);
    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(prefix, '/');
        if (slash != NULL) *slash = '\0';
    }
}

/* The user's file, then the installation's: under its prefix, or where Debian and Fedora put it. */
static bool value_in_default_files(const char *name, char *value, size_t size)
{
    char path[5][1200], prefix[1024];
    const char *home = getenv("HOME"), *moved = getenv("OPAL_PREFIX"); /* an installation that was moved */
    library_prefix(prefix, sizeof(prefix));
    bool system = moved == NULL && strncmp(prefix, "/usr/lib", 8) == 0;
    snprintf(path[0], sizeof(path[0]), "%.1000s/.openmpi/mca-params.conf", home != NULL ? home : "");
    snprintf(path[1], sizeof(path[1]), "%.1000s/etc/openmpi-mca-params.conf", moved != NULL ? moved : prefix);
    snprintf(path[2], sizeof(path[2]), "%.1000s/etc/openmpi/openmpi-mca-params.conf", moved != NULL ? moved : prefix);
    snprintf(path[3], sizeof(path[3]), "%s", system ? "/etc/openmpi/openmpi-mca-params.conf" : "");
    snprintf(path[4], sizeof(path[4]), "%s", system ? "/etc/openmpi-x86_64/openmpi-mca-params.conf" : "");
    for (int i = 0; i < 5; i++) {
        if (value_in_file(path[i], name, value, size)) return true;
    }
    return false;
}

static bool value_of(const char *framework, const char *variable, char *value, size_t size)
{
    const char *set = getenv(variable), *files = getenv("OMPI_MCA_mca_base_param_files");
    if (files == NULL) files = getenv("OMPI_MCA_mca_param_files");
    if (set != NULL) {
        snprintf(value, size, "%s", set);
        return true;
    }
    if (files != NULL) return value_in_files(files, framework, value, size);
    return value_in_default_files(framework, value, size);
}

/* An exclusion list (^a,b) grows by one; a list of what is allowed leaves monitoring out already, or was meant so. */
static void exclude_monitoring(const char *framework)
{
    char variable[64], value[VALUE_LIMIT] = "", longer[VALUE_LIMIT + 16];
    snprintf(variable, sizeof(variable), "OMPI_MCA_%s", framework);
    if (!value_of(framework, variable, value, sizeof(value)) || value[0] == '\0') {
        snprintf(longer, sizeof(longer), "^monitoring");
    } else if (value[0] == '^' && strstr(value, "monitoring") == NULL) {
        snprintf(longer, sizeof(longer), "%s,monitoring", value);
    } else {
        return;
    }
    change(variable, longer);
}

__attribute__((constructor)) static void lucid_mpit_enable(void)
{
    const char *source = getenv("LUCID_SOURCE");
    if (source == NULL || strcmp(source, "mpit") != 0) return;
    int major = lucid_mpit_open_mpi_major(NULL, 0);
    if (major < 0 || major >= LUCID_MPIT_BROKEN_MAJOR) return;
    if (getenv(LUCID_MPIT_ENABLE) == NULL) change(LUCID_MPIT_ENABLE, "1");
    exclude_monitoring("osc");
    to_settle = lucid_wrappers_interposed();
    if (to_settle) exclude_monitoring("coll");
}

/* The monitoring's common part: a library of its own on 4.x, inside the MPI library on 5.0 as Debian builds it. */
static void *open_common_part(void)
{
    Dl_info info;
    void *library = dlopen("libmca_common_monitoring.so.50", RTLD_LAZY | RTLD_NOLOAD);
    if (library != NULL || dladdr((void *)&PMPI_Init, &info) == 0) return library;
    return dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

/* What the collective component would have done. */
static void stand_in_for_coll(void)
{
    void *library = open_common_part();
    if (library == NULL) return;
    int (*use)(void);
    void *(*enter_communicator)(MPI_Comm);
    *(void **)&use = dlsym(library, "mca_common_monitoring_init");
    *(void **)&enter_communicator = dlsym(library, "mca_common_monitoring_coll_new");
    if (use != NULL && enter_communicator != NULL && use() == 0) enter_communicator(MPI_COMM_WORLD);
    dlclose(library);
}

void lucid_mpit_settle(void)
{
    if (!to_settle) return;
    to_settle = false;
    stand_in_for_coll();
    if (lucid_mpit_open_mpi_major(NULL, 0) < LUCID_MPIT_KEEPS_VARIABLES) lucid_mpit_register_again();
    change_back();
}
