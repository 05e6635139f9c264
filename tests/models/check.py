#!/usr/bin/env python3
"""Checks one model with spin: all of its runs keep the promises, and each mistake that its head names is found.

    tests/models/check.py MODEL.pml             both
    tests/models/check.py MODEL.pml promises    the first, and that the first mistake is found
    tests/models/check.py MODEL.pml mistakes    the second

The mistakes are the words in capitals behind "Mistakes that must be found"; each is a macro that puts one into the
model. A model that passed with a mistake in it would show nothing. Where the head goes on with "Under TSO", the model is
searched a second time with the memory of x86 (the macro TSO), where it must find the mistakes that stand there. A model that
defines LONG_SEARCH has so many states that the search is compiled with optimization. Exits with 77 where spin or a C compiler is missing.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

LIMIT_S = 500
SKIPPED = 77


def mistakes_of(model):
    """{macros of a memory: the mistakes that must be found with it}."""
    with open(model, encoding="utf-8") as file:
        text = file.read()
    head = text[text.index("Mistakes that must be found:") : text.index("*/")]
    included = ""
    for name in re.findall(r'^#include "(\w+\.pml)"', text, re.MULTILINE):
        with open(os.path.join(os.path.dirname(model), name), encoding="utf-8") as file:
            included += file.read()
    found = {}
    for memory, words in zip(((), ("TSO",)), head.split("Under TSO:")):
        macros = re.findall(r"\b[A-Z]+(?:_[A-Z]+)+\b", words)
        unused = [macro for macro in macros
                  if not re.search(rf"#\s*ifn?def {macro}$", text + included, re.MULTILINE)]
        if not macros or unused:
            sys.exit(f"{model}: names no mistakes, or some that it does not contain: {unused}")
        found[memory] = macros
    return found


def run(command, folder):
    result = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                            timeout=LIMIT_S, check=False)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit status {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


def search(model, macros):
    """(errors, states, report) of the exhaustive search with these macros defined."""
    with open(model, encoding="utf-8") as file:
        level = "-O1" if "#define LONG_SEARCH" in file.read() else "-O0"
    with tempfile.TemporaryDirectory() as folder:
        run(["spin", *(f"-D{macro}" for macro in macros), "-a", os.path.abspath(model)], folder)
        run(["cc", level, "-w", "-DSAFETY", "-DNOFAIR", "-DMEMLIM=2048", "-DCOLLAPSE", "-o", "pan", "pan.c"], folder)
        report = run(["./pan", "-m200000", "-w22"], folder)
    errors = re.search(r"errors: (\d+)", report)
    states = re.search(r"([\d.e+]+) states, stored", report)
    if not errors or not states or "truncated" in report or "Search not completed" in report and errors[1] == "0":
        sys.exit(f"{model}: the search did not end\n{report}")
    return int(errors[1]), int(float(states[1])), report


def main():
    model = sys.argv[1]
    part = sys.argv[2] if len(sys.argv) > 2 else "all"
    if part not in ("all", "promises", "mistakes"):
        sys.exit(f"check.py: there is no part {part}")
    for program in ("spin", "cc"):
        if not shutil.which(program):
            print(f"skipped: the program {program} is not installed (Debian: spin, gcc)")
            return SKIPPED
    blind = False
    for memory, mistakes in mistakes_of(model).items():
        if part != "mistakes":
            errors, states, report = search(model, memory)
            print(f"{' '.join((os.path.basename(model), *memory))}: {states} states, {errors} errors")
            if errors:
                print(report)
                return 1
        for mistake in mistakes[:1] if part == "promises" else mistakes:
            errors, states, _ = search(model, [*memory, mistake])
            print(f"    with {mistake}: {'found' if errors else 'NOT FOUND'} after {states} states")
            blind = blind or not errors
    return 1 if blind else 0


if __name__ == "__main__":
    sys.exit(main())
