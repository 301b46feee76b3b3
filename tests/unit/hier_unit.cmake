# SPDX-License-Identifier: BSD-3-Clause
# The unit tests of coll/hier's part that knows neither MPI nor Open MPI: layouts, and the steps of all ranks in one process.
set(hier ${PROJECT_SOURCE_DIR}/src/mca/coll_hier)
set(hier_sources ${hier}/hier_layout.c ${hier}/hier_schedule.c ${hier}/hier_reduce.c ${hier}/hier_blocks.c)
lucid_add_unit_test(hier_space_test hier_space_test.c ${hier}/hier_space.c)
target_include_directories(hier_space_test PRIVATE ${hier})
target_link_options(hier_space_test PRIVATE -Wl,--wrap=posix_fallocate)
foreach(test hier_schedule_test hier_layout_test)
  lucid_add_unit_test(${test} ${test}.c hier_simulator.c ${hier_sources})
  target_include_directories(${test} PRIVATE ${hier})
endforeach()
