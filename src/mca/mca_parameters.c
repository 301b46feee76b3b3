/* SPDX-License-Identifier: BSD-3-Clause
 * mca_parameters.c: see mca_parameters.h.
 */
#include "mca_parameters.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../core/log.h"

#include "opal/mca/base/mca_base_var.h"

struct setting {
    const char *parameter, *otherwise, *range, *help;
    int level;
    char *text;
};

static struct setting settings[] = {
#define LUCID_PARAM(NAME, field, type, def, range, level, help) {"LUCID_" #NAME, def, range, help, level, NULL},
#include "params.def"
#undef LUCID_PARAM
};
enum { SETTINGS = sizeof settings / sizeof *settings };

static const mca_base_component_t *reading; /* whose parameters are being read, */
static const char *beginning;               /* and what they begin with */

static bool is_own(const char *parameter)
{
    return strncmp(parameter, beginning, strlen(beginning)) == 0;
}

static const char *given(const char *parameter)
{
    const char *text = getenv(parameter);
    return text && text[0] ? text : NULL;
}

/* Every component reads the environment, and would complain of the same. */
static bool is_anothers(const char *parameter)
{
    static const char *const components[] = {"LUCID_SPARSE", "LUCID_HIER", "LUCID_LAZY"};
    for (size_t i = 0; i < sizeof components / sizeof *components; i++)
        if (strncmp(parameter, components[i], strlen(components[i])) == 0) return !is_own(parameter);
    return false;
}

/* Level 1 of params.def is for users, 2 for tuning, 3 for those who work on Lucid. */
static mca_base_var_info_lvl_t level_of(const struct setting *setting)
{
    return setting->level == 1 ? OPAL_INFO_LVL_3 : setting->level == 2 ? OPAL_INFO_LVL_6 : OPAL_INFO_LVL_9;
}

static void add(struct setting *setting)
{
    char help[1024];
    if (!is_own(setting->parameter)) return;
    const char *part = setting->parameter + strlen("LUCID_") + strlen(reading->mca_component_name);
    const char *wanted = given(setting->parameter);
    char name[64];
    size_t n = 0;
    for (const char *c = part + (*part == '_'); *c && n + 1 < sizeof name; c++) name[n++] = (char)tolower((unsigned char)*c);
    name[n] = '\0';
    setting->text = (char *)(uintptr_t)(wanted ? wanted : setting->otherwise); /* copied by Open MPI */
    snprintf(help, sizeof help, "%s (%s)", setting->help, setting->range);
    (void)mca_base_component_var_register(reading, n > 0 ? name : NULL, setting->range[0] ? help : setting->help, MCA_BASE_VAR_TYPE_STRING,
                                          NULL, 0, 0, level_of(setting), MCA_BASE_VAR_SCOPE_READONLY, &setting->text);
    if (wanted && setting->text && strcmp(wanted, setting->text) != 0)
        lucid_warn("coll/%s: the MCA variable's %s is used, not %s=%s", reading->mca_component_name, setting->text,
                   setting->parameter, wanted);
}

static const char *text_of(const char *parameter)
{
    for (size_t i = 0; i < SETTINGS; i++)
        if (strcmp(settings[i].parameter, parameter) == 0) return is_own(parameter) ? settings[i].text : given(parameter);
    return NULL;
}

/* What comes from the environment has been complained of where that is read. */
static void complain(const char *parameter, const char *text, const char *range, const char *def)
{
    const char *wanted = given(parameter);
    char name[80] = "coll";
    if (wanted && strcmp(wanted, text) == 0) return;
    for (size_t i = strlen("LUCID"), n = strlen(name); parameter[i] && n + 1 < sizeof name; i++)
        name[n++] = (char)tolower((unsigned char)parameter[i]);
    lucid_error("MCA variable %s=%s is not valid (%s): using %s", name, text, range, def);
}

void lucid_mca_parameters(const mca_base_component_t *component, const char *own, struct lucid_params *params)
{
    reading = component;
    beginning = own;
    lucid_params_leave_out(is_anothers);
    (void)lucid_params(); /* reads the environment */
    for (size_t i = 0; i < SETTINGS; i++) add(&settings[i]);
    lucid_params_read(params, text_of, complain);
}
