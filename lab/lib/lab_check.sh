# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Can a lab be made here?

LAB_TOOLS=(ip tc unshare nsenter setpriv setsid mount flock hostname)

missing_tools() {
    local tool
    for tool in "${LAB_TOOLS[@]}"; do
        type -P "$tool" >/dev/null || echo "$tool"
    done
}

lab_require_tools() {
    local missing
    missing=$(missing_tools | tr '\n' ' ')
    [ -z "$missing" ] || die "not installed: ${missing% } (packages iproute2, util-linux, hostname)"
}

# Says what stands in the way; nothing if nothing does.
lab_obstacle() {
    local missing words
    missing=$(missing_tools | tr '\n' ' ')
    if [ -n "$missing" ]; then echo "not installed: ${missing% } (packages iproute2, util-linux, hostname)"; return; fi
    if [ ! -e /proc/self/ns/net ]; then echo "/proc is not mounted"; return; fi
    if [ ! -e /etc/hosts ]; then echo "there is no /etc/hosts"; return; fi
    if ! words=$( (run_hub "$LAB_SELF" _try) 2>&1 </dev/null); then
        echo "${words##*$'\n'} (it takes root with CAP_SYS_ADMIN and CAP_NET_ADMIN, or a kernel that lets users make namespaces)"
    fi
}

# In namespaces as a hub has them: everything once that a lab needs.
lab_try() {
    make_mounts_private
    mount -n -t proc proc /proc
    mount -n -t sysfs sysfs /sys
    mount -n --bind /etc/hosts /etc/hosts
    mount -n -t tmpfs tmpfs /tmp
    mount -n -t tmpfs tmpfs /dev/shm
    hostname node00
    new_bridge core
    ip link add port0 type veth peer name eth0
    ip link set port0 master core up
    QDISC=htb shape eth0 1gbit
}

lab_check() {
    [ $# -eq 0 ] || bad_usage "check takes no arguments"
    local obstacle
    obstacle=$(lab_obstacle)
    if [ -n "$obstacle" ]; then
        echo "lab: no lab can be made here: $obstacle"
        exit 77
    fi
    echo "lab: a lab can be made here"
}
