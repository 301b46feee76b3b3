/* SPDX-License-Identifier: BSD-3-Clause
 * mca_parameters.h: Lucid's parameters (params.def) as MCA variables of a component.
 */
#ifndef LUCID_MCA_PARAMETERS_H
#define LUCID_MCA_PARAMETERS_H

#include LUCID_COMPAT_HEADER

#include "../core/params.h"

/**
 * Registers what belongs to component coll/NAME: LUCID_NAME_X is coll_NAME_x, and LUCID_NAME is coll_NAME. A variable's default is
 * what the environment says, so what is given as an MCA variable comes first. A bad value is reported and its default used.
 * own: what the component's parameters begin with: "LUCID_NAME_", or "LUCID_NAME" if that one is the component's, too.
 * params: all parameters; strings live until the component is closed. Not thread-safe.
 */
void lucid_mca_parameters(const mca_base_component_t *component, const char *own, struct lucid_params *params);

#endif
