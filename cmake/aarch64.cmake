# SPDX-License-Identifier: BSD-3-Clause
# Toolchain: Debian's cross compiler for aarch64; what it makes is run by QEMU's user emulation (tools/aarch64).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64;-L;/usr/aarch64-linux-gnu)
