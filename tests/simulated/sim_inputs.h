/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks' vectors of a trial, and what their reduction should come to. Trials in a row mostly have the same ones: these are kept. */
#ifndef LUCID_SIM_INPUTS_H
#define LUCID_SIM_INPUTS_H

#include "sim_trial.h"

struct sim_inputs;

/* Of vectors with `elements` elements. Lives until three others have been asked for. */
struct sim_inputs *sim_inputs_of(const struct sim_trial *trial, size_t elements);

/* A rank's vector, which is not kept. */
void sim_inputs_make(const struct sim_trial *trial, size_t elements, int rank, char *vector);

const char *sim_inputs_vector(const struct sim_inputs *inputs, int rank);

/* By the algorithm: one result, or of a scan one for each rank. */
const char *sim_inputs_expected(struct sim_inputs *inputs, const struct sim_trial *trial, enum sparse_algorithm algorithm);

#endif
