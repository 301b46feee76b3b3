# SPDX-License-Identifier: BSD-3-Clause
"""lucid run --startup, and what lucid show makes of it."""
import json
import os
import shutil
import subprocess

import pytest

from conftest import DATA, built, environment

COST = {"bytes": 0, "bytes_of_a_process": 0, "ids": 0, "messages": 0, "message_bytes": 0, "seconds": 0.0}


def communicator(name, **values):
    return {"name": name, "number": 3, "size": 4, "created_by": "MPI_Comm_dup", "used_by": None, "modules": "waiting",
            "allreduce": None, "freed": False, "creation": dict(COST), "first_use": dict(COST), **values}


@pytest.fixture
def report(tmp_path):
    """A report with a startup.json that the test writes."""
    place = tmp_path / "report"
    shutil.copytree(os.path.join(DATA, "report4"), str(place))

    def write(data):
        (place / "startup.json").write_text(data if isinstance(data, str) else json.dumps(data))
        return place
    return write


def test_show_adds_up_and_sorts(lucid, report):
    large = communicator("large", used_by="allreduce", modules="own", allreduce="han",
                         creation=dict(COST, bytes=8000, bytes_of_a_process=2000, ids=1, messages=18),
                         first_use=dict(COST, bytes=160000, bytes_of_a_process=40000, ids=4, messages=774))
    small = communicator("small", creation=dict(COST, bytes=4000, bytes_of_a_process=1000, ids=1, messages=18))
    done = lucid("show", report({"format": "lucid-startup", "version": 1, "layer": "share", "ranks": 4,
                                 "communicators": [small, large]}))
    lines = done.out.splitlines()
    assert done.code == 0
    first = next(i for i, line in enumerate(lines) if line.startswith("large "))
    assert lines[first].split() == "large 4 Comm_dup 2.00 kB 18 1 allreduce 40.0 kB 774 4 own (han)".split()
    assert lines[first + 1].split() == "small 4 Comm_dup 1.00 kB 18 1 - 0 B 0 0 waiting".split()
    assert lines[first + 2].split() == "total 12.0 kB 36 2 160 kB 774 4".split()
    top = lucid("show", "--top", "1", report({"format": "lucid-startup", "version": 1, "layer": "off", "ranks": 4,
                                              "communicators": [small, large]}))
    assert "and 1 more (--top N)" in top.out and "Open MPI's own selection" in top.out


@pytest.mark.parametrize("damaged", [
    "{", "[]", {"format": "lucid-session"}, {"format": "lucid-startup", "version": 1, "layer": "share", "ranks": 4},
    {"format": "lucid-startup", "version": 1, "layer": "share", "ranks": 4, "communicators": [{"name": "x"}]},
    {"format": "lucid-startup", "version": 1, "layer": "share", "ranks": 4,
     "communicators": [communicator("x", creation=dict(COST, bytes="many"))]}])
def test_a_damaged_file_is_said_so(lucid, report, damaged):
    done = lucid("show", report(damaged))
    assert done.code != 0 and "startup.json" in done.err and len(done.err.splitlines()) == 1


def made(place):
    data = json.loads((place / "startup.json").read_text())
    return data, {one["name"]: one for one in data["communicators"]}


def run(lucid, tmp_path, mode):
    done = lucid("run", "--startup=" + mode, "-o", "report", "-n", "3", built("cli_dups"))
    if done.code == 125:
        pytest.skip(done.err.strip())
    assert (done.code, done.out) == (0, "")
    return made(tmp_path / "report")


@pytest.mark.parametrize("mode, first, second, idle", [("share", "own", "shared", "waiting"), ("delay", "own", "own", "waiting"),
                                                       ("alone", "own", "own", "own")])
def test_what_communicators_cost(lucid, tmp_path, mode, first, second, idle):
    data, found = run(lucid, tmp_path, mode)
    dups = [found[name] for name in ("first", "second", "idle", "child")]
    assert data["ranks"] == 3 and [one["modules"] for one in dups] == [first, second, idle, idle]
    assert all(one["created_by"] == "MPI_Comm_dup" and one["size"] == 3 for one in dups)
    assert [one["used_by"] for one in dups] == ["barrier", "barrier", None, None]
    assert found["idle"]["freed"] and not found["first"]["freed"]
    # three allreduces of one number agree on a context id: 2 (p - 1) messages each, or p log2(p) in half as many turns
    assert found["child"]["creation"]["messages"] == (12 if mode == "alone" else 18)
    assert found["child"]["creation"]["ids"] == 1
    assert found["second"]["first_use"]["messages"] >= 3
    shown = lucid("show", "report")
    assert shown.code == 0 and "Comm_dup" in shown.out


def test_what_waits_is_smaller(lucid, tmp_path):
    alone = run(lucid, tmp_path, "alone")[1]
    shutil.rmtree(str(tmp_path / "report"))
    waiting = run(lucid, tmp_path, "share")[1]
    assert 0 < waiting["child"]["creation"]["bytes_of_a_process"] < alone["child"]["creation"]["bytes_of_a_process"] - 3000


def test_both_ways(lucid, tmp_path):
    done = lucid("run", "--startup=compare", "-o", "report", "-n", "3", built("cli_dups"))
    if done.code == 125:
        pytest.skip(done.err.strip())
    alone, shared = made(tmp_path / "report" / "before")[0], made(tmp_path / "report" / "after")[0]
    assert (done.code, done.out, alone["layer"], shared["layer"]) == (0, "", "off", "share")
    said = [line for line in done.err.splitlines() if line.startswith("lucid run --startup: ")]
    assert len(said) == 2 and "Open MPI alone: communicators took" in said[0] and "with coll/lazy" in said[1]
    compared = lucid("compare", "report")
    assert compared.code == 0 and "bytes per communicator" in compared.out
    again = lucid("run", "--startup=compare", "--place", "-n", "3", built("cli_dups"))
    assert again.code == 2 and "--place" in again.err


def test_the_programs_own_communicators_are_untouched(lucid, tmp_path):
    done = lucid("run", "--startup", "-n", "2", built("cli_ring_c"))
    if done.code == 125:
        pytest.skip(done.err.strip())
    assert (done.code, done.out) == (0, "sum 1 of 2\n")


def needs_component():
    folder = os.path.join(os.path.dirname(os.environ.get("LUCID_COMMAND", "")), "..", "lib", "lucid", "openmpi")
    if not os.path.exists(os.path.join(folder, "mca_coll_lazy.so")):
        pytest.skip("coll/lazy was not built")


def test_a_bad_value_is_said_once(lucid, tmp_path):
    """liblucid and the components each read the table for themselves."""
    program = built("cli_dups")
    needs_component()
    done = lucid("run", "-q", "--startup", "-n", "1", program, env={"LUCID_LAZY_GROUPS": "many"})
    assert done.code == 0
    assert done.err.splitlines() == ["lucid: error: LUCID_LAZY_GROUPS=many is not valid (0..65536): using 64"]


@pytest.mark.parametrize("option, component, name", [("--startup", "lazy", "groups"), ("--sparse", "sparse", "short")])
def test_where_both_names_are_given_the_mca_variable_counts(lucid, option, component, name):
    program = built("cli_dups")
    needs_component()
    own, theirs = "LUCID_%s_%s" % (component.upper(), name.upper()), "OMPI_MCA_coll_%s_%s" % (component, name)
    env = {own: "5", theirs: "7", "LUCID_LOG": "warn"}
    done = lucid("run", "-q", option, "-n", "1", program, env=env)
    assert done.code == 0
    assert f"lucid: warn: coll/{component}: the MCA variable's 7 is used, not {own}=5" in done.err.splitlines()
    done = lucid("run", "-q", option, "-n", "1", program, env={**env, theirs: "5"})
    assert done.code == 0 and "MCA" not in done.err


@pytest.mark.parametrize("option, name, said", [("--startup", "coll_lazy_groups", "0..65536): using 64"), ("--sparse", "coll_sparse_short", "bytes|measured): using measured")])
def test_a_bad_mca_variable_is_said_by_its_own_name(lucid, option, name, said):
    program = built("cli_dups")
    needs_component()
    done = lucid("run", "-q", option, "-n", "1", program, env={"OMPI_MCA_" + name: "many"})
    assert done.code == 0
    assert [line.partition("error: ")[2] for line in done.err.splitlines() if line.startswith("lucid: ")] == [f"MCA variable {name}=many is not valid ({said}"]


def test_components_by_themselves_say_it_once():
    """Without liblucid each component complains of its own parameters."""
    program = built("cli_dups")
    needs_component()
    folder = os.path.abspath(os.path.join(os.path.dirname(os.environ["LUCID_COMMAND"]), "..", "lib", "lucid", "openmpi"))
    found = subprocess.run(["ompi_info", "--path", "pkglibdir", "--parsable"], capture_output=True, text=True, check=True).stdout
    env = environment(OMPI_MCA_mca_base_component_path=f"{found.strip().rpartition(':')[2]}:{folder}", LUCID_SPARSE_SHORT="foo", LUCID_LAZY_GROUPS="many")
    done = subprocess.run([os.environ["LUCID_MPIEXEC"], "-n", "1", program], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    said = sorted(line for line in done.stderr.splitlines() if line.startswith("lucid: "))
    assert said == ["lucid: error: LUCID_LAZY_GROUPS=many is not valid (0..65536): using 64",
                    "lucid: error: LUCID_SPARSE_SHORT=foo is not valid (bytes|measured): using measured"]
