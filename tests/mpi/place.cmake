# SPDX-License-Identifier: BSD-3-Clause
# Tests of reordering.
lucid_add_mpi_test(place_reorder SOURCES place_reorder.c NP 1 2 3 5 8 16)
lucid_add_mpi_test(place_property SOURCES place_property.c NP 1 2 3 5 8 16)
if(LUCID_FORTRAN AND MPI_Fortran_HAVE_F08_MODULE)
  lucid_add_mpi_test(place_fortran SOURCES place_fortran.F90 LANGUAGE Fortran NP 1 2 3 5 8 16)
endif()
lucid_add_mpi_test(place_topology SOURCES place_topology.c PRELOAD NP 1 2 3 5 8 16 ENV LUCID_REORDER=topology)
