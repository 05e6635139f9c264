#!/usr/bin/env python3
"""The whole study of p2p: every driver, the plots and the page.

    python3 apps/p2p/study/all.py [--realtime] [--bin build/bin] [--out docs/results/zcom/p2p] [--quick]

Takes some seven minutes on 2 processors; --quick takes half a minute and shows only that everything works.
"""
import os

import subjects
from subjects import runs
from runs import draw, run_script

HERE = subjects.HERE


def main():
    parser = runs.parser_of(__doc__, subjects.OUT, 0)
    parser.set_defaults(rounds=None)
    parser.add_argument("--quick", action="store_true", help="two ranks, small grids: shows that everything works")
    arguments = parser.parse_args()
    common = ["--bin", arguments.bin, "--out", arguments.out] + ["--realtime"] * arguments.realtime
    rounds = ["--rounds", str(arguments.rounds)] if arguments.rounds else []
    quick = ["--rounds", "1", "--iterations", "5"]

    def run(script, *words, few=()):
        run_script(os.path.join(HERE, script), *words, *common, *rounds, *(few if arguments.quick else ()))
    run("measure.py", "sizes", few=[*quick, "--sizes", "50,100"])
    run("measure.py", "ranks", few=[*quick, "--sizes", "50", "--ranks", "1,2"])
    run("measure.py", "groups", few=[*quick, "--sizes", "50", "--groups", "4"])
    run("pingpong.py", few=["--rounds", "1", "--seconds", "0.01"])
    draw(os.path.join(HERE, "plots.py"), arguments.out)
    run_script(os.path.join(HERE, "page.py"), arguments.out)


if __name__ == "__main__":
    main()
