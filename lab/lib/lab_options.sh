# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# The options of up and with.

need_number() { # option value lowest highest
    if [[ ! $2 =~ ^[0-9]{1,6}$ ]] || [ "$((10#$2))" -lt "$3" ] || [ "$((10#$2))" -gt "$4" ]; then
        bad_usage "$1 must be a number from $3 to $4, not '$2'"
    fi
}

need_rate() { # option value
    [[ $2 =~ ^[0-9]+(\.[0-9]+)?[kmgt]?bit$ && ! $2 =~ ^[0.]+[kmgt]?bit$ ]] ||
        bad_usage "$1 must be a rate such as 1gbit or 200mbit, not '$2'"
}

# Sets NODES ... KEEP from the arguments; LAB_REST is what follows "--", LAB_HAS_REST whether there was one.
parse_options() {
    NODES=4 SLOTS=4 RATE=1gbit QDISC=htb RACKS=1 UPLINK='' MTU=1500 KEEP=()
    LAB_REST=() LAB_HAS_REST=0
    while [ $# -gt 0 ]; do
        local option=$1 value
        shift
        case $option in
            --) LAB_HAS_REST=1 LAB_REST=("$@"); break ;;
            --*=*) value=${option#*=} option=${option%%=*} ;;
            --nodes | --slots | --rate | --qdisc | --racks | --uplink | --mtu | --keep)
                [ $# -gt 0 ] || bad_usage "$option needs a value"
                value=$1
                shift
                ;;
            *) bad_usage "unknown option '$option'; see lab --help" ;;
        esac
        set_option "$option" "$value"
    done
    [ "$RACKS" -le "$NODES" ] || bad_usage "--racks $RACKS is more than --nodes $NODES"
    [ -z "$UPLINK" ] || [ "$RACKS" -gt 1 ] || bad_usage "--uplink needs --racks of at least 2"
}

set_option() { # option value
    case $1 in
        --nodes) need_number "$@" 1 240; NODES=$((10#$2)) ;;
        --slots) need_number "$@" 1 1024; SLOTS=$((10#$2)) ;;
        --racks) need_number "$@" 1 240; RACKS=$((10#$2)) ;;
        --mtu) need_number "$@" 576 65535; MTU=$((10#$2)) ;;
        --rate) need_rate "$@"; RATE=$2 ;;
        --uplink) need_rate "$@"; UPLINK=$2 ;;
        --keep) set_keep "$2" ;;
        --qdisc)
            case $2 in htb | tbf | none) QDISC=$2 ;; *) bad_usage "--qdisc must be htb, tbf or none, not '$2'" ;; esac
            ;;
        *) bad_usage "unknown option '$1'; see lab --help" ;;
    esac
}

set_keep() { # directory
    local directory
    directory=$(readlink -e "$1") && [ -d "$directory" ] || bad_usage "--keep $1: no such directory"
    [ "$directory" != /tmp ] || bad_usage "--keep /tmp: every node has a /tmp of its own; name a directory in it"
    KEEP+=("$directory")
}
