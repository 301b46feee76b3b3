# SPDX-License-Identifier: BSD-3-Clause
# Tests of the session API in C and Fortran, and of what the sources count.

lucid_add_mpi_test(api_limits SOURCES api_limits.c NP 1 3 ENV LUCID_MAX_SESSIONS=3)
lucid_add_mpi_test(api_property SOURCES api_property.c NP 1 2 3 5 8)
lucid_add_mpi_test(api_property_mpit PROGRAM api_property NP 3 8 ENV LUCID_SOURCE=mpit)
lucid_add_mpi_test(api_property_pmpi PROGRAM api_property NP 3 ENV LUCID_SOURCE=pmpi)
lucid_add_mpi_test(api_threads SOURCES api_threads.c NP 1 2 5)
lucid_add_mpi_test(api_threads_mpit PROGRAM api_threads NP 2 5 ENV LUCID_SOURCE=mpit)
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
  set(tuned OMPI_MCA_coll_tuned_use_dynamic_rules=1)
  lucid_add_listing(listing_2 barrier PROGRAM listing_2)
  lucid_add_listing(listing_2_doubling recursive-doubling PROGRAM listing_2 NP 2 3 4 5 8 FLAGS --only-open-mpi
                    ENV ${tuned} OMPI_MCA_coll_tuned_barrier_algorithm=3)
  lucid_add_listing(listing_2_bruck bruck PROGRAM listing_2 NP 4 5 FLAGS --only-open-mpi
                    ENV ${tuned} OMPI_MCA_coll_tuned_barrier_algorithm=4)
  lucid_add_listing(listing_2_mpit recursive-doubling PROGRAM listing_2 NP 4 5 FLAGS --only-open-mpi
                    ENV ${tuned} OMPI_MCA_coll_tuned_barrier_algorithm=3 LUCID_SOURCE=mpit)
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
    lucid_add_mpi_test(${name} SOURCES api_fortran.F90 api_fortran_constants.c NP 1 3 LANGUAGE Fortran
                       ARGS ${CMAKE_CURRENT_BINARY_DIR})
    target_compile_definitions(${name} PRIVATE WITH_${dialect})
  endforeach()
  lucid_add_listing(listing_1 ring PROGRAM listing_1)
  lucid_add_listing(listing_1_mpi ring PROGRAM listing_1_mpi NP 1 3)
  if(MPI_Fortran_HAVE_F08_MODULE)
    lucid_add_listing(listing_1_f08 ring PROGRAM listing_1_f08 NP 1 3)
  endif()
endif()
