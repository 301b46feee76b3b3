/* SPDX-License-Identifier: BSD-3-Clause
 * lazy_other_release.c: preloaded, it makes the MPI library say that it is another release of Open MPI.
 */
__attribute__((visibility("default"))) const char ompi_version_string[] = "4.1.99";
