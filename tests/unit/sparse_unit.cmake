# SPDX-License-Identifier: BSD-3-Clause
# The unit tests of src/sparse. What reaches a kernel runs on the other processor as well: tests/aarch64.
include(LucidSparseTests)
lucid_add_sparse_kernel_test(sparse_merge_test sparse_merge_test.c sparse_vectors.c)
lucid_add_sparse_kernel_test(sparse_pair_test sparse_pair_test.c sparse_vectors.c)
lucid_add_sparse_kernel_test(sparse_operator_test sparse_operator_test.c sparse_vectors.c)
lucid_add_sparse_kernel_test(sparse_pile_test sparse_pile_test.c sparse_vectors.c)
lucid_add_sparse_kernel_test(sparse_everywhere_test sparse_everywhere_test.c sparse_vectors.c)
lucid_add_sparse_test(sparse_memory_test sparse_memory_test.c)
lucid_add_sparse_test(sparse_short_test sparse_short_test.c)
lucid_add_sparse_test(sparse_measure_test sparse_measure_test.c)
lucid_add_sparse_test(sparse_threads_test sparse_threads_test.c)
lucid_add_sparse_test(sparse_format_test sparse_format_test.c sparse_vectors.c)
if(NOT LUCID_SANITIZE) # their shadow memory makes it too large
  lucid_add_sparse_test(sparse_huge_test sparse_huge_test.c)
endif()
