#!/usr/bin/env python3
"""Rates of p2p with every way of communication: by size of the grid, by number of ranks, by number of lines in a
group.

    python3 apps/p2p/study/measure.py sizes  [--sizes 100,200,...] [--realtime] [--out docs/results/zcom/p2p]
    python3 apps/p2p/study/measure.py ranks  [--ranks 1,2,4,8]
    python3 apps/p2p/study/measure.py groups [--groups 1,2,4,...]

Writes sizes.jsonl (the paper's figure 5.3), ranks.jsonl (5.2, 5.4) or groups.jsonl. The programs take turns.
"""
import os

import subjects
from subjects import runs

FIGURES = {"sizes": "5.3", "ranks": "5.2, 5.4", "groups": "5.3, grouped"}
EVERYONE = tuple(subjects.SUBJECTS)


def file_of(kind):
    return f"{kind}.jsonl"


def rows(arguments, command):
    yield runs.head_of(FIGURES[arguments.kind], command, arguments.realtime)
    sizes, ranks, groups = (subjects.numbers(text) for text in (arguments.sizes, arguments.ranks, arguments.groups))
    for size in sizes:
        for count in ranks:
            for group in groups:
                yield from subjects.compare(EVERYONE, arguments, count, size, group)


def main():
    parser = runs.parser_of(__doc__, subjects.OUT, 5)
    parser.add_argument("kind", choices=tuple(FIGURES))
    parser.add_argument("--sizes", default=None, help="sides of the grid")
    parser.add_argument("--ranks", default=None, help="numbers of ranks or threads")
    parser.add_argument("--groups", default=None, help="lines that are handed over at once")
    subjects.add_run_options(parser)
    arguments = parser.parse_args()
    command = runs.command_line(arguments)
    arguments.sizes = arguments.sizes or {"sizes": "100,200,500,1000,2000,4000", "ranks": "1000",
                                          "groups": "200,1000"}[arguments.kind]
    arguments.ranks = arguments.ranks or {"ranks": "1,2,4,8"}.get(arguments.kind, "2")
    arguments.groups = arguments.groups or {"groups": "2,4,8,16"}.get(arguments.kind, "1")
    path = os.path.join(arguments.out, file_of(arguments.kind))
    runs.write_lines(path, rows(arguments, command))
    print(path)


if __name__ == "__main__":
    main()
