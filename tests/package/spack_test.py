"""Tests of the Spack recipe, without Spack: spack_test.py CMAKE SOURCE.

The recipe is loaded with replacements for Spack's directives, which record their arguments. Broken by a version, an option or a
requirement that differs from the build lists, or by arguments that CMake does not accept.
"""
import importlib.util
import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import types
import unittest

CMAKE, SOURCE = sys.argv[1:3]
MPICC = shutil.which("mpicc.openmpi") or ""
NINJA = shutil.which("ninja")
GENERATOR = ("-G", "Ninja") if NINJA else ()  # the recipe's generator
DIRECTIVES = ("version", "variant", "depends_on", "conflicts", "requires", "license", "generator")


class Notes(dict):
    """The arguments of each directive: {directive: [(arguments, keywords)]}."""

    def directive(self, name):
        return lambda *words, **keywords: self.setdefault(name, []).append((words, keywords))


class CMakePackage:
    """The parts of Spack's class of that name that the recipe uses."""

    def __init__(self, values, packages):
        self.values = values
        self.spec = Spec(values, packages)

    @staticmethod
    def define(name, value):
        return f"-D{name}={('ON' if value else 'OFF') if isinstance(value, bool) else value}"

    def define_from_variant(self, name, variant):
        return self.define(name, self.values[variant])


class Spec:
    def __init__(self, values, packages):
        self.values, self.packages = values, packages

    def satisfies(self, text):
        words = text.split()
        return all(self.values.get(word[1:], False) if word[0] == "+" else word[1:] in self.packages for word in words)

    def __getitem__(self, name):
        return types.SimpleNamespace(mpicc=self.packages[name])


def load():
    notes = Notes()
    stub = types.ModuleType("spack.package")
    stub.CMakePackage = CMakePackage
    for name in DIRECTIVES:
        setattr(stub, name, notes.directive(name))
    sys.modules.update({"spack": types.ModuleType("spack"), "spack.package": stub})
    path = os.path.join(SOURCE, "packaging", "spack", "packages", "sennit", "package.py")
    sys.dont_write_bytecode = True
    spec = importlib.util.spec_from_file_location("recipe", path)
    recipe = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(recipe)
    return recipe, notes


def build_lists():
    names = ["CMakeLists.txt"] + [os.path.join("cmake", name) for name in os.listdir(os.path.join(SOURCE, "cmake"))]
    names += [os.path.join(part, "CMakeLists.txt") for part in ("cli", "bench")]
    texts = []
    for name in names:
        with open(os.path.join(SOURCE, name), encoding="utf-8") as file:
            texts.append(file.read())
    return "\n".join(texts)


class SpackTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.recipe, cls.notes = load()
        cls.lists = build_lists()
        cls.variants = {words[0]: keywords for words, keywords in cls.notes["variant"]}
        cls.needs = {words[0].split("@")[0].split()[0]: (words[0], keywords) for words, keywords in
                     cls.notes["depends_on"]}

    def arguments(self, values, packages=()):
        return self.recipe.Sennit(values, dict(packages)).cmake_args()

    def all_values(self):
        """Every choice of variants that Spack allows."""
        for choice in itertools.product((False, True), repeat=len(self.variants)):
            values = dict(zip(self.variants, choice))
            if all(values[keywords["when"][1:]] for name, keywords in self.variants.items()
                   if "when" in keywords and values[name]):
                yield values

    def test_a_numbered_version_is_a_release_and_none_is_newer_than_the_build_lists(self):
        """Broken by a version number for a branch, which changes every day."""
        def number(name):
            return tuple(int(part) for part in name.split("."))

        current = re.search(r"project\(sennit\s+VERSION ([\d.]+)", self.lists)[1]
        versions = {words[0]: keywords for words, keywords in self.notes["version"]}
        self.assertEqual(versions.pop("main"), {"branch": "main"})
        for name, keywords in versions.items():
            self.assertTrue(set(keywords) & {"tag", "commit"} and "branch" not in keywords, name)
            self.assertLessEqual(number(name), number(current))

    def test_it_builds_the_checkout_that_it_lies_in(self):
        self.assertEqual(os.path.realpath(self.recipe.Sennit.git.removeprefix("file://")), os.path.realpath(SOURCE))

    def test_versions_of_what_is_needed_are_those_that_cmake_asks_for(self):
        for package, pattern in (("cmake", r"cmake_minimum_required\(VERSION ([\d.]+)"), ("hwloc", r"hwloc>=([\d.]+)"),
                                 ("pmix", r"pmix>=([\d.]+)"), ("libfabric", r"libfabric>=([\d.]+)"), ("python", r"Python3 ([\d.]+)")):
            with self.subTest(package=package):
                asked = re.search(pattern, self.lists)[1]
                self.assertEqual(self.needs[package][0], f"{package}@{asked}:")

    def test_what_cmake_looks_for_is_needed(self):
        names = {"CLI11": "cli11", "fmt": "fmt", "nlohmann_json": "nlohmann-json", "PkgConfig": "pkgconfig", "Python3": "python"}
        looked_for = set(re.findall(r"find_package\((\w+)", self.lists)) - {"Threads", "sennit", "GTest"}  # for tests
        self.assertEqual(looked_for, set(names))
        for name in names.values():
            self.assertIn(name, self.needs)

    def test_every_part_that_may_be_left_out_is_settled_by_the_recipe(self):
        """Otherwise a Spack build would depend on the packages that the machine happens to have."""
        settled = {argument[2:].split("=")[0] for argument in self.arguments(dict.fromkeys(self.variants, True))}
        parts = re.search(r"foreach\(part ((?:[A-Z]+ ?)+)\)\n\s+set\(SENNIT_\$\{part\} AUTO", self.lists)[1].split()
        self.assertEqual({f"SENNIT_{part}" for part in parts} - settled, set())
        self.assertIn("SENNIT_MAN", settled)
        # Spack runs the tests of a tree that has them (--test=root), but does not build their targets.
        self.assertIn("-DSENNIT_BUILD_TESTS=OFF", self.arguments(dict.fromkeys(self.variants, True)))

    def test_options_are_options_of_the_build(self):
        known = set(re.findall(r"\boption\((\w+)", self.lists)) | set(re.findall(r"set\((SENNIT_\w+) \S+ CACHE", self.lists))
        known |= {"SENNIT_PMIX", "SENNIT_LIBFABRIC", "SENNIT_HWLOC", "SENNIT_OPENMPI", "SENNIT_OPENSHMEM", "SENNIT_MPICH", "SENNIT_FORTRAN"}  # made in a loop
        known |= {"CMAKE_SKIP_INSTALL_ALL_DEPENDENCY"}  # of CMake itself
        packages = {"openmpi": "", "mpi": "mpicc"}
        for values in self.all_values():
            for argument in self.arguments(values, packages):
                self.assertIn(argument[2:].split("=")[0], known)

    def test_the_target_that_is_built_is_one(self):
        for target in self.recipe.Sennit.build_targets:
            self.assertIn(f"add_custom_target({target}", self.lists)

    def test_the_example_prints_what_spack_is_to_find(self):
        with open(os.path.join(SOURCE, "examples", "ring.c"), encoding="utf-8") as file:
            printed = re.search(r'printf\("(.*)\\n"', file.read())[1]
        with open(self.recipe.__file__, encoding="utf-8") as file:
            awaited = re.findall(r'check_outputs\("(.*)",', file.read())
        self.assertEqual(awaited, [printed % (ranks, ranks * (ranks - 1) // 2) for ranks in (3, 1)])

    def test_an_mpi_is_insisted_on_and_the_other_left_out(self):
        values = dict.fromkeys(self.variants, True)
        for one, other in (("openmpi", "mpich"), ("mpich", "openmpi")):
            said = self.arguments(values, {one: "", "mpi": "/opt/mpicc"})
            self.assertIn(f"-DSENNIT_{one.upper()}=ON", said)
            self.assertIn(f"-DSENNIT_MPICC_{one.upper()}=/opt/mpicc", said)
            self.assertIn(f"-DSENNIT_{other.upper()}=OFF", said)
        values["mpi"] = False
        said = self.arguments(values)
        self.assertIn("-DSENNIT_OPENMPI=OFF", said)
        self.assertIn("-DSENNIT_MPICH=OFF", said)

    def test_cmake_takes_the_arguments(self):
        least, most = dict.fromkeys(self.variants, False), dict.fromkeys(self.variants, True)
        packages = {"openmpi": "", "mpi": MPICC}
        most["mpi"] = bool(MPICC)
        for values in (least, most):
            with self.subTest(**values):
                tree = tempfile.mkdtemp(prefix="spack-test-")
                self.addCleanup(shutil.rmtree, tree)
                result = subprocess.run([CMAKE, "-S", SOURCE, "-B", tree, *GENERATOR, *self.arguments(values, packages)],
                                        capture_output=True, text=True, timeout=100, check=False)
                said = result.stdout + result.stderr
                self.assertEqual(result.returncode, 0, said)
                self.assertNotIn("Manually-specified variables were not used", said)
                self.assertEqual("left out by SENNIT_PMIX=OFF" in said, not values["pmix"])
                self.check_what_installing_builds(tree)

    def check_what_installing_builds(self, tree):
        """Only the target that was built: no applications and no examples."""
        if GENERATOR:
            said = subprocess.run([NINJA, "-C", tree, "-t", "query", "CMakeFiles/install.util"], capture_output=True,
                                  text=True, check=True).stdout
            self.assertNotIn(" all\n", said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
