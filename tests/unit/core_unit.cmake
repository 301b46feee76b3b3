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
lucid_add_unit_test(matrix_read_test matrix_read_test.c)
lucid_add_unit_test(cpus_test cpus_test.c)

# What the writers print is read by Python.
add_executable(formats_sample formats_sample.c $<TARGET_OBJECTS:lucid_core>)
target_include_directories(formats_sample PRIVATE ${PROJECT_SOURCE_DIR}/src/core ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(formats_sample PRIVATE PkgConfig::HWLOC Threads::Threads ${CMAKE_DL_LIBS})
target_compile_options(formats_sample PRIVATE ${LUCID_SANITIZE_FLAGS})
target_link_options(formats_sample PRIVATE ${LUCID_SANITIZE_FLAGS})
add_test(NAME unit.formats${LUCID_UNIT_SUFFIX}
         COMMAND ${LUCID_UNIT_LAUNCHER} ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/formats_test.py
                 $<TARGET_FILE:formats_sample>)
set_tests_properties(unit.formats${LUCID_UNIT_SUFFIX} PROPERTIES LABELS unit TIMEOUT 60)

# p ranks in one process.
include(${PROJECT_SOURCE_DIR}/tests/simulated/simulated.cmake)
