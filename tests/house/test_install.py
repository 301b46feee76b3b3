# SPDX-License-Identifier: BSD-3-Clause
"""An install tree as its users meet it: through CMake, pkg-config and the command, where it was put and after a move."""
import os
import shutil
import subprocess

import pytest

from house import ROOT, setting

CONSUMER = os.path.join(ROOT, "tests", "house", "consumer")
SAID = ["rank 0 sent 1000 bytes to rank 1", "rank 1 sent 1000 bytes to rank 0"]


def run(*command, **options):
    """Runs a command without the settings of this build; returns its standard output."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("LUCID_")}
    environment.update(options.pop("env", {}))
    done = subprocess.run([str(part) for part in command], env=environment, universal_newlines=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
    assert done.returncode == 0, "%s\n%s%s" % (command, done.stdout, done.stderr)
    return done.stdout


def tool(name, *arguments):
    return run("/bin/bash", os.path.join(ROOT, "tools", name), *arguments)


def files_below(folder):
    return sorted(os.path.relpath(os.path.join(top, name), folder)
                  for top, _, names in os.walk(folder) for name in names)


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """A fresh install that was moved after it had been installed: nothing in it may remember the first place."""
    base = tmp_path_factory.mktemp("install")
    tool("install", setting("LUCID_BUILD_DIR"), base / "first")
    shutil.move(str(base / "first"), str(base / "moved here"))
    return base / "moved here"


def test_every_header_is_there(prefix):
    names = {name for name in os.listdir(os.path.join(ROOT, "include")) if name.endswith(".h")}
    assert names - set(os.listdir(str(prefix / "include"))) <= {"MPI_Monitoring.h"}  # which LUCID_MPI_M=OFF leaves out


def library_dir(prefix):
    for folder, _, names in os.walk(str(prefix)):
        if "liblucid.so" in names:
            return folder
    raise AssertionError("no liblucid.so below %s" % prefix)


def configure(source, build, prefix, *settings):
    return [setting("LUCID_CMAKE"), "-G", setting("LUCID_GENERATOR"), "-S", str(source), "-B", str(build),
            "-DCMAKE_PREFIX_PATH=%s" % prefix, "-DCMAKE_C_COMPILER=" + setting("LUCID_CC"), *settings]


def ring(program, environment=None):
    out = run(setting("LUCID_MPIEXEC"), "-n", "2", program, env=environment or {})
    return sorted(out.splitlines())


def test_cmake_project(prefix, tmp_path):
    build = tmp_path / "build"
    run(*configure(CONSUMER, build, prefix, "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror"))
    run(setting("LUCID_CMAKE"), "--build", build)
    assert ring(build / "consumer") == SAID


def fortran_compiler(prefix):
    if not [name for name in files_below(prefix) if name.endswith("lucid.mod")]:
        pytest.skip("built without the Fortran modules")
    return setting("LUCID_FC")


def test_cmake_project_in_fortran(prefix, tmp_path):
    build = tmp_path / "build"
    run(*configure(CONSUMER + "_fortran", build, prefix, "-DCMAKE_Fortran_COMPILER=" + fortran_compiler(prefix)))
    run(setting("LUCID_CMAKE"), "--build", build)
    assert ring(build / "consumer") == SAID


def test_another_minor_version_is_refused(prefix, tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    (source / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.20)\nproject(C LANGUAGES C)\n"
                                           "find_package(Lucid 99.0 REQUIRED)\n")
    done = subprocess.run(configure(source, tmp_path / "build", prefix), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode != 0 and b"99.0" in done.stderr


def pkg_config(prefix, *arguments):
    """What a shell would put in the place of $(pkg-config ... lucid): blanks in directories are escaped."""
    environment = {"PKG_CONFIG_PATH": os.path.join(library_dir(prefix), "pkgconfig")}
    return run("pkg-config", *arguments, "lucid", env=environment).strip()


def test_pkg_config(prefix, tmp_path):
    program = tmp_path / "consumer"
    flags = pkg_config(prefix, "--cflags", "--libs")
    run("/bin/sh", "-c", "mpicc -Wall -Wextra -Werror '%s/consumer.c' %s -o '%s'" % (CONSUMER, flags, program))
    assert ring(program, {"LD_LIBRARY_PATH": library_dir(prefix)}) == SAID


def test_pkg_config_for_fortran(prefix, tmp_path):
    program = tmp_path / "consumer"
    fortran_compiler(prefix)
    flags = pkg_config(prefix, "--variable=fortran") + " " + pkg_config(prefix, "--libs")
    run("/bin/sh", "-c", "mpifort '%s_fortran/consumer.F90' %s -o '%s'" % (CONSUMER, flags, program))
    assert ring(program, {"LD_LIBRARY_PATH": library_dir(prefix)}) == SAID


def test_pkg_config_knows_the_versions(prefix):
    assert pkg_config(prefix, "--modversion") == version()
    assert len(pkg_config(prefix, "--variable=mpi").split()) >= 2


def version():
    with open(os.path.join(ROOT, "CMakeLists.txt"), encoding="utf-8") as stream:
        return stream.read().split("project(Lucid VERSION ")[1].split()[0]


def paths_of(command):
    """What the package's _paths.py says, read by the interpreter and through the launcher that the command uses."""
    code = ("import importlib.util, importlib.machinery, json, sys; l = importlib.machinery.SourceFileLoader('launcher', sys.argv[1]);"
            "s = importlib.util.spec_from_loader('launcher', l); m = importlib.util.module_from_spec(s); l.exec_module(m);"
            "from lucid import _paths as p; print(json.dumps([p.LIBRARY, p.LIBDIR, p.VERSION, p.MPI_NAME, p.MPI_VERSION, p.MPIEXEC]))")
    import json
    return json.loads(run("/usr/bin/python3", "-c", code, command))


def check_paths(command, libdir):
    library, modules, release, name, mpi_version, mpiexec = paths_of(command)
    assert os.path.dirname(library) == os.path.realpath(libdir) and os.path.isfile(library)
    assert modules == os.path.join(os.path.realpath(libdir), "lucid") and os.path.isdir(modules)
    assert release == version() and name and mpi_version and os.access(mpiexec, os.X_OK)


def test_installed_command_knows_its_library(prefix):
    check_paths(prefix / "bin" / "lucid", library_dir(prefix))


def test_command_in_the_build_tree_knows_its_library():
    build = setting("LUCID_BUILD_DIR")
    check_paths(os.path.join(build, "bin", "lucid"), os.path.join(build, "lib"))


def test_both_commands_start(prefix):
    for command in (prefix / "bin" / "lucid", os.path.join(setting("LUCID_BUILD_DIR"), "bin", "lucid")):
        assert version() in run(command, "--version", cwd="/")


def test_a_link_to_the_command_works(prefix, tmp_path):
    (tmp_path / "lucid").symlink_to(prefix / "bin" / "lucid")
    assert version() in run(tmp_path / "lucid", "--version", cwd="/")


def test_completion_is_the_commands_own(prefix):
    command = os.path.join(prefix, "bin", "lucid")
    for shell, path in (("bash", "share/bash-completion/completions/lucid"), ("zsh", "share/zsh/site-functions/_lucid")):
        with open(os.path.join(prefix, path), encoding="utf-8") as stream:
            assert stream.read() == run(command, "completion", shell)


def test_no_place_of_the_build_is_left_in_the_install_tree(prefix):
    """Debug information apart, which names the sources: it is cut off before the library is searched. What a site copies out of
    the tree must name it: the module file and the files for mpirun --tune."""
    places = {os.path.realpath(place).encode() for place in (ROOT, setting("LUCID_BUILD_DIR"), os.path.dirname(str(prefix)))}
    wrong = []
    for name in files_below(prefix):
        if name.endswith(".conf") or "/modulefiles/" in name:
            continue
        path = os.path.join(str(prefix), name)
        data = without_debug_information(path) if ".so" in name or ".a" in name[-2:] else open(path, "rb").read()
        wrong += ["%s names %s" % (name, place.decode()) for place in places if place in data]
    assert wrong == []


def without_debug_information(path):
    import tempfile
    with tempfile.NamedTemporaryFile() as stripped:
        run("objcopy", "--strip-all" if ".so" in path else "--strip-debug", path, stripped.name)
        with open(stripped.name, "rb") as stream:
            return stream.read()


def test_uninstall_removes_everything_and_nothing_else(tmp_path):
    prefix = tmp_path / "prefix"
    (prefix / "bin").mkdir(parents=True)
    (prefix / "bin" / "mine").write_text("kept\n")
    tool("install", setting("LUCID_BUILD_DIR"), prefix)
    assert len(files_below(prefix)) > 5
    run(prefix / "bin" / "lucid", "--version", env={"PYTHONDONTWRITEBYTECODE": ""})  # leaves compiled files
    tool("uninstall", prefix)
    assert files_below(prefix) == ["bin/mine"] and sorted(os.listdir(prefix)) == ["bin"]


def test_uninstall_refuses_a_list_that_leads_outside(tmp_path):
    (tmp_path / "share" / "lucid").mkdir(parents=True)
    (tmp_path / "share" / "lucid" / "files").write_text("../victim\n")
    with pytest.raises(AssertionError, match="not below"):
        tool("uninstall", tmp_path)
