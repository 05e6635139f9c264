#!/usr/bin/env python3
"""The whole study: every driver, the plots and the page.

    python3 apps/heat3d/study/all.py [--realtime] [--bin build/bin] [--out docs/results/heat3d] [--quick]

Takes some twenty minutes on 2 processors, most of it the MPIs with more ranks than processors; --quick takes half a
minute and shows only that everything works. Where matplotlib is missing the plots are left out, which is said.
"""
import os
import subprocess
import sys

import jobs

HERE = os.path.dirname(os.path.abspath(__file__))
NO_MATPLOTLIB = 77


def run(script, *words, python=sys.executable):
    """The exit status of a script of this folder; ends this program with any but 0 and NO_MATPLOTLIB."""
    code = subprocess.run([python, os.path.join(HERE, script), *words], check=False).returncode
    if code not in (0, NO_MATPLOTLIB):
        sys.exit(code)
    return code


def draw(folder):
    """By this Python, or by the system's, for which distributions package matplotlib."""
    for python in (sys.executable, "/usr/bin/python3"):
        if os.path.exists(python) and run("plots.py", folder, python=python) == 0:
            return
    print("the plots are left out; the rest is done", file=sys.stderr)


def main():
    parser = jobs.parser_of(__doc__, 0)
    parser.set_defaults(rounds=None)
    parser.add_argument("--quick", action="store_true", help="two ranks, a few steps: shows that everything works")
    arguments = parser.parse_args()
    common = ["--bin", arguments.bin, "--out", arguments.out] + ["--realtime"] * arguments.realtime
    if arguments.rounds:
        common += ["--rounds", str(arguments.rounds)]
    few = ["--rounds", "1", "--ranks", "2", "--steps", "5", "--layers", "whole"] if arguments.quick else []
    run("overhead.py", *common, *(["--rounds", "3", "--batch-us", "5"] if arguments.quick else []))
    run("scaling.py", "blocking", *common, *few)
    run("scaling.py", "nonblocking", *common, *few)
    run("versions.py", *common, *few)
    draw(arguments.out)
    run("page.py", arguments.out)


if __name__ == "__main__":
    main()
