# SPDX-License-Identifier: BSD-3-Clause
"""lucid install --user: components where Open MPI looks by itself; refusals change nothing; uninstall takes out what was put in."""
import json
import os
import shutil
import subprocess

import pytest

from conftest import built, environment
from lucid import components, user_components, user_setting

ALWAYS = {"LUCID_SPARSE_ALWAYS": "1"}


@pytest.fixture
def home(tmp_path):
    """A home of its own, for a Lucid that has components."""
    command = os.environ.get("LUCID_COMMAND")
    if not command:
        pytest.skip("needs a built liblucid: run this test through ctest -L cli")
    beside = os.path.join(os.path.dirname(os.path.dirname(command)), "lib", "lucid", "openmpi", "mca_coll_sparse.so")
    if not os.path.exists(beside):
        pytest.skip("this MPI library has no components of Lucid's")
    place = tmp_path / "home"
    place.mkdir()
    return place


def files(home):
    return sorted(os.path.relpath(os.path.join(top, name), str(home)) for top, _, names in os.walk(str(home)) for name in names)


def launch(home, *options, program=None, **changes):
    """What the program prints when it is started without lucid and without a path; nothing else is said."""
    env = environment(HOME=home, **changes)
    assert not [name for name in env if "component_path" in name.lower()]
    done = subprocess.run([os.environ["LUCID_MPIEXEC"], *options, "-n", "3", program or built("cli_taken")], env=env, cwd=str(home),
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)
    text = done.stdout.decode() + done.stderr.decode()
    assert done.returncode == 0, text
    return text


def test_found_without_a_path_and_gone_again(lucid, home):
    env = {"HOME": str(home)}
    assert launch(home) == "sum 2400 absent\n"
    done = lucid("install", "--user", env=env)
    assert (done.code, done.err) == (0, "") and "coll/sparse" in done.out and str(home) in done.out
    assert ".openmpi/components/mca_coll_sparse.so" in files(home)
    assert launch(home, **ALWAYS) == "sum 2400 taken 0\n"  # there, and off until asked for
    assert launch(home, "--mca", "coll_sparse_priority", "60", **ALWAYS) == "sum 2400 taken 5\n"
    assert lucid("install", "--user", env=env).code == 0  # again: an update
    taken = lucid("uninstall", "--user", env=env)
    assert (taken.code, taken.err) == (0, "") and "coll/sparse" in taken.out
    assert os.listdir(str(home)) == []
    assert launch(home) == "sum 2400 absent\n"
    again = lucid("uninstall", "--user", env=env)
    assert (again.code, again.out, again.err.count("\n")) == (1, "", 1)
    assert again.err.startswith("lucid uninstall: nothing of Lucid's")


def test_a_user_who_is_not_root(lucid, home):
    """All of it as nobody, who has nothing but a home."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("needs root, to become somebody else, and setpriv")
    open_up(home)
    drop = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "env", "HOME=%s" % home, "TMPDIR=%s" % home]
    env = environment()

    def as_nobody(*words):
        return subprocess.run([*drop, *words], env=env, cwd=str(home), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=120)
    program = str(home / "program")
    shutil.copy(built("cli_taken"), program)
    if as_nobody("/usr/bin/python3", os.environ["LUCID_COMMAND"], "--version").returncode:
        pytest.skip("somebody who is not root cannot read this build")
    put = as_nobody("/usr/bin/python3", os.environ["LUCID_COMMAND"], "install", "--user")
    assert put.returncode == 0, put.stderr.decode()
    ran = as_nobody("env", "LUCID_SPARSE_ALWAYS=1", os.environ["LUCID_MPIEXEC"], "--mca", "coll_sparse_priority", "60", "-n", "3",
                    program)
    assert (ran.returncode, ran.stdout) == (0, b"sum 2400 taken 5\n"), ran.stderr.decode()
    assert as_nobody("/usr/bin/python3", os.environ["LUCID_COMMAND"], "uninstall", "--user").returncode == 0
    assert not (home / ".openmpi").exists()


def open_up(home):
    """Makes a directory nobody's own, and lets him through to it."""
    os.chown(str(home), 65534, 65534)
    for folder in list(home.parents):
        if folder.stat().st_uid == os.geteuid() and not folder.stat().st_mode & 0o005 == 0o005:
            folder.chmod(folder.stat().st_mode | 0o055)


def test_a_setting_of_the_users_stays_as_it_was(tmp_path):
    """Where Open MPI's own directory does not exist it needs a setting; the user's file is the same afterwards."""
    folder, path = tmp_path / "components", tmp_path / "mca-params.conf"
    for before in (None, "", "btl = self\n", "# no end of line"):
        if before is not None:
            path.write_text(before)
        user_setting.add(str(folder))
        user_setting.add(str(folder))
        assert path.read_text().count("\nopal_mca_base_component_path = USER_DEFAULT:SYS_DEFAULT\n") == 1
        assert path.read_text().startswith(before or "#")
        user_setting.remove(str(folder))
        assert path.read_text().rstrip("\n") == before.rstrip("\n") if before else not path.exists()


def test_open_mpi_that_cannot_be_told_where_is_refused(lucid, home):
    """A setting of the user's own comes first; here it ends before the directory of components."""
    file = home / ".openmpi" / "mca-params.conf"
    file.parent.mkdir()
    file.write_text("mca_base_component_path = SYS_DEFAULT:/nowhere:USER_DEFAULT\n")
    done = lucid("install", "--user", env={"HOME": str(home)})
    assert (done.code, done.out, done.err.count("\n")) == (125, "", 1) and "does not find the components" in done.err
    assert files(home) == [".openmpi/mca-params.conf"]
    assert file.read_text() == "mca_base_component_path = SYS_DEFAULT:/nowhere:USER_DEFAULT\n"


def test_files_of_others_are_left_alone(lucid, home):
    env, folder = {"HOME": str(home)}, home / ".openmpi" / "components"
    folder.mkdir(parents=True)
    (folder / "mca_coll_sparse.so").write_text("mine")
    (folder / "notes").write_text("mine, too")
    before = files(home)
    done = lucid("install", "--user", env=env)
    assert (done.code, done.out, done.err.count("\n")) == (125, "", 1) and "mca_coll_sparse.so was not put there" in done.err
    assert files(home) == before
    (folder / "mca_coll_sparse.so").unlink()
    assert lucid("install", "--user", env=env).code == 0
    assert lucid("uninstall", "--user", env=env).code == 0
    assert files(home) == [".openmpi/components/notes"]


def test_a_changed_file_is_left_and_named(lucid, home):
    env, path = {"HOME": str(home)}, home / ".openmpi" / "components" / "mca_coll_sparse.so"
    assert lucid("install", "--user", env=env).code == 0
    path.write_bytes(path.read_bytes() + b"changed")
    refused = lucid("install", "--user", env=env)
    assert refused.code == 125 and "changed since" in refused.err
    taken = lucid("uninstall", "--user", env=env)
    assert taken.code == 1 and taken.err == f"lucid uninstall: {path} was changed since it was put there: left as it is\n"
    assert [name for name in files(home) if "params" not in name] == [".openmpi/components/mca_coll_sparse.so", ".openmpi/lucid.json"]
    path.unlink()
    assert lucid("uninstall", "--user", env=env).code == 0 and os.listdir(str(home)) == []


def stand_in(folder, text):
    """An mpirun that says what it is, and nothing else."""
    folder.mkdir()
    path = folder / "mpirun"
    path.write_text(f"#!/bin/sh\necho '{text}'\n")
    path.chmod(0o755)
    return str(folder)


@pytest.mark.parametrize("said, told", [("mpirun (Open MPI) 4.0.3", "is Open MPI 4.0.3, but mca_coll_"),
                                        ("HYDRA build details:", "is not Open MPI's (HYDRA build details:)"),
                                        ("", "is not Open MPI's (it does not answer --version)")])
def test_another_mpi_is_refused(lucid, home, tmp_path, said, told):
    place = stand_in(tmp_path / "bin", said)
    for words, path in ([], f"{place}:{os.environ['PATH']}"), (["--mpiexec", place + "/mpirun"], os.environ["PATH"]):
        done = lucid("install", "--user", *words, env={"HOME": str(home), "PATH": path})
        assert (done.code, done.out, done.err.count("\n")) == (125, "", 1) and told in done.err
    assert os.listdir(str(home)) == []


@pytest.mark.parametrize("env, told", [({"HOME": None}, "HOME="), ({"HOME": "/nowhere"}, "HOME=/nowhere is no directory"),
                                       ({"OMPI_MCA_mca_base_component_path": "/usr:SYS_DEFAULT"},
                                        "is set to look for components in /usr:SYS_DEFAULT only"),
                                       ({"LUCID_LIBDIR": "/nowhere"}, "this Lucid has no components")])
def test_what_cannot_work_is_said(lucid, home, env, told):
    done = lucid("install", "--user", env={"HOME": str(home), **env})
    assert (done.code, done.out, done.err.count("\n")) == (125, "", 1) and told in done.err
    assert os.listdir(str(home)) == []


def test_a_damaged_list_is_named(lucid, home):
    folder = home / ".openmpi"
    folder.mkdir()
    for text in ("{", "[]", json.dumps({"made": [], "files": {"../../.bashrc": "0"}}), json.dumps({"made": []})):
        (folder / "lucid.json").write_text(text)
        for word in ("install", "uninstall"):
            done = lucid(word, "--user", env={"HOME": str(home)})
            assert (done.code, done.err.count("\n")) == (125, 1) and "lucid.json is not a list" in done.err
    assert files(home) == [".openmpi/lucid.json"]


@pytest.mark.parametrize("word", ["install", "uninstall"])
def test_where_must_be_said(lucid, word):
    done = lucid(word)
    assert done.code == 2 and "--user" in done.err and done.err.count("\n") == 1


def test_a_full_disk_leaves_no_half_file(tmp_path, monkeypatch):
    """The copy has its name only when it is whole."""
    source = tmp_path / "mca_coll_x.so"
    source.write_bytes(b"x" * 10)

    def fail(_, target):
        with open(target, "w") as file:
            file.write("xx")
        raise OSError(28, "No space left on device", target)
    monkeypatch.setattr(shutil, "copyfile", fail)
    with pytest.raises(OSError):
        user_components._copy(str(source), str(tmp_path / "to.so"))
    assert sorted(os.listdir(str(tmp_path))) == ["mca_coll_x.so"]


def test_names():
    assert components.name_of("/a/mca_coll_sparse.so") == "coll/sparse"
