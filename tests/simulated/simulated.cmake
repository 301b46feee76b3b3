# SPDX-License-Identifier: BSD-3-Clause
# Tests at scales that no machine at hand has: the ranks are simulated. Included by tests/unit, whose tests the builds with
# sanitizers run, too.
set(simulated ${PROJECT_SOURCE_DIR}/tests/simulated)

lucid_add_unit_test(simulated_memory_test ${simulated}/simulated_memory_test.c)
lucid_wrap_allocations(simulated_memory_test)
lucid_add_unit_test(simulated_matrix_test ${simulated}/simulated_matrix_test.c)
lucid_wrap_allocations(simulated_matrix_test)
