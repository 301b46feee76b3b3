# SPDX-License-Identifier: BSD-3-Clause
# Tests of the session API in C and Fortran, and of what the sources count.

lucid_add_mpi_test(api_limits SOURCES api_limits.c NP 1 3 ENV LUCID_MAX_SESSIONS=3)
if(LUCID_MPI_M)
  lucid_add_mpi_test(api_states SOURCES api_states.c NP 1 2 3)
endif()
lucid_add_mpi_test(api_property_pmpi SOURCES api_property.c NP 1 3 8 ENV LUCID_SOURCE=pmpi)
