# SPDX-License-Identifier: BSD-3-Clause
# Tests of coll/hier. One machine looks like several nodes by coll_hier_test_nodes; tests/lab has real ones.
if(NOT TARGET mca_coll_hier)
  return()
endif()
execute_process(COMMAND ompi_info --path pkglibdir --parsable OUTPUT_VARIABLE pkglibdir OUTPUT_STRIP_TRAILING_WHITESPACE
                ERROR_QUIET)
string(REGEX REPLACE ".*:" "" pkglibdir "${pkglibdir}")
set(hier_env "OMPI_MCA_mca_base_component_path=${pkglibdir}:$<TARGET_FILE_DIR:mca_coll_hier>" OMPI_MCA_coll_hier_priority=95
    "OMPI_MCA_coll=^lazy,sparse")

# lucid_add_hier_test(NAME ARGS ... NODES 0,0,1 [NP ...] [ENV ...] [PROGRAM ...]): hier_random, or PROGRAM
add_executable(hier_random hier_random.c)
add_executable(hier_counts hier_counts.c)
add_executable(hier_threads hier_threads.c)
add_executable(hier_spawn hier_spawn.c)
foreach(program hier_random hier_counts hier_threads hier_spawn)
  target_link_libraries(${program} PRIVATE MPI::MPI_C Threads::Threads)
  add_dependencies(${program} mca_coll_hier)
endforeach()
function(lucid_add_hier_test NAME)
  cmake_parse_arguments(T "" "PROGRAM;NODES" "NP;ARGS;ENV" ${ARGN})
  if(NOT T_PROGRAM)
    set(T_PROGRAM hier_random)
  endif()
  lucid_add_mpi_test(hier_${NAME} PROGRAM ${T_PROGRAM} NP ${T_NP} ARGS ${T_ARGS} LABELS hier
                     ENV ${hier_env} OMPI_MCA_coll_hier_test_nodes=${T_NODES} ${T_ENV})
endfunction()

# rounds, seed, operations that coll/hier must have performed at the least
lucid_add_hier_test(pairs NODES 0,0,1,1 ARGS 200 1 0)
lucid_add_hier_test(scattered NODES 0,1 ARGS 200 2 50 NP 5 8)
lucid_add_hier_test(unbalanced NODES 0,0,0,0,1,1,2 ARGS 200 3 50 NP 5 8)
lucid_add_hier_test(one_each NODES 0,1,2,3,4,5,6,7 ARGS 100 4 0 NP 5)
lucid_add_hier_test(one_node NODES 0 ARGS 100 5 0 NP 3)
# every operation cut into many chunks
set(cut)
foreach(setting bcast_chain=200 bcast_segment=1000 reduce_chain=500 reduce_segment=300 allreduce_tree=20 allreduce_ring=100
                allreduce_piece=500 allgather_stream=100 allgather_segment=700 gather_direct=100 scatter_direct=100 scatter_tree=20
                window=3 radix=2)
  list(APPEND cut OMPI_MCA_coll_hier_${setting})
endforeach()
lucid_add_hier_test(cut NODES 0,0,1,2,1 ARGS 200 6 50 NP 5 8 ENV ${cut})
lucid_add_hier_test(discovered NODES 0,0,1,2,1 ARGS 150 7 50 NP 5 8 ENV OMPI_MCA_coll_hier_topology=discover)
lucid_add_hier_test(fault NODES 0,0,1,2,1 ARGS 150 8 50 NP 5 8 ENV OMPI_MCA_coll_hier_test_fault=2)
lucid_add_hier_test(little_space NODES 0,0,1,2,1 ARGS 150 10 50 NP 5 ENV OMPI_MCA_coll_hier_shared_layouts=1)
lucid_add_hier_test(private_map NODES 0,0,1 ARGS 50 9 10 NP 5 ENV OMPI_MCA_coll_hier_shared_map=0)

lucid_add_hier_test(counts PROGRAM hier_counts NODES 0,0,1,1 ARGS 14 2 predicted NP 8)
lucid_add_hier_test(counts_private PROGRAM hier_counts NODES 0,0,1,1 ARGS 14 2 predicted NP 8
                    ENV OMPI_MCA_coll_hier_shared_layouts=0)
lucid_add_hier_test(counts_private_environment PROGRAM hier_counts NODES 0,0,1,1 ARGS 14 2 predicted NP 8
                    ENV LUCID_HIER_SHARED_LAYOUTS=0)
lucid_add_hier_test(counts_shared_mca PROGRAM hier_counts NODES 0,0,1,1 ARGS 14 2 predicted NP 8
                    ENV LUCID_HIER_SHARED_LAYOUTS=0 OMPI_MCA_coll_hier_shared_layouts=2)
lucid_add_hier_test(counts_private_map PROGRAM hier_counts NODES 0,0,1,1 ARGS 14 2 predicted NP 8
                    ENV OMPI_MCA_coll_hier_shared_map=0)
lucid_add_hier_test(counts_discovered PROGRAM hier_counts NODES 0,0,1,1 ARGS 200 2 discovered NP 8
                    ENV OMPI_MCA_coll_hier_topology=discover)
# MPI_Comm_idup under way when a blocking operation is cut
lucid_add_hier_test(idup PROGRAM sparse_edges NODES 0,0,1,1 ARGS idup NP 4 5 ENV OMPI_MCA_coll_hier_allreduce_ring=1000
                    OMPI_MCA_coll_hier_allreduce_piece=50000)
lucid_add_hier_test(threads PROGRAM hier_threads NODES 0,0,1 NP 3 5)
lucid_add_hier_test(spawn PROGRAM hier_spawn NODES 0,0,1 NP 1 3)

# mpi4py's own whole suite, from PyPI, with all components on
if(TARGET mca_coll_lazy AND TARGET mca_coll_sparse)
  set(script ${CMAKE_CURRENT_SOURCE_DIR}/mpi4py_suite.sh)
  set(suite ${CMAKE_CURRENT_BINARY_DIR}/mpi4py)
  foreach(np 1 2 3 5)
    add_test(NAME mpi.all_mpi4py.np${np} COMMAND ${script} with ${suite} ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${np}
             ${script} run ${suite})
    set_tests_properties(mpi.all_mpi4py.np${np} PROPERTIES LABELS mpi TIMEOUT 400 SKIP_RETURN_CODE 77 PROCESSORS 2
                         FIXTURES_REQUIRED mpi4py ENVIRONMENT "${LUCID_MPI_TEST_ENV};${lazy_path};LUCID_LAZY=share;${gentle};\
LUCID_SPARSE_PRIORITY=60;OMPI_MCA_coll_hier_priority=95;OMPI_MCA_coll_hier_test_nodes=0,0,1")
  endforeach()
endif()
