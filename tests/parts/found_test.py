#!/usr/bin/env python3
"""CMake finds all the compilers have: tests/parts/found_test.py --cxx COMPILER --openmp 0|1 --fortran 0|1 [--mpi NAME F08 MPI]...

Parts that CMake does not find are left out together with their programs and tests, so none of their tests can notice. Therefore
the compilers are asked here, without CMake: OpenMP by a program with -fopenmp, Fortran by a compiler in PATH, and the MPIs'
modules by their wrappers. F08 and MPI say whether the tree has tests for module mpi_f08 and for module mpi. Broken by a
search of CMake that fails although the part exists.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile


def compiles(words, name, text):
    with tempfile.TemporaryDirectory(prefix="sennit-found-") as folder:
        with open(os.path.join(folder, name), "w", encoding="ascii") as file:
            file.write(text)
        return subprocess.run([*words, "-fsyntax-only", name], cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, timeout=60, check=False).returncode == 0


def has_gfortran():
    """True for a version that is accepted: 10 or later."""
    path = shutil.which("gfortran")
    return path is not None and int(subprocess.run([path, "-dumpversion"], capture_output=True, text=True, timeout=60,
                                                   check=True).stdout.split(".")[0]) >= 10


def parts_of(arguments):
    """(part, whether it exists, whether the tree has it)"""
    openmp = "#include <omp.h>\n#ifndef _OPENMP\n#error none\n#endif\nint main() { return omp_get_max_threads() < 1; }\n"
    yield "OpenMP", compiles([arguments.cxx, "-fopenmp"], "openmp.cpp", openmp), arguments.openmp
    yield "Fortran", has_gfortran(), arguments.fortran
    for mpi, *has in arguments.mpi:
        wrapper = shutil.which(f"mpifort.{mpi}")
        for module, there in zip(("mpi_f08", "mpi"), has):
            found = wrapper is not None and compiles([wrapper], "module.f90", f"use {module}\nend\n")
            yield f"module {module} of {mpi}", found, there == "1"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cxx", required=True)
    parser.add_argument("--openmp", type=int, required=True)
    parser.add_argument("--fortran", type=int, required=True)
    parser.add_argument("--mpi", nargs=3, action="append", default=[])
    parts = list(parts_of(parser.parse_args()))
    for part, is_there, is_found in parts:
        print(f"{part}: {'there' if is_there else 'not there'}, {'tested' if is_found else 'not tested'}")
    return 1 if any(is_there and not is_found for _, is_there, is_found in parts) else 0


if __name__ == "__main__":
    sys.exit(main())
