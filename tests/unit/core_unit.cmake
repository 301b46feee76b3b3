# SPDX-License-Identifier: BSD-3-Clause
# The unit tests of src/core.

# The heap of the test's own objects is counted and can run out; see allocations.h.
function(lucid_wrap_allocations NAME)
  target_sources(${NAME} PRIVATE ${PROJECT_SOURCE_DIR}/tests/unit/allocations.c)
  target_include_directories(${NAME} PRIVATE ${PROJECT_SOURCE_DIR}/tests/unit)
  target_link_options(${NAME} PRIVATE LINKER:--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free)
endfunction()

lucid_add_unit_test(cells_test cells_test.c)
lucid_wrap_allocations(cells_test)
lucid_add_unit_test(counters_test counters_test.c)
lucid_wrap_allocations(counters_test)
lucid_add_unit_test(counters_threads_test counters_threads_test.c)
lucid_add_unit_test(session_model_test session_model_test.c)
lucid_add_unit_test(session_table_test session_table_test.c)
lucid_wrap_allocations(session_table_test)
lucid_add_unit_test(session_threads_test session_threads_test.c)
lucid_add_unit_test(params_test params_test.c)
lucid_add_unit_test(log_test log_test.c)
lucid_add_unit_test(outfile_test outfile_test.c)
lucid_add_unit_test(json_test json_test.c)
lucid_add_unit_test(matrix_test matrix_test.c)
lucid_wrap_allocations(matrix_test)
lucid_add_unit_test(cpus_test cpus_test.c)
