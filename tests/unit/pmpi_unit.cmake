# SPDX-License-Identifier: BSD-3-Clause
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
lucid_add_unit_test(request_table_test request_table_test.c ${PROJECT_SOURCE_DIR}/src/monitor/request_table.c)

if(NOT LUCID_SANITIZE)
  add_test(NAME unit.pmpi_generate
           COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/pmpi_generate_test.py --nm ${CMAKE_NM} --library
                   $<TARGET_FILE:lucid> ${MPI_Fortran_LIBRARIES})
  set_tests_properties(unit.pmpi_generate PROPERTIES LABELS unit TIMEOUT 60)
endif()
