# SPDX-License-Identifier: BSD-3-Clause
# Spack recipe, for a repository of your own: "spack repo create lucid-repo lucid" says where
# packages go; put this file there as lucid_mpi/package.py (Spack 0.23: lucid-mpi/package.py), and
# "spack repo add" what was made. Then, in the sources: spack dev-build lucid-mpi@main
# (Spack 0.23 has no spack_repo, and CMakePackage in spack.package: leave out the first import.)

from spack_repo.builtin.build_systems.cmake import CMakePackage, generator

from spack.package import *


class LucidMpi(CMakePackage):
    """Lucid shows where the messages of an MPI program go, puts its ranks where their messages
    are, reduces sparse data faster and starts its communicators with less. Unmodified programs, on
    the user's own MPI library."""

    maintainers()

    license("BSD-3-Clause")

    # There is no release yet: the source is a tree of yours (spack develop, or dev-build).
    version("main")

    variant("fortran", default=True, description="Build the Fortran modules")
    variant("components", default=True, description="Open MPI's components (internal headers)")
    variant("scotch", default=True, description="Mapping by Scotch, as a plug-in")
    variant("figures", default=False, description="PNG figures (matplotlib)")
    variant("docs", default=False, description="Man pages and HTML")

    depends_on("c", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.20:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi")
    depends_on("hwloc@2.4:")
    depends_on("python@3.9:", type=("build", "run"))
    depends_on("scotch", when="+scotch")
    depends_on("py-matplotlib", type="run", when="+figures")
    depends_on("py-numpy", type="run", when="+figures")
    depends_on("py-sphinx", type="build", when="+docs")
    depends_on("py-myst-parser", type="build", when="+docs")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define_from_variant("LUCID_FORTRAN", "fortran"),
            # AUTO, not ON: Open MPI may have been built without its internal headers
            self.define("LUCID_PML", "AUTO" if self.spec.satisfies("+components") else "OFF"),
            self.define_from_variant("LUCID_SCOTCH", "scotch"),
            self.define("BUILD_TESTING", self.run_tests),
            self.define("Python3_EXECUTABLE", self.spec["python"].command.path),
        ]

    @run_after("build")
    def build_docs(self):
        if self.spec.satisfies("+docs"):
            with working_dir(self.build_directory):
                ninja("lucid_docs")

    def setup_run_environment(self, env):
        env.prepend_path("LD_LIBRARY_PATH", self.prefix.lib)

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        Executable(self.prefix.bin.lucid)("--version")
