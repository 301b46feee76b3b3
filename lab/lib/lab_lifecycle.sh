# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# up, down, status, with.

# Runs a lab's hub in namespaces of its own; never returns. Without the right to make them a user namespace gives it.
run_hub() { # command...
    local user=()
    unshare --mount --net --propagation unchanged true 2>/dev/null || user=(-U -r)
    exec setsid unshare "${user[@]}" --net --mount --uts --ipc --pid --fork --kill-child=KILL --propagation unchanged "$@"
}

# Makes the lab. While this process holds the leash, the lab ends with it; that is all the clearing up that a signal needs,
# and why no signal is trapped here (bash 5.2 cannot run a trap while it substitutes a command).
lab_make() {
    local hub tries reason
    locked lab_claim
    exec {LEASH}<>"$LUCID_LAB/leash"
    (close_inherited_files && run_hub "$LAB_SELF" _hub) <"$LUCID_LAB/leash" >"$LUCID_LAB/hub.log" 2>&1 &
    hub=$!
    disown $hub # its end is no news
    for ((tries = 0; tries < 6000; tries++)); do
        [ ! -e "$LUCID_LAB/ready" ] || return 0
        kill -0 $hub 2>/dev/null || break
        sleep 0.01
    done
    reason=$(tail -n 1 "$LUCID_LAB/hub.log")
    lab_remove
    die "cannot make the lab: $reason; try: lab check"
}

lab_summary() {
    local racks=''
    [ "$RACKS" -eq 1 ] || racks=", $RACKS racks${UPLINK:+ with $UPLINK uplinks}"
    echo "$NODES nodes of $SLOTS slots, links of $RATE ($QDISC), mtu $MTU$racks, in $LUCID_LAB"
}

lab_up() {
    parse_options "$@"
    [ $LAB_HAS_REST -eq 0 ] || bad_usage "up takes no command; use: lab with ... -- COMMAND"
    lab_require_tools
    locked lab_sweep_stale "$LUCID_LAB"
    lab_make
    echo stay >&"$LEASH"
    echo "lab: $(lab_summary)"
}

lab_down() {
    [ $# -eq 0 ] || bad_usage "down takes no arguments"
    [ ! -e "$LUCID_LAB" ] || locked lab_remove
}

lab_status() {
    [ $# -eq 0 ] || bad_usage "status takes no arguments"
    if ! lab_is_up; then
        echo "lab: nothing is up in $LUCID_LAB"
        return 1
    fi
    . "$LUCID_LAB/conf"
    echo "lab: $(lab_summary)"
    local node
    for ((node = 0; node < NODES; node++)); do
        lab_exec_quietly "$node" /bin/sh -c '
            read -r tx </sys/class/net/eth0/statistics/tx_bytes
            read -r rx </sys/class/net/eth0/statistics/rx_bytes
            printf "%s %s: sent %s bytes, received %s bytes\n" "$(hostname)" "$1" "$tx" "$rx"' _ "$(node_address $node)"
    done
}

lab_exec_quietly() { (cd / && lab_exec "$@"); }

# A lab for one command. The lab ends with the command, or with this process whatever ends it.
lab_with() {
    parse_options "$@"
    [ ${#LAB_REST[@]} -gt 0 ] || bad_usage "usage: lab with [OPTIONS] -- COMMAND..."
    lab_require_tools
    LUCID_LAB=$(lab_default_directory)
    locked lab_sweep_stale "$LUCID_LAB"
    LUCID_LAB+=.with.$$
    lab_set_directory
    lab_make
    # A terminal sends SIGINT to the command by itself.
    run_child TERM with_command "${LAB_REST[@]}"
    lab_remove
    exit "$CHILD_STATUS"
}

# Runs a command, passes on the signals named (others only interrupt the wait), and sets CHILD_STATUS.
run_child() { # signals command...
    local passed=" $1 " child signalled
    shift
    trap 'signalled=TERM' TERM HUP
    trap 'signalled=INT' INT
    "$@" <&0 &
    child=$!
    while :; do
        signalled='' CHILD_STATUS=0
        wait $child 2>/dev/null || CHILD_STATUS=$?
        [ -n "$signalled" ] || break
        [[ $passed != *" $signalled "* ]] || end_child $signalled $child
    done
    trap - TERM HUP INT
}

# Who ignores the signal is killed.
end_child() { # signal pid
    local tries
    kill "-$1" "$2" 2>/dev/null || return 0
    for ((tries = 0; tries < 100; tries++)); do
        kill -0 "$2" 2>/dev/null || return 0
        sleep 0.05
    done
    kill -KILL "$2" 2>/dev/null || :
}

# A parent that died before it was asked for sends no signal: then there is nothing to do.
with_command() {
    exec {LEASH}>&-
    exec env --default-signal=INT,QUIT setpriv --pdeathsig TERM sh -c '[ "$PPID" = "$0" ] || exit 143; exec "$@"' $$ "$@"
}
