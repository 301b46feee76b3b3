#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs a program without and with liblucid preloaded, idle and recording: standard output and exit code must be the
# same. usage: pmpi_same.sh LIBLUCID MPIEXEC... -- PROGRAM [ARGUMENT...]
set -eu

library=$1
shift
launch=()
while [ "$1" != "--" ]; do
    launch+=("$1")
    shift
done
shift

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Hydra names the process that died.
plain() {
    sed 's/PID [0-9]*/PID/'
}

expected=0
"${launch[@]}" "$@" 2>/dev/null </dev/null >"$work/raw" || expected=$?
plain <"$work/raw" >"$work/expected"
if [ ! -s "$work/expected" ]; then
    echo "the program printed nothing by itself" >&2
    exit 1
fi

# run [VARIABLE=VALUE...]: with liblucid and these in the environment
run() {
    local code=0
    "${launch[@]}" env LD_PRELOAD="$library" "$@" >"$work/raw" 2>"$work/err" </dev/null || code=$?
    plain <"$work/raw" >"$work/out"
    if [ "$code" != "$expected" ] || ! diff "$work/expected" "$work/out"; then
        echo "exit code $expected by itself, $code with liblucid" >&2
        cat "$work/err" >&2
        exit 1
    fi
    if grep -i lucid "$work/err"; then
        echo "liblucid was not silent" >&2
        exit 1
    fi
}

run "$@"
mkdir "$work/run"
run LUCID_DIR="$work/run" "$@"
mkdir "$work/calls"
run LUCID_DIR="$work/calls" LUCID_SOURCE=pmpi "$@"
