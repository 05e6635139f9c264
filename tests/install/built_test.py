"""Tests of the build tree, from the place of another project: built_test.py CMAKE PREFIX PROGRAMS.

PREFIX has include/, lib/ and share/ as an installation has, PROGRAMS is the folder of `sennit`. Would break: a package of CMake or
pkg-config that works only where it is installed.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

CMAKE, PREFIX, PROGRAMS = sys.argv[1:4]
CTEST = os.path.join(os.path.dirname(CMAKE), "ctest")
CC = os.environ.get("CC", "cc")
FC = os.environ.get("FC", "")  # empty where the tree has no Fortran
HERE = os.path.dirname(os.path.abspath(__file__))
CONSUMER = os.path.join(HERE, "consumer")
SENNIT = os.path.join(PROGRAMS, "sennit")
WRAPPERS = os.path.join(PROGRAMS, "openshmem")
ENVIRONMENT = {**os.environ, "PKG_CONFIG_PATH": os.path.join(PREFIX, "lib", "pkgconfig"),
               "PATH": WRAPPERS + os.pathsep + os.environ["PATH"], "OSHCC_CC": CC}


def run(*words, **options):
    result = subprocess.run(words, capture_output=True, text=True, timeout=100, check=False, env=ENVIRONMENT, **options)
    if result.returncode != 0:
        raise AssertionError(f"{' '.join(words)}: exit status {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


class BuiltTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="built-test-")
        self.addCleanup(shutil.rmtree, self.folder)

    def check_runs(self, program):
        lines = run(SENNIT, "run", "-n", "2", program).splitlines()
        self.assertEqual(sorted(lines), ["rank 0 of 2 found 1", "rank 1 of 2 found 0"])

    def check_shmem_runs(self, program="user"):
        lines = run("oshrun", "-np", "2", os.path.join(self.folder, program)).splitlines()
        self.assertEqual(sorted(lines), ["PE 0 of 2 got 1", "PE 1 of 2 got 0"])

    def build(self, source, *options):
        run(CMAKE, "-S", source, "-B", self.folder, *options)
        run(CMAKE, "--build", self.folder)

    def test_projects_find_it_with_cmake(self):
        self.build(CONSUMER, f"-DCMAKE_PREFIX_PATH={PREFIX}", "-DUSER_LANGUAGES=C;CXX")
        run(CTEST, "--test-dir", self.folder, "--output-on-failure", "--no-tests=error")

    def test_a_project_for_openshmem_finds_it_with_cmake(self):
        self.build(os.path.join(CONSUMER, "openshmem"), f"-DCMAKE_PREFIX_PATH={PREFIX}")
        self.check_shmem_runs()

    @unittest.skipUnless(FC, "no Fortran compiler")
    def test_a_project_in_fortran_finds_it_with_cmake(self):
        self.build(os.path.join(CONSUMER, "fortran"), f"-DCMAKE_PREFIX_PATH={PREFIX}", f"-DCMAKE_Fortran_COMPILER={FC}")
        run(CTEST, "--test-dir", self.folder, "--output-on-failure", "--no-tests=error")

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


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
