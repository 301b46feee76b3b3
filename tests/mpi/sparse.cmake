# SPDX-License-Identifier: BSD-3-Clause
# Sparse reductions inside MPI programs: by the component of Open MPI, by the preloaded library, and by nobody.
set(mpi mpi${LUCID_UNIT_SUFFIX})
get_property(before DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
add_executable(sparse_calls sparse_calls.c sparse_calls_mpi.c)
target_include_directories(sparse_calls PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
target_compile_definitions(sparse_calls PRIVATE ${pmpi_definitions} _GNU_SOURCE)
target_link_libraries(sparse_calls PRIVATE MPI::MPI_C ${CMAKE_DL_LIBS})

# lucid_add_sparse_mpi_test(NAME NP "1 2 3" ENV A=B ... [PRELOAD]): sparse_calls with these settings.
function(lucid_add_sparse_mpi_test NAME)
  cmake_parse_arguments(T "PRELOAD" "" "NP;ENV" ${ARGN})
  set(command $<TARGET_FILE:sparse_calls>)
  if(T_PRELOAD)
    set(command env LD_PRELOAD=$<TARGET_FILE:lucid> $<TARGET_FILE:sparse_calls>)
  endif()
  foreach(np ${T_NP})
    add_test(NAME ${mpi}.${NAME}.np${np} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${np} ${command})
    set_tests_properties(${mpi}.${NAME}.np${np} PROPERTIES LABELS "mpi;sparse" TIMEOUT 300 SKIP_RETURN_CODE 77 PROCESSORS 2
                         ENVIRONMENT "${LUCID_MPI_TEST_ENV};${T_ENV}")
  endforeach()
endfunction()

# Numbers of ranks, more or less many of them: with sanitizers a test takes several times as long, and a build for a wheel is one more of all.
set(numbers 1 2 3 5 8)
set(fewer 1 2 3 5)
set(several 2 3 4 7)
set(in_slices 4 5)
if(LUCID_SANITIZE OR DEFINED LUCID_WHEEL)
  set(numbers 1 2 3 5)
  set(fewer 1 2 5)
  set(several 2 4 7)
  set(in_slices 5)
endif()
lucid_add_sparse_mpi_test(sparse_nobody NP 2)
lucid_add_sparse_mpi_test(sparse_preload NP ${numbers} PRELOAD ENV LUCID_SPARSE=on LUCID_SPARSE_ALWAYS=1 SPARSE_EXPECT=preload)
lucid_add_sparse_mpi_test(sparse_preload_chosen NP 3 PRELOAD ENV LUCID_SPARSE=on SPARSE_EXPECT=preload)
if(TARGET mca_coll_sparse)
  execute_process(COMMAND ompi_info --path pkglibdir --parsable OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  string(REGEX REPLACE ".*path:pkglibdir:" "" LUCID_OMPI_PKGLIBDIR "${found}")
  set(component "OMPI_MCA_mca_base_component_path=${LUCID_OMPI_PKGLIBDIR}:${PROJECT_BINARY_DIR}/lib/lucid/openmpi"
      LUCID_SPARSE_PRIORITY=60)
  lucid_add_sparse_mpi_test(sparse_component NP ${numbers} ENV ${component} LUCID_SPARSE_ALWAYS=1 SPARSE_EXPECT=component)
  foreach(algorithm reduce_chain reduce_leaders allreduce_ring allreduce_leaders allreduce_shares scan_chain) # in slices shorter than most of the vectors
    lucid_add_sparse_mpi_test(sparse_component_${algorithm} NP ${in_slices} ENV ${component} LUCID_SPARSE_ALWAYS=1 LUCID_SPARSE_SLICE=65536
                              LUCID_SPARSE_ALGORITHM=${algorithm} SPARSE_EXPECT=component)
  endforeach()
  lucid_add_sparse_mpi_test(sparse_component_chosen NP 3 ENV ${component} SPARSE_EXPECT=component)
  lucid_add_sparse_mpi_test(sparse_component_declared NP 3 PRELOAD ENV ${component} LUCID_SPARSE_ALWAYS=1 SPARSE_EXPECT=component)
endif()

# Calls that are as the one before.
add_executable(sparse_again sparse_again.c)
target_include_directories(sparse_again PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(sparse_again PRIVATE MPI::MPI_C ${CMAKE_DL_LIBS})

function(lucid_add_sparse_again_test NAME)
  foreach(np ${fewer})
    add_test(NAME ${mpi}.${NAME}.np${np} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${np} env ${ARGN} $<TARGET_FILE:sparse_again>)
    set_tests_properties(${mpi}.${NAME}.np${np} PROPERTIES LABELS "mpi;sparse" TIMEOUT 120 PROCESSORS 2 ENVIRONMENT "${LUCID_MPI_TEST_ENV}")
  endforeach()
endfunction()

lucid_add_sparse_again_test(sparse_again_preload LD_PRELOAD=$<TARGET_FILE:lucid> LUCID_SPARSE=on)
if(TARGET mca_coll_sparse)
  lucid_add_sparse_again_test(sparse_again_component ${component} SPARSE_EXPECT=component)
endif()

# Shares that are read in memory of each other, and sent where none is kept.
add_executable(sparse_windows sparse_windows.c)
target_include_directories(sparse_windows PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(sparse_windows PRIVATE MPI::MPI_C)

function(lucid_add_sparse_windows_test NAME)
  foreach(np ${several})
    add_test(NAME ${mpi}.${NAME}.np${np} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${np} env ${ARGN} LUCID_SPARSE_ALWAYS=1
             LUCID_SPARSE_ALGORITHM=allreduce_shares $<TARGET_FILE:sparse_windows>)
    set_tests_properties(${mpi}.${NAME}.np${np} PROPERTIES LABELS "mpi;sparse" TIMEOUT 120 PROCESSORS 2 SKIP_RETURN_CODE 77
                         ENVIRONMENT "${LUCID_MPI_TEST_ENV}")
  endforeach()
endfunction()

lucid_add_sparse_windows_test(sparse_windows_preload LD_PRELOAD=$<TARGET_FILE:lucid> LUCID_SPARSE=on SPARSE_WINDOWS=1)
if(TARGET mca_coll_sparse)
  lucid_add_sparse_windows_test(sparse_windows_component ${component} SPARSE_WINDOWS=1)
  lucid_add_sparse_windows_test(sparse_windows_none ${component} LUCID_SPARSE_KEEP=64K SPARSE_WINDOWS=0)
  lucid_add_sparse_windows_test(sparse_windows_wordless ${component} SPARSE_WINDOWS=1 SPARSE_WORDS=0 OMPI_MCA_mpi_ft_enable=1)
endif()

# Encoded vectors that are read so.
add_executable(sparse_boards sparse_boards.c)
target_include_directories(sparse_boards PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(sparse_boards PRIVATE MPI::MPI_C)

function(lucid_add_sparse_boards_test NAME RANKS)
  foreach(np ${RANKS})
    add_test(NAME ${mpi}.${NAME}.np${np} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${np} env ${ARGN} LUCID_SPARSE_ALWAYS=1
             $<TARGET_FILE:sparse_boards>)
    set_tests_properties(${mpi}.${NAME}.np${np} PROPERTIES LABELS "mpi;sparse" TIMEOUT 120 PROCESSORS 2 SKIP_RETURN_CODE 77
                         ENVIRONMENT "${LUCID_MPI_TEST_ENV}")
  endforeach()
endfunction()

foreach(algorithm reduce_direct allreduce_ring allreduce_halving scatter_pairwise)
  lucid_add_sparse_boards_test(sparse_boards_preload_${algorithm} 4 LD_PRELOAD=$<TARGET_FILE:lucid> LUCID_SPARSE=on LUCID_SPARSE_ALGORITHM=${algorithm})
  if(TARGET mca_coll_sparse)
    lucid_add_sparse_boards_test(sparse_boards_component_${algorithm} "2;4;7" ${component} LUCID_SPARSE_ALGORITHM=${algorithm})
  endif()
endforeach()
if(TARGET mca_coll_sparse)
  lucid_add_sparse_boards_test(sparse_boards_wordless 4 ${component} LUCID_SPARSE_ALGORITHM=reduce_direct SPARSE_WORDS=0 OMPI_MCA_mpi_ft_enable=1)
endif()

# What is read so, in sessions; and the same where it is sent.
if(TARGET mca_coll_sparse)
  add_executable(sparse_shown sparse_shown.c)
  target_include_directories(sparse_shown PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(sparse_shown PRIVATE lucid MPI::MPI_C)
  function(lucid_add_sparse_shown_test NAME ALGORITHM)
    foreach(np 2 4)
      add_test(NAME ${mpi}.${NAME}_${ALGORITHM}.np${np} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${np} env LUCID_SOURCE=pml
               LUCID_SPARSE_ALWAYS=1 LUCID_SPARSE_ALGORITHM=${ALGORITHM} ${ARGN} $<TARGET_FILE:sparse_shown>)
      set_tests_properties(${mpi}.${NAME}_${ALGORITHM}.np${np} PROPERTIES LABELS "mpi;sparse" TIMEOUT 120 PROCESSORS 2 ENVIRONMENT "${LUCID_MPI_TEST_ENV}")
    endforeach()
  endfunction()
  foreach(algorithm reduce_direct allreduce_ring allreduce_halving allreduce_shares scatter_pairwise)
    lucid_add_sparse_shown_test(sparse_shown ${algorithm} ${component})
    lucid_add_sparse_shown_test(sparse_shown_preload ${algorithm} LUCID_SPARSE=on)
  endforeach()
  lucid_add_sparse_shown_test(sparse_shown_long allreduce_shares ${component} SPARSE_EACH=300000) # messages say that they are there
  foreach(algorithm reduce_direct allreduce_shares scatter_pairwise)
    lucid_add_sparse_shown_test(sparse_shown_sent ${algorithm} ${component} LUCID_SPARSE_KEEP=64K SPARSE_SENT=1)
  endforeach()
endif()

# Vectors of less than 64 KiB.
add_executable(sparse_short sparse_short.c)
target_include_directories(sparse_short PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
target_compile_definitions(sparse_short PRIVATE _GNU_SOURCE)
target_link_libraries(sparse_short PRIVATE MPI::MPI_C ${CMAKE_DL_LIBS})

function(lucid_add_sparse_short_test NAME)
  foreach(np 2 3 4)
    add_test(NAME ${mpi}.${NAME}.np${np} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${np} env ${ARGN} $<TARGET_FILE:sparse_short>)
    set_tests_properties(${mpi}.${NAME}.np${np} PROPERTIES LABELS "mpi;sparse" TIMEOUT 120 PROCESSORS 2 ENVIRONMENT "${LUCID_MPI_TEST_ENV}")
  endforeach()
endfunction()

lucid_add_sparse_short_test(sparse_short_preload LD_PRELOAD=$<TARGET_FILE:lucid> LUCID_SPARSE=on SPARSE_EXPECT=preload)
if(TARGET mca_coll_sparse)
  lucid_add_sparse_short_test(sparse_short_component ${component} SPARSE_EXPECT=component)
  lucid_add_sparse_short_test(sparse_short_set ${component} LUCID_SPARSE_SHORT=64K SPARSE_EXPECT=never)
  lucid_add_sparse_short_test(sparse_short_reproducible ${component} LUCID_SPARSE_REPRODUCIBLE=1 SPARSE_EXPECT=never)
endif()

# Nonblocking calls: taken where MPICH's progress steps them, or a thread may; else left to the library.
add_executable(sparse_nonblocking sparse_nonblocking.c)
target_include_directories(sparse_nonblocking PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
target_compile_definitions(sparse_nonblocking PRIVATE ${pmpi_definitions} _GNU_SOURCE)
target_link_libraries(sparse_nonblocking PRIVATE MPI::MPI_C ${CMAKE_DL_LIBS})
set(without_thread left)
if(LUCID_MPIX_ASYNC)
  set(without_thread taken)
endif()

function(lucid_add_sparse_nonblocking_test NAME)
  foreach(np ${fewer})
    add_test(NAME ${mpi}.${NAME}.np${np} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${np}
             env LD_PRELOAD=$<TARGET_FILE:lucid> $<TARGET_FILE:sparse_nonblocking>)
    set_tests_properties(${mpi}.${NAME}.np${np} PROPERTIES LABELS "mpi;sparse" TIMEOUT 120 SKIP_RETURN_CODE 77 PROCESSORS 2
                         ENVIRONMENT "${LUCID_MPI_TEST_ENV};LUCID_SPARSE=on;${ARGN}")
  endforeach()
endfunction()

lucid_add_sparse_nonblocking_test(sparse_nonblocking SPARSE_EXPECT=${without_thread} LUCID_SPARSE_ALWAYS=1)
lucid_add_sparse_nonblocking_test(sparse_nonblocking_chosen SPARSE_FIRST=1)
lucid_add_sparse_nonblocking_test(sparse_nonblocking_threads SPARSE_THREADS=1 SPARSE_EXPECT=taken LUCID_SPARSE_ALWAYS=1)
lucid_add_sparse_nonblocking_test(sparse_nonblocking_threads_chosen SPARSE_THREADS=1 SPARSE_FIRST=1)
lucid_add_sparse_nonblocking_test(sparse_nonblocking_off SPARSE_THREADS=1 SPARSE_EXPECT=left LUCID_SPARSE_NONBLOCKING=0)

if(TARGET mca_coll_sparse)
  foreach(np 2 3 5)
    foreach(how "" "_threads")
      set(name ${mpi}.sparse_nonblocking_component${how}.np${np})
      add_test(NAME ${name} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${np} $<TARGET_FILE:sparse_nonblocking>)
      set_tests_properties(${name} PROPERTIES LABELS "mpi;sparse" TIMEOUT 120 SKIP_RETURN_CODE 77 PROCESSORS 2 ENVIRONMENT
                           "${LUCID_MPI_TEST_ENV};${component};SPARSE_FIRST=1;$<$<BOOL:${how}>:SPARSE_THREADS=1>")
    endforeach()
  endforeach()
endif()

# What programs may do around such calls, or may do wrong.
add_executable(reduce_edges reduce_edges.c)
target_include_directories(reduce_edges PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
target_compile_definitions(reduce_edges PRIVATE ${pmpi_definitions} _GNU_SOURCE)
target_link_libraries(reduce_edges PRIVATE MPI::MPI_C ${CMAKE_DL_LIBS})
set_target_properties(reduce_edges PROPERTIES ENABLE_EXPORTS ON) # it looks at what liblucid calls

add_executable(reduce_spawn reduce_spawn.c)
target_include_directories(reduce_spawn PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
target_compile_definitions(reduce_spawn PRIVATE _GNU_SOURCE)
target_link_libraries(reduce_spawn PRIVATE MPI::MPI_C ${CMAKE_DL_LIBS})

add_library(reduce_fortran_shim SHARED reduce_fortran_shim.c)
add_executable(reduce_fortran reduce_fortran.c)
foreach(target reduce_fortran_shim reduce_fortran)
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
  target_compile_definitions(${target} PRIVATE ${pmpi_definitions} _GNU_SOURCE)
  target_link_libraries(${target} PRIVATE MPI::MPI_C ${CMAKE_DL_LIBS})
endforeach()
target_link_libraries(reduce_fortran PRIVATE reduce_fortran_shim)

# lucid_add_reduce_test(NAME NP "2 3" COMMAND program argument ... ENV A=B ...)
function(lucid_add_reduce_test NAME)
  cmake_parse_arguments(T "" "" "NP;COMMAND;ENV" ${ARGN})
  foreach(np ${T_NP})
    set(name ${mpi}.sparse_preload_${NAME}.np${np})
    add_test(NAME ${name} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${np} env LD_PRELOAD=$<TARGET_FILE:lucid> ${T_COMMAND})
    set_tests_properties(${name} PROPERTIES LABELS "mpi;sparse" TIMEOUT 180 SKIP_RETURN_CODE 77 PROCESSORS 2
                         ENVIRONMENT "${LUCID_MPI_TEST_ENV};LUCID_SPARSE=on;${T_ENV}")
  endforeach()
endfunction()

lucid_add_reduce_test(errors NP 2 3 COMMAND $<TARGET_FILE:reduce_edges> errors ENV LUCID_SPARSE_ALWAYS=1 SPARSE_EXPECT=taken)
lucid_add_reduce_test(errors_threads NP 3 COMMAND $<TARGET_FILE:reduce_edges> errors ENV LUCID_SPARSE_ALWAYS=1 SPARSE_THREADS=1)
lucid_add_reduce_test(errors_measure NP 2 COMMAND $<TARGET_FILE:reduce_edges> errors ENV LUCID_SPARSE=measure)

foreach(case freed used_when_freed)
  if(LUCID_MPIX_ASYNC)
    lucid_add_reduce_test(${case} NP 2 COMMAND $<TARGET_FILE:reduce_edges> ${case} ENV LUCID_SPARSE_REPRODUCIBLE=1)
  endif()
  lucid_add_reduce_test(${case}_threads NP 2 COMMAND $<TARGET_FILE:reduce_edges> ${case}
                        ENV LUCID_SPARSE_REPRODUCIBLE=1 SPARSE_THREADS=1)
endforeach()

if(LUCID_MPIX_ASYNC) # elsewhere a blocking call comes first
  lucid_add_reduce_test(order NP 2 3 COMMAND $<TARGET_FILE:reduce_edges> order)
endif()

lucid_add_reduce_test(attributes NP 2 3 COMMAND $<TARGET_FILE:reduce_edges> attributes)
lucid_add_reduce_test(attributes_threads NP 2 COMMAND $<TARGET_FILE:reduce_edges> attributes ENV SPARSE_THREADS=1)
lucid_add_reduce_test(end NP 2 3 COMMAND $<TARGET_FILE:reduce_edges> end)
lucid_add_reduce_test(end_threads NP 2 3 COMMAND $<TARGET_FILE:reduce_edges> end ENV SPARSE_THREADS=1)
lucid_add_reduce_test(spawn NP 1 2 COMMAND $<TARGET_FILE:reduce_spawn>)
lucid_add_reduce_test(fortran NP 2 COMMAND $<TARGET_FILE:reduce_fortran>)
lucid_add_reduce_test(fortran_threads NP 2 3 COMMAND $<TARGET_FILE:reduce_fortran> ENV SPARSE_THREADS=1)
if(LUCID_MPIX_ASYNC)
  lucid_add_reduce_test(failure NP 2 3 COMMAND $<TARGET_FILE:reduce_edges> failure)
  lucid_add_reduce_test(many NP 2 COMMAND $<TARGET_FILE:reduce_edges> many)
endif()
lucid_add_reduce_test(failure_threads NP 2 3 COMMAND $<TARGET_FILE:reduce_edges> failure ENV SPARSE_THREADS=1)
lucid_add_reduce_test(many_threads NP 2 COMMAND $<TARGET_FILE:reduce_edges> many ENV SPARSE_THREADS=1)
if(NOT LUCID_SANITIZE) # the limit on memory would be the sanitizer's
  lucid_add_reduce_test(exhausted NP 2 3 COMMAND $<TARGET_FILE:reduce_edges> exhausted)
endif()

add_executable(reduce_types reduce_types.c)
target_include_directories(reduce_types PRIVATE ${PROJECT_SOURCE_DIR}/include)
target_compile_definitions(reduce_types PRIVATE _GNU_SOURCE)
target_link_libraries(reduce_types PRIVATE MPI::MPI_C ${CMAKE_DL_LIBS})
lucid_add_reduce_test(types NP 1 3 COMMAND $<TARGET_FILE:reduce_types> ENV LUCID_SPARSE_ALWAYS=1)

# Calls that LUCID_SPARSE=measure keeps and runs again.
lucid_add_reduce_test(measured NP 1 3 4 COMMAND $<TARGET_FILE:cli_replay> more ENV LUCID_SPARSE=measure LUCID_REPLAY=1)
lucid_add_reduce_test(measured_parts NP 4 COMMAND $<TARGET_FILE:cli_parts> ENV LUCID_SPARSE=measure LUCID_REPLAY=1)

# Nonblocking calls under way when a blocking one measures.
add_executable(sparse_overtaken sparse_overtaken.c)
target_include_directories(sparse_overtaken PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(sparse_overtaken PRIVATE MPI::MPI_C)

if(TARGET mca_coll_sparse)
  foreach(np 2 4 5)
    foreach(how encoded dense)
      set(name ${mpi}.sparse_overtaken_${how}.np${np})
      add_test(NAME ${name} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${np} $<TARGET_FILE:sparse_overtaken>)
      set_tests_properties(${name} PROPERTIES LABELS "mpi;sparse" TIMEOUT 120 PROCESSORS 2 ENVIRONMENT
                           "${LUCID_MPI_TEST_ENV};${component};LUCID_SPARSE_ALWAYS=1;$<$<STREQUAL:${how},dense>:LUCID_SPARSE_DENSE=1>")
    endforeach()
  endforeach()
endif()

# Many nonblocking calls of coll/sparse at once.
add_executable(sparse_turns sparse_turns.c)
target_include_directories(sparse_turns PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_compile_definitions(sparse_turns PRIVATE ${pmpi_definitions} _GNU_SOURCE)
target_link_libraries(sparse_turns PRIVATE MPI::MPI_C)

# lucid_add_sparse_turns_test(NAME NP "2 3" ENV A=B ...)
function(lucid_add_sparse_turns_test NAME)
  cmake_parse_arguments(T "" "" "NP;ENV" ${ARGN})
  foreach(np ${T_NP})
    add_test(NAME ${mpi}.${NAME}.np${np} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${np} $<TARGET_FILE:sparse_turns>)
    set_tests_properties(${mpi}.${NAME}.np${np} PROPERTIES LABELS "mpi;sparse" TIMEOUT 120 SKIP_RETURN_CODE 77 PROCESSORS 2
                         ENVIRONMENT "${LUCID_MPI_TEST_ENV};${component};${T_ENV}")
  endforeach()
endfunction()

if(TARGET mca_coll_sparse)
  lucid_add_sparse_turns_test(sparse_turns NP 2 3 5)
  lucid_add_sparse_turns_test(sparse_turns_threads NP 2 4 ENV SPARSE_THREADS=odd)
  if(TARGET mca_coll_hier)
    lucid_add_sparse_turns_test(sparse_turns_hier NP 4 ENV OMPI_MCA_coll_hier_priority=50 OMPI_MCA_coll_hier_test_nodes=0,0,1,1)
  endif()
endif()

# What must not matter to a reduction of coll/sparse. What goes wrong here ends in a hang.
add_executable(sparse_edges sparse_edges.c)
target_include_directories(sparse_edges PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_compile_definitions(sparse_edges PRIVATE ${pmpi_definitions})
target_link_libraries(sparse_edges PRIVATE MPI::MPI_C ${CMAKE_DL_LIBS})

# lucid_add_sparse_edge_test(CASE NP "2 4" ENV A=B ... [PRELOAD])
function(lucid_add_sparse_edge_test CASE)
  cmake_parse_arguments(T "PRELOAD" "" "NP;ENV" ${ARGN})
  set(command $<TARGET_FILE:sparse_edges> ${CASE})
  if(T_PRELOAD)
    set(command env LD_PRELOAD=$<TARGET_FILE:lucid> ${command})
  endif()
  foreach(np ${T_NP})
    set(name ${mpi}.sparse_edge_${CASE}.np${np})
    add_test(NAME ${name} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${np} ${command})
    set_tests_properties(${name} PROPERTIES LABELS "mpi;sparse" TIMEOUT 60 SKIP_RETURN_CODE 77 PROCESSORS 2
                         ENVIRONMENT "${LUCID_MPI_TEST_ENV};${component};${T_ENV}")
  endforeach()
endfunction()

if(TARGET mca_coll_sparse)
  lucid_add_sparse_edge_test(idup NP 2 4 5)
  lucid_add_sparse_edge_test(freed NP 2 4 5)
  foreach(np 2 3 4) # persistent calls started before and behind a blocking one
    add_test(NAME ${mpi}.sparse_edge_order.np${np} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${np} $<TARGET_FILE:reduce_edges> order)
    set_tests_properties(${mpi}.sparse_edge_order.np${np} PROPERTIES LABELS "mpi;sparse" TIMEOUT 60 SKIP_RETURN_CODE 77 PROCESSORS 2
                         ENVIRONMENT "${LUCID_MPI_TEST_ENV};${component}")
  endforeach()
  lucid_add_sparse_edge_test(bounds NP 2 4 PRELOAD)
  if("${pmpi_definitions}" MATCHES TEST_PERSISTENT)
    lucid_add_sparse_edge_test(kept NP 2 4 PRELOAD)
  endif()
  if(NOT LUCID_SANITIZE) # with UCX Open MPI writes into functions that the sanitizer has put in their place
    lucid_add_sparse_edge_test(tags NP 2 ENV LUCID_SPARSE_ALWAYS=1 OMPI_MCA_pml=ucx,ob1 OMPI_MCA_pml_ucx_priority=100
                               OMPI_MCA_pml_ucx_tls=any OMPI_MCA_pml_ucx_devices=any) # without UCX there is nothing to be seen
  endif()
  if(TARGET mca_coll_hier)
    lucid_add_sparse_edge_test(behind NP 4 5 ENV OMPI_MCA_coll_hier_priority=50 OMPI_MCA_coll_hier_test_nodes=0,0,1,1)
  endif()
endif()

if(LUCID_FORTRAN)
  foreach(way usempi f08)
    string(TOUPPER ${way} upper)
    set(expect taken)
    if(way STREQUAL f08 AND LUCID_TEST_OMPI_6) # buffers come as array descriptors: such calls are the library's
      set(expect right)
    endif()
    add_executable(sparse_${way} sparse_fortran.F90)
    target_compile_definitions(sparse_${way} PRIVATE TEST_${upper} $<$<BOOL:${LUCID_TEST_MPI_BCAST_INIT}>:TEST_HAS_BCAST_INIT>)
    target_compile_options(sparse_${way} PRIVATE "$<$<COMPILE_LANG_AND_ID:Fortran,GNU>:-fallow-argument-mismatch;-w>")
    target_link_libraries(sparse_${way} PRIVATE lucid_fortran lucid MPI::MPI_Fortran)
    foreach(np 1 3)
      add_test(NAME ${mpi}.sparse_${way}.np${np} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${np}
               env LD_PRELOAD=$<TARGET_FILE:lucid> $<TARGET_FILE:sparse_${way}>)
      set_tests_properties(${mpi}.sparse_${way}.np${np} PROPERTIES LABELS "mpi;sparse" TIMEOUT 120 PROCESSORS 2 ENVIRONMENT
                           "${LUCID_MPI_TEST_ENV};LUCID_SPARSE=on;LUCID_SPARSE_ALWAYS=1;SPARSE_EXPECT=${expect}")
    endforeach()
  endforeach()
endif()

# All that these tests need, for builds that make nothing else: with sanitizers, and for the MPI libraries of PyPI.
get_property(programs DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
list(REMOVE_ITEM programs ${before} "")
add_custom_target(lucid_sparse_mpi_tests)
add_dependencies(lucid_sparse_mpi_tests ${programs} lucid cli_replay cli_parts)
foreach(module mca_coll_sparse mca_coll_hier lucid_pml)
  if(TARGET ${module})
    add_dependencies(lucid_sparse_mpi_tests ${module})
  endif()
endforeach()

if(LUCID_SANITIZE)
  return() # Python is not linked with a sanitizer
endif()

# mpi4py's own tests of reductions. They come from PyPI.
if(NOT DEFINED LUCID_MPI4PY)
  set(LUCID_MPI4PY ${CMAKE_CURRENT_BINARY_DIR}/mpi4py)
endif()
set(suite ${LUCID_MPI4PY})
add_test(NAME mpi.mpi4py_prepare COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/mpi4py_suite.sh prepare ${suite} ${Python3_EXECUTABLE})
set_tests_properties(mpi.mpi4py_prepare PROPERTIES LABELS mpi TIMEOUT 500 SKIP_RETURN_CODE 77 FIXTURES_SETUP mpi4py)
set(modules test_cco_buf test_cco_nb_buf test_cco_pr_buf test_op)

function(lucid_add_sparse_mpi4py_test NAME)
  cmake_parse_arguments(T "PRELOAD" "" "ENV" ${ARGN})
  set(script ${CMAKE_CURRENT_SOURCE_DIR}/mpi4py_suite.sh)
  set(command ${script} run ${suite} ${modules})
  if(T_PRELOAD)
    set(command env LD_PRELOAD=$<TARGET_FILE:lucid> ${command})
  endif()
  foreach(np ${fewer})
    add_test(NAME ${mpi}.${NAME}.np${np}
             COMMAND ${script} with ${suite} ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${np} ${command})
    set_tests_properties(${mpi}.${NAME}.np${np} PROPERTIES LABELS "mpi;sparse" TIMEOUT 600 SKIP_RETURN_CODE 77 PROCESSORS 2
                         FIXTURES_REQUIRED mpi4py ENVIRONMENT "${LUCID_MPI_TEST_ENV};LUCID_SPARSE_ALWAYS=1;${T_ENV}")
  endforeach()
endfunction()

lucid_add_sparse_mpi4py_test(sparse_mpi4py_preload PRELOAD ENV LUCID_SPARSE=on)
if(TARGET mca_coll_sparse)
  lucid_add_sparse_mpi4py_test(sparse_mpi4py_component ENV ${component})
endif()
