#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# mpi4py_suite.sh prepare DIR PYTHON    mpi4py and its own tests, from PyPI, in DIR (once)
# mpi4py_suite.sh with DIR COMMAND...   COMMAND, if they are there: mpirun and the next line
# mpi4py_suite.sh run DIR [TEST...]     these test modules, or all, in the calling process (start it with mpirun)
#                                       (all but those that start processes: Open MPI 4.1.4 alone does not come back from them)
#
# Why mpirun must not find that out itself: processes that fail while others are being started are fatal to more than their job. Open MPI
# (ORTE, and PRRTE 3.0.8) signals the process group of the others, which is its own until they have made theirs: CTest, make and all.
#
# The wheel finds whichever MPI library is installed. Where PyPI cannot be reached: MPI4PY_TESTS=DIR, the directory test/ of the source
# of the mpi4py that PYTHON has. Without either: "SKIP: reason", exit code 77.
set -u
verb=$1 dir=$2
shift 2

skip() {
    echo "SKIP: $1"
    exit 77
}

fetch() {
    local python=$1 into=$2 version
    timeout 120 "$python" -m venv "$into/venv" || return
    timeout 120 "$into/venv/bin/pip" install -q --only-binary :all: mpi4py || return
    version=$("$into/venv/bin/python3" -c 'import mpi4py; print(mpi4py.__version__)')
    cd "$into" || return
    timeout 120 venv/bin/pip download -q --no-deps --no-binary mpi4py "mpi4py==$version" && tar xzf mpi4py-*.tar.gz && mv mpi4py-*/test test
}

# The same from what is there.
copy() {
    "$1" -m venv --system-site-packages --without-pip "$2/venv" && "$2/venv/bin/python3" -c 'import mpi4py' &&
        cp -r "$MPI4PY_TESTS" "$2/test"
}

prepare() {
    local temporary=$dir.$$ how=fetch
    [ ! -e "$dir/done" ] || return 0
    mkdir -p "$temporary"
    [ -z "${MPI4PY_TESTS:-}" ] || how=copy
    if ("$how" "$1" "$temporary") >"$dir.log" 2>&1; then
        rm -rf "$dir" && mv "$temporary" "$dir" && touch "$dir/done"
    else
        rm -rf "$temporary"
        skip "mpi4py and its tests cannot be had from PyPI here: $(grep . "$dir.log" | tail -n 1)"
    fi
}

case $verb in
prepare) prepare "$@" ;;
with)
    [ -e "$dir/done" ] || skip "mpi4py and its tests are not there (mpi.mpi4py_prepare)"
    exec "$@"
    ;;
run)
    cd "$dir/test" || exit 1
    # shellcheck disable=SC2046
    [ $# -gt 0 ] || set -- $(ls test_*.py | sed 's/\.py$//' | grep -Ev '^test_(spawn|dynproc|util_pool)$')
    exec "$dir/venv/bin/python3" -m unittest -q "$@"
    ;;
esac
