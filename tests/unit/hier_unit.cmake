# SPDX-License-Identifier: BSD-3-Clause
# The unit tests of coll/hier's part that knows neither MPI nor Open MPI: layouts, and the steps of all ranks in one process.
set(hier ${PROJECT_SOURCE_DIR}/src/mca/coll_hier)
set(hier_sources ${hier}/hier_layout.c ${hier}/hier_schedule.c ${hier}/hier_reduce.c ${hier}/hier_blocks.c)
foreach(test hier_schedule_test hier_layout_test)
  lucid_add_unit_test(${test} ${test}.c hier_simulator.c ${hier_sources})
  target_include_directories(${test} PRIVATE ${hier})
endforeach()
