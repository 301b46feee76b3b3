# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# The state of a lab: a directory with the process that makes it (owner), its hub, and what it was made with (conf).
# A process is written down as "pid start-time", so that a recycled pid is not taken for it.

die() { echo "lab: $*" >&2; exit 1; }
bad_usage() { echo "lab: $*" >&2; exit 2; }

# Where labs live unless LUCID_LAB says otherwise.
lab_default_directory() {
    local base=${XDG_RUNTIME_DIR:-/var/tmp}
    [ -d "$base" ] && [ -w "$base" ] || base=/var/tmp
    echo "$base/lucid-lab.$UID"
}

lab_set_directory() {
    LUCID_LAB=${LUCID_LAB:-$(lab_default_directory)}
    case $LUCID_LAB in
        *[[:space:]:,]*) die "LUCID_LAB must not contain white space, ':' or ',' ($LUCID_LAB)" ;;
        /*) ;;
        *) LUCID_LAB=$PWD/$LUCID_LAB ;;
    esac
    export LUCID_LAB
}

# "pid start-time" of a process as /proc shows it; fails if there is none or only its zombie is left.
identity() { # pid
    local stat
    { read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 1
    local pid=${stat%% *} fields
    read -ra fields <<<"${stat##*) }"
    [ "${fields[0]}" != Z ] || return 1
    echo "$pid ${fields[19]}"
}

# Is the process that this file names alive?
alive() { # file
    local pid start
    { read -r pid start <"$1"; } 2>/dev/null || return 1
    [ "$(identity "$pid")" = "$pid $start" ]
}

pid_in() { # file
    local pid rest
    read -r pid rest <"$1" && echo "$pid"
}

lab_is_up() { [ -e "$LUCID_LAB/ready" ] && alive "$LUCID_LAB/hub"; }

lab_need() {
    if [ -n "${LUCID_LAB_INSIDE:-}" ] || lab_is_up; then return 0; fi
    die "no lab is up in $LUCID_LAB; start one with: lab up"
}

# Ends the hub, and with it everything in the lab, and removes the state. Nothing that is not a lab's is removed.
lab_remove() {
    [ -e "$LUCID_LAB" ] || return 0
    [ -O "$LUCID_LAB" ] || die "$LUCID_LAB belongs to another user; set LUCID_LAB to a directory of your own"
    [ -e "$LUCID_LAB/owner" ] || die "$LUCID_LAB is not a lab's state; set LUCID_LAB to another directory"
    if alive "$LUCID_LAB/hub"; then
        kill -KILL "$(pid_in "$LUCID_LAB/hub")" 2>/dev/null || :
        # The first process of a pid namespace is gone only after all others are.
        local tries
        for ((tries = 0; tries < 500; tries++)); do
            alive "$LUCID_LAB/hub" || break
            sleep 0.02
        done
        ! alive "$LUCID_LAB/hub" || die "the hub (pid $(pid_in "$LUCID_LAB/hub")) does not end"
    fi
    lab_drop_state $$
}

# Another name first: nothing is written into a directory while its entries go, and nobody sees half of one.
lab_drop_state() { # a pid, which nobody else has
    local doomed=$LUCID_LAB.lucid-gone.$1
    if mv -T "$LUCID_LAB" "$doomed" 2>/dev/null; then rm -rf "$doomed"; fi
}

# Runs a function while no other lab is made or removed in the same place.
locked() { # function arguments...
    local parent lock
    parent=$(dirname "$LUCID_LAB")
    [ -w "$parent" ] || die "cannot write in $parent"
    exec {lock}<"$parent"
    flock -w 60 "$lock" || die "$parent is locked by another process"
    "$@"
    exec {lock}<&-
}

# Takes the directory for a new lab: whole or not at all. Runs under the lock.
lab_claim() {
    if lab_is_up; then die "a lab is up in $LUCID_LAB already; remove it with: lab down"; fi
    if alive "$LUCID_LAB/owner"; then die "another lab is being made in $LUCID_LAB"; fi
    lab_remove
    local stage=$LUCID_LAB.lucid-new.$$
    mkdir -m 700 "$stage"
    lab_write_state "$stage"
    mv -T "$stage" "$LUCID_LAB"
}

# Removes what labs left that were killed before they had a hub, or while they were removed. Under the lock, so nobody is
# at work on a lab that is not there yet, or no longer.
lab_sweep_stale() { # state directory
    local directory
    for directory in "$1".lucid-{new,gone}.* "$1".with.*; do
        [ -O "$directory" ] || continue
        case $directory in
            *.lucid-new.* | *.lucid-gone.*) rm -rf "$directory" ;;
            *) if [ -e "$directory/owner" ] && ! alive "$directory/owner"; then (LUCID_LAB=$directory lab_remove); fi ;;
        esac
    done
}

node_name() { printf 'node%02d' "$1"; }
node_address() { echo "10.77.0.$(($1 + 10))"; }

lab_write_state() { # directory
    local node
    identity $$ >"$1/owner"
    ln -s "$LAB_SELF" "$1/agent"
    mkdir "$1/mnt"
    mkfifo "$1/leash"
    declare -p NODES SLOTS RATE QDISC RACKS UPLINK MTU >"$1/conf"
    printf '%s\n' "${KEEP[@]}" "$(dirname "$LAB_HOME")" "$PWD" "$LUCID_LAB" | sort -u >"$1/keep"
    echo "127.0.0.1 localhost" >"$1/hosts"
    for ((node = 0; node < NODES; node++)); do
        echo "$(node_address $node) $(node_name $node)" >>"$1/hosts"
        echo "$(node_name $node) slots=$SLOTS" >>"$1/hostfile"   # Open MPI
        echo "$(node_name $node):$SLOTS" >>"$1/machinefile"      # Hydra
    done
}
