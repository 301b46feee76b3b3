# SPDX-License-Identifier: BSD-3-Clause
# LUCID_PERSISTENT: what stands in front of the names of persistent collectives: MPI_, MPIX_ (Open MPI 4.1); empty: there are none.
include(CheckSymbolExists)
set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_C)
check_symbol_exists(MPI_Bcast_init mpi.h LUCID_TEST_MPI_BCAST_INIT)
check_symbol_exists(MPIX_Bcast_init "mpi.h;mpi-ext.h" LUCID_TEST_MPIX_BCAST_INIT)
unset(CMAKE_REQUIRED_LIBRARIES)
set(LUCID_PERSISTENT)
if(LUCID_TEST_MPI_BCAST_INIT)
  set(LUCID_PERSISTENT MPI_)
elseif(LUCID_TEST_MPIX_BCAST_INIT)
  set(LUCID_PERSISTENT MPIX_)
endif()
