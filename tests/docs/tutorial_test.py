#!/usr/bin/env python3
"""Runs the programs of the tutorial with four ranks and compares their output with the page.

    tests/docs/tutorial_test.py PROJECT --bin FOLDER --lib FOLDER --headers FOLDER [--fortran]

In the page `<!-- output: NAME -->` precedes a block of text: the output of `sennit run -n 4 NAME`, with lines in any order.
Every step has one; with --fortran the steps in Fortran must print the same. The page's first commands build a step by hand and
run it; the test runs them in a folder that looks like the project's, without `make`. Broken by a program with another output, a
step without its output, an output without its step, a command that fails.
"""
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from first_program import link_built, parser_of_built, script_of


def printed_by(command, folder=None):
    result = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
                            check=False)
    if result.returncode != 0 or result.stderr:
        return [f"exit status {result.returncode}: {result.stderr}"]
    return sorted(result.stdout.splitlines())


def by_hand(page, arguments):
    """The name of the step that the page builds, and the output of its run."""
    commands = re.search(r"^```sh\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[1].splitlines()
    with tempfile.TemporaryDirectory() as folder:
        link_built(folder, arguments, "examples")
        script = script_of(commands)
        return re.search(r"-o (\w+)", script)[1], printed_by(["bash", "-c", script], folder)


def main():
    parser = parser_of_built()
    parser.add_argument("--fortran", action="store_true")
    arguments = parser.parse_args()
    with open(os.path.join(arguments.project, "docs", "manual", "tutorial.md"), encoding="utf-8") as file:
        page = file.read()
    outputs = dict(re.findall(r"<!-- output: (\w+) -->\n```text\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))
    outputs = {name: sorted(text.splitlines()) for name, text in outputs.items()}
    sources = os.listdir(os.path.join(arguments.project, "examples", "tutorial"))
    steps = {name.removesuffix(".c") for name in sources if name.endswith(".c")}
    wrong = [f"{name}: the page has no output of it" for name in sorted(steps - outputs.keys())]
    wrong += [f"{name}: there is no such step" for name in sorted(outputs.keys() - steps)]
    printed = [by_hand(page, arguments)]
    sennit = os.path.join(arguments.bin, "sennit")
    for folder in ["tutorial", *(["fortran/tutorial"] if arguments.fortran else [])]:
        for name in sorted(steps & outputs.keys()):
            program = os.path.join(arguments.bin, "examples", folder, name)
            printed.append((name, printed_by([sennit, "run", "-n", "4", "--timeout", "30", program])))
    for name, lines in printed:
        if lines != outputs.get(name):
            wrong.append("\n    ".join([f"{name} printed", *lines]))
    print("\n".join(wrong) or f"{len(steps)} steps print what the page says")
    return 1 if wrong or not steps else 0


if __name__ == "__main__":
    sys.exit(main())
