/* SPDX-License-Identifier: BSD-3-Clause
 * source_mpit_enable.c: switches Open MPI's monitoring on when the program is loaded: no launcher flag is needed.
 *
 * Open MPI reads its parameters from the environment in MPI_Init; a constructor comes before that. It acts only when
 * LUCID_SOURCE=mpit is set, on the series where the monitoring works, and never against what the user has set.
 *
 * The one-sided monitoring component makes MPI_Win_shared_query fail, and one-sided calls are counted by our wrappers
 * anyway, so it is excluded. The variable in the environment hides the one in a parameter file, so what stands there is
 * carried over. (Excluding the collective one would crash MPI_Finalize.)
 */
#define _GNU_SOURCE /* dladdr */
#include <ctype.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "source_mpit.h"

#define OSC_LIMIT 1024

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
    line[strcspn(line, "\r\n#")] = '\0';
    for (size_t n = strlen(line); n > 0 && isspace((unsigned char)line[n - 1]); n--) line[n - 1] = '\0';
    return line;
}

/* true if the file sets `name` (the last line that does wins). */
static bool value_in_file(const char *path, const char *name, char *value, size_t size)
{
    char line[OSC_LIMIT];
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

static bool value_of_osc(char *value, size_t size)
{
    const char *set = getenv("OMPI_MCA_osc"), *files = getenv("OMPI_MCA_mca_base_param_files");
    if (files == NULL) files = getenv("OMPI_MCA_mca_param_files");
    if (set != NULL) {
        snprintf(value, size, "%s", set);
        return true;
    }
    return files != NULL ? value_in_files(files, "osc", value, size) : value_in_default_files("osc", value, size);
}

/* An exclusion list (^a,b) grows by one; a list of what is allowed leaves monitoring out already, or was meant so. */
static void exclude_osc_monitoring(void)
{
    char value[OSC_LIMIT] = "", longer[OSC_LIMIT + 16];
    if (!value_of_osc(value, sizeof(value)) || value[0] == '\0') {
        snprintf(longer, sizeof(longer), "^monitoring");
    } else if (value[0] == '^' && strstr(value, "monitoring") == NULL) {
        snprintf(longer, sizeof(longer), "%s,monitoring", value);
    } else {
        return;
    }
    setenv("OMPI_MCA_osc", longer, 1);
}

__attribute__((constructor)) static void lucid_mpit_enable(void)
{
    const char *source = getenv("LUCID_SOURCE");
    if (source == NULL || strcmp(source, "mpit") != 0) return;
    int major = lucid_mpit_open_mpi_major(NULL, 0);
    if (major < 0 || major >= LUCID_MPIT_BROKEN_MAJOR) return;
    setenv("OMPI_MCA_pml_monitoring_enable", "1", 0);
    exclude_osc_monitoring();
}
