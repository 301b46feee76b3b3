# SPDX-License-Identifier: BSD-3-Clause
# The reductions over a transport, and the choice between them.
target_sources(lucid_sparse PRIVATE
  sparse_collective.c sparse_outcome.c sparse_state.c sparse_memory.c sparse_windows.c sparse_words.c sparse_boards.c sparse_choice.c sparse_trial.c sparse_trials.c sparse_turns.c sparse_unasked.c sparse_model.c sparse_model_slices.c sparse_calibrate.c sparse_agree.c sparse_plan.c sparse_lanes.c sparse_slice.c sparse_fold.c sparse_nodes.c
  sparse_halving.c sparse_reduce_binomial.c sparse_reduce_halving.c sparse_reduce_direct.c sparse_reduce_chain.c
  sparse_reduce_leaders.c
  sparse_allreduce_doubling.c
  sparse_measure.c sparse_short.c sparse_settings.c sparse_allreduce_halving.c sparse_allreduce_boards.c sparse_allreduce_ring.c
  sparse_allreduce_leaders.c sparse_allreduce_shares.c sparse_shares_windows.c sparse_scatter_halving.c sparse_scatter_pairwise.c sparse_scan_doubling.c
  sparse_scan_chain.c)
