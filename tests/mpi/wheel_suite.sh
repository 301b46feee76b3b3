#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# wheel_suite.sh prepare DIR PYTHON WHEEL SOURCE [MPI4PY]  an MPI library from PyPI and Lucid built for it, in DIR (the library once)
# wheel_suite.sh run DIR PATTERN                           the tests of that build that PATTERN names; mpi4py and its own are in MPI4PY, if that is given
#
# Without PyPI, or where a compiler's parts are missing: "SKIP: reason", exit code 77. A build that fails is a failure.
set -u
verb=$1 dir=$2
shift 2

skip() {
    echo "SKIP: $1"
    exit 77
}

fetch() {
    rm -rf "$dir/venv"
    timeout 120 "$1" -m venv "$dir/venv" && timeout 200 "$dir/venv/bin/pip" install -q --only-binary :all: "$2" &&
        touch "$dir/fetched"
}

prepare() {
    local python=$1 wheel=$2 source=$3 mpi4py=${4:-}
    [ ! -d /.host ] || skip "left to the system that the chroot is on, which has the same $wheel"
    mkdir -p "$dir"
    [ -e "$dir/fetched" ] || fetch "$python" "$wheel" >"$dir/fetch.log" 2>&1 ||
        skip "$wheel cannot be had from PyPI here: $(grep . "$dir/fetch.log" | tail -n 1)"
    export PATH=$dir/venv/bin:$PATH
    cmake -S "$source" -B "$dir/build" -G Ninja -DPython3_EXECUTABLE="$python" -DLUCID_FORTRAN=OFF -DLUCID_PML=OFF \
        -DLUCID_WHEEL="$wheel" ${mpi4py:+-DLUCID_MPI4PY="$mpi4py"} >"$dir/cmake.log" 2>&1 || { tail -n 20 "$dir/cmake.log"; exit 1; }
    cmake --build "$dir/build" --parallel 2 --target lucid_sparse_mpi_tests >"$dir/build.log" 2>&1 ||
        { tail -n 40 "$dir/build.log"; exit 1; }
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
