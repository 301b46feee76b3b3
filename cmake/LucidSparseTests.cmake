# SPDX-License-Identifier: BSD-3-Clause
# lucid_add_sparse_test(NAME SOURCES...)         a unit test of src/sparse
# lucid_add_sparse_kernel_test(NAME SOURCES...)  the same with the generic kernels, and once more with every set in
#                                                LUCID_SPARSE_KERNELS; 77 where the processor lacks one
# lucid_add_sparse_simulation(NAME SOURCES...)   a unit test with simulated ranks
set(LUCID_SPARSE_KERNELS avx2 avx512 neon)

function(lucid_add_sparse_test NAME)
  lucid_add_unit_test(${NAME} ${ARGN} $<TARGET_OBJECTS:lucid_sparse>)
  target_include_directories(${NAME} PRIVATE ${PROJECT_SOURCE_DIR}/src/sparse ${PROJECT_SOURCE_DIR}/tests/unit)
  target_link_libraries(${NAME} PRIVATE m)
  if(LUCID_SANITIZE)
    target_compile_definitions(${NAME} PRIVATE LUCID_SANITIZED)
  endif()
endfunction()

function(lucid_add_sparse_kernel_test NAME)
  lucid_add_sparse_test(${NAME} ${ARGN})
  if(NOT TEST unit.${NAME}${LUCID_UNIT_SUFFIX})
    return()
  endif()
  set_tests_properties(unit.${NAME}${LUCID_UNIT_SUFFIX} PROPERTIES ENVIRONMENT LUCID_SIMD=generic)
  foreach(simd ${LUCID_SPARSE_KERNELS})
    set(test unit.${NAME}.${simd}${LUCID_UNIT_SUFFIX})
    add_test(NAME ${test} COMMAND ${LUCID_UNIT_LAUNCHER} $<TARGET_FILE:${NAME}>)
    set_tests_properties(${test} PROPERTIES LABELS unit TIMEOUT 300 SKIP_RETURN_CODE 77 ENVIRONMENT LUCID_SIMD=${simd})
  endforeach()
endfunction()

# The ranks, once for all of these tests.
set(LUCID_SIMULATED ${PROJECT_SOURCE_DIR}/tests/simulated)
if(NOT TARGET lucid_simulated_ranks)
  set(sim ${LUCID_SIMULATED}/sim_)
  add_library(lucid_simulated_ranks OBJECT EXCLUDE_FROM_ALL ${sim}ranks.c ${sim}damage.c ${sim}events.c ${sim}inputs.c ${sim}network.c
              ${sim}reference.c ${sim}trial.c)
  target_include_directories(lucid_simulated_ranks PRIVATE ${PROJECT_SOURCE_DIR}/src/sparse ${PROJECT_SOURCE_DIR}/src/core
                             ${PROJECT_SOURCE_DIR}/include)
  target_compile_options(lucid_simulated_ranks PRIVATE ${LUCID_SANITIZE_FLAGS})
endif()

function(lucid_add_sparse_simulation NAME)
  lucid_add_sparse_test(${NAME} ${ARGN} ${LUCID_SIMULATED}/sim_pages.c $<TARGET_OBJECTS:lucid_simulated_ranks>)
  target_link_options(${NAME} PRIVATE LINKER:--wrap=mmap,--wrap=posix_fallocate)
  target_include_directories(${NAME} PRIVATE ${LUCID_SIMULATED})
endfunction()
