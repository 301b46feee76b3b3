# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# What runs inside: the hub, first process of the lab's pid namespace, and one process that holds a node's namespaces.

# Limits what leaves a device. HTB with a small burst: with larger ones small messages see twice the rate.
shape() { # device rate
    case $QDISC in
        none) ;;
        tbf) tc qdisc add dev "$1" root tbf rate "$2" burst 128k limit 64m ;;
        htb)
            tc qdisc add dev "$1" root handle 1: htb default 1
            tc class add dev "$1" parent 1: classid 1:1 htb rate "$2" ceil "$2" burst 8k cburst 8k quantum 60000
            tc qdisc add dev "$1" parent 1:1 bfifo limit 64m
            ;;
    esac
}

wait_for() { # file seconds
    local tries
    for ((tries = 0; tries < $2 * 100; tries++)); do
        [ ! -e "$1" ] || return 0
        sleep 0.01
    done
    echo "$(basename "$1") did not come within $2 s"
    return 1
}

# Nothing that is mounted here may reach the machine's own mount namespace. In a chroot whose root is no mount point the
# mount that holds it is out of sight, but for mount -N, which looks from the namespace's own root.
make_mounts_private() {
    mount --make-rprivate / 2>/dev/null || mount -N /proc/self/ns/mnt --make-rprivate /
}

close_inherited_files() {
    local entry number
    for entry in /proc/self/fd/*; do
        number=${entry##*/}
        [ "$number" -le 2 ] || [ "$number" -eq 255 ] || eval "exec $number>&-"
    done
}

lab_hub() {
    . "$LUCID_LAB/conf"
    # /proc is still the one of outside, so this is the pid that the outside knows.
    local outside
    read -r outside _ </proc/self/stat
    HUB=$(identity "$outside")
    echo "$HUB" >"$LUCID_LAB/hub"
    make_mounts_private
    mount -n -t proc proc /proc
    mount -n -t sysfs sysfs /sys
    mount -n --bind "$LUCID_LAB/hosts" /etc/hosts
    hostname hub
    cd /
    make_switches
    local node
    for ((node = 0; node < NODES; node++)); do start_node $node; done
    for ((node = 0; node < NODES; node++)); do wait_for "$LUCID_LAB/up.$(node_name $node)" 30; done
    : >"$LUCID_LAB/ready"
    lab_hub_stays
}

# The hub lives as long as somebody holds the other end of the leash, or for good once told to stay. As first process of
# its pid namespace it takes in orphans; bash reaps them.
lab_hub_stays() {
    local word
    trap 'exit 0' TERM
    read -r word || let_go
    exec 0<>"$LUCID_LAB/leash"
    while :; do read -r word || :; done
}

# Who made the lab was killed.
let_go() {
    locked take_away
    exit 0
}

# Removes this lab's state, unless another lab is in its place by now. Nodes may be still at work on it: they are ended.
take_away() {
    [ "$(cat "$LUCID_LAB/hub")" = "$HUB" ] || return 0
    kill -KILL -1 2>/dev/null || : # all of this pid namespace but its first process, which is this one
    lab_drop_state "${HUB%% *}"
}

new_bridge() { # name
    ip link add "$1" type bridge
    ip link set "$1" up
}

make_switches() {
    local rack
    # The only bytes on the links shall be those of the job.
    echo 1 2>/dev/null >/proc/sys/net/ipv6/conf/default/disable_ipv6 || :
    ip link set lo up
    new_bridge core
    [ "$RACKS" -gt 1 ] || return 0
    for ((rack = 0; rack < RACKS; rack++)); do
        new_bridge rack$rack
        ip link add up$rack type veth peer name down$rack
        ip link set up$rack mtu "$MTU" master rack$rack up
        ip link set down$rack mtu "$MTU" master core up
        [ -z "$UPLINK" ] || { shape up$rack "$UPLINK"; shape down$rack "$UPLINK"; }
    done
}

start_node() { # node
    local name pid switch=core
    ! read -r -t 0 || let_go
    name=$(node_name "$1")
    unshare --net --mount --uts --ipc --propagation unchanged "$LAB_SELF" _node "$1" &
    pid=$!
    echo $pid >"$LUCID_LAB/node.$name"
    wait_for "$LUCID_LAB/born.$name" 10
    [ "$RACKS" -eq 1 ] || switch=rack$(($1 * RACKS / NODES))
    ip link add "port$1" type veth peer name "eth$1"
    ip link set "eth$1" netns $pid
    ip link set "port$1" mtu "$MTU" master $switch up
    shape "port$1" "$RATE"
    : >"$LUCID_LAB/wired.$name"
}

lab_node() { # node
    local name
    . "$LUCID_LAB/conf"
    name=$(node_name "$1")
    hostname "$name"
    private_tmp
    mkdir -p /dev/shm
    mount -n -t tmpfs -o mode=1777 tmpfs /dev/shm
    mount -n -t sysfs sysfs /sys
    echo 1 2>/dev/null >/proc/sys/net/ipv6/conf/default/disable_ipv6 || :
    # With others (BBR, CUBIC) the end of a message is held back now and then, for 4 to 8 ms: README.md.
    echo reno 2>/dev/null >/proc/sys/net/ipv4/tcp_congestion_control || :
    : >"$LUCID_LAB/born.$name"
    wait_for "$LUCID_LAB/wired.$name" 30
    ip link set "eth$1" name eth0
    ip link set eth0 mtu "$MTU"
    ip addr add "$(node_address "$1")/24" dev eth0
    ip link set lo up
    ip link set eth0 up
    shape eth0 "$RATE"
    : >"$LUCID_LAB/up.$name"
    exec sleep infinity
}

# A /tmp of the node's own, in which only the directories to be kept are those of the machine.
private_tmp() {
    local stage=$LUCID_LAB/mnt directory
    mount -n -t tmpfs -o mode=1777 tmpfs "$stage"
    while read -r directory; do
        case $directory in
            /tmp/*)
                mkdir -p "$stage/${directory#/tmp/}"
                mount -n --rbind "$directory" "$stage/${directory#/tmp/}"
                ;;
        esac
    done <"$LUCID_LAB/keep"
    mount -n --move "$stage" /tmp
}
