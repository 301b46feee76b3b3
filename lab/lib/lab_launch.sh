# shellcheck shell=bash
# SPDX-License-Identifier: BSD-3-Clause
# MPI launchers. Defaults go into the environment (a parameter given twice on a command line is an error to Open MPI), so
# what the user has set there, or writes on the command line, comes first.

default() { # NAME value
    [ -n "${!1+set}" ] || export "$1=$2"
}

# openmpi4, openmpi5, openmpi6 (and later) or hydra.
launcher_kind() { # path
    local words
    words=$("$1" --version 2>/dev/null | head -n 2 | tr '\n' ' ') || :
    case $words in
        *"Open MPI) 4."* | *OpenRTE*" 4."*) echo openmpi4 ;;
        *"Open MPI) 5."*) echo openmpi5 ;;
        *"Open MPI) "*) echo openmpi6 ;;
        *HYDRA* | *[Hh]ydra*) echo hydra ;;
        *) return 1 ;;
    esac
}

openmpi_environment() {
    local network=$1
    # Ranks of several nodes share the machine's CPUs: no binding, and who waits gives way.
    default OMPI_MCA_mpi_yield_when_idle 1
    default OMPI_MCA_pml ^ucx,cm
    default OMPI_MCA_osc ^ucx
    default OMPI_MCA_btl_tcp_if_include "$network"
    default OMPI_ALLOW_RUN_AS_ROOT 1
    default OMPI_ALLOW_RUN_AS_ROOT_CONFIRM 1
}

openmpi4_environment() {
    openmpi_environment 10.77.0.0/24
    default OMPI_MCA_btl self,vader,tcp
    default OMPI_MCA_oob_tcp_if_include 10.77.0.0/24
    default OMPI_MCA_hwloc_base_binding_policy none
    default OMPI_MCA_plm rsh
    default OMPI_MCA_plm_rsh_agent "$LUCID_LAB/agent"
    LAUNCH_OPTIONS=(--hostfile "$LUCID_LAB/hostfile")
}

prrte_environment() {
    openmpi_environment eth0
    default OMPI_MCA_btl self,sm,tcp
    default PRTE_ALLOW_RUN_AS_ROOT 1
    default PRTE_ALLOW_RUN_AS_ROOT_CONFIRM 1
    default PRTE_MCA_plm ssh
    default PRTE_MCA_plm_ssh_agent "$LUCID_LAB/agent"
    default PRTE_MCA_prte_if_include eth0
    LAUNCH_OPTIONS=(--hostfile "$LUCID_LAB/hostfile")
}

openmpi5_environment() {
    prrte_environment
    default PRTE_MCA_hwloc_default_binding_policy none
    default PRTE_MCA_rmaps_default_mapping_policy slot:oversubscribe
}

# The same by new names: it warns of the old ones.
openmpi6_environment() {
    prrte_environment
    default PRTE_MCA_bindto none
    default PRTE_MCA_mapby slot:oversubscribe
}

hydra_environment() {
    default FI_PROVIDER tcp
    default FI_TCP_IFACE eth0
    default UCX_NET_DEVICES eth0
    default UCX_TLS tcp,self
    # Without these, ranks that share a CPU spin: a barrier takes 60 ms instead of 1 to 3.
    default MPIR_CVAR_CH4_PROGRESS_THROTTLE 1
    default MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT 20
    LAUNCH_OPTIONS=(-f "$LUCID_LAB/machinefile" -launcher ssh -launcher-exec "$LUCID_LAB/agent" -iface eth0)
}

lab_launch() { # program arguments...
    local program kind
    program=$(type -P "$1") || die "there is no $1 on PATH; install an MPI library or add its bin directory to PATH"
    shift
    kind=$(launcher_kind "$program") || die "$program is neither Open MPI's nor MPICH's launcher"
    lab_need
    "${kind}_environment"
    export TMPDIR=/tmp # the node's own
    LUCID_LAB_JOB=$(identity $$)
    export LUCID_LAB_JOB=${LUCID_LAB_JOB/ /.}
    if [ -n "${LUCID_LAB_INSIDE:-}" ]; then lab_job "$program" "${LAUNCH_OPTIONS[@]}" "$@"; exit; fi
    enter_hub stay "$LAB_SELF" _job "$program" "${LAUNCH_OPTIONS[@]}" "$@"
}

# In the hub. A launcher that is killed, or told to end and slow at it, leaves nothing behind: LUCID_LAB_JOB in their
# environment gives away its processes. It has a session of its own, so that a signal to the whole group comes once.
lab_job() { # program arguments...
    # When the hub is killed meanwhile, nothing can be started any more; what bash says about it is no news.
    exec {LAB_STDERR}>&2 2>/dev/null
    trap 'exit "${CHILD_STATUS:-137}"' EXIT
    run_child "TERM INT" job_command "$@"
    if [ "$CHILD_STATUS" -gt 128 ]; then
        env -u LUCID_LAB_JOB "$LAB_SELF" _sweep "$LUCID_LAB_JOB"
    fi
}

job_command() { # program arguments...
    exec 2>&"$LAB_STDERR" {LAB_STDERR}>&-
    exec setsid env --default-signal=INT,QUIT setpriv --pdeathsig TERM "$LAB_SELF" exec 0 "$@"
}

processes_of_job() { # job
    local file
    while read -r file; do
        file=${file#/proc/}
        echo "${file%/environ}"
    done < <(grep -lzxF "LUCID_LAB_JOB=$1" /proc/[0-9]*/environ 2>/dev/null)
}

# A process of its own, because only children of the one above have the lab's pids.
lab_sweep() { # job
    local tries pids
    for ((tries = 0; tries < 20; tries++)); do
        mapfile -t pids < <(processes_of_job "$1")
        [ ${#pids[@]} -gt 0 ] || return 0
        sleep 0.1
    done
    kill -KILL "${pids[@]}" 2>/dev/null || :
}
