# SPDX-License-Identifier: BSD-3-Clause
# The unit tests of src/map.
lucid_add_unit_test(map_test map_test.c $<TARGET_OBJECTS:lucid_mapping>)
target_include_directories(map_test PRIVATE ${PROJECT_SOURCE_DIR}/src/map)
target_link_libraries(map_test PRIVATE m)
