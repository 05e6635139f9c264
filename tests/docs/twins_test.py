#!/usr/bin/env python3
"""Every example in C has a twin in Fortran, and vice versa.

    tests/docs/twins_test.py PROJECT [--tests FILE]

The twin of examples/P.c is examples/fortran/P.f90. It makes the same calls of Sennit, except for those in the tables below,
which give a reason. FILE lists the tests of a tree with Fortran and MPIs (CTestTestfile.cmake of examples/fortran): a test must
run every twin. Broken by an example that is added or changed in only one language.
"""
import argparse
import os
import re
import sys

sys.dont_write_bytecode = True

# Sources in C without a twin.
ALONE = {
    "openshmem_ring.c": "OpenSHMEM 1.6 has no Fortran",
    "from_mpi/main.c": "the main program is the same, whatever its sides are written in",
    "halo_styles/main.c": "the main program is the same, whatever the styles are written in",
    "from_mpi/mpi_side.c": "the program before it used Sennit",
}
# Sources in Fortran without a twin.
ALONE_IN_FORTRAN = {
    "must.f90": "stands for must.h",
    "hot_loop/field.f90": "is hot_loop/field.h",
    "halo_styles/plate.f90": "is halo_styles/plate.h",
    "halo_3d.f90": "is about allocatable arrays and sections",
    "transpose.f90": "is about the order of dimensions and complex numbers",
    "reductions.f90": "is about complex numbers and derived types",
}
# Calls that a twin may lack.
ONLY_C = {
    "sennit_ptr": "sennit_pointer makes an array at the same place",
    "sennit_last_error": "an error without stat ends a program with its text, and sennit_last_error_text is the text",
}
ONLY_FORTRAN = {
    "sennit_pointer": "stands for sennit_ptr and a cast",
    "sennit_string": "makes a text from an array of characters, which is a text in C",
    "sennit_last_error_text": "stands for sennit_last_error()->text",
    "sennit_channel_ends_of": "fills a structure, which C does by names of its members",
}


def files_of(folder, *endings):
    found = []
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if os.path.join(place, name) != os.path.join(folder, "fortran")]
        found += [os.path.relpath(os.path.join(place, name), folder) for name in names if name.endswith(endings)]
    return sorted(found)


def calls_of(path):
    """Names of calls in Fortran's form: without the type of atomic operations, and without ZCom's _c."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if path.endswith(".f90"):
        text = re.sub(r"!(?!\$)[^\n]*", "", text)
    else:
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)
    names = re.findall(r"\b((?:sennit|ZCom)_\w+)\s*\(", text)
    constructors = set(re.findall(r"\btype\((sennit_\w+)\)", text))
    return {re.sub(r"^(sennit_atomic_\w+?)_[ifu](?:32|64)|^(ZCom_\w+)_c$", r"\1\2", name)
            for name in names if name not in constructors}


def compare(project):
    """Returns the errors of the pairs, and the twins."""
    c_folder = os.path.join(project, "examples")
    fortran_folder = os.path.join(c_folder, "fortran")
    sources, twins, wrong = files_of(c_folder, ".c", ".cpp"), files_of(fortran_folder, ".f90"), []
    expected = {os.path.splitext(source)[0] + ".f90": source for source in sources}
    for twin, source in expected.items():
        if source in ALONE:
            if twin in twins:
                wrong.append(f"examples/{source} has a twin, and is said to have none")
        elif twin not in twins:
            wrong.append(f"examples/{source} has no twin examples/fortran/{twin}")
        else:
            mine, theirs = calls_of(os.path.join(c_folder, source)), calls_of(os.path.join(fortran_folder, twin))
            wrong += [f"examples/{source} calls {name}, and its twin does not" for name in sorted(mine - theirs - set(ONLY_C))]
            wrong += [f"examples/fortran/{twin} calls {name}, and its twin does not"
                      for name in sorted(theirs - mine - set(ONLY_FORTRAN))]
    wrong += [f"examples/{source} is not there, and is said to have no twin" for source in ALONE if source not in sources]
    wrong += [f"examples/fortran/{twin} is the twin of nothing" for twin in twins
              if twin not in expected and twin not in ALONE_IN_FORTRAN]
    return wrong, [twin for twin in twins if twin in expected]


def not_run(twins, path):
    with open(path, encoding="utf-8") as file:
        tests = set(re.findall(r'^add_test\(\[*=*\[*"?fortran\.([\w.]+)', file.read(), re.MULTILINE))
    for twin in twins:
        folder, name = os.path.split(os.path.splitext(twin)[0])
        wanted = f"tutorial.{name}" if folder == "tutorial" else f"example.{folder or name}"
        if not any(test == wanted or test.startswith(wanted + ".") for test in tests):
            yield f"examples/fortran/{twin} is run by no test fortran.{wanted}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("project")
    parser.add_argument("--tests", help="the list of tests of examples/fortran")
    arguments = parser.parse_args()
    wrong, twins = compare(arguments.project)
    if arguments.tests:
        wrong += not_run(twins, arguments.tests)
    if len(twins) < 20:
        wrong.append(f"only {len(twins)} twins were found")
    print("\n".join(wrong) if wrong else f"{len(twins)} examples are there in both languages")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
