#!/usr/bin/env python3
"""The whole study: every driver, the plots and the page.

    python3 apps/heat3d/study/all.py [--realtime] [--bin build/bin] [--out docs/results/heat3d] [--quick]

Takes some twenty minutes on 2 processors, most of it for the MPIs with more ranks than processors; --quick takes
half a minute and shows only that everything works. If matplotlib is missing, the plots are left out and a message
says so.
"""
import os

import jobs
from runs import draw, run_script

HERE = os.path.dirname(os.path.abspath(__file__))


def run(script, *words):
    run_script(os.path.join(HERE, script), *words)


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
    draw(os.path.join(HERE, "plots.py"), arguments.out)
    run("page.py", arguments.out)


if __name__ == "__main__":
    main()
