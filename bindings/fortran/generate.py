#!/usr/bin/env python3
"""Writes the Fortran modules that follow from the headers of C.

    generate.py FOLDER --compiler CC --include FOLDER... [--kinds integer:4,real:8,...]
Writes sennit_types.f90, sennit_c.f90, sennit_calls.f90 and sennit_pointers.f90 into FOLDER; the other modules are written by hand
and are beside this file. sennit_pointer is made for the given kinds. A new header is bound without a change here. A function that
does not fit the rules of generator/calls.py ends the run; write it by hand in sennit_more.f90.
"""
import argparse
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "generator"))
sys.dont_write_bytecode = True

import calls  # noqa: E402
import declarations  # noqa: E402
import interfaces  # noqa: E402
import pointers  # noqa: E402
import types_module  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder")
    parser.add_argument("--compiler", default="cc")
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--kinds", default="")
    arguments = parser.parse_args()
    found = declarations.Declarations(arguments.compiler, arguments.include)
    functions, text_of_calls = calls.write(found)
    kinds = [kind for kind in arguments.kinds.split(",") if kind] or pointers.PORTABLE
    for name, text in (("types", types_module.write(found)), ("c", interfaces.write(found, functions)),
                       ("calls", text_of_calls), ("pointers", pointers.write(kinds))):
        with open(os.path.join(arguments.folder, f"sennit_{name}.f90"), "w", encoding="ascii") as file:
            file.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
