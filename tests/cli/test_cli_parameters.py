# SPDX-License-Identifier: BSD-3-Clause
"""The table of names in docs/parameters.md: what an option sets, what parameters there are, what Open MPI calls them."""
import os
import re
import shlex
import subprocess

import pytest

from conftest import ROOT, environment
from lucid.cli import parser, run

OWN = {"-n", "-np", "--np", "--mpiexec", "--force", "-q", "--quiet", "--dry-run", "-h", "--help", "--output"}  # of the command alone


def text_of(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as stream:
        return stream.read()


def table():
    """(options, variables, MCA variables) of each row."""
    part = text_of("docs", "parameters.md").split("## By which name where")[1]
    cells = [line.strip("|").split("|") for line in part.splitlines() if line.startswith("|")][2:]
    return [tuple(re.findall(r"`([^`]+)`", cell) for cell in row) for row in cells]


def names(column):
    return [name for row in table() for name in row[column]]


def options():
    return [option.split()[0].split("=")[0] for option in names(0)]


def test_every_option_of_run_has_a_row():
    commands = next(action for action in parser()._actions if action.choices and "run" in action.choices)
    known = {option for action in commands.choices["run"]._actions for option in action.option_strings}
    assert set(options()) == known - OWN


def test_every_parameter_has_a_row_and_there_is_no_other():
    declared = re.findall(r"^LUCID_PARAM\((\w+),", text_of("src", "core", "params.def"), re.M)
    assert set(names(1)) == {"LUCID_" + name for name in declared}


def mca_of(component):
    return {name for name in names(2) if re.match(r"coll_%s(_|$)" % component, name)}


def by_the_rule(variable):
    """What a component calls a parameter of its own; LUCID_SPARSE is liblucid's."""
    own = re.match(r"LUCID_(LAZY|HIER|SPARSE_)", variable)
    return ["coll" + variable[len("LUCID"):].lower()] if own else []


def test_components_variables_are_named_by_the_rule():
    for _, variables, mca in table():
        found = [name for name in mca if name.startswith("coll_") and not name.startswith("coll_hier_test_")]
        assert found == [name for variable in variables for name in by_the_rule(variable)]


@pytest.mark.parametrize("component", ["sparse", "hier", "lazy"])
def test_open_mpi_lists_the_same(lucid, component):
    folder = os.path.join(os.path.dirname(os.environ.get("LUCID_COMMAND", "")), "..", "lib", "lucid", "openmpi")
    mpirun = os.environ.get("LUCID_MPIEXEC", "mpirun")
    info = os.path.join(os.path.dirname(mpirun), "ompi_info")
    if not os.path.exists(os.path.join(folder, "mca_coll_%s.so" % component)) or not os.access(info, os.X_OK):
        pytest.skip("coll/%s was not built, or there is no ompi_info beside mpirun" % component)
    asked = subprocess.run([info, "--param", "coll", component, "--level", "9", "--parsable"], stdout=subprocess.PIPE, timeout=60,
                           env=environment(OMPI_MCA_mca_base_component_path=os.path.abspath(folder)), universal_newlines=True)
    listed = set(re.findall(r":param:(coll_%s(?:_\w+)?):value:" % component, asked.stdout))
    assert listed == mca_of(component)


def given(option):
    """An option of the table as a user would write it."""
    return {"-o DIR": [], "--trace": ["--trace"], "--source S": ["--source", "pml"], "--reorder PROFILE": ["--reorder", "topology"]}.get(
        option, [option])


def set_by(lucid, fake, words, env):
    done = lucid("run", *words, "--dry-run", "mpirun", "-n", "2", "true", env={**fake, **env})
    assert (done.code, done.err) == (0, "")
    told = shlex.split(done.out)
    return {word.split("=")[0] for word in told[1:told.index("mpirun")]}


def test_what_an_option_sets(lucid, fake, tmp_path):
    """Every row with an option, the variables of the environment of this test apart."""
    modules = tmp_path / "modules"
    (modules / "openmpi").mkdir(parents=True)
    for name in ("sparse", "lazy", "hier"):
        (modules / "openmpi" / ("mca_coll_%s.so" % name)).write_bytes(b"")
    env = {"LUCID_LIBDIR": modules, "OMPI_MCA_mca_base_component_path": str(tmp_path)}
    always = set_by(lucid, fake, [], env)
    assert "LUCID_DIR" in always
    for row, (alternatives, variables, _) in enumerate(table()):
        for option in (one for one in alternatives if one not in ("--place", "--all")):
            if "--sparse=measure" in alternatives and option == "--sparse":
                continue
            found = set_by(lucid, fake, given(option), env) - always | ({"LUCID_DIR"} if "LUCID_DIR" in variables else set())
            assert found == set(variables), (row, option)
    (modules / "openmpi" / "mca_coll_sparse.so").unlink()
    assert set_by(lucid, fake, ["--sparse"], env) - always == {"LUCID_SPARSE"}
    assert "--source" in run._VALUED
