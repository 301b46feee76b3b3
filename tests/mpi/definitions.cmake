# SPDX-License-Identifier: BSD-3-Clause
# What the MPI library has, for the programs that call it.
include(CheckSymbolExists)
include(LucidPersistent)
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_C)
check_symbol_exists(MPI_Isendrecv mpi.h LUCID_TEST_ISENDRECV)
check_symbol_exists(MPI_Psend_init mpi.h LUCID_TEST_PSEND)
check_symbol_exists(MPI_Send_c mpi.h LUCID_TEST_SEND_C)
unset(CMAKE_REQUIRED_LIBRARIES)

set(pmpi_definitions $<$<BOOL:${LUCID_TEST_ISENDRECV}>:TEST_HAS_ISENDRECV> $<$<BOOL:${LUCID_TEST_PSEND}>:TEST_HAS_PSEND>
    $<$<BOOL:${LUCID_TEST_SEND_C}>:TEST_HAS_LARGE_COUNTS>)
if(LUCID_PERSISTENT)
  list(APPEND pmpi_definitions TEST_PERSISTENT=${LUCID_PERSISTENT})
endif()
