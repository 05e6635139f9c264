#!/usr/bin/env python3
"""Runs the first program of README.md exactly as the README shows it: program, commands and output come from the page.

    tests/docs/first_program.py PROJECT --bin FOLDER --lib FOLDER --headers FOLDER [--page PAGE --source FILE]

The page has a program, shell commands and the output between the comments `first program` and `end of first program`. The program
is in C, or in Fortran if --source ends with .f90. The commands run in a folder that looks like the project's (with links to the
build); `make` is left out. A program in Fortran is built and run again with default integers of 8 bytes. Broken by a changed call,
a removed option, a line of output that differs from the page, a literal without its kind.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile


def blocks_of(readme, language):
    with open(readme, encoding="utf-8") as file:
        part = file.read().split("<!-- first program:", 1)[1].split("<!-- end of first program -->", 1)[0]
    found = dict(re.findall(r"^```(\w+)\n(.*?)^```$", part, re.MULTILINE | re.DOTALL))
    if set(found) != {language, "sh", "text"}:
        sys.exit(f"{readme}: the first program has the blocks {sorted(found)}, not {language}, sh and text")
    return found


def parser_of_built():
    """The parser for tests that run commands of a page in a folder that looks like the project's."""
    parser = argparse.ArgumentParser()
    parser.add_argument("project")
    for name in ("bin", "lib", "headers"):
        parser.add_argument(f"--{name}", required=True)
    return parser


def link_built(folder, arguments, *names):
    """Makes the folder look like the project's: links to the build, and to these folders of the project."""
    os.makedirs(os.path.join(folder, "build"))
    links = {"build/bin": arguments.bin, "build/lib": arguments.lib, "build/include": arguments.headers,
             **{name: os.path.join(arguments.project, name) for name in names}}
    for place, target in links.items():
        os.symlink(os.path.abspath(target), os.path.join(folder, place))


def script_of(lines):
    """The commands without `make`; the script stops at the first that fails."""
    return "\n".join(["set -e", *(line for line in lines if not line.startswith("make "))])


def runs(script, blocks, language, arguments):
    """Returns whether the script prints the page's output."""
    with tempfile.TemporaryDirectory() as folder:
        link_built(folder, arguments)
        with open(os.path.join(folder, arguments.source), "w", encoding="utf-8") as file:
            file.write(blocks[language])
        result = subprocess.run(["bash", "-c", script], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                                text=True, timeout=60, check=False)
    is_as_said = result.returncode == 0 and sorted(result.stdout.splitlines()) == sorted(blocks["text"].splitlines())
    if not is_as_said:
        print(f"{script}\nexit status {result.returncode}\n{result.stdout}{result.stderr}")
    return is_as_said


def main():
    parser = parser_of_built()
    parser.add_argument("--page", default="README.md")
    parser.add_argument("--source", default="first.c")
    arguments = parser.parse_args()
    language = "fortran" if arguments.source.endswith(".f90") else "c"
    blocks = blocks_of(os.path.join(arguments.project, arguments.page), language)
    commands = script_of(blocks["sh"].splitlines())
    scripts = [commands.replace("cc first.c", "cc -Wall -Wextra -Werror first.c")]
    if language == "fortran":
        scripts.append(commands.replace("gfortran ", "gfortran -fdefault-integer-8 "))
    for script in scripts:
        if not runs(script, blocks, language, arguments):
            return 1
    print(f"{len(blocks[language].splitlines())} lines, built and run as {arguments.page} says")
    return 0


if __name__ == "__main__":
    sys.exit(main())
