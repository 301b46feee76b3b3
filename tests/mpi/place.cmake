# SPDX-License-Identifier: BSD-3-Clause
# Tests of reordering.
lucid_add_mpi_test(place_reorder SOURCES place_reorder.c NP 1 2 3 5 8 16)
