#!/usr/bin/env python3
"""Configures the library in a separate folder, first without a Fortran compiler, then with one.

    tests/parts/late_fortran_test.py CMAKE SOURCE

FC in the environment is the compiler. Broken by a tree that remembers that it found none: its owner installs gfortran and still
has no Fortran.
"""
import os
import re
import subprocess
import sys
import tempfile

CMAKE, SOURCE = sys.argv[1:3]


def fortran_of(tree, compiler):
    """The line about Fortran in the report of a configuration."""
    done = subprocess.run([CMAKE, "-S", SOURCE, "-B", tree, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                           "-DSENNIT_BUILD_PROGRAMS=OFF", "-DSENNIT_BUILD_TESTS=OFF", "-DSENNIT_OPENMPI=OFF",
                           "-DSENNIT_MPICH=OFF"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=90,
                          env={**os.environ, "FC": compiler}, check=False)
    report = re.search(r"^--   Fortran +(.*)$", done.stdout, re.MULTILINE)
    if done.returncode != 0 or not report:
        sys.exit(f"configuring ended with {done.returncode}:\n{done.stdout[-4000:]}")
    return report[1]


def main():
    with tempfile.TemporaryDirectory(prefix="sennit-fortran-") as tree:
        # CMake treats a named compiler that does not exist as if none were installed.
        missing = fortran_of(tree, os.path.join(tree, "gfortran"))
        if not missing.startswith("not found"):
            sys.exit(f"with no compiler: {missing}")
        found = fortran_of(tree, os.environ["FC"])
        if not found.endswith(os.environ["FC"]):
            sys.exit(f"with {os.environ['FC']} in a tree that had none: {found}")
    print(f"first {missing}, then {found}")


if __name__ == "__main__":
    main()
