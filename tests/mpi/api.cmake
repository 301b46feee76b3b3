# SPDX-License-Identifier: BSD-3-Clause
# Tests of the session API in C and Fortran, and of what the sources count.

find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
include(CheckCSourceCompiles)
include(CheckSymbolExists)
set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_C)
check_symbol_exists(MPI_Bcast_init mpi.h LUCID_TEST_MPI_BCAST_INIT)
# Open MPI's monitoring is there before 6.0 (in 6.0 enabling it crashes MPI_Init).
check_c_source_compiles("#include <mpi.h>
#if !defined OMPI_MAJOR_VERSION || OMPI_MAJOR_VERSION >= 6
#error no monitoring
#endif
int main(void) { return 0; }" LUCID_TEST_MONITORING)
unset(CMAKE_REQUIRED_LIBRARIES)

# lucid_tuned(VARIABLE collective=number ...): the environment in which Open MPI takes these algorithms.
function(lucid_tuned VARIABLE)
  set(environment OMPI_MCA_coll_tuned_use_dynamic_rules=1)
  foreach(pair ${ARGN})
    string(REGEX MATCH "^([a-z]+)=([0-9])$" matched ${pair})
    list(APPEND environment OMPI_MCA_coll_tuned_${CMAKE_MATCH_1}_algorithm=${CMAKE_MATCH_2})
  endforeach()
  set(${VARIABLE} ${environment} PARENT_SCOPE)
endfunction()
lucid_tuned(doubling barrier=3)
lucid_tuned(bruck barrier=4)

lucid_add_mpi_test(api_limits SOURCES api_limits.c NP 1 3 ENV LUCID_MAX_SESSIONS=3)
lucid_add_mpi_test(api_property SOURCES api_property.c NP 1 2 3 5 8)
lucid_add_mpi_test(api_property_mpit PROGRAM api_property NP 3 8 ENV LUCID_SOURCE=mpit)
lucid_add_mpi_test(api_property_pmpi PROGRAM api_property NP 3 ENV LUCID_SOURCE=pmpi)
lucid_add_mpi_test(api_threads SOURCES api_threads.c NP 1 2 5)
lucid_add_mpi_test(api_threads_mpit PROGRAM api_threads NP 2 5 ENV LUCID_SOURCE=mpit)
lucid_add_mpi_test(api_spawn SOURCES api_spawn.c NP 1 3)
lucid_add_mpi_test(api_spawn_mpit PROGRAM api_spawn NP 1 3 ENV LUCID_SOURCE=mpit)
if(LUCID_MPI_M)
  lucid_add_mpi_test(api_states SOURCES api_states.c NP 1 2 3)
  lucid_add_mpi_test(api_subcomm SOURCES api_subcomm.c NP 1 2 3 5 8)
  lucid_add_mpi_test(api_subcomm_mpit PROGRAM api_subcomm NP 3 5 ENV LUCID_SOURCE=mpit)
endif()

# The listings of the paper, run in an empty directory; the files that they leave are compared with a derivation.
function(lucid_add_listing NAME EXPECT)
  cmake_parse_arguments(T "" "PROGRAM" "NP;ENV;FLAGS" ${ARGN})
  if(NOT T_NP)
    set(T_NP 1 2 3 5 8)
  endif()
  foreach(np ${T_NP})
    add_test(NAME mpi.${NAME}.np${np}
             COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/listing_check.py --np ${np} --expect ${EXPECT}
             ${T_FLAGS} -- ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${np} $<TARGET_FILE:${T_PROGRAM}>)
    set_tests_properties(mpi.${NAME}.np${np} PROPERTIES LABELS mpi TIMEOUT 120 SKIP_RETURN_CODE 77 PROCESSORS 2
                         ENVIRONMENT "${LUCID_MPI_TEST_ENV};${T_ENV}")
  endforeach()
endfunction()

if(LUCID_MPI_M)
  add_executable(listing_2 listing_2.c)
  target_link_libraries(listing_2 PRIVATE lucid)
  lucid_add_listing(listing_2 barrier PROGRAM listing_2)
  lucid_add_listing(listing_2_doubling recursive-doubling PROGRAM listing_2 NP 2 3 4 5 8 FLAGS --only-open-mpi
                    ENV ${doubling})
  lucid_add_listing(listing_2_bruck bruck PROGRAM listing_2 NP 4 5 FLAGS --only-open-mpi
                    ENV ${bruck})
  if(LUCID_TEST_MONITORING)
    lucid_add_listing(listing_2_mpit recursive-doubling PROGRAM listing_2 NP 4 5 ENV ${doubling} LUCID_SOURCE=mpit)
  endif()
endif()
if(LUCID_MPI_M AND LUCID_FORTRAN)
  set(dialects listing_1 listing_1_mpi)
  if(MPI_Fortran_HAVE_F08_MODULE)
    list(APPEND dialects listing_1_f08)
  endif()
  foreach(dialect ${dialects})
    add_executable(${dialect} ${dialect}.f90)
    target_link_libraries(${dialect} PRIVATE lucid_fortran MPI::MPI_Fortran)
  endforeach()
  foreach(dialect MPIFH MPI F08)
    if(dialect STREQUAL F08 AND NOT MPI_Fortran_HAVE_F08_MODULE)
      continue()
    endif()
    string(TOLOWER api_fortran_${dialect} name)
    file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${name}_files) # they write files of the same names, at the same time
    lucid_add_mpi_test(${name} SOURCES api_fortran.F90 api_fortran_constants.c NP 1 3 LANGUAGE Fortran
                       ARGS ${CMAKE_CURRENT_BINARY_DIR}/${name}_files)
    target_compile_definitions(${name} PRIVATE WITH_${dialect})
  endforeach()
  lucid_add_listing(listing_1 ring PROGRAM listing_1)
  lucid_add_listing(listing_1_mpi ring PROGRAM listing_1_mpi NP 1 3)
  if(MPI_Fortran_HAVE_F08_MODULE)
    lucid_add_listing(listing_1_f08 ring PROGRAM listing_1_f08 NP 1 3)
  endif()
endif()

# Collectives are what their algorithms say, message for message. The algorithms are forced: one per collective and set.
lucid_tuned(trees barrier=3 bcast=6 reduce=5 allreduce=3 gather=1 scatter=1 allgather=3 alltoall=3)
lucid_tuned(rings barrier=4 bcast=1 reduce=1 allreduce=4 gather=1 scatter=1 allgather=4 alltoall=2)
lucid_tuned(lines barrier=1 bcast=1 reduce=1 allreduce=3 gather=1 scatter=1 allgather=2 alltoall=1)
add_executable(exact_collectives exact_collectives.c)
target_link_libraries(exact_collectives PRIVATE lucid)
if(TARGET lucid_pml)
  lucid_add_mpi_test(exact_trees PROGRAM exact_collectives NP 1 2 4 5 ENV ${trees} LUCID_SOURCE=pml)
  lucid_add_mpi_test(exact_rings PROGRAM exact_collectives NP 3 4 8 ENV ${rings} LUCID_SOURCE=pml)
  # the fan-out: in 6.0 allgather 2 is Bruck's algorithm with a radix
  lucid_add_mpi_test(exact_lines PROGRAM exact_collectives NP 4 5
                     ENV ${lines} OMPI_MCA_coll_tuned_allgather_algorithm_tree_fanout=2 LUCID_SOURCE=pml)
endif()
lucid_add_mpi_test(exact_trees_mpit PROGRAM exact_collectives NP 4 5 ENV ${trees} LUCID_SOURCE=mpit)
lucid_add_mpi_test(exact_rings_mpit PROGRAM exact_collectives NP 4 ENV ${rings} LUCID_SOURCE=mpit)

# Open MPI 4.1.4 by itself dies in some one-sided calls when btl/vader copies between processes in one step.
set(gentle OMPI_MCA_btl_vader_single_copy_mechanism=none)

# Every way to send, and how kinds and flags divide the traffic, with the best source and with the others.
lucid_add_mpi_test(exact_sends SOURCES exact_sends.c NP 1 2 3 5)
lucid_add_mpi_test(exact_sends_mpit PROGRAM exact_sends NP 1 3 ENV LUCID_SOURCE=mpit)
lucid_add_mpi_test(exact_sends_pmpi PROGRAM exact_sends NP 3 ENV LUCID_SOURCE=pmpi)
lucid_add_mpi_test(exact_windows SOURCES exact_windows.c NP 1 3 ENV ${gentle})
if(LUCID_MPI_M)
  lucid_add_mpi_test(exact_flags SOURCES exact_flags.c NP 1 2 3 4 5 ENV ${gentle})
  if(LUCID_TEST_MPI_BCAST_INIT)
    target_compile_definitions(exact_flags PRIVATE TEST_HAS_BCAST_INIT)
  endif()
  lucid_add_mpi_test(exact_flags_mpit PROGRAM exact_flags NP 3 ENV ${gentle} LUCID_SOURCE=mpit)
  lucid_add_mpi_test(exact_flags_pmpi PROGRAM exact_flags NP 3 ENV ${gentle} LUCID_SOURCE=pmpi)
  lucid_add_mpi_test(api_files SOURCES api_files.c NP 1 3)
endif()

# The PML source and Open MPI's own monitoring see the same messages, in a program of many calls.
if(LUCID_MPI_M AND TARGET lucid_pml)
  add_executable(exact_mix exact_mix.c)
  target_link_libraries(exact_mix PRIVATE lucid)
  foreach(np 2 4 5)
    add_test(NAME mpi.exact_mix.np${np}
             COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/exact_compare.py --sources pml mpit --
             ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${np} $<TARGET_FILE:exact_mix>)
    set_tests_properties(mpi.exact_mix.np${np} PROPERTIES LABELS mpi TIMEOUT 120 SKIP_RETURN_CODE 77 PROCESSORS 2
                         ENVIRONMENT "${LUCID_MPI_TEST_ENV}")
  endforeach()
endif()

# The mpit source: with Open MPI's monitoring as it enables it, as the user enables it, and where it cannot count.
lucid_add_mpi_test(mpit_source SOURCES mpit_source.c NP 1 2 5 ARGS ^ucx 1 ENV ${gentle} LUCID_SOURCE=mpit)
if(LUCID_TEST_MONITORING)
  lucid_add_mpi_test(mpit_mode_2 PROGRAM mpit_source NP 2 ARGS ^ucx 2
                     ENV ${gentle} LUCID_SOURCE=mpit OMPI_MCA_pml_monitoring_enable=2)
endif()
add_executable(mpit_alone mpit_alone.c) # not linked with liblucid
target_include_directories(mpit_alone PRIVATE ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(mpit_alone PRIVATE MPI::MPI_C ${CMAKE_DL_LIBS})
lucid_add_mpi_test(mpit_alone PROGRAM mpit_alone NP 1 3 ARGS $<TARGET_FILE:lucid> ^ucx,monitoring ENV LUCID_SOURCE=mpit)
# what a parameter file says must not be lost by what stands in the environment
set(home ${CMAKE_CURRENT_BINARY_DIR}/mpit_home)
file(WRITE ${home}/.openmpi/mca-params.conf "# a user's file\nbtl_base_verbose=0\n osc = ^ucx,pt2pt \n")
add_test(NAME mpi.mpit_parameter_file.np2
         COMMAND ${CMAKE_COMMAND} -E env --unset=OMPI_MCA_osc HOME=${home}
         ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} 2
         $<TARGET_FILE:mpit_alone> $<TARGET_FILE:lucid> ^ucx,pt2pt,monitoring)
set_tests_properties(mpi.mpit_parameter_file.np2 PROPERTIES LABELS mpi TIMEOUT 120 SKIP_RETURN_CODE 77 PROCESSORS 2
                     ENVIRONMENT "${LUCID_MPI_TEST_ENV};LUCID_SOURCE=mpit")
lucid_add_mpi_test(mpit_refuses SOURCES mpit_refuses.c NP 2 ENV LUCID_SOURCE=mpit OMPI_MCA_pml=ob1)
lucid_add_mpi_test(mpit_switched_off PROGRAM mpit_refuses NP 2
                   ENV LUCID_SOURCE=mpit OMPI_MCA_pml_monitoring_enable=0)
