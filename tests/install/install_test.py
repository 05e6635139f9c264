"""Tests of the installed library, from the place of another project: install_test.py CMAKE BUILD-TREE.

Installs the build tree into a folder, moves that folder, and works with what is there: a package that remembers
where it was built or installed, a header that needs another first, or a symbol that is too many fails here.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

CMAKE, BUILD_TREE = sys.argv[1:3]
CC, CXX = os.environ.get("CC", "cc"), os.environ.get("CXX", "c++")
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"]

PROGRAM = """#include <sennit/sennit.h>
#include <stdio.h>
#include <string.h>

int main(void) {
    if (strcmp(sennit_version(), SENNIT_VERSION_STRING) != 0) return 1;
    if (sennit_init(NULL) != SENNIT_OK) return 2;
    printf("rank %d of %d\\n", sennit_rank(), sennit_size());
    return sennit_finalize() == SENNIT_OK ? 0 : 3;
}
"""

PROJECT = """cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES C CXX)
find_package(sennit 0.1 REQUIRED)
foreach(library sennit static)
    add_executable(user_${library} user.c)
    target_link_libraries(user_${library} PRIVATE sennit::${library})
    set_target_properties(user_${library} PROPERTIES LINKER_LANGUAGE CXX)
endforeach()
"""

PROJECT_IN_C = """cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES C)
find_package(sennit 0.1 REQUIRED)
foreach(library sennit static)
    add_executable(user_${library} user.c)
    target_link_libraries(user_${library} PRIVATE sennit::${library})
endforeach()
"""


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
        lib = [name for name in os.listdir(cls.prefix) if name.startswith("lib")]
        cls.lib = os.path.join(cls.prefix, lib[0])
        for path, folders, files in os.walk(cls.prefix):
            if "libsennit.so.0" in files:
                cls.lib = path
        cls.library = os.path.join(cls.lib, "libsennit.so")
        cls.environment = {**os.environ, "PKG_CONFIG_PATH": os.path.join(cls.lib, "pkgconfig"),
                           "LD_LIBRARY_PATH": cls.lib}
        cls.user = os.path.join(cls.folder, "user")
        os.mkdir(cls.user)
        for name, text in (("user.c", PROGRAM), ("CMakeLists.txt", PROJECT)):
            with open(os.path.join(cls.user, name), "w", encoding="utf-8") as file:
                file.write(text)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def headers(self):
        folder = os.path.join(self.prefix, "include", "sennit")
        return sorted(name for name in os.listdir(folder) if name.endswith(".h"))

    def test_every_header_compiles_alone_as_c_and_as_cpp(self):
        self.assertIn("sennit.h", self.headers())
        self.assertIn("version.h", self.headers())
        for name in self.headers():
            if name == "sennit_mpi.h":  # is compiled by the user's own mpicc
                continue
            for compiler, language, standard in ((CC, "c", "c11"), (CXX, "c++", "c++20")):
                with self.subTest(header=name, language=language):
                    run(compiler, "-x", language, f"-std={standard}", *WARNINGS, "-fsyntax-only",
                        "-I", os.path.join(self.prefix, "include"), "-",
                        input=f"#include <sennit/{name}>\nint main(void) {{ return 0; }}\n")

    def test_the_library_shows_only_its_own_names(self):
        names = [line.split()[-1] for line in run("nm", "-D", "--defined-only", self.library).splitlines()]
        own = [name for name in names if name.startswith("sennit_")]
        self.assertIn("sennit_init@@SENNIT_0", own)
        self.assertEqual([name for name in names if name not in own and not name.startswith("SENNIT_0")], [])

    def test_every_declared_function_is_there(self):
        names = {line.split()[-1].split("@")[0]
                 for line in run("nm", "-D", "--defined-only", self.library).splitlines()}
        declared = set()
        for name in self.headers():
            if name == "sennit_mpi.h":
                continue
            text = run(CC, "-E", "-P", "-I", os.path.join(self.prefix, "include"), "-x", "c", "-",
                       input=f"#include <sennit/{name}>\n")
            for statement in text.split(";"):
                words = re.sub(r"__attribute__ *\(\(\w+\)\)", "", " ".join(statement.split()))
                if "typedef" in words or "inline" in words or "(" not in words or "{" in words:
                    continue
                function = words.split("(")[0].split()[-1].lstrip("*")
                if function.startswith("sennit_"):
                    declared.add(function)
        self.assertIn("sennit_put", declared)
        self.assertEqual(sorted(declared - names), [])

    def test_the_library_needs_no_mpi_and_no_network_library(self):
        needed = [line.split("[")[1].rstrip("]") for line in run("readelf", "-d", self.library).splitlines()
                  if "(NEEDED)" in line]
        allowed = ("libc.", "libm.", "libstdc++.", "libgcc_s.", "libhwloc.", "libpthread.", "libdl.", "ld-linux")
        self.assertEqual([name for name in needed if not name.startswith(allowed)], [])
        self.assertIn("Library soname: [libsennit.so.0]", run("readelf", "-d", self.library))

    def test_a_program_is_built_with_pkg_config(self):
        flags = run("pkg-config", "--cflags", "--libs", "sennit", env=self.environment).split()
        program = os.path.join(self.folder, "with-pkg-config")
        place = run("pkg-config", "--variable=libdir", "sennit", env=self.environment).strip()
        run(CC, *WARNINGS, os.path.join(self.user, "user.c"), *flags, f"-Wl,-rpath,{place}", "-o", program)
        self.assertEqual(run(program), "rank 0 of 1\n")

    def test_a_program_is_built_with_cmake_and_either_library(self):
        tree = os.path.join(self.folder, "user-build")
        run(CMAKE, "-S", self.user, "-B", tree, f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run(CMAKE, "--build", tree)
        for library in ("sennit", "static"):
            self.assertEqual(run(os.path.join(tree, f"user_{library}")), "rank 0 of 1\n")

    def test_a_project_in_c_alone_is_built_with_either_library(self):
        source = os.path.join(self.folder, "user-in-c")
        os.mkdir(source)
        for name, text in (("user.c", PROGRAM), ("CMakeLists.txt", PROJECT_IN_C)):
            with open(os.path.join(source, name), "w", encoding="utf-8") as file:
                file.write(text)
        tree = os.path.join(source, "build")
        run(CMAKE, "-S", source, "-B", tree, f"-DCMAKE_PREFIX_PATH={self.prefix}")
        run(CMAKE, "--build", tree)
        for library in ("sennit", "static"):
            self.assertEqual(run(os.path.join(tree, f"user_{library}")), "rank 0 of 1\n")

    def test_an_installed_header_is_a_file_of_its_own(self):
        for name in self.headers():
            self.assertFalse(os.path.islink(os.path.join(self.prefix, "include", "sennit", name)), name)

    def test_an_installed_file_does_not_name_the_build_tree(self):
        for path, _, files in os.walk(self.prefix):
            for name in files:
                if name.endswith((".cmake", ".pc", ".h")):
                    with open(os.path.join(path, name), encoding="utf-8") as file:
                        text = file.read()
                    for place in (BUILD_TREE, os.path.join(self.folder, "first")):
                        self.assertNotIn(place, text, f"{name} names {place}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
