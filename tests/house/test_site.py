# SPDX-License-Identifier: BSD-3-Clause
"""What a site offers its users: the files for `mpirun --tune` and the module file name the prefix and do what they say."""
import glob
import os
import shutil
import subprocess

import pytest

from house import setting
from test_install import files_below, library_dir, run, tool


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """An install that stays where it was put."""
    place = tmp_path_factory.mktemp("site") / "lucid"
    tool("install", setting("LUCID_BUILD_DIR"), place)
    return place


def share(prefix, name):
    path = prefix / "share" / "lucid" / name
    if not path.exists():
        pytest.skip("this MPI library has no components of Lucid's")
    return path


def tuned(path, *command, **environment):
    return run(setting("LUCID_MPIEXEC"), "--tune", path, "-n", "3", *command, env=environment)


def test_sparse_reductions_by_a_file(prefix):
    program = os.path.join(setting("LUCID_BUILD_DIR"), "tests", "cli", "cli_taken")
    path = share(prefix, "lucid-sparse.conf")
    assert run(setting("LUCID_MPIEXEC"), "-n", "3", program) == "sum 2400 absent\n"
    assert tuned(path, program, LUCID_SPARSE_ALWAYS="1") == "sum 2400 taken 5\n"


def test_lazy_communicators_by_a_file(prefix):
    path = share(prefix, "lucid-startup.conf")
    said = tuned(path, "/bin/sh", "-c", 'echo "$LUCID_LAZY $LD_PRELOAD $LUCID_COMPONENT_PATH"').splitlines()
    libdir = library_dir(prefix)
    assert set(said) == {"share %s %s:SYS_DEFAULT:USER_DEFAULT" % (os.path.join(libdir, "liblucid.so.0"),
                                                                   os.path.join(libdir, "lucid", "openmpi"))}
    program = os.path.join(setting("LUCID_BUILD_DIR"), "tests", "cli", "cli_taken")
    assert tuned(path, program).startswith("sum 2400 ")


def modulecmd():
    for path in [shutil.which("modulecmd.tcl"), "/usr/lib/x86_64-linux-gnu/modulecmd.tcl", *glob.glob("/usr/lib/*/modulecmd.tcl"),
                 *glob.glob("/usr/share/modules/libexec/modulecmd.tcl")]:
        if path and os.path.exists(path):
            return path
    pytest.skip("needs Environment Modules (package environment-modules)")


def test_the_module_file(prefix, tmp_path):
    """In a shell: the command, the library and man pages are there after module load, and gone after unload."""
    command = modulecmd()
    modules = prefix / "share" / "lucid" / "modulefiles"
    script = """
        module() { eval "$(/usr/bin/tclsh '%s' sh "$@")"; }
        module use '%s'
        before=$PATH:$LD_LIBRARY_PATH:$PKG_CONFIG_PATH
        module load lucid && lucid --version && pkg-config --modversion lucid && echo "$LD_LIBRARY_PATH" && module unload lucid
        [ "$PATH:$LD_LIBRARY_PATH:$PKG_CONFIG_PATH" = "$before" ] && echo as before
    """ % (command, modules)
    if not os.path.exists("/usr/bin/tclsh"):
        pytest.skip("needs tclsh")
    env = {"LD_LIBRARY_PATH": "/one", "PKG_CONFIG_PATH": "/two", "MODULEPATH": str(tmp_path)}
    said = run("/bin/sh", "-c", script, env=env).splitlines()
    version = said[0].split()[-1]
    assert said == ["lucid " + version, version, "%s:/one" % library_dir(prefix), "as before"]


def test_nothing_is_left_open(prefix):
    for name in files_below(prefix / "share" / "lucid"):
        if name != "files":
            text = (prefix / "share" / "lucid" / name).read_text()
            assert "@" not in text and str(prefix) in text, name


def test_they_go_with_the_rest(prefix, tmp_path):
    place = tmp_path / "again"
    tool("install", setting("LUCID_BUILD_DIR"), place)
    tool("uninstall", place)
    assert files_below(place) == []
