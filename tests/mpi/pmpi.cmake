# SPDX-License-Identifier: BSD-3-Clause
# Tests of the wrappers and of the pmpi source, which counts what they report.
# Linked with liblucid, and the same program with liblucid preloaded only.
function(lucid_add_pmpi_test NAME)
  cmake_parse_arguments(T "" "LANGUAGE" "SOURCES;NP;PRELOAD_NP;ENV" ${ARGN})
  lucid_add_mpi_test(${NAME} SOURCES ${T_SOURCES} NP ${T_NP} LANGUAGE ${T_LANGUAGE} ENV LUCID_SOURCE=pmpi ${T_ENV} LABELS pmpi)
  target_compile_definitions(${NAME} PRIVATE ${pmpi_definitions})
  if(T_PRELOAD_NP)
    lucid_add_mpi_test(${NAME}_preloaded SOURCES ${T_SOURCES} NP ${T_PRELOAD_NP} LANGUAGE ${T_LANGUAGE} PRELOAD
                       ENV LUCID_SOURCE=pmpi ${T_ENV} LABELS pmpi)
    target_compile_definitions(${NAME}_preloaded PRIVATE ${pmpi_definitions} PMPI_PRELOADED)
    target_include_directories(${NAME}_preloaded PRIVATE ${PROJECT_SOURCE_DIR}/include)
  endif()
endfunction()

lucid_add_pmpi_test(pmpi_p2p SOURCES pmpi_p2p.c NP 1 2 3 5 8 PRELOAD_NP 3)
lucid_add_pmpi_test(pmpi_persistent SOURCES pmpi_persistent.c NP 1 2 3 5 PRELOAD_NP 3)
lucid_add_pmpi_test(pmpi_coll SOURCES pmpi_coll.c NP 1 2 3 5 8 PRELOAD_NP 3)
lucid_add_pmpi_test(pmpi_neighbor SOURCES pmpi_neighbor.c NP 1 2 3 5 8)
# Open MPI 4.1.4 by itself dies in an atomic operation on a window of MPI_Win_allocate when btl/vader uses single
# copies.
lucid_add_pmpi_test(pmpi_osc SOURCES pmpi_osc.c NP 1 2 3 5 PRELOAD_NP 3 ENV OMPI_MCA_btl_vader_single_copy_mechanism=none)
lucid_add_pmpi_test(pmpi_threads SOURCES pmpi_threads.c NP 1 2 3)
lucid_add_pmpi_test(pmpi_spawn SOURCES pmpi_spawn.c NP 1 2)

if(LUCID_FORTRAN)
  set(pmpi_definitions_c ${pmpi_definitions})
  foreach(way mpif usempi f08)
    string(TOUPPER ${way} upper)
    set(pmpi_definitions ${pmpi_definitions_c} TEST_${upper} "FILE_MARK=\"${way}\""
        $<$<BOOL:${LUCID_TEST_MPI_BCAST_INIT}>:TEST_HAS_BCAST_INIT>)
    lucid_add_pmpi_test(pmpi_${way} SOURCES pmpi_fortran.F90 pmpi_fortran_row.c LANGUAGE Fortran NP 1 3 PRELOAD_NP 2
                        ENV OMPI_MCA_btl_vader_single_copy_mechanism=none)
    foreach(target pmpi_${way} pmpi_${way}_preloaded)
      target_link_libraries(${target} PRIVATE MPI::MPI_C)
      # mpif.h has no interfaces: buffers of two types look like a mistake
      target_compile_options(${target} PRIVATE "$<$<COMPILE_LANG_AND_ID:Fortran,GNU>:-fallow-argument-mismatch;-w>")
      set_target_properties(${target} PROPERTIES Fortran_MODULE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${target}.mod)
    endforeach()
  endforeach()
  set(pmpi_definitions ${pmpi_definitions_c})

  add_library(pmpi_plugin MODULE pmpi_plugin.f90)
  target_link_libraries(pmpi_plugin PRIVATE MPI::MPI_Fortran)
  target_compile_options(pmpi_plugin PRIVATE "$<$<COMPILE_LANG_AND_ID:Fortran,GNU>:-fallow-argument-mismatch;-w>")
  lucid_add_mpi_test(pmpi_plugin_host SOURCES pmpi_plugin_host.c NP 1 3 PRELOAD ARGS $<TARGET_FILE:pmpi_plugin>
                     ENV LUCID_SOURCE=pmpi LABELS pmpi)
  target_compile_definitions(pmpi_plugin_host PRIVATE PMPI_PRELOADED)
  target_include_directories(pmpi_plugin_host PRIVATE ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(pmpi_plugin_host PRIVATE ${CMAKE_DL_LIBS})
endif()

# A program prints and returns the same with and without liblucid, recorded or not.
add_executable(pmpi_plain pmpi_plain.c)
target_link_libraries(pmpi_plain PRIVATE MPI::MPI_C)
foreach(how done abort die)
  add_test(NAME mpi.pmpi_same.${how}
           COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/pmpi_same.sh $<TARGET_FILE:lucid> ${MPIEXEC_EXECUTABLE}
                   ${MPIEXEC_NUMPROC_FLAG} 3 -- $<TARGET_FILE:pmpi_plain> ${how})
  set_tests_properties(mpi.pmpi_same.${how} PROPERTIES LABELS "mpi;pmpi" TIMEOUT 120 PROCESSORS 2
                       ENVIRONMENT "${LUCID_MPI_TEST_ENV}")
endforeach()

foreach(np 1 3)
  add_test(NAME mpi.pmpi_mpi4py.np${np}
           COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/pmpi_mpi4py.py ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG}
                   ${np} env LD_PRELOAD=$<TARGET_FILE:lucid>)
  set_tests_properties(mpi.pmpi_mpi4py.np${np} PROPERTIES LABELS "mpi;pmpi" TIMEOUT 120 PROCESSORS 2 SKIP_RETURN_CODE 77
                       ENVIRONMENT "${LUCID_MPI_TEST_ENV};LUCID_SOURCE=pmpi")
endforeach()
