#!/usr/bin/env python3
"""The work of a commit grows with the number of operations in its plan, not with its square.

    tests/plan/commit_work.py PROGRAM

Counts instructions by valgrind, because these are the same in every run. PROGRAM makes and commits a plan with a given number of
operations, each with its own block. Twice as many operations take twice the work and a little more for sorting; a loop over all
others for each operation would take four times the work. Exit code 77: there is no valgrind.
"""
import re
import shutil
import subprocess
import sys

OPERATIONS = 5000
MOST_TIMES = 2.4


def instructions(program, count):
    result = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, str(count)],
                            capture_output=True, text=True, check=True, timeout=300)
    return int(re.search(r"Collected : (\d+)", result.stderr)[1])


def main():
    if shutil.which("valgrind") is None:
        print("there is no valgrind")
        return 77
    once, twice, four = (instructions(sys.argv[1], count * OPERATIONS) for count in (1, 2, 4))
    times = (four - twice) / (twice - once)
    print(f"{once}, {twice} and {four} instructions: {times:.2f} times as many for twice the operations")
    return 0 if times <= MOST_TIMES else 1


if __name__ == "__main__":
    sys.exit(main())
