#!/usr/bin/env python3
"""The compiler warns of an ignored status: unchecked_test.py SOURCE INCLUDES [--mpi INCLUDES] COMPILER...

INCLUDES are folders separated by colons. Calls every function of the headers that returns a status, ignores the status, and counts
the warnings, in C and in C++. Broken by a call that returns a status with another type, a compiler or standard for which
compiler.h finds no attribute, or a macro that does not silence the warning.
"""
import argparse
import os
import re
import subprocess
import sys
import unittest

parser = argparse.ArgumentParser()
parser.add_argument("source")
parser.add_argument("includes")
parser.add_argument("--mpi", default="")
parser.add_argument("compilers", nargs="+")
ARGUMENTS = parser.parse_args()
sys.path.insert(0, os.path.join(ARGUMENTS.source, "tools"))
sys.dont_write_bytecode = True
from reference import headers  # noqa: E402

NEED_MPI = ("sennit_mpi", "sennit_zcom", "sennit_unr.h")
STANDARDS = {True: ("c++11", "c++20"), False: ("c99", "gnu17")}
ALLOW = "-DSENNIT_ALLOW_UNCHECKED_STATUS"


def statuses():
    """[(name, parameters, their names)] of all functions that return a status and that this machine can compile."""
    found = {}
    for function in headers.functions(headers.read_headers(os.path.join(ARGUMENTS.source, "include", "sennit"))):
        if not function.signature.startswith("sennit_status ") or (function.header.startswith(NEED_MPI) and not ARGUMENTS.mpi):
            continue
        parameters = function.signature[function.signature.index("(") + 1:function.signature.rindex(")")]
        names = [] if parameters == "void" else [re.search(r"(\w+)(?:\[\])?$", part)[1] for part in parameters.split(",")]
        found[function.name] = (function.name, parameters, names)
    return list(found.values())


def program(cast):
    """One caller for each function, so that each warning has its own line."""
    lines = ["#include <sennit/sennit.h>"]
    if ARGUMENTS.mpi:
        lines += ["#include <sennit/sennit_mpi.h>", "#include <sennit/sennit_mpi_plan.h>"]
    lines += [f"void call_{name}({parameters}); void call_{name}({parameters}) {{ {cast}{name}({', '.join(names)}); }}"
              for name, parameters, names in statuses()]
    return "\n".join([*lines, ""])


def warnings(compiler, standard, cast, *words):
    """The number of warnings about unused results, and all other messages."""
    language = "c++" if "++" in standard else "c"
    folders = [f"-I{folder}" for folder in ARGUMENTS.includes.split(":")]
    folders += [word for folder in ARGUMENTS.mpi.split(":") if folder for word in ("-isystem", folder)]
    result = subprocess.run([compiler, f"-std={standard}", "-Wall", "-Wpedantic", "-fsyntax-only", *folders, *words, "-x", language, "-"],
                            input=program(cast), capture_output=True, text=True, timeout=120, check=False)
    said = [line for line in result.stderr.split("\n") if re.search(r"(?:warning|error):", line)]
    unused = [line for line in said if "-Wunused-result" in line]
    return len(unused), [line for line in said if line not in unused]


class UncheckedTest(unittest.TestCase):
    maxDiff = None

    def each(self):
        for compiler in ARGUMENTS.compilers:
            for standard in STANDARDS["++" in os.path.basename(compiler)]:
                with self.subTest(compiler=compiler, standard=standard):
                    yield compiler, standard

    def test_each_call_that_returns_a_status_warns_where_it_is_not_used(self):
        self.assertGreater(len(statuses()), 250)
        for compiler, standard in self.each():
            self.assertEqual(warnings(compiler, standard, ""), (len(statuses()), []))

    def test_a_macro_or_a_cast_to_void_silences_it(self):
        for compiler, standard in self.each():
            self.assertEqual(warnings(compiler, standard, "", ALLOW), (0, []))
            self.assertEqual(warnings(compiler, standard, "(void)"), (0, []))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
