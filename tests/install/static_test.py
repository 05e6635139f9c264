"""Builds Sennit with BUILD_SHARED_LIBS=OFF, installs it, and uses it: static_test.py CMAKE SOURCE SENNIT.

SENNIT is the program of another tree, which starts the ranks. Broken by a shared library that is built anyway, by a target, a .pc
file or a wrapper that only names the shared library, and by a test that needs the file of the shared library.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

CMAKE, SOURCE, SENNIT = sys.argv[1:4]
CC, CXX = os.environ.get("CC", "cc"), os.environ.get("CXX", "c++")
CONSUMER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "consumer")
COMPILERS = {"user.c": [CC, "-std=c11"], "user.cpp": [CXX, "-std=c++20"]}
FOUND = ["rank 0 of 2 found 1", "rank 1 of 2 found 0"]
GOT = ["PE 0 of 2 got 1", "PE 1 of 2 got 0"]

USES = """cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES C)
find_package(sennit REQUIRED COMPONENTS %s)
add_executable(user %s)
target_link_libraries(user PRIVATE sennit::%s)
"""


def run(*words, seconds=100, **options):
    result = subprocess.run(words, capture_output=True, text=True, timeout=seconds, check=False, **options)
    if result.returncode != 0:
        raise AssertionError(f"{' '.join(words)}: exit status {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


class StaticTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="static-test-")
        tree, cls.prefix = os.path.join(cls.folder, "tree"), os.path.join(cls.folder, "prefix")
        # Configures programs and tests, so that their lists are read, but does not build them.
        run(CMAKE, "-S", SOURCE, "-B", tree, "-G", "Ninja", "-DBUILD_SHARED_LIBS=OFF", "-DCMAKE_C_FLAGS_RELEASE=-O0",
            "-DCMAKE_CXX_FLAGS_RELEASE=-O0", "-DSENNIT_FOLDERS_TOGETHER=ON", "-DSENNIT_MAN=OFF", "-DCMAKE_INSTALL_LIBDIR=lib")
        run(CMAKE, "--build", tree, "-j", "2", "--target", "sennit_static", "sennit_shmem", seconds=300)
        for component in ("runtime", "development", "openshmem_runtime", "openshmem"):
            run(CMAKE, "--install", tree, "--prefix", cls.prefix, "--component", component)
        cls.environment = {**os.environ, "PKG_CONFIG_PATH": os.path.join(cls.prefix, "lib", "pkgconfig")}

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def check_runs(self, program, lines):
        needed = [line for line in run("readelf", "-d", program).splitlines() if "NEEDED" in line]
        self.assertFalse(any("libsennit" in line for line in needed), needed)
        self.assertEqual(sorted(run(SENNIT, "run", "-n", "2", "--timeout", "30", program).splitlines()), lines)

    def check_pkg_config(self, name, source, compiler, lines):
        program = os.path.join(self.folder, f"{name}-{os.path.basename(source)}.out")
        flags = run("pkg-config", "--cflags", "--libs", name, env=self.environment).split()
        run(*compiler, os.path.join(CONSUMER, source), *flags, "-o", program)
        self.check_runs(program, lines)

    def test_no_shared_library_is_installed(self):
        names = [name for _, _, files in os.walk(self.prefix) for name in files if name.startswith("lib")]
        self.assertEqual(sorted(names), ["libsennit.a", "libsennit_shmem.a"])

    def test_pkg_config_names_all_that_the_archives_need(self):
        for source, compiler in COMPILERS.items():
            with self.subTest(source=source):
                self.check_pkg_config("sennit", source, compiler, FOUND)
        self.check_pkg_config("sennit-openshmem", os.path.join("openshmem", "user.c"), [CC], GOT)

    def test_the_wrapper_names_all_that_the_archives_need(self):
        program = os.path.join(self.folder, "wrapped.out")
        run(os.path.join(self.prefix, "libexec", "sennit", "openshmem", "oshcc"),
            os.path.join(CONSUMER, "openshmem", "user.c"), "-o", program)
        self.check_runs(program, GOT)

    def test_a_project_in_c_finds_the_archive_by_the_usual_target(self):
        for component, source, target, lines in (("c", "user.c", "sennit", FOUND),
                                                 ("openshmem", "openshmem/user.c", "shmem", GOT)):
            with self.subTest(component=component):
                source_folder = tempfile.mkdtemp(prefix="user-", dir=self.folder)
                with open(os.path.join(source_folder, "CMakeLists.txt"), "w", encoding="utf-8") as file:
                    file.write(USES % (component, os.path.join(CONSUMER, source), target))
                tree = os.path.join(source_folder, "build")
                run(CMAKE, "-S", source_folder, "-B", tree, f"-DCMAKE_PREFIX_PATH={self.prefix}")
                run(CMAKE, "--build", tree)
                self.check_runs(os.path.join(tree, "user"), lines)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
