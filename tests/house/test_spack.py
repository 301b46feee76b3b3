# SPDX-License-Identifier: BSD-3-Clause
"""The Spack recipe, read with stand-ins for Spack's directives: it is Python, and what it sets are settings of this build."""
import re
import sys
import types

from house import read, sources


class Recorder(types.ModuleType):
    """spack.package: every directive and decorator that the recipe uses is noted down."""

    def __init__(self):
        super().__init__("spack.package")
        self.said = []
        self.CMakePackage = type("CMakePackage", (), {"define_from_variant": lambda _, name, variant: (name, variant),
                                                      "define": lambda _, name, value: (name, value)})
        for name in ("license", "maintainers", "version", "variant", "depends_on", "generator"):
            setattr(self, name, lambda *words, _name=name, **options: self.said.append((_name, words, options)))
        for name in ("run_after", "on_package_attributes"):
            setattr(self, name, lambda *_, **__: lambda function: function)
        self.working_dir = self.ninja = self.Executable = None


BUILD_SYSTEM = "spack_repo.builtin.build_systems.cmake"  # of Spack 1.0 and later


class Spec:
    """A spec with all variants as they are by default."""

    run_tests = False

    def satisfies(self, _):
        return True

    def __getitem__(self, _):
        return types.SimpleNamespace(command=types.SimpleNamespace(path="/usr/bin/python3"))


def recipe(monkeypatch):
    recorder = Recorder()
    monkeypatch.setitem(sys.modules, "spack", types.ModuleType("spack"))
    monkeypatch.setitem(sys.modules, "spack.package", recorder)
    for part in ("spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
        monkeypatch.setitem(sys.modules, part, types.ModuleType(part))
    cmake = types.ModuleType(BUILD_SYSTEM)
    cmake.CMakePackage, cmake.generator = recorder.CMakePackage, recorder.generator
    del recorder.CMakePackage, recorder.generator
    monkeypatch.setitem(sys.modules, BUILD_SYSTEM, cmake)
    names = {}
    exec(compile(read("packaging/spack/package.py"), "package.py", "exec"), names)
    return recorder, names["LucidMpi"]


def test_it_sets_what_the_build_knows(monkeypatch):
    recorder, package = recipe(monkeypatch)
    one = package()
    one.spec, one.run_tests = Spec(), False
    text = "\n".join(text for path, text in sources().items() if path.endswith("CMakeLists.txt"))
    known = set(re.findall(r"^\s*(?:option\(|set\()(\w+)", text, re.MULTILINE)) | {"Python3_EXECUTABLE"}
    settings = one.cmake_args()
    assert len(settings) >= 4 and {name for name, _ in settings} - known == set()
    variants = {words[0] for said, words, _ in recorder.said if said == "variant"}
    assert {"fortran", "components", "scotch"} <= variants
    for name, value in settings:
        assert not isinstance(value, str) or value in variants | {"AUTO", "/usr/bin/python3"}, name


def test_it_depends_on_what_the_build_needs(monkeypatch):
    recorder, _ = recipe(monkeypatch)
    needed = {re.split(r"[@+~]", words[0])[0] for said, words, _ in recorder.said if said == "depends_on"}
    assert {"mpi", "hwloc", "python", "cmake", "c", "fortran", "pkgconfig", "ninja"} <= needed
    variants = {words[0] for said, words, _ in recorder.said if said == "variant"}
    for _, _, options in recorder.said:
        assert not options.get("when") or options["when"].lstrip("+~") in variants
