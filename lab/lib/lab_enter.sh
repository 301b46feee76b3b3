# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# Ways into the lab. From outside the way leads through the hub: the pids of the nodes' first processes are those of the
# hub's pid namespace. Root and working directory are entered too (nsenter -r -w): a lab may have been made in a chroot.

# Does not return. $1: "fork" to put the command itself into the lab's pid namespace, with nsenter waiting for it outside;
# "stay" to leave this process outside and have only its children inside.
enter_hub() { # fork|stay command...
    local how=$1 pid options=(-n -u -m -i -p -r -w)
    shift
    pid=$(pid_in "$LUCID_LAB/hub")
    [ "$(readlink "/proc/$pid/ns/user")" = "$(readlink /proc/self/ns/user)" ] || options+=(-U --preserve-credentials)
    [ "$how" = fork ] || options+=(-F)
    LUCID_LAB_INSIDE=1 exec nsenter -t "$pid" "${options[@]}" -- "$LAB_SELF" _inside "$PWD" "$@"
}

# First thing inside: back to the directory of the caller.
lab_inside() { # directory command...
    cd "$1" 2>/dev/null || die "the nodes do not see the directory $1; start the lab from there or with --keep $1"
    shift
    exec "$@"
}

# Does not return. From within the hub or a node.
enter_node() { # node command...
    local name=$1 pid
    shift
    pid=$(pid_in "$LUCID_LAB/node.$name")
    exec nsenter -t "$pid" -n -u -m -i -r -w -- "$LAB_SELF" _inside "$PWD" "$@"
}

# The name of the node that the user means by "3", "node03" or "hub".
resolve_node() { # node
    local number=$1
    if [ "$1" = hub ]; then echo hub; return; fi
    [[ $number =~ ^node[0-9]+$ ]] && number=${number#node}
    . "$LUCID_LAB/conf"
    if [[ ! $number =~ ^[0-9]{1,3}$ ]] || [ "$((10#$number))" -ge "$NODES" ]; then
        bad_usage "there is no node '$1': the nodes are 0 to $((NODES - 1)), and hub"
    fi
    node_name "$((10#$number))"
}

lab_exec() { # node command...
    [ $# -ge 2 ] || bad_usage "usage: lab exec NODE COMMAND..."
    lab_need
    local name
    name=$(resolve_node "$1")
    shift
    if [ -z "${LUCID_LAB_INSIDE:-}" ]; then
        # Who kills this process means the command.
        enter_hub fork setpriv --pdeathsig TERM "$LAB_SELF" exec "$name" "$@"
    fi
    if [ "$name" = hub ]; then exec "$@"; fi
    enter_node "$name" "$@"
}

# What MPI launchers call in the place of ssh: agent [options] HOST COMMAND...
lab_agent() {
    while [ $# -gt 0 ]; do
        case $1 in
            -l | -p | -o | -i | -F) shift 2 ;;
            -*) shift ;;
            *) break ;;
        esac
    done
    local host=${1#*@}
    shift
    case $host in 10.77.0.*) host=$((${host##*.} - 10)) ;; esac
    host=$(resolve_node "$host")
    cd /
    if [ "$(hostname)" = "$host" ]; then exec /bin/sh -c "$*"; fi
    enter_node "$host" /bin/sh -c "$*"
}
