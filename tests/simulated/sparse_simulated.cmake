# SPDX-License-Identifier: BSD-3-Clause
# Sparse reductions on simulated ranks. Included by tests/unit, behind its sparse_unit.cmake.
set(simulated ${PROJECT_SOURCE_DIR}/tests/simulated)

lucid_add_sparse_simulation(sparse_collective_test ${simulated}/sparse_collective_test.c)
lucid_add_sparse_simulation(sparse_nodes_test ${simulated}/sparse_nodes_test.c)
lucid_add_sparse_simulation(sparse_faults_test ${simulated}/sparse_faults_test.c)
lucid_add_sparse_simulation(sparse_choice_test ${simulated}/sparse_choice_test.c)
lucid_add_sparse_simulation(sparse_learning_test ${simulated}/sparse_learning_test.c)
lucid_add_sparse_simulation(sparse_again_test ${simulated}/sparse_again_test.c)
lucid_add_sparse_simulation(sparse_turns_test ${simulated}/sparse_turns_test.c)
lucid_add_sparse_simulation(sparse_queue_test ${simulated}/sparse_queue_test.c)
lucid_add_sparse_simulation(sparse_trial_test ${simulated}/sparse_trial_test.c)
lucid_add_sparse_simulation(sparse_overlap_test ${simulated}/sparse_overlap_test.c)
lucid_add_sparse_simulation(sparse_links_test ${simulated}/sparse_links_test.c)
lucid_add_sparse_simulation(sparse_pages_test ${simulated}/sparse_pages_test.c)
if(TARGET sparse_pages_test)
  target_link_options(sparse_pages_test PRIVATE LINKER:--wrap=sparse_memory_take,--wrap=sparse_state_borrow)
endif()
