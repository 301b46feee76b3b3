#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# wheel_suite.sh prepare DIR SOURCE WHEEL [MPI4PY]   the tests of the build in DIR that house.wheel has made for an MPI library of PyPI (tools/wheel)
# wheel_suite.sh run DIR PATTERN                     those of them that PATTERN names; mpi4py and its own are in MPI4PY, if that is given
#
# Where there is no such build: "SKIP: reason", exit code 77. A build that fails is a failure.
set -u
verb=$1 dir=$2
shift 2

skip() {
    echo "SKIP: $1"
    exit 77
}

prepare() {
    local source=$1 wheel=$2 mpi4py=${3:-}
    [ ! -d /.host ] || skip "left to the system that the chroot is on, which has the same $wheel"
    [ -e "$dir/build/CMakeCache.txt" ] || skip "there is no build for $wheel: house.wheel, which makes it, says why"
    export PATH=$dir/venv/bin:$PATH
    cmake -S "$source" -B "$dir/build" -DBUILD_TESTING=ON -DMPIEXEC_EXECUTABLE="$dir/venv/bin/mpiexec" -DLUCID_WHEEL="$wheel" \
        ${mpi4py:+-DLUCID_MPI4PY="$mpi4py"} >"$dir/cmake.log" 2>&1 || { tail -n 20 "$dir/cmake.log"; exit 1; }
    cmake --build "$dir/build" --parallel 2 --target lucid_sparse_mpi_tests >"$dir/tests.log" 2>&1 ||
        { tail -n 40 "$dir/tests.log"; exit 1; }
}

run() {
    export PATH=$dir/venv/bin:$PATH
    [ -e "$dir/build/build.ninja" ] || skip "there is no build for this library (see the test that prepares it)"
    ctest --test-dir "$dir/build" --output-on-failure --no-tests=error -R "$1"
}

case $verb in
prepare) prepare "$@" ;;
run) run "$@" ;;
esac
