"""How Spack builds Sennit. Spack reads it; tests/package/spack_test.py compares it with the build lists.

It builds branch main of the checkout that this file lies in. Spack 0.23 or later.
"""
import os

from spack.package import *

try:
    from spack_repo.builtin.build_systems.cmake import CMakePackage
except ImportError:
    pass  # before Spack 1.0 spack.package has it

CHECKOUT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "..", ".."))


class Sennit(CMakePackage):
    """One-sided communication for HPC codes. A rank reads and writes the memory of another rank: by loads, stores and
    copies on a node, by libfabric between nodes."""

    git = "file://" + CHECKOUT

    license("BSD-3-Clause")

    # Add a numbered version with its tag for each release. The branch has no number, because it changes.
    version("main", branch="main")

    variant("programs", default=True, description="The command line, sennit run and so on")
    variant("man", default=True, when="+programs", description="Man pages")
    variant("pmix", default=True, description="Start under launchers that speak PMIx")
    variant("libfabric", default=True, description="Reach ranks of other nodes")
    variant("fortran", default=True, description="Fortran modules")
    variant("mpi", default=False, when="+programs", description="Compare with an MPI in sennit bench")

    generator("ninja")
    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.9:", type="build", when="+man")
    depends_on("python@3.9:", type="build", when="+fortran")
    # The library opens these at run time. The command line is linked with hwloc.
    depends_on("hwloc@2.5:")
    depends_on("pmix@3:", when="+pmix")
    depends_on("libfabric@1.17:", when="+libfabric")
    depends_on("cli11", type="build", when="+programs")
    depends_on("nlohmann-json", type="build", when="+programs")
    depends_on("fmt", when="+programs")
    depends_on("mpi", when="+mpi")

    requires("platform=linux", msg="Sennit needs memfd, futex and pidfd")
    requires("^[virtuals=mpi] openmpi", "^[virtuals=mpi] mpich", policy="one_of", when="+mpi",
             msg="sennit bench compares only with Open MPI and MPICH")
    conflicts("%gcc@:11", msg="Sennit is C++20, tried with GCC 12")

    build_targets = ["sennit_installed"]

    def cmake_args(self):
        arguments = [
            # Tests are for developers, and take longer than the build. test_ring() tests an installation.
            self.define("SENNIT_BUILD_TESTS", False),
            self.define_from_variant("SENNIT_BUILD_PROGRAMS", "programs"),
            self.define_from_variant("SENNIT_PMIX", "pmix"),
            self.define_from_variant("SENNIT_LIBFABRIC", "libfabric"),
            self.define_from_variant("SENNIT_FORTRAN", "fortran"),
            self.define("SENNIT_HWLOC", True),
            self.define("SENNIT_MAN", self.spec.satisfies("+man")),
            # Otherwise "install" first builds applications and examples, which are not installed.
            self.define("CMAKE_SKIP_INSTALL_ALL_DEPENDENCY", True),
            # Spack builds Open MPI without OpenSHMEM by default.
            self.define("SENNIT_OPENSHMEM", False),
        ]
        for name in ("openmpi", "mpich"):
            wanted = self.spec.satisfies(f"+mpi ^{name}")
            arguments.append(self.define(f"SENNIT_{name.upper()}", wanted))
            if wanted:
                arguments.append(self.define(f"SENNIT_MPICC_{name.upper()}", self.spec["mpi"].mpicc))
        return arguments

    def test_ring(self):
        """an example is compiled against the installation, and its ranks meet"""
        example = find_required_file(self.prefix.share, "ring.c", recursive=True)
        libraries = self.spec["sennit"].libs.directories[0]
        compiler = Executable(self.compiler.cc)  # Spack's compiler of the build; $CC is not set here
        compiler(example, "-o", "ring", f"-I{self.prefix.include}", f"-L{libraries}", "-lsennit", f"-Wl,-rpath,{libraries}")
        if self.spec.satisfies("+programs"):
            ring = Executable(self.prefix.bin.sennit)
            said = ring("run", "-n", "3", "./ring", output=str.split, error=str.split)
            check_outputs("3 ranks in a ring, sum of their numbers 3", said)
        else:
            said = Executable("./ring")(output=str.split, error=str.split)
            check_outputs("1 ranks in a ring, sum of their numbers 0", said)
