"""Tests of the installed library as another project uses it: install_test.py CMAKE BUILD-TREE.

Installs the build tree into a folder, moves that folder, and uses it there. Broken by a package that remembers where it
was built or installed, a header that needs another one first, a component that is missing without an error, or libraries
that the linker is not told of.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs"))
sys.dont_write_bytecode = True
import links  # noqa: E402

CMAKE, BUILD_TREE = sys.argv[1:3]
CTEST = os.path.join(os.path.dirname(CMAKE), "ctest")
CC, CXX = os.environ.get("CC", "cc"), os.environ.get("CXX", "c++")
FC = os.environ.get("FC", "")  # empty if the tree has no Fortran
CONSUMER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "consumer")
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"]
COMPILERS = {"user.c": [CC, "-std=c11", *WARNINGS], "user.cpp": [CXX, "-std=c++20", *WARNINGS]}
LANGUAGES = {"C": ["c_sennit", "c_sennit_static"], "CXX": ["cpp_sennit", "cpp_sennit_static"],
             "C;CXX": ["c_sennit", "c_sennit_static", "cpp_sennit", "cpp_sennit_static"]}

# A program that needs a library which Sennit opens at run time.
DOMAINS = """#include <sennit/sennit.h>
#include <stdio.h>
int main(void) {
    int count = 0;
    if (sennit_init(NULL) != SENNIT_OK) return 1;
    sennit_status status = sennit_domain_count(&count);
    printf("%s: %s\\n", sennit_status_string(status), status ? sennit_last_error()->text : "");
    return sennit_finalize() == SENNIT_OK ? 0 : 1;
}
"""

# The modules' sources in the order of their dependencies.
MODULES = ("types", "c", "text", "more", "calls", "pointers")
# The sources that the user's mpifort compiles, and the replacements among them for each MPI module.
WITH_MPI = ("sennit_mpi_bootstrap.f90", "sennit_mpi.f90", "sennit_mpi_integer.f90", "sennit_zcom_calls.f90", "sennit_zcom.f90",
            "sennit_zcom_integer.f90", "sennit_mpi_plan_handles.c", "sennit_mpi_plan_calls.f90", "sennit_mpi_plan.f90",
            "sennit_mpi_plan_integer.f90")
MPI_SOURCES = {"mpi_f08": {}, "mpi": {f"sennit_{name}.f90": f"sennit_{name}_integer.f90" for name in ("mpi", "zcom", "mpi_plan")}}
# [name, launcher, Fortran wrapper or empty, Fortran modules] of each MPI of the tree.
MPIS = [word.split("|") for word in os.environ.get("MPIS", "").split()]
MPI_ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                   "OMPI_MCA_rmaps_base_oversubscribe": "1"}
COMPONENTS = "c, cli, fortran, openshmem, static" if FC else "c, cli, openshmem, static"

SOURCE_TREE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
# Targets of links in installed documents that only the source tree has: sources of programs, drivers of studies, the Spack recipe.
INTO_THE_SOURCE_TREE = {"apps/ghost/ways.hpp", "apps/p2p/study", "apps/stencil/study", "apps/transpose/study",
                        "packaging/spack/packages/sennit/package.py", "tests/abi/lists.md"}

ASKS = """cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES C)
find_package(sennit %s)
message(STATUS "found: ${sennit_FOUND}, targets:")
foreach(name sennit sennit_static cli)
    if(TARGET sennit::${name})
        message(STATUS "has ${name}")
    endif()
endforeach()
"""

CONTAINS = """cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES C CXX)
add_subdirectory(%s sennit)
foreach(name sennit sennit_static cli)
    if(TARGET sennit::${name})
        message(STATUS "has ${name}")
    endif()
endforeach()
"""


def mpicc_of(name, launcher):
    """The C wrapper of an MPI: in the same folder as its launcher."""
    beside = [os.path.join(os.path.dirname(launcher), wrapper) for wrapper in (f"mpicc.{name}", "mpicc")]
    return next(filter(os.path.exists, beside))


def run(*words, **options):
    result = subprocess.run(words, capture_output=True, text=True, timeout=100, check=False, **options)
    if result.returncode != 0:
        raise AssertionError(f"{' '.join(words)}: exit status {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


class InstallTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="install-test-")
        first = os.path.join(cls.folder, "first")
        cls.prefix = os.path.join(cls.folder, "moved")
        run(CMAKE, "--install", BUILD_TREE, "--prefix", first)
        os.rename(first, cls.prefix)
        cls.lib = next(path for path, _, files in os.walk(cls.prefix) if "libsennit.a" in files)
        cls.sennit = os.path.join(cls.prefix, "bin", "sennit")
        cls.environment = {**os.environ, "PKG_CONFIG_PATH": os.path.join(cls.lib, "pkgconfig")}

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def headers(self):
        folder = os.path.join(self.prefix, "include", "sennit")
        return sorted(name for name in os.listdir(folder) if name.endswith(".h"))

    def pkg_config(self, *words):
        return run("pkg-config", *words, env=self.environment).split()

    def check_runs(self, program):
        lines = run(self.sennit, "run", "-n", "2", program).splitlines()
        self.assertEqual(sorted(lines), ["rank 0 of 2 found 1", "rank 1 of 2 found 0"])

    def check_runs_with(self, launcher, program):
        lines = run(launcher, "-n", "2", program, env={**os.environ, **MPI_ENVIRONMENT})
        self.assertEqual(sorted(lines.splitlines()), ["rank 0 of 2 found 1", "rank 1 of 2 found 0"])

    def needed(self, program):
        return [line for line in run("readelf", "-d", program).splitlines() if "NEEDED" in line]

    def ask(self, question, prefix=None):
        """The output of CMake for find_package(sennit QUESTION), and its exit status."""
        source = tempfile.mkdtemp(prefix="asks-", dir=self.folder)
        with open(os.path.join(source, "CMakeLists.txt"), "w", encoding="utf-8") as file:
            file.write(ASKS % question)
        result = subprocess.run([CMAKE, "-S", source, "-B", os.path.join(source, "build"),
                                 f"-DCMAKE_PREFIX_PATH={prefix or self.prefix}"],
                                capture_output=True, text=True, timeout=100, check=False)
        return " ".join((result.stdout + result.stderr).split()), result.returncode

    def test_every_header_compiles_alone_as_c_and_as_cpp(self):
        self.assertIn("sennit.h", self.headers())
        self.assertIn("version.h", self.headers())
        for name in self.headers():
            if name.startswith("sennit_mpi") or name in ("sennit_unr.h", "sennit_zcom.h"):  # compiled below by the user's mpicc
                continue
            for compiler, language, standard in ((CC, "c", "c11"), (CXX, "c++", "c++20")):
                with self.subTest(header=name, language=language):
                    run(compiler, "-x", language, f"-std={standard}", *WARNINGS, "-fsyntax-only",
                        "-I", os.path.join(self.prefix, "include"), "-",
                        input=f"#include <sennit/{name}>\nint main(void) {{ return 0; }}\n")

    @unittest.skipUnless(MPIS, "no MPI")
    def test_a_program_with_mpi_is_built_by_the_wrapper_of_each_mpi(self):
        """Broken by an installed sennit_mpi.h that lacks a header it needs, or that works with only one MPI."""
        flags = [*self.pkg_config("--cflags", "--libs", "sennit"), f"-Wl,-rpath,{self.lib}"]
        for name, launcher, _, _ in MPIS:
            mpicc = mpicc_of(name, launcher)
            with self.subTest(mpi=name):
                program = os.path.join(self.folder, f"mpi-{name}.out")
                run(mpicc, "-std=c11", *WARNINGS, os.path.join(CONSUMER, "mpi_user.c"), *flags, "-o", program)
                self.check_runs_with(launcher, program)
                for header in ("sennit_mpi_messages.h", "sennit_mpi_pieces.h", "sennit_mpi_plan.h", "sennit_mpi_runs.h", "sennit_mpi_types.h", "sennit_mpi_ways.h",
                               "sennit_unr.h", "sennit_zcom.h"):
                    run(mpicc, "-std=c11", *WARNINGS, "-fsyntax-only", "-x", "c", "-", *flags,
                        input=f"#include <sennit/{header}>\nint main(void) {{ return 0; }}\n")

    def test_a_program_is_built_with_pkg_config_and_the_shared_library(self):
        flags = self.pkg_config("--cflags", "--libs", "sennit")
        place, = self.pkg_config("--variable=libdir", "sennit")
        for source, compiler in COMPILERS.items():
            with self.subTest(source=source):
                program = os.path.join(self.folder, f"shared-{source}.out")
                run(*compiler, os.path.join(CONSUMER, source), *flags, f"-Wl,-rpath,{place}", "-o", program)
                self.assertTrue(any("libsennit.so." in line for line in self.needed(program)))
                self.check_runs(program)

    def test_a_library_of_another_abi_is_refused_when_the_program_is_loaded(self):
        program = os.path.join(self.folder, "loaded")
        run(CC, os.path.join(CONSUMER, "user.c"), *self.pkg_config("--cflags", "--libs", "sennit"), "-o", program)
        soname, = (name for name in os.listdir(self.lib) if re.fullmatch(r"libsennit\.so\.\d+(\.\d+)?", name))
        other = tempfile.mkdtemp(prefix="other-", dir=self.folder)
        functions = re.findall(r" U (sennit_\w+)", run("nm", "-D", program))
        self.assertIn("sennit_init", functions)
        run(CC, "-shared", "-fPIC", "-x", "c", "-", "-o", os.path.join(other, soname), f"-Wl,-soname,{soname}",
            "-Wl,--default-symver", input="".join(f"int {name}(void) {{ return 0; }}\n" for name in functions))
        result = subprocess.run([program], env={**os.environ, "LD_LIBRARY_PATH": other}, capture_output=True, text=True,
                                timeout=60, check=False)
        self.assertNotEqual(result.returncode, 0)
        self.assertRegex(result.stderr, r"version `SENNIT_[\d.]+' not found")

    def test_a_program_is_built_with_pkg_config_and_the_archive(self):
        flags = self.pkg_config("--cflags", "--libs", "sennit-static")
        for source, compiler in COMPILERS.items():
            with self.subTest(source=source):
                program = os.path.join(self.folder, f"archive-{source}.out")
                run(*compiler, os.path.join(CONSUMER, source), *flags, "-o", program)
                self.assertFalse(any("libsennit" in line for line in self.needed(program)))
                self.check_runs(program)

    def test_a_program_without_any_shared_library_is_built_with_pkg_config_static(self):
        flags = self.pkg_config("--cflags", "--libs", "--static", "sennit")
        for source, compiler in COMPILERS.items():
            with self.subTest(source=source):
                program = os.path.join(self.folder, f"static-{source}.out")
                run(*compiler, "-static", os.path.join(CONSUMER, source), *flags, "-o", program)
                self.assertEqual(self.needed(program), [])
                self.check_runs(program)

    def static_program(self, source, name):
        program = os.path.join(self.folder, name)
        run(CC, "-static", "-x", "c", source, "-x", "none", "-o", program,
            *self.pkg_config("--cflags", "--libs", "--static", "sennit"))
        return program

    def test_a_program_without_any_shared_library_does_without_hwloc(self):
        source = os.path.join(self.folder, "domains.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write(DOMAINS)
        said = run(self.static_program(source, "domains"))
        self.assertIn("SENNIT_ERR_UNSUPPORTED: the tree of domains needs hwloc, which a program that is linked", said)

    def test_a_program_without_any_shared_library_is_refused_by_a_launcher_with_pmix_and_says_why(self):
        launcher = shutil.which("mpirun.openmpi")
        if not launcher:
            self.skipTest("no mpirun.openmpi here (apt-get install openmpi-bin)")
        program = self.static_program(os.path.join(CONSUMER, "user.c"), "under-pmix")
        result = subprocess.run([launcher, "-n", "2", program], capture_output=True, text=True, timeout=60, check=False,
                                env={**os.environ, **MPI_ENVIRONMENT})
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("this launcher speaks PMIx, whose library a program that is linked without shared libraries "
                      "cannot open", result.stderr)

    def test_projects_in_c_in_cpp_and_in_both_are_built_with_cmake_and_either_library(self):
        for languages, programs in LANGUAGES.items():
            with self.subTest(languages=languages):
                tree = tempfile.mkdtemp(prefix="consumer-", dir=self.folder)
                run(CMAKE, "-S", CONSUMER, "-B", tree, f"-DCMAKE_PREFIX_PATH={self.prefix}",
                    f"-DUSER_LANGUAGES={languages}")
                run(CMAKE, "--build", tree)
                run(CTEST, "--test-dir", tree, "--output-on-failure", "--no-tests=error")
                for program in programs:
                    is_shared = any("libsennit.so." in line for line in self.needed(os.path.join(tree, program)))
                    self.assertEqual(is_shared, not program.endswith("_static"), program)

    def shmem_program(self, name, *words):
        program = os.path.join(self.folder, name)
        run(*words, os.path.join(CONSUMER, "openshmem", "user.c"), "-o", program)
        return program

    def check_shmem_runs(self, launcher, program):
        lines = run(launcher, "run", "-n", "2", program).splitlines()
        self.assertEqual(sorted(lines), ["PE 0 of 2 got 1", "PE 1 of 2 got 0"])

    def test_no_library_names_the_sources(self):
        for name in os.listdir(self.lib):
            path = os.path.join(self.lib, name)
            if os.path.isfile(path) and name.startswith("lib"):
                with open(path, "rb") as file:
                    self.assertNotIn(os.path.realpath(SOURCE_TREE).encode(), file.read(), name)

    def test_a_program_for_openshmem_is_built_by_the_wrappers_and_with_pkg_config(self):
        wrappers = os.path.join(self.prefix, "libexec", "sennit", "openshmem")
        lines = run(os.path.join(wrappers, "oshrun"), "-np", "2", self.shmem_program("oshcc", os.path.join(wrappers, "oshcc")))
        self.assertEqual(sorted(lines.splitlines()), ["PE 0 of 2 got 1", "PE 1 of 2 got 0"])
        self.check_shmem_runs(self.sennit, self.shmem_program(
            "oshc++", os.path.join(wrappers, "oshc++"), "-x", "c++"))
        for name in ("oshcxx", "oshCC"):
            self.check_shmem_runs(self.sennit, self.shmem_program(name, os.path.join(wrappers, name), "-x", "c++"))
        # Queries, which link nothing.
        for name, compiler in (("oshcc", "cc"), ("oshc++", "c++")):
            for question in (["-v"], ["-dumpmachine"], ["-v", "-o", "nothing"]):
                said, its = (subprocess.run([program, *question], capture_output=True, text=True, check=False, timeout=60)
                             for program in (os.path.join(wrappers, name), compiler))
                self.assertEqual((said.returncode, said.stdout), (its.returncode, its.stdout), question)
        self.assertIn("-lm", run(os.path.join(wrappers, "oshcc"), "-show", "a.c"))
        self.assertRegex(run(os.path.join(wrappers, "oshrun"), "--version"), "^sennit ")
        # The answers are in the form of Open MPI's wrappers.
        folder = os.path.realpath(wrappers)
        for what, said in (("libs", "sennit_shmem m"), ("incdirs", f"{folder}/../../../include/sennit-openshmem"),
                           ("compile", f"-I{folder}/../../../include/sennit-openshmem"), ("command", "cc")):
            self.assertEqual(run(os.path.join(wrappers, "oshcc"), f"-showme:{what}", "a.c").strip(), said, what)
        libraries = run(os.path.join(wrappers, "oshcc"), "--showme:libdirs").strip()
        self.assertTrue(os.path.isfile(os.path.join(libraries, "libsennit_shmem.so")), libraries)
        self.assertIn(f"-L{libraries} ", run(os.path.join(wrappers, "oshcc"), "-showme:link"))
        self.assertRegex(run(os.path.join(wrappers, "oshc++"), "-showme:version"), r"^oshc\+\+: Sennit \d")
        unknown = subprocess.run([os.path.join(wrappers, "oshcc"), "-showme:what"], capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual((unknown.returncode, unknown.stderr), (2, "oshcc: -showme:what is not known; -showme:help lists what is\n"))
        # An installation without the component `programs`.
        lone = os.path.join(self.folder, "lone", "libexec", "openshmem")
        os.makedirs(lone)
        shutil.copy(os.path.join(wrappers, "oshrun"), lone)
        said = subprocess.run([os.path.join(lone, "oshrun"), "-np", "2", "true"], capture_output=True, text=True, check=False, timeout=60)
        self.assertEqual(said.returncode, 125)
        self.assertRegex(said.stderr, r"^oshrun: /.*/sennit is missing: this Sennit was built or installed without its programs ")
        program = os.path.join(self.folder, "shmem-pkg-config")
        run(CC, os.path.join(CONSUMER, "openshmem", "user.c"), *self.pkg_config("--cflags", "--libs", "sennit-openshmem"),
            f"-Wl,-rpath,{self.lib}", "-o", program)
        self.check_shmem_runs(self.sennit, program)

    def test_a_project_for_openshmem_is_built_with_cmake(self):
        tree = tempfile.mkdtemp(prefix="consumer-", dir=self.folder)
        run(CMAKE, "-S", os.path.join(CONSUMER, "openshmem"), "-B", tree, f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run(CMAKE, "--build", tree)
        self.check_shmem_runs(self.sennit, os.path.join(tree, "user"))

    @unittest.skipUnless(FC, "no Fortran compiler")
    def test_a_project_in_fortran_is_built_with_cmake(self):
        tree = tempfile.mkdtemp(prefix="consumer-", dir=self.folder)
        run(CMAKE, "-S", os.path.join(CONSUMER, "fortran"), "-B", tree, f"-DCMAKE_PREFIX_PATH={self.prefix}",
            f"-DCMAKE_Fortran_COMPILER={FC}")
        run(CMAKE, "--build", tree)
        run(CTEST, "--test-dir", tree, "--output-on-failure", "--no-tests=error")

    @unittest.skipUnless(FC, "no Fortran compiler")
    def test_a_program_in_fortran_is_built_with_pkg_config(self):
        place, = self.pkg_config("--variable=libdir", "sennit")
        program = os.path.join(self.folder, "fortran.out")
        run(FC, "-std=f2018", os.path.join(CONSUMER, "fortran", "user.f90"), *self.pkg_config("--cflags", "--libs", "sennit-fortran"),
            f"-Wl,-rpath,{place}", "-o", program)
        self.check_runs(program)

    @unittest.skipUnless(FC, "no Fortran compiler")
    def test_the_modules_are_compiled_from_the_installed_sources(self):
        tree = tempfile.mkdtemp(prefix="modules-", dir=self.folder)
        place, = self.pkg_config("--variable=libdir", "sennit")
        folder, = self.pkg_config("--variable=sources", "sennit-fortran")
        sources = [os.path.join(folder, f"sennit_{name}.f90") for name in MODULES] + [os.path.join(folder, "sennit.f90")]
        program = os.path.join(tree, "program")
        run(FC, "-std=f2018", "-O0", *sources, os.path.join(CONSUMER, "fortran", "user.f90"),
            *self.pkg_config("--libs", "sennit"), f"-Wl,-rpath,{place}", "-o", program, cwd=tree)
        self.check_runs(program)
        self.assertEqual(sorted(os.listdir(folder)), sorted([*(os.path.basename(name) for name in sources), *WITH_MPI]))

    def commands_of_the_manual(self):
        """The commands on the Fortran page that compile a program from an installation: without MPI, with module sennit_mpi, with
        sennit_mpi_plan, with sennit_zcom."""
        with open(os.path.join(self.documents(), "docs", "manual", "fortran.md"), encoding="utf-8") as file:
            blocks = re.findall(r"^```sh\n(.*?)^```$", file.read(), re.DOTALL | re.MULTILINE)
        alone, with_mpi, with_plan, with_zcom = (block for block in blocks if "pkg-config" in block or "mpifort" in block)
        self.assertIn("\nmpifort ", with_mpi)
        names = with_mpi[:with_mpi.index("mpifort ")]
        return alone, with_mpi, names + with_plan, names + with_zcom

    @unittest.skipUnless(FC, "no Fortran compiler")
    def test_a_program_in_fortran_is_built_as_the_manual_says(self):
        """Broken by a program that does not find the installed library."""
        tree = tempfile.mkdtemp(prefix="ring-", dir=self.folder)
        shutil.copy(os.path.join(CONSUMER, "fortran", "user.f90"), os.path.join(tree, "ring.f90"))
        command, _, _, _ = self.commands_of_the_manual()
        run("sh", "-e", "-c", command.replace("gfortran ", FC + " "), cwd=tree, env=self.environment)
        self.check_runs(os.path.join(tree, "ring"))

    @unittest.skipUnless(any(wrapper for _, _, wrapper, _ in MPIS), "no MPI with Fortran")
    def test_the_modules_for_mpi_plans_and_zcom_are_compiled_as_the_manual_says(self):
        """Broken by a source that is not installed, or by one that needs something that the MPI's module does not have."""
        _, with_mpi, with_plan, with_zcom = self.commands_of_the_manual()
        for name, launcher, wrapper, modules in MPIS:
            for module in filter(None, modules.split(",")):
                for source, command in (("mpi_user.f90", with_mpi), ("plan_user.f90", with_plan), ("zcom_user.f90", with_zcom)):
                    with self.subTest(mpi=name, module=module, source=source):
                        command = command.replace("mpifort ", wrapper + " ").replace("mpicc ", mpicc_of(name, launcher) + " ")
                        self.check_with_module(source, command, module, launcher)

    @unittest.skipUnless(any("mpi_f08" in modules for _, _, _, modules in MPIS), "no MPI with mpi_f08")
    def test_a_project_in_fortran_with_mpi_finds_the_sources_of_its_modules(self):
        for name, launcher, wrapper, modules in MPIS:
            if "mpi_f08" not in modules.split(","):
                continue
            with self.subTest(mpi=name):
                tree = tempfile.mkdtemp(prefix="consumer-", dir=self.folder)
                run(CMAKE, "-S", os.path.join(CONSUMER, "fortran_mpi"), "-B", tree, f"-DCMAKE_PREFIX_PATH={self.prefix}",
                    f"-DCMAKE_Fortran_COMPILER={FC}", f"-DMPI_Fortran_COMPILER={wrapper}")
                run(CMAKE, "--build", tree)
                self.check_runs_with(launcher, os.path.join(tree, "user"))

    def check_with_module(self, source, command, module, launcher):
        with open(os.path.join(CONSUMER, "fortran", source), encoding="utf-8") as file:
            text = file.read()
        tree = tempfile.mkdtemp(prefix="sennit-mpi-", dir=self.folder)
        with open(os.path.join(tree, "program.f90"), "w", encoding="utf-8") as file:
            file.write(text.replace("use mpi_f08", f"use {module}"))
        for one, other in MPI_SOURCES[module].items():
            command = command.replace(one, other)
        run("sh", "-e", "-c", command, cwd=tree, env=self.environment)
        self.check_runs_with(launcher, os.path.join(tree, "a.out"))

    def test_all_components_are_found_when_none_is_named(self):
        said, status = self.ask("REQUIRED")
        self.assertEqual(status, 0, said)
        for name in ("sennit", "sennit_static", "cli"):
            self.assertIn(f"has {name} ", said)

    def test_one_component_brings_no_other_but_the_c_library(self):
        said, status = self.ask("REQUIRED COMPONENTS static")
        self.assertEqual(status, 0, said)
        self.assertIn("has sennit -- has sennit_static", said)
        self.assertNotIn("has cli", said)

    def test_a_component_that_does_not_exist_is_an_error_that_names_those_that_do(self):
        said, status = self.ask("REQUIRED COMPONENTS c pascal")
        self.assertNotEqual(status, 0)
        self.assertIn(f'has no component "pascal"; installed are: {COMPONENTS}.', said)
        said, status = self.ask("REQUIRED COMPONENTS c OPTIONAL_COMPONENTS pascal")
        self.assertEqual(status, 0, said)

    def test_a_component_that_was_not_installed_is_an_error_that_says_so(self):
        prefix = os.path.join(self.folder, "in-part")
        for component in ("runtime", "development"):
            run(CMAKE, "--install", BUILD_TREE, "--prefix", prefix, "--component", component)
        said, status = self.ask("REQUIRED COMPONENTS cli", prefix)
        self.assertNotEqual(status, 0)
        self.assertIn('component "cli" of Sennit', said)
        self.assertIn("is not installed here; installed are: c, static.", said)
        said, status = self.ask("", prefix)
        self.assertEqual(status, 0, said)
        self.assertIn("found: TRUE, targets: -- has sennit -- has sennit_static", said.replace("found: 1", "found: TRUE"))

    def test_a_project_may_contain_sennit_and_gets_its_libraries_and_nothing_else(self):
        source = tempfile.mkdtemp(prefix="contains-", dir=self.folder)
        with open(os.path.join(source, "CMakeLists.txt"), "w", encoding="utf-8") as file:
            file.write(CONTAINS % os.path.realpath(os.path.join(CONSUMER, "..", "..", "..")))
        said = " ".join(run(CMAKE, "-S", source, "-B", os.path.join(source, "build")).split())
        self.assertIn("has sennit -- has sennit_static -- ", said)
        self.assertNotIn("has cli", said)

    def test_sources_stay_apart_in_a_project_that_joins_its_own(self):
        """Broken by the user's CMAKE_UNITY_BUILD, where sources define the same local names."""
        source = tempfile.mkdtemp(prefix="unity-", dir=self.folder)
        with open(os.path.join(source, "CMakeLists.txt"), "w", encoding="utf-8") as file:
            file.write(CONTAINS % os.path.realpath(os.path.join(CONSUMER, "..", "..", "..")))
        tree = os.path.join(source, "build")
        said = run(CMAKE, "-S", source, "-B", tree, "-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON")
        self.assertIn("CMAKE_UNITY_BUILD is ignored", said)
        with open(os.path.join(tree, "compile_commands.json"), encoding="utf-8") as file:
            commands = file.read()
        self.assertIn("src/api/", commands)
        self.assertNotIn("unity_", commands)

    def test_another_abi_is_not_accepted(self):
        version, = self.pkg_config("--modversion", "sennit")
        major, minor = version.split(".")[:2]
        for question, is_found in ((f"{major}.{minor}", True), (f"{version} EXACT", True),
                                   (f"{major}.{int(minor) + 1}", False), (f"{int(major) + 1}.0", False)):
            with self.subTest(question=question):
                said, status = self.ask(f"{question} REQUIRED")
                self.assertEqual(status == 0, is_found, said)

    def documents(self):
        return next(path for path, _, files in os.walk(self.prefix) if "README.md" in files)

    def links(self):
        """(page, link) of each link in the installed documents."""
        for path, _, files in os.walk(self.documents()):
            for page in (os.path.join(path, name) for name in files if name.endswith(".md")):
                for link in links.links_in(page):
                    yield page, link

    def place(self, page, target):
        return os.path.relpath(os.path.join(os.path.dirname(page), target), self.documents())

    def test_a_link_in_an_installed_document_leads_to_what_is_installed(self):
        """Pictures count as links. Broken by missing pages of results, or by a page that is not installed."""
        found = list(self.links())
        self.assertGreater(len([target for _, (_, target, _) in found if target.endswith(".png")]), 12)
        wrong = {(self.place(page, link[1]), links.fault(page, *link)) for page, link in found if links.fault(page, *link)}
        self.assertEqual({fault for target, fault in wrong if target not in INTO_THE_SOURCE_TREE}, set())
        self.assertEqual({target for target, _ in wrong}, INTO_THE_SOURCE_TREE)
        for target in INTO_THE_SOURCE_TREE:
            self.assertTrue(os.path.exists(os.path.join(SOURCE_TREE, target)), target)

    def test_a_link_to_a_header_leads_to_its_page_in_an_installed_document(self):
        """Broken by pages of headers that are not installed, or that only their index links to."""
        found = {(self.place(page, "."), link) for page, link in self.links() if "headers/" in link[1]}
        self.assertIn(("docs/manual", ("`sennit_ptr`", "headers/memory.md", "sennit_ptr")), found)
        self.assertIn(("docs", ("coll.h", "manual/headers/coll.md", "")), found)
        self.assertGreater(len(found), 300)
        self.assertEqual([link for _, link in self.links() if link[1].endswith(".h") and "sennit" in link[1]], [])

    def test_an_installed_header_is_a_file_of_its_own(self):
        for name in self.headers():
            self.assertFalse(os.path.islink(os.path.join(self.prefix, "include", "sennit", name)), name)

    def test_an_installed_file_does_not_name_the_build_tree(self):
        for path, _, files in os.walk(self.prefix):
            for name in files:
                if os.path.islink(os.path.join(path, name)):
                    continue
                with open(os.path.join(path, name), "rb") as file:
                    data = file.read()
                if b".debug_info" in data:  # debug information, if asked for, names sources
                    continue
                for place in (BUILD_TREE, os.path.join(self.folder, "first")):
                    self.assertNotIn(place.encode(), data, f"{name} names {place}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
