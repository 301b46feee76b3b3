# SPDX-License-Identifier: BSD-3-Clause
# The unit tests of src/sparse. Those that reach a kernel run once with every set of kernels; 77 where the processor lacks one.
function(lucid_add_sparse_test NAME)
  lucid_add_unit_test(${NAME} ${ARGN} $<TARGET_OBJECTS:lucid_sparse>)
  target_include_directories(${NAME} PRIVATE ${PROJECT_SOURCE_DIR}/src/sparse)
  target_link_libraries(${NAME} PRIVATE m)
  if(LUCID_SANITIZE)
    target_compile_definitions(${NAME} PRIVATE LUCID_SANITIZED)
  endif()
endfunction()

function(lucid_add_sparse_kernel_test NAME)
  lucid_add_sparse_test(${NAME} ${ARGN})
  foreach(simd generic avx2 avx512 neon)
    set(test unit.${NAME}.${simd}${LUCID_UNIT_SUFFIX})
    add_test(NAME ${test} COMMAND ${LUCID_UNIT_LAUNCHER} $<TARGET_FILE:${NAME}>)
    set_tests_properties(${test} PROPERTIES LABELS unit TIMEOUT 300 SKIP_RETURN_CODE 77 ENVIRONMENT LUCID_SIMD=${simd})
  endforeach()
endfunction()

lucid_add_sparse_kernel_test(sparse_merge_test sparse_merge_test.c sparse_vectors.c)
lucid_add_sparse_kernel_test(sparse_operator_test sparse_operator_test.c sparse_vectors.c)
lucid_add_sparse_test(sparse_format_test sparse_format_test.c sparse_vectors.c)
if(NOT LUCID_SANITIZE) # their shadow memory makes it too large
  lucid_add_sparse_test(sparse_huge_test sparse_huge_test.c)
endif()
