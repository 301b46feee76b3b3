#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs a program without and with liblucid preloaded: standard output and exit code must be the same.
# usage: pmpi_same.sh LIBLUCID MPIEXEC... -- PROGRAM [ARGUMENT...]
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

without=0
with=0
"${launch[@]}" "$@" >"$work/without" 2>"$work/without.err" </dev/null || without=$?
"${launch[@]}" env LD_PRELOAD="$library" "$@" >"$work/with" 2>"$work/with.err" </dev/null || with=$?
if [ "$without" != "$with" ] || ! diff "$work/without" "$work/with"; then
    echo "exit code $without without, $with with liblucid" >&2
    cat "$work/with.err" >&2
    exit 1
fi
if grep -i lucid "$work/with.err"; then
    echo "liblucid was not silent" >&2
    exit 1
fi
if [ ! -s "$work/with" ]; then
    echo "the program printed nothing" >&2
    cat "$work/with.err" >&2
    exit 1
fi
