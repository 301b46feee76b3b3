# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the scripts in tools/: where the tree is, how to speak, and an environment that is the system's own.

LUCID_TREE=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
LUCID_PYTHON=/usr/bin/python3
export LUCID_TREE LUCID_PYTHON

# A virtual environment's python would find neither the packages of the system nor its mpi4py.
unset PYTHONPATH PYTHONHOME PYTHONSTARTUP VIRTUAL_ENV CONDA_PREFIX

say() { printf '== %s\n' "$*"; }
warn() { printf 'lucid: %s\n' "$*" >&2; }
die() {
    warn "$*"
    exit 1
}
