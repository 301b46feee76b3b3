# SPDX-License-Identifier: BSD-3-Clause
# Tests of coll/lazy: the same programs with it, in its several ways, and with Open MPI alone.
if(NOT TARGET mca_coll_lazy)
  return()
endif()
find_program(LUCID_OMPI_INFO ompi_info HINTS ${MPI_C_COMPILER}/.. REQUIRED)
execute_process(COMMAND ${LUCID_OMPI_INFO} --path pkglibdir --parsable OUTPUT_VARIABLE pkglibdir OUTPUT_STRIP_TRAILING_WHITESPACE)
string(REGEX REPLACE "^.*:" "" pkglibdir "${pkglibdir}")
# MPI_T_init_thread loads all components, whatever is excluded. Those for networks by libpsm2 measure the clock then, for seconds where ranks share processors.
file(GLOB found ${pkglibdir}/mca_*.so)
list(FILTER found EXCLUDE REGEX "_(ofi|psm|psm2)[.]so$")
set(components ${pkglibdir})
if(found)
  set(components ${CMAKE_CURRENT_BINARY_DIR}/components)
  file(REMOVE_RECURSE ${components})
  file(MAKE_DIRECTORY ${components})
  foreach(component ${found})
    get_filename_component(name ${component} NAME)
    file(CREATE_LINK ${component} ${components}/${name} SYMBOLIC)
  endforeach()
endif()
set(lazy_path OMPI_MCA_mca_base_component_path=${components}:${PROJECT_BINARY_DIR}/lib/lucid/openmpi)
set(waits ${lazy_path} LUCID_LAZY=share LUCID_TEST_LAZY=wait)
set(shadow ${lazy_path} LUCID_LAZY=share LUCID_TEST_LAZY=shadow)
set(alone LUCID_TEST_LAZY=none)
set(no_sharing LUCID_TEST_NO_SHARE=1)
set(no_window LUCID_TEST_NO_WINDOW=1) # with threads, 4.1.4 has no one-sided communication on most machines

# Open MPI 4.1.4 by itself dies in some one-sided calls when btl/vader copies between processes in one step.
set(gentle OMPI_MCA_btl_vader_single_copy_mechanism=none)

# not linked with liblucid: the component is all of Lucid that they have
foreach(program lazy_mix lazy_agree lazy_revoked lazy_flags lazy_random lazy_threads lazy_leak lazy_foreign)
  add_executable(${program} ${program}.c)
  target_include_directories(${program} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${program} PRIVATE MPI::MPI_C Threads::Threads)
endforeach()
set_source_files_properties(lazy_mix.c PROPERTIES COMPILE_OPTIONS -Wno-stringop-overread) # MPI_UNWEIGHTED, to gcc 12

lucid_add_mpi_test(lazy_mix PROGRAM lazy_mix NP 1 3 8 ENV ${waits} ${gentle})
lucid_add_mpi_test(lazy_mix_alone PROGRAM lazy_mix NP 1 3 8 ENV ${alone} ${gentle})
lucid_add_mpi_test(lazy_mix_off PROGRAM lazy_mix NP 3 ENV ${lazy_path} ${gentle} LUCID_LAZY=off LUCID_TEST_LAZY=off)
# the MCA variable comes before the variable of the environment, and that before the default
lucid_add_mpi_test(lazy_mix_mca PROGRAM lazy_mix NP 3 ENV ${waits} ${gentle} OMPI_MCA_coll_lazy=share LUCID_LAZY=off)
lucid_add_mpi_test(lazy_mix_mca_delay PROGRAM lazy_mix NP 3 ENV ${waits} ${gentle} OMPI_MCA_coll_lazy=delay)
lucid_add_mpi_test(lazy_mix_mca_off PROGRAM lazy_mix NP 3 ENV ${lazy_path} ${gentle} LUCID_LAZY=share OMPI_MCA_coll_lazy=off
                   LUCID_TEST_LAZY=off)
lucid_add_mpi_test(lazy_mix_delay PROGRAM lazy_mix NP 3 5 ENV ${waits} ${gentle} LUCID_LAZY=delay)
lucid_add_mpi_test(lazy_mix_threads PROGRAM lazy_mix NP 2 5 ARGS threads ENV ${waits} ${no_sharing} ${no_window})
lucid_add_mpi_test(lazy_mix_excluded PROGRAM lazy_mix NP 2
                   ENV ${lazy_path} LUCID_LAZY=share ${gentle} OMPI_MCA_coll=^lazy LUCID_TEST_LAZY=none)
# other components below and above, and another provider of nonblocking operations
lucid_add_mpi_test(lazy_mix_basic PROGRAM lazy_mix NP 3 ENV ${waits} ${gentle} OMPI_MCA_coll=^tuned,han)
lucid_add_mpi_test(lazy_mix_sync PROGRAM lazy_mix NP 3 ENV ${waits} ${gentle} ${no_sharing} OMPI_MCA_coll_sync_priority=60
                   OMPI_MCA_coll_sync_barrier_before=3)
lucid_add_mpi_test(lazy_mix_sm PROGRAM lazy_mix NP 3 ENV ${waits} ${gentle} ${no_sharing} OMPI_MCA_coll_sm_priority=50)
lucid_add_mpi_test(lazy_mix_adapt PROGRAM lazy_mix NP 3 5 ENV ${shadow} ${gentle} ${no_sharing} OMPI_MCA_coll_adapt_priority=40)
lucid_add_mpi_test(lazy_mix_adapt_threads PROGRAM lazy_mix NP 3 ARGS threads
                   ENV ${shadow} ${no_sharing} ${no_window} OMPI_MCA_coll_adapt_priority=40)

lucid_add_mpi_test(lazy_random PROGRAM lazy_random ENV ${waits})
lucid_add_mpi_test(lazy_random_alone PROGRAM lazy_random NP 2 5 ENV ${alone})
lucid_add_mpi_test(lazy_random_delay PROGRAM lazy_random NP 3 8 ARGS 100 20 ENV ${waits} LUCID_LAZY=delay)
lucid_add_mpi_test(lazy_random_adapt PROGRAM lazy_random NP 3 5 ARGS 200 20
                   ENV ${shadow} OMPI_MCA_coll_adapt_priority=40)
lucid_add_mpi_test(lazy_threads PROGRAM lazy_threads NP 1 2 3 5 ENV ${waits})
lucid_add_mpi_test(lazy_agree PROGRAM lazy_agree ARGS 150 ENV ${waits})
lucid_add_mpi_test(lazy_agree_alone PROGRAM lazy_agree NP 3 ARGS 50 ENV ${alone})
lucid_add_mpi_test(lazy_agree_delay PROGRAM lazy_agree NP 5 ARGS 50 ENV ${waits} LUCID_LAZY=delay)
lucid_add_mpi_test(lazy_agree_threads PROGRAM lazy_agree NP 3 ARGS 50 threads ENV ${waits})
# coll/hier on top: it must not keep communicators from waiting and sharing
if(TARGET mca_coll_hier)
  set(on_nodes ${waits} ${gentle} OMPI_MCA_coll_hier_priority=95 OMPI_MCA_coll_hier_test_nodes=0,0,1)
  lucid_add_mpi_test(lazy_mix_hier PROGRAM lazy_mix NP 3 5 8 ENV ${on_nodes})
  lucid_add_mpi_test(lazy_mix_hier_threads PROGRAM lazy_mix NP 5 ARGS threads ENV ${on_nodes} ${no_sharing} ${no_window})
  lucid_add_mpi_test(lazy_random_hier PROGRAM lazy_random NP 5 8 ENV ${on_nodes})
  lucid_add_mpi_test(lazy_agree_hier PROGRAM lazy_agree NP 3 8 ARGS 100 ENV ${on_nodes})
  lucid_add_mpi_test(lazy_agree_hier_alone PROGRAM lazy_agree NP 5 ARGS 100
                     ENV ${on_nodes} OMPI_MCA_coll=^lazy LUCID_TEST_LAZY=none)
endif()
# as where Open MPI loads no components
lucid_add_mpi_test(lazy_built_in PROGRAM lazy_mix NP 1 3 ENV LD_PRELOAD=$<TARGET_FILE:lucid_components> LUCID_LAZY=share
                   LUCID_TEST_LAZY=wait ${gentle})
lucid_add_mpi_test(lazy_built_in_hier PROGRAM lazy_mix NP 5 ENV LD_PRELOAD=$<TARGET_FILE:lucid_components> LUCID_LAZY=share
                   LUCID_TEST_LAZY=wait ${gentle} LUCID_HIER_PRIORITY=95 OMPI_MCA_coll_hier_test_nodes=0,0,1)
lucid_add_mpi_test(lazy_revoked PROGRAM lazy_revoked NP 2 3 5 ENV ${waits} OMPI_MCA_mpi_ft_enable=1)
lucid_add_mpi_test(lazy_revoked_alone PROGRAM lazy_revoked NP 3 ENV ${alone} OMPI_MCA_mpi_ft_enable=1)
lucid_add_mpi_test(lazy_flags PROGRAM lazy_flags NP 1 2 3 5 ENV ${waits})
lucid_add_mpi_test(lazy_flags_alone PROGRAM lazy_flags NP 1 3 ENV ${alone})
lucid_add_mpi_test(lazy_spawn PROGRAM api_spawn NP 1 3 ENV ${lazy_path} LUCID_LAZY=share)

# a component that communicates when it is set up, in a directory of its own
add_library(mca_coll_talker MODULE lazy_talker.c)
foreach(property INCLUDE_DIRECTORIES COMPILE_DEFINITIONS COMPILE_OPTIONS)
  set_target_properties(mca_coll_talker PROPERTIES ${property} "$<TARGET_PROPERTY:mca_coll_lazy,${property}>")
endforeach()
target_link_libraries(mca_coll_talker PRIVATE MPI::MPI_C)
set_target_properties(mca_coll_talker PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/lazy_components)
set(with_talker ${lazy_path}:${CMAKE_CURRENT_BINARY_DIR}/lazy_components LUCID_LAZY=share)
lucid_add_mpi_test(lazy_foreign PROGRAM lazy_foreign ENV ${with_talker})
lucid_add_mpi_test(lazy_foreign_threads PROGRAM lazy_foreign NP 1 3 ARGS threads ENV ${with_talker})
lucid_add_mpi_test(lazy_foreign_random PROGRAM lazy_random NP 3 5 ARGS 300 20 ENV ${with_talker} LUCID_TEST_LAZY=wait)

add_library(lazy_other_release MODULE lazy_other_release.c)
function(lazy_compare NAME NP)
  add_test(NAME mpi.${NAME}.np${NP} COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_CURRENT_SOURCE_DIR}/lazy_compare.py ${ARGN})
  set_tests_properties(mpi.${NAME}.np${NP} PROPERTIES LABELS mpi TIMEOUT 120 SKIP_RETURN_CODE 77 PROCESSORS 2
                       ENVIRONMENT "${LUCID_MPI_TEST_ENV};${waits}")
endfunction()
foreach(np 2 5)
  lazy_compare(lazy_leak ${np} leak -- ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${np} $<TARGET_FILE:lazy_leak>)
endforeach()
lazy_compare(lazy_refused 3 refused $<TARGET_FILE:lazy_other_release> -- ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} 3
             $<TARGET_FILE:lazy_random>)
