#!/usr/bin/env python3
"""Figures 8 to 11: weak scaling, and the halo's time broken down into exchange and synchronisation.

    python3 apps/heat3d/study/scaling.py blocking    [--ranks 1,2,4,8] [--realtime] [--out docs/results/heat3d]
    python3 apps/heat3d/study/scaling.py nonblocking [...]

Writes scaling-blocking.jsonl (figures 8 and 9) or scaling-nonblocking.jsonl (10 and 11). Every rank has 32768 cells, as
in the paper: 32 x 32 x 32 with blocking calls, where all axes are cut, and 512 x 8 x 8 with non-blocking calls, where x is
not cut, so that every get is of a row of 4 KiB.
"""
import os

import jobs

SHAPES = {"blocking": (32, 32, 32), "nonblocking": (512, 8, 8)}
FIGURES = {"blocking": "8, 9", "nonblocking": "10, 11"}


def file_of(kind):
    return f"scaling-{kind}.jsonl"


def grid_of(kind, ranks):
    """The number of ranks along x, y, z: the prime factors go to the axes in turn, with the long rows only to y and z."""
    grid = [1, 1, 1]
    axes = (0, 1, 2) if kind == "blocking" else (1, 2)
    factors, rest = [], ranks
    for prime in (2, 3, 5, 7):
        while rest % prime == 0:
            factors.append(prime)
            rest //= prime
    if rest > 1:
        factors.append(rest)
    for turn, factor in enumerate(factors):
        grid[axes[turn % len(axes)]] *= factor
    return grid


def options_of(kind, ranks):
    grid = grid_of(kind, ranks)
    size = [cells * along for cells, along in zip(SHAPES[kind], grid)]
    return ["--size", ",".join(map(str, size)), "--ranks-grid", ",".join(map(str, grid))]


def subjects_of(kind, layers, ranks):
    """A single rank has no window on its own memory: Open MPI 4.1 refuses to make one."""
    found = [jobs.Subject(kind, layers)]
    for mpi in jobs.LAUNCHERS:
        ways = [f"{layers}-allocated"] if ranks == 1 else [layers, f"{layers}-allocated"]
        found += [jobs.Subject(f"rma-{kind}", way, mpi) for way in ways]
    return found


def rows(kind, arguments, command):
    yield jobs.head_of(FIGURES[kind], command, arguments.realtime)
    for layers in arguments.layers.split(","):
        for ranks in map(int, arguments.ranks.split(",")):
            yield from jobs.compare(subjects_of(kind, layers, ranks), ranks, options_of(kind, ranks), arguments)


def main():
    parser = jobs.parser_of(__doc__, 7)
    parser.add_argument("kind", choices=tuple(SHAPES))
    jobs.add_run_options(parser, "1,2,4,8")
    parser.add_argument("--layers", default="pieces,whole", help="how layers are fetched (pieces,whole)")
    arguments = parser.parse_args()
    path = os.path.join(arguments.out, file_of(arguments.kind))
    jobs.write_lines(path, rows(arguments.kind, arguments, jobs.command_line(arguments)))
    print(path)


if __name__ == "__main__":
    main()
