#!/usr/bin/env python3
"""Runs the example on the page about ranks that die, and compares its output and exit code with the page.

    tests/manual/rank_death_test.py PAGE SENNIT PROGRAM

Broken by a survivor that hangs, that gets no error, or that cannot read the dead rank's data; by another exit code; by a
page with another output.
"""
import re
import subprocess
import sys


def main():
    page, sennit, program = sys.argv[1:]
    with open(page, encoding="utf-8") as file:
        expected = re.search(r"<!-- output: rank_dies -->\n```text\n(.*?)```", file.read(), re.DOTALL)[1]
    wrong = []
    for options, output in (["--keep-going"], expected), ([], ""):
        result = subprocess.run([sennit, "run", "-n", "4", "--timeout", "20", *options, program],
                                stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=40, check=False)
        if result.returncode != 128 + 9 or "rank 3" not in result.stderr or "signal 9" not in result.stderr:
            wrong.append(f"{options}: exit status {result.returncode}, stderr {result.stderr}")
        # Without the option the launcher ends the other ranks, which may print less.
        if options and result.stdout != output:
            wrong.append(f"{options}: printed {result.stdout}")
    print("\n".join(wrong) or "one rank died, the others finished")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
