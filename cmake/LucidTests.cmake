# SPDX-License-Identifier: BSD-3-Clause
# lucid_add_unit_test(NAME SOURCES...)       a cmocka test of layers that know no MPI; under the thread sanitizer those in
#                                            LUCID_THREADED_TESTS alone, since one thread races with nobody
# lucid_add_mpi_test(NAME [SOURCES ...] [NP 1 2 3 5 8] [ENV A=B ...] [ARGS ...] [LABELS ...] [PRELOAD] [LANGUAGE Fortran]
#                    [PROGRAM TARGET])
#   builds the program once (or takes TARGET) and registers it at every np, oversubscribed on this machine. PRELOAD runs it
#   with liblucid preloaded instead of linked. A program says "SKIP: reason" and exits 77 where it cannot run.

find_path(CMOCKA_INCLUDE_DIR cmocka.h)
find_library(CMOCKA_LIBRARY cmocka)

# The unit tests of a build with sanitizers say so in their names: `make test` runs them beside those without. The thread
# sanitizer needs a predictable address space (setarch -R), which newer kernels do not give by themselves.
set(LUCID_UNIT_SUFFIX)
set(LUCID_UNIT_LAUNCHER)
if(LUCID_SANITIZE)
  string(REPLACE "," "_" LUCID_UNIT_SUFFIX ".${LUCID_SANITIZE}")
endif()
if(LUCID_SANITIZE MATCHES thread)
  execute_process(COMMAND setarch -R true RESULT_VARIABLE setarch_failed OUTPUT_QUIET ERROR_QUIET)
  if(NOT setarch_failed)
    set(LUCID_UNIT_LAUNCHER setarch -R)
  endif()
endif()

function(lucid_add_unit_test NAME)
  add_executable(${NAME} ${ARGN} $<TARGET_OBJECTS:lucid_core>)
  target_include_directories(${NAME} PRIVATE ${PROJECT_SOURCE_DIR}/src/core
                             ${PROJECT_SOURCE_DIR}/include ${CMOCKA_INCLUDE_DIR})
  target_link_libraries(${NAME} PRIVATE ${CMOCKA_LIBRARY} PkgConfig::HWLOC Threads::Threads ${CMAKE_DL_LIBS})
  target_compile_options(${NAME} PRIVATE ${LUCID_SANITIZE_FLAGS})
  target_link_options(${NAME} PRIVATE ${LUCID_SANITIZE_FLAGS})
  if(LUCID_SANITIZE MATCHES thread AND NOT NAME IN_LIST LUCID_THREADED_TESTS)
    set_target_properties(${NAME} PROPERTIES EXCLUDE_FROM_ALL ON)
    return()
  endif()
  add_test(NAME unit.${NAME}${LUCID_UNIT_SUFFIX} COMMAND ${LUCID_UNIT_LAUNCHER} $<TARGET_FILE:${NAME}>)
  set_tests_properties(unit.${NAME}${LUCID_UNIT_SUFFIX} PROPERTIES LABELS unit TIMEOUT 300)
endfunction()

# What an oversubscribed run on one small machine needs; harmless for other MPI libraries. Open MPI 6.0 warns of PRRTE's old names.
execute_process(COMMAND ${MPIEXEC_EXECUTABLE} --version OUTPUT_VARIABLE mpiexec_version ERROR_QUIET)
string(REGEX MATCH "Open MPI\\) 6" LUCID_TEST_OMPI_6 "${mpiexec_version}")
if(LUCID_TEST_OMPI_6)
  set(prrte_test_env PRTE_MCA_bindto=none PRTE_MCA_mapby=slot:oversubscribe PRTE_MCA_prte_if_include=lo)
else()
  set(prrte_test_env PRTE_MCA_hwloc_default_binding_policy=none PRTE_MCA_rmaps_default_mapping_policy=slot:oversubscribe
      OMPI_MCA_oob_tcp_if_include=lo OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_rmaps_base_oversubscribe=1)
endif()
set(LUCID_MPI_TEST_ENV
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
    OMPI_MCA_mpi_yield_when_idle=1 OMPI_MCA_pml=^ucx,cm OMPI_MCA_osc=^ucx OMPI_MCA_btl=^openib,ofi OMPI_MCA_btl_tcp_if_include=lo
    MPIR_CVAR_CH4_PROGRESS_THROTTLE=1 MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT=20
    ${prrte_test_env} LUCID_LIBDIR=${PROJECT_BINARY_DIR}/lib/lucid)
if(LUCID_SANITIZE) # what MPI libraries leave behind is theirs; a preloaded liblucid comes before the sanitizer's library
  list(APPEND LUCID_MPI_TEST_ENV ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0)
endif()

function(lucid_add_mpi_test NAME)
  cmake_parse_arguments(T "PRELOAD" "LANGUAGE;PROGRAM" "SOURCES;NP;ENV;ARGS;LABELS" ${ARGN})
  if(NOT T_NP)
    set(T_NP 1 2 3 5 8)
  endif()
  if(NOT T_LANGUAGE)
    set(T_LANGUAGE C)
  endif()
  if(T_SOURCES)
    add_executable(${NAME} ${T_SOURCES})
    target_include_directories(${NAME} PRIVATE ${PROJECT_SOURCE_DIR}/tests/mpi)
    if(NOT T_PRELOAD)
      target_link_libraries(${NAME} PRIVATE lucid)
    endif()
    if(T_LANGUAGE STREQUAL Fortran AND NOT T_PRELOAD)
      target_link_libraries(${NAME} PRIVATE lucid_fortran)
    endif()
    target_link_libraries(${NAME} PRIVATE MPI::MPI_${T_LANGUAGE} Threads::Threads)
    set(T_PROGRAM ${NAME})
  endif()
  set(environment ${LUCID_MPI_TEST_ENV} ${T_ENV})
  set(command $<TARGET_FILE:${T_PROGRAM}>)
  if(T_PRELOAD)
    set(command env LD_PRELOAD=$<TARGET_FILE:lucid> $<TARGET_FILE:${T_PROGRAM}>)
  endif()
  foreach(np ${T_NP})
    add_test(NAME mpi.${NAME}.np${np} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${np} ${command} ${T_ARGS})
    set_tests_properties(mpi.${NAME}.np${np} PROPERTIES LABELS "mpi;${T_LABELS}" TIMEOUT 120 SKIP_RETURN_CODE 77
                         PROCESSORS 2 ENVIRONMENT "${environment}")
  endforeach()
endfunction()
