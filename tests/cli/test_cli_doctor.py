# SPDX-License-Identifier: BSD-3-Clause
"""lucid doctor: what it finds here, and what it says where something is missing."""
import json
import os

import pytest

from lucid import doctor, doctor_systems


@pytest.fixture
def here(lucid):
    """The findings on this machine."""
    if not os.environ.get("LUCID_COMMAND"):
        pytest.skip("needs a built liblucid: run this test through ctest -L cli")
    return lucid


def trials(found):
    return {trial["source"]: trial for trial in found["trials"]}


def test_sources_are_really_tried(here):
    done = here("doctor", "--json")
    found = json.loads(done.out)
    assert done.code == 0 and found["ok"] and found["chosen"] in trials(found)
    assert set(trials(found)) == {"pml", "mpit", "pmpi"} and trials(found)["pmpi"]["works"]
    for trial in found["trials"]:
        for check in trial["checks"]:
            if check["ran"] and not trial["blind"]:
                assert check["counted"] == check["sent"], (trial["source"], check)
    assert {row[0] for row in found["parameters"]} >= {"LUCID_SOURCE", "LUCID_LOG", "LUCID_DIR"}


def test_text(here):
    done = here("doctor")
    assert done.code == 0 and done.err == "" and done.out.splitlines()[-1].startswith("Lucid works here, with ")
    for word in ("library ", "MPI ", "launcher ", "point-to-point", "exact", "LUCID_SOURCE (auto|pml|mpit|pmpi; default auto)"):
        assert word in done.out


def systems(found):
    return {system["name"]: system for system in found["systems"]}


def test_systems_are_really_tried(here):
    found = json.loads(here("doctor", "--json").out)
    said = systems(found)
    assert list(said) == ["traffic", "placement", "sparse", "start-up", "coll/hier"]
    assert said["traffic"]["works"] and said["traffic"]["how"] == "source " + found["chosen"]
    assert said["placement"]["works"] and said["placement"]["how"].startswith("mappers treematch, multilevel")
    folder = os.path.dirname(found["probe"])
    for name, component in (("sparse", "sparse"), ("start-up", "lazy"), ("coll/hier", "hier")):
        if os.path.exists(os.path.join(folder, "openmpi", "mca_coll_%s.so" % component)):
            assert said[name]["works"] and said[name]["how"] == "coll/" + component, said[name]
            assert f"{name:<12}yes" in here("doctor").out
        else:
            assert said[name]["works"] == (name == "sparse") and "coll/%s" % component in said[name]["how"]


@pytest.fixture
def elsewhere(here, tmp_path):
    """A directory of modules with some of what the build has; the one that is given."""
    def make(*names):
        folder = os.path.dirname(json.loads(here("doctor", "--json").out)["probe"])
        (tmp_path / "modules" / "openmpi").mkdir(parents=True)
        for name in ("lucid_doctor_probe", "lucid_pml.so", *names):
            if os.path.exists(os.path.join(folder, name)):
                os.symlink(os.path.join(folder, name), str(tmp_path / "modules" / name))
        return tmp_path / "modules"
    return make


def test_without_components(here, elsewhere):
    """Sparse reductions have another way, start-up has none; Scotch is a plug-in."""
    found = json.loads(here("doctor", "--json", env={"LUCID_LIBDIR": elsewhere()}).out)
    said = systems(found)
    assert said["sparse"]["works"] and said["sparse"]["how"].startswith("preloaded library; coll/sparse ")
    assert not said["start-up"]["works"] and not said["coll/hier"]["works"] and found["ok"]
    assert said["placement"]["works"] and "scotch" not in said["placement"]["how"] and "libscotch-dev" in said["placement"]["remedy"]


def test_a_component_that_open_mpi_does_not_take(here, elsewhere):
    place = elsewhere()
    for name in ("sparse", "lazy"):
        (place / "openmpi" / ("mca_coll_%s.so" % name)).write_bytes(b"no library")
    found = json.loads(here("doctor", "--json", env={"LUCID_LIBDIR": place}).out)
    if "Open MPI" not in found["mpi"]:
        pytest.skip("components are Open MPI's")
    said = systems(found)
    assert not said["start-up"]["works"] and said["start-up"]["how"] == "coll/lazy is there, and Open MPI did not use it"
    assert said["sparse"]["works"] and said["sparse"]["how"].startswith("preloaded library; coll/sparse is there")
    assert any(what.startswith("start-up does not work: ") for what, _ in found["notes"])


def test_why_a_component_does_not_work():
    line = "lucid: rank 0: error: reductions run without coll/sparse: it was built for Open MPI 4.1.4, and this is 4.1.6; build again\n"
    assert doctor_systems._reason("[vm:1] noise\n" + line).startswith("reductions run without coll/sparse: it was built for ")
    assert doctor_systems._reason("noise\n") == ""
    assert doctor_systems.judge(0, 'x\n{"done": true, "coll_lazy_created": 3}\n') == {"done": True, "coll_lazy_created": 3}
    assert doctor_systems.judge(0, "{broken\n") is None and doctor_systems.judge(1, '{"done": true}\n') is None


def test_environment_is_looked_at(here, tmp_path):
    found = json.loads(here("doctor", "--json", env={"LUCID_SORCE": "pml"}).out)
    assert ["LUCID_SORCE is set, but is no parameter of Lucid; meant LUCID_SOURCE?", "unset LUCID_SORCE"] in found["notes"]


def test_without_the_pml_module(here, tmp_path):
    """Where Open MPI's internal headers were missing at the build: the other sources take over."""
    probe = json.loads(here("doctor", "--json").out)["probe"]
    os.symlink(probe, str(tmp_path / "lucid_doctor_probe"))
    done = here("doctor", "--json", env={"LUCID_LIBDIR": tmp_path})
    found = json.loads(done.out)
    assert done.code == 0 and not trials(found)["pml"]["works"] and found["chosen"] in ("mpit", "pmpi")
    assert any("pml" in what for what, _ in found["notes"])


def test_without_a_library(here):
    done = here("doctor", env={"LUCID_LIBRARY": "/none/liblucid.so"})
    assert done.code == 1 and "- LUCID_LIBRARY=/none/liblucid.so: no such file\n" in done.out
    assert done.out.endswith("\nLucid does not work here.\n")


def test_without_mpirun(here):
    done = here("doctor", "--mpiexec", "/none/mpirun")
    assert done.code == 1 and "- /none/mpirun: no such program (--mpiexec)\n" in done.out


def test_mpirun_that_starts_nothing(here, tmp_path):
    (tmp_path / "mpirun").write_text("#!/bin/sh\n[ \"$1\" = --version ] && echo 'mpirun (Open MPI) 4.1.4' && exit\n"
                                     "echo ------ >&2; echo 'There are no slots. Ask somebody.' >&2; exit 1\n")
    (tmp_path / "mpirun").chmod(0o755)
    done = here("doctor", "--mpiexec", tmp_path / "mpirun")
    text = " ".join(done.out.split())
    assert done.code == 1 and "two processes cannot be started: There are no slots -> first make this work: " in text


def test_what_is_said_of_blind_spots():
    trial = doctor.Trial("pml", True, "pml", checks=[{"name": "collectives", "ran": True, "sent": [4, 32], "counted": [0, 0]}],
                         blind=["coll/sm serves allreduce of MPI_COMM_WORLD: messages that bypass the PML are not seen"])
    found = doctor.Findings()
    doctor._check_counts(found, trial)
    assert found.problems == [] and doctor._cure(trial.blind[0]) == "to see them, leave it out: OMPI_MCA_coll=^sm"
    trial.blind = []
    doctor._check_counts(found, trial)
    assert found.problems[0][0] == "pml counted 0 messages (0 B) of collectives traffic, 4 messages (32 B) were sent"


def test_verdicts_on_a_probe():
    trial = doctor.Trial("pml")
    doctor._judge(trial, 1, "", "------\nlucid: rank 1: error: source pml does not work here: no headers: none\nmore\n")
    assert not trial.works and trial.why == "no headers: none"
    doctor._judge(trial, 1, "", "lucid: the probe needs two processes\n")
    assert trial.why == "the probe needs two processes"
    doctor._judge(trial, 0, "garbage\n{broken\n", "")
    assert not trial.works and trial.why == "the probe ended with exit code 0"
    line = '{"source": "pml", "sees": 1, "checks": [{"name": "point-to-point", "ran": true, "sent": [2, 4], "counted": [%s]}]}\n'
    doctor._judge(trial, 0, line % "2, 4", "")
    assert trial.works and trial.used == "pml"
    trial = doctor.Trial("pml")
    doctor._judge(trial, 0, line % "0, 0", "")
    assert not trial.works and trial.why == "it counted none of the messages that were sent"
