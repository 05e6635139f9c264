"""Tests of the build tree as another project uses it: built_test.py CMAKE PREFIX PROGRAMS.

PREFIX has include/, lib/ and share/ like an installation; PROGRAMS is the folder of `sennit`. Broken by a package of CMake or
pkg-config that works only after installing, and by wrappers that do not answer the questions of configure systems.
"""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

CMAKE, PREFIX, PROGRAMS = sys.argv[1:4]
CTEST = os.path.join(os.path.dirname(CMAKE), "ctest")
CC = os.environ.get("CC", "cc")
FC = os.environ.get("FC", "")  # empty if the tree has no Fortran
MPIS = [words.split("|") for words in os.environ.get("MPIS", "").split()]  # the same as in install_test.py
HERE = os.path.dirname(os.path.abspath(__file__))
CONSUMER = os.path.join(HERE, "consumer")
MANUAL = os.path.join(HERE, "..", "..", "docs", "openshmem.md")
SENNIT = os.path.join(PROGRAMS, "sennit")
WRAPPERS = os.path.join(PROGRAMS, "openshmem")
ENVIRONMENT = {**os.environ, "PKG_CONFIG_PATH": os.path.join(PREFIX, "lib", "pkgconfig"),
               "PATH": WRAPPERS + os.pathsep + os.environ["PATH"], "OSHCC_CC": CC}


def run(*words, **options):
    result = subprocess.run(words, capture_output=True, text=True, timeout=100, check=False, env=ENVIRONMENT, **options)
    if result.returncode != 0:
        raise AssertionError(f"{' '.join(words)}: exit status {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


def of_the_manual(language):
    """The block in this language on the OpenSHMEM page."""
    with open(MANUAL, encoding="utf-8") as file:
        block, = re.findall(rf"^```{language}\n(.*?)^```$", file.read(), re.DOTALL | re.MULTILINE)
    return block


class BuiltTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="built-test-")
        self.addCleanup(shutil.rmtree, self.folder)

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def check_runs(self, program):
        lines = run(SENNIT, "run", "-n", "2", program).splitlines()
        self.assertEqual(sorted(lines), ["rank 0 of 2 found 1", "rank 1 of 2 found 0"])

    def check_shmem_runs(self, program="user"):
        lines = run("oshrun", "-np", "2", os.path.join(self.folder, program)).splitlines()
        self.assertEqual(sorted(lines), ["PE 0 of 2 got 1", "PE 1 of 2 got 0"])

    def build(self, source, *options, tree=None):
        run(CMAKE, "-S", source, "-B", tree or self.folder, *options)
        run(CMAKE, "--build", tree or self.folder)

    def test_projects_find_it_with_cmake(self):
        for languages in ("C", "C;CXX"):
            with self.subTest(languages=languages):
                tree = os.path.join(self.folder, languages.replace(";", "-"))
                self.build(CONSUMER, f"-DCMAKE_PREFIX_PATH={PREFIX}", f"-DUSER_LANGUAGES={languages}", tree=tree)
                run(CTEST, "--test-dir", tree, "--output-on-failure", "--no-tests=error")

    def test_a_project_for_openshmem_finds_it_with_cmake(self):
        self.build(os.path.join(CONSUMER, "openshmem"), f"-DCMAKE_PREFIX_PATH={PREFIX}")
        self.check_shmem_runs()

    @unittest.skipUnless(FC, "no Fortran compiler")
    def test_a_project_in_fortran_finds_it_with_cmake(self):
        self.build(os.path.join(CONSUMER, "fortran"), f"-DCMAKE_PREFIX_PATH={PREFIX}", f"-DCMAKE_Fortran_COMPILER={FC}")
        run(CTEST, "--test-dir", self.folder, "--output-on-failure", "--no-tests=error")

    @unittest.skipUnless(FC and any("mpi_f08" in words[3] for words in MPIS), "no MPI with mpi_f08")
    def test_a_project_in_fortran_with_mpi_finds_the_sources_of_its_modules(self):
        wrapper = next(words[2] for words in MPIS if "mpi_f08" in words[3])
        self.build(os.path.join(CONSUMER, "fortran_mpi"), f"-DCMAKE_PREFIX_PATH={PREFIX}", f"-DCMAKE_Fortran_COMPILER={FC}",
                   f"-DMPI_Fortran_COMPILER={wrapper}")

    @unittest.skipUnless(FC and any("mpi_f08" in words[3] for words in MPIS), "no MPI with mpi_f08")
    def test_a_project_without_c_is_told_that_the_sources_of_plans_need_it(self):
        """Broken by a package that lets CMake leave out the source in C, so that only the link fails."""
        wrapper = next(words[2] for words in MPIS if "mpi_f08" in words[3])
        with self.assertRaisesRegex(AssertionError, r"sennit_MPI_PLAN_FORTRAN_SOURCES names a source in C:\s+enable C"):
            self.build(os.path.join(CONSUMER, "fortran_mpi"), f"-DCMAKE_PREFIX_PATH={PREFIX}", f"-DCMAKE_Fortran_COMPILER={FC}",
                       f"-DMPI_Fortran_COMPILER={wrapper}", "-DWITHOUT_C=ON")

    def test_programs_are_built_with_pkg_config(self):
        program = os.path.join(self.folder, "program")
        for name in ("sennit", "sennit-static"):
            with self.subTest(package=name):
                flags = run("pkg-config", "--cflags", "--libs", name).split()
                run(CC, os.path.join(CONSUMER, "user.c"), *flags, f"-Wl,-rpath,{PREFIX}/lib", "-o", program)
                self.check_runs(program)
        flags = run("pkg-config", "--cflags", "--libs", "sennit-openshmem").split()
        run(CC, os.path.join(CONSUMER, "openshmem", "user.c"), *flags, f"-Wl,-rpath,{PREFIX}/lib", "-o", program)
        self.check_shmem_runs("program")
        if FC:
            flags = run("pkg-config", "--cflags", "--libs", "sennit-fortran").split()
            run(FC, os.path.join(CONSUMER, "fortran", "user.f90"), *flags, f"-Wl,-rpath,{PREFIX}/lib", "-o", program)
            self.check_runs(program)
            sources = run("pkg-config", "--variable=sources", "sennit-fortran").strip()
            for name in os.listdir(sources):
                self.assertTrue(os.path.exists(os.path.join(sources, name)), name)

    def copy_user(self):
        shutil.copy(os.path.join(CONSUMER, "openshmem", "user.c"), self.folder)

    @unittest.skipUnless(shutil.which("make"), "no make")
    def test_a_makefile_takes_the_wrapper_for_its_compiler(self):
        self.copy_user()
        run("make", "CC=oshcc", "user", cwd=self.folder)
        self.check_shmem_runs()

    def test_a_project_in_cmake_takes_the_wrapper_for_its_compiler_and_knows_the_library(self):
        self.copy_user()
        self.write("CMakeLists.txt", "cmake_minimum_required(VERSION 3.16)\nproject(user LANGUAGES C)\n" + of_the_manual("cmake") +
                   "if(NOT OPENSHMEM_IS_SENNIT)\n    message(FATAL_ERROR \"which?\")\nendif()\nadd_executable(user user.c)\n")
        self.build(self.folder, "-DCMAKE_C_COMPILER=oshcc")
        self.check_shmem_runs()

    @unittest.skipUnless(shutil.which("autoconf") and shutil.which("make"), "no autoconf or no make")
    def test_a_project_with_autoconf_takes_the_wrapper_for_its_compiler_and_knows_the_library(self):
        self.copy_user()
        self.write("configure.ac", "AC_INIT([user], [1])\nAC_PROG_CC\n" + of_the_manual("m4") +
                   "AC_CONFIG_FILES([Makefile])\nAC_OUTPUT\n")
        self.write("Makefile.in", "user: user.c\n\t@CC@ @CFLAGS@ $< -o $@ @LIBS@\n")
        run("autoconf", cwd=self.folder)
        said = run("sh", "./configure", "CC=oshcc", cwd=self.folder)
        self.assertIn("OpenSHMEM is Sennit", said)
        self.assertIn("library containing shmem_init... none required", said)
        run("make", "user", cwd=self.folder)
        self.check_shmem_runs()

    def test_flags_that_the_wrapper_prints_build_a_program(self):
        source, program = os.path.join(CONSUMER, "openshmem", "user.c"), os.path.join(self.folder, "program")
        compiling, linking = (run("oshcc", f"-showme:{step}").split() for step in ("compile", "link"))
        run(CC, *compiling, source, *linking, "-o", program)
        self.check_shmem_runs("program")
        for option in ("-show", "--showme"):  # options by which find modules ask for the flags
            self.assertEqual(run("oshcc", option).split(), [CC, *compiling, *linking])
        for words in (("-show", "-c", "a.c"), ("-c", "a.c", "-showme"), ("-c", "--showme", "a.c")):
            self.assertEqual(run("oshcc", *words).split(), [CC, *compiling, "-c", "a.c"])
        self.assertEqual(run("oshcc", "-show", "-r", "a.o").split(), [CC, *compiling, "-r", "a.o"])
        self.assertEqual(run("oshcc", "-O2", "a.c", "-show").split(), [CC, *compiling, "-O2", "a.c", *linking])
        words = ["-c", "a b.c", '-DTEXT="it\'s\\n"', "-DVALUE=$HOME"]
        self.assertEqual(shlex.split(run("oshcc", "-show", *words)), [CC, *compiling, *words])
        self.assertEqual(run("oshcc", "-O2", "-showme:compile").split(), compiling)
        self.assertEqual(run("oshcc", "-O2", "a.c", "-showme:link").split(), linking)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
