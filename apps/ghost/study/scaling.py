#!/usr/bin/env python3
"""Figures 5.5 and 5.6: weak and strong scaling, MiniGhost's two methods.

    python3 apps/ghost/study/scaling.py weak   [--ranks 1,2,4,8] [--realtime] [--out docs/results/zcom/ghost]
    python3 apps/ghost/study/scaling.py strong [...]

Writes weak.jsonl or strong.jsonl. 5 variables, 7 points; with weak scaling every rank has SIZES["weak"] cells, with strong
scaling all ranks together have SIZES["strong"].
"""
import os

import jobs

SIZES = {"weak": (64, 64, 64), "strong": (96, 96, 96)}
FIGURES = {"weak": "5.5", "strong": "5.6"}


def rows(arguments, command):
    yield jobs.head_of(FIGURES[arguments.kind], command, arguments.realtime)
    subjects = [jobs.default_of(kind) for kind in (jobs.CHANNELS, jobs.NOTIFIED, *map(jobs.Kind, jobs.LAUNCHERS))]
    size = ",".join(map(str, (16, 16, 16) if arguments.quick else SIZES[arguments.kind]))
    for method in jobs.METHODS:
        for ranks in map(int, arguments.ranks.split(",")):
            options = ["--scaling", arguments.kind, "--size", size, "--method", method]
            yield from jobs.compare(subjects, ranks, options, arguments)


def main():
    parser = jobs.parser_of(__doc__, 3, 0.2, "1,2,4,8")
    parser.add_argument("kind", choices=tuple(SIZES))
    arguments = jobs.parse(parser)
    path = os.path.join(arguments.out, f"{arguments.kind}.jsonl")
    jobs.write_lines(path, rows(arguments, jobs.command_line(arguments)))
    print(path)


if __name__ == "__main__":
    main()
