"""Tests of the Debian packages.

    debian_test.py CMAKE BUILD-TREE           packages of that build tree
    debian_test.py CMAKE --preset SOURCE      packages of preset `package`, built in a separate folder

The packages are made, unpacked into an empty folder as they would lie in the root, checked as lintian checks packages, and
used there. Broken by a file in no package or in two, a missing dependency, a name of the build tree, a library or program
that only runs where it was built. Skipped where Debian's tools are missing.
With --preset lintian itself checks them too, if it is installed.
"""
import glob
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

CMAKE = sys.argv[1]
TOOLS = ("dpkg-deb", "dpkg-shlibdeps", "dpkg-query", "file", "gzip", "pkg-config")
# A warning of lintian that does not apply: only packages that are uploaded to Debian close a request for them.
EXPLAINED = ("initial-upload-closes-no-bugs",)
CONSUMER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "install", "consumer")


def run(*words, seconds=170, **options):
    result = subprocess.run(words, capture_output=True, text=True, timeout=seconds, check=False, **options)
    if result.returncode != 0:
        raise AssertionError(f"{' '.join(words)}: exit status {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


def build_tree(folder):
    """The build tree for the packages."""
    if sys.argv[2] != "--preset":
        return sys.argv[2]
    tree = os.path.join(folder, "tree")
    # The optimization of compilers is not tested here.
    run(CMAKE, "--preset", "package", "-S", sys.argv[3], "-B", tree, "-DCMAKE_CXX_FLAGS_RELEASE=-O0",
        "-DSENNIT_FOLDERS_TOGETHER=ON", "-DSENNIT_PACKAGE_MAINTAINER=Somebody <somebody@example.org>")
    run(CMAKE, "--build", tree, "--target", "sennit_installed", "--parallel", "2", seconds=800)
    return tree


class Package:
    def __init__(self, path, place):
        self.path = path
        self.fields = dict(re.findall(r"^([A-Z][\w-]*): (.*)$", run("dpkg-deb", "--field", path), re.MULTILINE))
        self.name = self.fields["Package"]
        self.rows = [line.split(maxsplit=5) for line in run("dpkg-deb", "--contents", path).splitlines()]
        self.place = place
        os.makedirs(place)
        run("dpkg-deb", "--extract", path, place)

    def files(self):
        """[(path in the root, path here)] of all files and links."""
        return [(os.path.relpath(os.path.join(folder, name), self.place), os.path.join(folder, name))
                for folder, _, names in os.walk(self.place) for name in names]

    def programs(self):
        """ELF files for the dynamic loader."""
        for name, path in self.files():
            if not os.path.islink(path):
                with open(path, "rb") as file:
                    if file.read(4) == b"\x7fELF":
                        yield name, path


class DebianTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="debian-test-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.tree = build_tree(cls.folder)
        out = os.path.join(cls.folder, "packages")
        run(os.path.join(os.path.dirname(CMAKE), "cpack"), "--config", os.path.join(cls.tree, "CPackConfig.cmake"),
            "-G", "DEB", "-B", out, umask=0o077)  # must not affect the packages
        cls.packages = {}
        for path in glob.glob(os.path.join(out, "*.deb")):
            package = Package(path, os.path.join(cls.folder, "apart", os.path.basename(path)))
            cls.packages[package.name] = package
        cls.library, = (name for name in cls.packages if re.fullmatch(r"libsennit\d+(\.\d+)?", name))
        cls.shmem_library = cls.library.replace("sennit", "sennit-shmem")
        cls.root = cls.together("root", cls.library, "libsennit-dev", "sennit")

    @classmethod
    def together(cls, name, *packages):
        root = os.path.join(cls.folder, name)
        os.makedirs(root)
        for package in packages:
            run("dpkg-deb", "--extract", cls.packages[package].path, root)
        return os.path.join(root, "usr")

    def test_uninstall_of_the_tree_leaves_files_of_installed_packages(self):
        # Other tests install from the tree at the same time, but none into /usr.
        for path in glob.glob(os.path.join(self.tree, "install_manifest*.txt")):
            with open(path, encoding="utf-8") as file:
                self.assertNotRegex(file.read(), r"(?m)^/usr/", path)

    def depends(self, name):
        words = self.packages[name].fields.get("Depends", "").split(", ")
        return {word.split()[0]: word for word in words if word}

    def test_there_are_the_packages_of_a_library_of_its_program_and_of_its_documents(self):
        wanted = {self.library, "libsennit-dev", self.shmem_library, "libsennit-shmem-dev", "sennit", "sennit-doc"}
        if os.path.exists(os.path.join(self.tree, "generated", "sennit-fortran.pc")):
            wanted.add("libsennit-fortran-dev")
        self.assertEqual({name for name in self.packages if not name.startswith("sennit-bench-")}, wanted)

    def test_every_package_has_the_fields_that_debian_wants(self):
        for name, package in self.packages.items():
            with self.subTest(package=name):
                self.assertRegex(package.fields["Version"], r"^\d+\.\d+\.\d+-1$")
                self.assertRegex(package.fields["Maintainer"], r"^.+ <\S+@\S+>$")
                self.assertEqual(package.fields["Architecture"] == "all", name == "sennit-doc")
                summary, *text = run("dpkg-deb", "--field", package.path, "Description").splitlines()
                self.assertNotRegex(summary, r"\.$|^(?:a|an|the) |^sennit")
                self.assertNotIn(summary, "\n".join(text))
                self.assertRegex(text[-1], r"^ This package contains .*\.$")
                self.assertLess(max(len(line) for line in [summary, *text]), 81)
                for field in ("Section", "Priority", "Installed-Size"):
                    self.assertTrue(package.fields[field])

    def test_dependencies_are_named(self):
        version = self.packages[self.library].fields["Version"]
        for name in ("libc6", "libstdc++6", "libgcc-s1"):
            self.assertIn(name, self.depends(self.library))
        for name in ("libhwloc15", "libfabric1"):
            self.assertNotIn(name, self.depends(self.library))
            self.assertIn(name, self.packages[self.library].fields["Recommends"])
        self.assertEqual(self.depends("libsennit-dev")[self.library], f"{self.library} (= {version})")
        self.assertEqual(self.depends("sennit")[self.library], f"{self.library} (= {version})")
        self.assertIn(self.library, self.depends(self.shmem_library))
        self.assertEqual(self.depends("libsennit-shmem-dev")[self.shmem_library], f"{self.shmem_library} (= {version})")
        for name in ("libhwloc15", "libfmt9"):
            self.assertIn(name, self.depends("sennit"))
        self.assertFalse([name for name in self.depends("sennit") if "mpi" in name])
        for mpi, library in (("openmpi", "libopenmpi3"), ("mpich", "libmpich12")):
            if f"sennit-bench-{mpi}" in self.packages:
                self.assertIn(library, self.depends(f"sennit-bench-{mpi}"))

    def test_dependencies_are_packages_that_dpkg_knows_here(self):
        for name in self.packages:
            for other in self.depends(name):
                if other not in self.packages:
                    with self.subTest(package=name, needs=other):
                        self.assertRegex(run("dpkg-query", "-W", "-f", "${db:Status-Abbrev}", other), "^.i")

    def test_no_file_is_in_two_packages(self):
        owners = {}
        for name, package in self.packages.items():
            for path, _ in package.files():
                self.assertNotIn(path, owners, f"{path} is in {name} too")
                owners[path] = name

    def test_all_files_that_are_installed_are_in_a_package(self):
        prefix = os.path.join(self.folder, "installed")
        run(CMAKE, "--install", self.tree, "--prefix", prefix)
        packed = {path.removesuffix(".gz") for package in self.packages.values() for path, _ in package.files()}
        installed = {os.path.join("usr", os.path.relpath(os.path.join(folder, name), prefix))
                     for folder, _, names in os.walk(prefix) for name in names}
        self.assertEqual(sorted(installed - packed), [])

    def test_files_have_the_owner_and_the_mode_that_debian_wants(self):
        for name, package in self.packages.items():
            for mode, owner, _, _, _, path in package.rows:
                with self.subTest(package=name, path=path):
                    self.assertEqual(owner, "root/root")
                    self.assertTrue(path == "./" or path.startswith("./usr/"))
                    self.assertIn(mode, ("drwxr-xr-x", "-rwxr-xr-x", "-rw-r--r--", "lrwxrwxrwx"))
                    if mode == "-rwxr-xr-x":
                        self.assertRegex(path, r"/(?:bin|libexec)/")

    def test_every_package_has_its_licence_and_its_changes(self):
        for name, package in self.packages.items():
            documents = os.path.join(package.place, "usr", "share", "doc", name)
            self.assertEqual(sorted(file for file in os.listdir(documents) if file.startswith("c")),
                             ["changelog.Debian.gz", "changelog.gz", "copyright"])
            entry = run("gzip", "-dc", os.path.join(documents, "changelog.Debian.gz"))
            version = re.escape(package.fields["Version"])
            self.assertRegex(entry, rf"^sennit \({version}\) \S+; urgency=\S+\n\n  \* .+\n\n -- .+ <\S+>  \w{{3}}, .+ \+0000\n$")

    def test_the_linker_is_told_by_a_trigger_and_no_package_has_scripts(self):
        os.makedirs(os.path.join(self.folder, "control"))
        for name, package in self.packages.items():
            with self.subTest(package=name):
                place = os.path.join(self.folder, "control", name)
                run("dpkg-deb", "--control", package.path, place)
                more = {"shlibs", "triggers"} if name in (self.library, self.shmem_library) else set()
                self.assertEqual(set(os.listdir(place)), {"control", "md5sums"} | more)
                if more:
                    with open(os.path.join(place, "triggers"), encoding="utf-8") as file:
                        self.assertEqual(file.read(), "activate-noawait ldconfig\n")

    def test_lintian_finds_neither_errors_nor_warnings(self):
        if sys.argv[2] != "--preset":
            self.skipTest("the tree is not one for /usr, and nobody has said who makes its packages")
        if not shutil.which("lintian"):
            self.skipTest("no lintian here (apt-get install lintian)")
        words = ["lintian", "--no-cfg", "--fail-on", "none", "--tag-display-limit", "0",
                 "--suppress-tags", ",".join(EXPLAINED)]
        if os.geteuid() == 0:
            words.append("--allow-root")
        said = run(*words, *(package.path for package in self.packages.values()), seconds=300,
                   env={**os.environ, "LC_ALL": "C"})
        self.assertEqual(said, "")

    # The checks of blhc for a log, and of hardening-check for a file.
    def test_everything_is_compiled_and_linked_with_the_hardening_of_debian(self):
        if sys.argv[2] != "--preset":
            self.skipTest("the tree is not of preset package")
        with open(os.path.join(self.tree, "compile_commands.json"), encoding="utf-8") as file:
            commands = [one["command"] for one in json.load(file) if not one["file"].endswith(".f90")]
        for command in commands:
            for flag in ("-fstack-protector-strong", "-D_FORTIFY_SOURCE=2", "-Werror=format-security"):
                self.assertIn(flag, command)
        for name, package in self.packages.items():
            for path, file in package.programs():
                with self.subTest(package=name, path=path):
                    self.assertIn("GNU_RELRO", run("readelf", "-lW", file))
                    self.assertRegex(run("readelf", "-d", file), r"BIND_NOW|FLAGS_1\).*NOW")
                    self.assertIn("DYN", run("readelf", "-h", file), "position independent")
                    self.assertIn("__stack_chk_fail", run("readelf", "--dyn-syms", "-W", file))

    def test_documents_have_the_pictures_that_they_show(self):
        place = os.path.join(self.packages["sennit-doc"].place, "usr", "share", "doc", "sennit")
        shown = 0
        for path, _, files in os.walk(os.path.join(place, "docs", "results")):
            for name in (name for name in files if name.endswith(".md")):
                with open(os.path.join(path, name), encoding="utf-8") as file:
                    for picture in re.findall(r"\]\(([^)\s]+\.png)\)", file.read()):
                        shown += 1
                        self.assertTrue(os.path.exists(os.path.join(path, picture)), f"{path}: {picture}")
        self.assertGreater(shown, 12)

    def test_man_pages_are_compressed_and_read_by_man(self):
        pages = os.path.join(self.root, "share", "man")
        names = sorted(name for _, _, files in os.walk(pages) for name in files)
        self.assertIn("sennit_put.3.gz", names)
        self.assertIn("sennit-run.1.gz", names)
        self.assertEqual([name for name in names if not name.endswith(".gz")], [])
        if not shutil.which("man"):
            self.skipTest("no man here (apt-get install man-db)")
        # A page that is a link to another function's page.
        said = run("man", "-M", pages, "-P", "cat", "3", "sennit_get", env={**os.environ, "MANWIDTH": "100"})
        self.assertIn("sennit_status sennit_get(void *destination,", said)

    def test_programs_are_stripped_and_find_libraries_from_their_own_place_alone(self):
        for name, package in self.packages.items():
            for path, file in package.programs():
                with self.subTest(package=name, path=path):
                    self.assertNotIn(".symtab", run("readelf", "-SW", file))
                    for place in re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", run("readelf", "-d", file)):
                        self.assertRegex(place, r"^\$ORIGIN(?:/[\w.-]+)*$")

    def test_no_file_names_the_build_tree(self):
        for name, package in self.packages.items():
            for path, file in package.files():
                if os.path.islink(file):
                    continue
                with open(file, "rb") as opened:
                    self.assertNotIn(self.tree.encode(), opened.read(), f"{name}: {path}")

    def test_links_lead_to_files_of_the_same_library(self):
        root = self.packages[self.library].place
        links = [path for _, path in self.packages[self.library].files() if os.path.islink(path)]
        self.assertTrue(links)
        for link in links:
            self.assertTrue(os.path.isfile(os.path.realpath(link)), os.path.relpath(link, root))

    def check_runs(self, prefix, program):
        environment = {**os.environ, "LD_LIBRARY_PATH": os.path.dirname(glob.glob(f"{prefix}/lib/**/libsennit.so.*",
                                                                                  recursive=True)[0])}
        said = run(os.path.join(prefix, "bin", "sennit"), "run", "-n", "2", program, env=environment)
        self.assertEqual(sorted(said.splitlines()), ["rank 0 of 2 found 1", "rank 1 of 2 found 0"])

    def pkg_config(self, module):
        place, = glob.glob(f"{self.root}/lib/**/pkgconfig", recursive=True)
        return run("pkg-config", "--cflags", "--libs", module, env={**os.environ, "PKG_CONFIG_LIBDIR": place}).split()

    def test_a_program_is_compiled_with_the_development_package_and_runs_with_the_others_alone(self):
        runtime = self.together("runtime", self.library, "sennit")
        for module in ("sennit", "sennit-static"):
            with self.subTest(module=module):
                program = os.path.join(self.folder, module)
                run(os.environ.get("CC", "cc"), os.path.join(CONSUMER, "user.c"), "-o", program,
                    *self.pkg_config(module))
                self.check_runs(runtime, program)

    def test_a_program_for_openshmem_is_compiled_and_started_with_its_packages(self):
        root = self.together("openshmem", self.library, "sennit", self.shmem_library, "libsennit-shmem-dev")
        wrappers = os.path.join(root, "libexec", "sennit", "openshmem")
        program = os.path.join(self.folder, "openshmem-program")
        run(os.path.join(wrappers, "oshcc"), os.path.join(CONSUMER, "openshmem", "user.c"), "-o", program)
        said = run(os.path.join(wrappers, "oshrun"), "-np", "2", program)
        self.assertEqual(sorted(said.splitlines()), ["PE 0 of 2 got 1", "PE 1 of 2 got 0"])

    def test_a_project_finds_the_packages_with_cmake(self):
        tree = os.path.join(self.folder, "consumer")
        run(CMAKE, "-S", CONSUMER, "-B", tree, f"-DCMAKE_PREFIX_PATH={self.root}")
        run(CMAKE, "--build", tree)
        for program in ("c_sennit", "cpp_sennit_static"):
            self.check_runs(self.root, os.path.join(tree, program))

    def test_the_packages_without_mpi_measure_without_it(self):
        said = run(os.path.join(self.root, "bin", "sennit"), "bench", "barrier", "--mpi", "none", "--rounds", "1")
        self.assertIn("barrier", said)

    def test_another_user_may_read_everything(self):
        for name, package in self.packages.items():
            for path, file in package.files():
                if not os.path.islink(file):
                    self.assertTrue(os.stat(file).st_mode & stat.S_IROTH, f"{name}: {path}")


if __name__ == "__main__":
    missing = [tool for tool in TOOLS if not shutil.which(tool)]
    if missing:
        print(f"skipped: no {', '.join(missing)} here (apt-get install dpkg-dev file pkg-config)")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=2)
