"""The parts of an installation for shells: the module file and the completion. shell_test.py CMAKE BUILD-TREE

Installs into a folder, moves it, and uses it there. Broken by a module file that remembers where it was installed or names a wrong
folder, and by a completion that offers a command or option which `sennit` does not have, or that lacks one.
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(SOURCE, "tools"))
from reference.help import read_commands  # noqa: E402

CMAKE, BUILD_TREE = sys.argv[1:3]
CC = os.environ.get("CC", "cc")
# Calls the completion as the shell does, with the arguments as words.
ASK = """set -u; source "$COMPLETION"
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _sennit
for word in "${COMPREPLY[@]+"${COMPREPLY[@]}"}"; do printf '%s\\n' "$word"; done"""
PROGRAM = """#include <sennit/sennit.h>
#include <stdio.h>
int main(void) { return sennit_init(NULL) == SENNIT_OK && puts("started") > 0 && sennit_finalize() == SENNIT_OK ? 0 : 1; }
"""


def run(*words, **more):
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=100, check=False, **more)
    assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
    return done.stdout


def module_commands():
    """The programs of Environment Modules and of Lmod that read a module file and print shell commands."""
    folders = [os.environ.get("MODULESHOME", ""), os.environ.get("LMOD_DIR", ""), *glob.glob("/usr/lib/*-linux-gnu"), "/usr/share/lmod"]
    for name in ("modulecmd.tcl", "libexec/modulecmd.tcl", "lmod", "lmod/libexec/lmod"):
        for path in (os.path.join(folder, name) for folder in folders if folder):
            if os.path.isfile(path) and os.access(path, os.X_OK):
                yield path
                break


class ShellTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="shell-test-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        first, cls.prefix = (os.path.join(cls.folder, name) for name in ("first", "moved"))
        for component in ("runtime", "development", "programs"):
            run(CMAKE, "--install", BUILD_TREE, "--prefix", first, "--component", component)
        os.rename(first, cls.prefix)
        cls.sennit = os.path.join(cls.prefix, "bin", "sennit")

    def test_a_loaded_module_finds_commands_headers_and_libraries_of_a_moved_installation(self):
        commands = list(module_commands())
        if not commands:
            self.skipTest("neither Environment Modules nor Lmod is here (apt-get install environment-modules)")
        source = os.path.join(self.folder, "program.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write(PROGRAM)
        bare = {name: value for name, value in os.environ.items() if name not in ("LD_LIBRARY_PATH", "CPATH", "LIBRARY_PATH")}
        bare["MODULEPATH"] = os.path.join(self.prefix, "share", "sennit", "modulefiles")
        for command in commands:
            with self.subTest(command=command):
                lines = run(command, "bash", "load", "sennit", env=bare)
                script = f"""{lines}
set -e
command -v sennit; sennit --version; pkg-config --variable=prefix sennit; echo "$CMAKE_PREFIX_PATH"
{CC} "$1" -o "$1.out" -lsennit; "$1.out\""""
                said = run("bash", "-c", script, "bash", source, env=bare).splitlines()
                self.assertEqual(said[0], self.sennit)
                self.assertEqual(os.path.realpath(said[2]), self.prefix)
                self.assertEqual(said[3].split(":")[0], self.prefix)
                self.assertEqual(said[4], "started")

    def offered(self, *words):
        completion = os.path.join(self.prefix, "share", "bash-completion", "completions", "sennit")
        return run("bash", "-c", ASK, "bash", self.sennit, *words, env={**os.environ, "COMPLETION": completion}).splitlines()

    def check(self, command):
        words = command.words[1:]
        self.assertEqual(self.offered(*words, ""), [below.words[-1] for below in command.commands], words)
        options = [name for left, _ in command.options if left.startswith("-") for name in left.split()[0].split(",")]
        self.assertIn("--help", options)
        self.assertEqual(self.offered(*words, "-"), options, words)
        for below in command.commands:
            self.check(below)

    def test_completion_offers_the_commands_and_options_that_the_help_names_and_no_others(self):
        self.check(read_commands(self.sennit))

    def test_completion_offers_the_words_that_an_option_takes(self):
        self.assertEqual(self.offered("run", "--bind", ""), ["share", "core", "none"])
        self.assertEqual(self.offered("run", "--bind", "=", "c"), ["core"])
        self.assertEqual(self.offered("run", "-n", ""), [])

    def test_completion_leaves_the_words_of_a_ranks_program_to_the_shell(self):
        self.assertEqual(self.offered("run", "-n", "4", "./program", "-"), [])
        self.assertEqual(self.offered("run", "--ranks", "=", "4", "--", "-"), [])
        self.assertIn("--tag", self.offered("run", "-n", "4", "-"))


unittest.main(argv=sys.argv[:1])
