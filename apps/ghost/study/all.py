#!/usr/bin/env python3
"""The whole study: every driver, the plots and the page.

    python3 apps/ghost/study/all.py [--realtime] [--bin build/bin] [--out docs/results/zcom/ghost] [--quick]

Takes some fourteen minutes on 2 processors; --quick takes half a minute and shows only that everything works. If matplotlib is
missing, the plots are left out and a message says so.
"""
import os

import jobs
import runs
from runs import draw, run_script

HERE = os.path.dirname(os.path.abspath(__file__))


def main():
    parser = runs.parser_of(__doc__, jobs.RESULTS, 0)
    parser.set_defaults(rounds=None)
    parser.add_argument("--quick", action="store_true", help="two ranks, a few steps: shows that everything works")
    arguments = parser.parse_args()
    common = ["--bin", arguments.bin, "--out", arguments.out] + ["--realtime"] * arguments.realtime
    common += ["--quick"] * arguments.quick
    # ways.py has its own number of rounds and runs twice: it judges by the middle half of the rounds of both runs.
    run_script(os.path.join(HERE, "ways.py"), *common)
    run_script(os.path.join(HERE, "ways.py"), "--append", *common)
    if arguments.rounds:
        common += ["--rounds", str(arguments.rounds)]
    for script, *words in (["parts.py"], ["scaling.py", "weak"], ["scaling.py", "strong"]):
        run_script(os.path.join(HERE, script), *words, *common)
    draw(os.path.join(HERE, "plots.py"), arguments.out)
    run_script(os.path.join(HERE, "page.py"), arguments.out)


if __name__ == "__main__":
    main()
