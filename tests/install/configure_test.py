"""The messages of configuring on machines where something is missing: configure_test.py CMAKE SOURCE.

Nothing is built. Broken by an error that names only one missing thing at a time, a part that is required without need, a part
that is left out silently, man pages that stop the build where Python lacks modules.
"""
import os
import subprocess
import sys
import tempfile
import unittest

CMAKE, SOURCE = sys.argv[1:3]
PACKAGES = ("CLI11", "fmt", "nlohmann_json", "GTest")


class Configure(unittest.TestCase):
    def configure(self, *words, lacks=(), pkg_config=True, environment=None):
        """Exit code and all output; `lacks` are packages that find_package must not find."""
        with tempfile.TemporaryDirectory() as tree:
            settings = {} if pkg_config else {"PKG_CONFIG_LIBDIR": "/nowhere", "PKG_CONFIG_PATH": ""}
            self.build_info = ""
            done = subprocess.run(
                [CMAKE, "-S", SOURCE, "-B", tree, *[f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in lacks], *words],
                env={**os.environ, **settings, **(environment or {})}, capture_output=True, text=True, timeout=200, check=False)
            generated = os.path.join(tree, "generated", "build_info.cpp")
            if os.path.exists(generated):
                with open(generated, encoding="utf-8") as file:
                    self.build_info = file.read()
        return done.returncode, done.stdout + done.stderr

    def test_all_that_is_missing_is_named_at_once(self):
        code, said = self.configure(lacks=PACKAGES, pkg_config=False)
        self.assertNotEqual(code, 0)
        self.assertIn("apt-get install libhwloc-dev libcli11-dev libfmt-dev nlohmann-json3-dev libgtest-dev", said)
        self.assertIn("without tests:     -DSENNIT_BUILD_TESTS=OFF", said)

    def test_tests_alone_need_gtest_and_programs_alone_the_rest(self):
        code, said = self.configure("-DSENNIT_BUILD_TESTS=OFF", lacks=["GTest"])
        self.assertEqual(code, 0, said)
        code, said = self.configure("-DSENNIT_BUILD_TESTS=OFF", "-DSENNIT_BUILD_PROGRAMS=OFF", lacks=PACKAGES, pkg_config=False)
        self.assertEqual(code, 0, said)
        for part in ("PMIx", "libfabric", "hwloc"):
            self.assertRegex(said, rf"{part} +not found: no {part.lower()}.pc")
        self.assertIn("hwloc.pc of 2.5 or later (libhwloc-dev)", self.build_info)

    def test_all_parts_that_are_asked_for_and_missing_are_named_at_once(self):
        code, said = self.configure("-DSENNIT_BUILD_TESTS=OFF", "-DSENNIT_BUILD_PROGRAMS=OFF", "-DSENNIT_PMIX=ON", "-DSENNIT_LIBFABRIC=ON",
                                    "-DSENNIT_MAN=ON", pkg_config=False)
        self.assertNotEqual(code, 0)
        for part in ("SENNIT_PMIX is ON, but PMIx was not found", "SENNIT_LIBFABRIC is ON, but libfabric was not found",
                     "SENNIT_MAN is ON, but man pages cannot be made: they need the programs (SENNIT_BUILD_PROGRAMS)"):
            self.assertIn(part, " ".join(said.split()))

    def test_a_missing_pkg_config_is_named(self):
        code, said = self.configure("-DSENNIT_BUILD_TESTS=OFF", "-DSENNIT_BUILD_PROGRAMS=OFF", "-DPKG_CONFIG_EXECUTABLE=/nowhere/pkg-config")
        self.assertEqual(code, 0, said)
        for part in ("PMIx", "libfabric", "hwloc"):
            self.assertRegex(said, rf"{part} +not found: pkg-config is missing, which would find {part.lower()}.pc")

    def test_options_with_values_that_they_do_not_have_are_named(self):
        code, said = self.configure("-DSENNIT_BUILD_TESTS=of", "-DSENNIT_BUILD_PROGRAMS=off", "-DSENNIT_PMIX=auto", "-DSENNIT_MAN=later")
        self.assertNotEqual(code, 0)
        for wrong in ("SENNIT_BUILD_TESTS=of is none of ON, OFF", "SENNIT_PMIX=auto is none of AUTO, ON, OFF",
                      "SENNIT_MAN=later is none of AUTO, ON, OFF"):
            self.assertIn(wrong, said)
        self.assertNotIn("SENNIT_BUILD_PROGRAMS=", said)
        code, said = self.configure("-DSENNIT_BUILD_TESTS=OFF", "-DSENNIT_BUILD_PROGRAMS=OFF", "-DSENNIT_PACKAGE_MAINTAINER=some.one@example.org")
        self.assertNotEqual(code, 0)
        self.assertIn('SENNIT_PACKAGE_MAINTAINER must be "Name <address>"', " ".join(said.split()))

    def test_what_is_left_out_is_said_and_built_in_is_what_was_seen(self):
        off = ("PMIX", "LIBFABRIC", "OPENMPI", "OPENSHMEM", "MPICH", "FORTRAN", "MAN")
        code, said = self.configure("-DSENNIT_BUILD_TESTS=OFF", *[f"-DSENNIT_{part}=OFF" for part in off])
        self.assertEqual(code, 0, said)
        for part in off:
            self.assertIn(f" left out by SENNIT_{part}=OFF", said)
        self.assertIn('"left out by SENNIT_PMIX=OFF"', self.build_info)
        self.assertRegex(self.build_info, r"; built with: hwloc [0-9.]+\"")
        self.assertNotIn("found", self.build_info)

    def test_a_python_without_all_of_its_modules_makes_no_man_pages_and_no_error(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "dataclasses.py"), "w", encoding="ascii") as file:
                file.write("raise ModuleNotFoundError(\"No module named 'dataclasses'\")\n")
            less = {"PYTHONPATH": folder}
            code, said = self.configure("-DSENNIT_BUILD_TESTS=OFF", environment=less)
            self.assertEqual(code, 0, said)
            self.assertRegex(said, "man pages left out: Python is missing, or not all of its modules are there")
            self.assertRegex(said, "has not all of its modules: ModuleNotFoundError: No module named 'dataclasses'")
            code, said = self.configure("-DSENNIT_BUILD_TESTS=OFF", "-DSENNIT_MAN=ON", environment=less)
            self.assertNotEqual(code, 0)
            self.assertIn("SENNIT_MAN is ON, but man pages cannot be made", said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
