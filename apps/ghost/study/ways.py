#!/usr/bin/env python3
"""With Sennit: slabs that the neighbour reads where they lie, against slabs that their owner packs first, by size.

    python3 apps/ghost/study/ways.py [--realtime] [--out docs/results/zcom/ghost]

Writes ways.jsonl. Two ranks, the grid cut along x, y or z, blocks of 48 x S x S cells and the like, so that a slab has S x S.
The table in ways.hpp is made from it: `better_range()` finds where packing costs less.
"""
import os
import re

import jobs
import parts

FILE = "ways.jsonl"
DEPTH = 48
SIDES = (4, 8, 16, 32, 64, 128)
TABLE = os.path.join(jobs.HERE, "..", "ways.hpp")


def rows(arguments, command):
    yield jobs.head_of("", command, arguments.realtime)
    subjects = [jobs.Subject(None, False, faces) for faces in ("direct", "packed")]
    for at, (axis, grid) in enumerate(parts.GRIDS.items()):
        for side in SIDES[:2] if arguments.quick else SIDES:
            size = [side] * 3
            size[at] = DEPTH
            options = ["--size", ",".join(map(str, size)), "--ranks-grid", grid, "--method", "bspma", "--meet"]
            for record in jobs.compare(subjects, 2, options, arguments):
                yield {"axis": axis, "slab_cells": side * side, **record}


def cost_of(row):
    """What decides: exchange and computing. A slab across x is packed by the step that computes it and taken by the
    neighbour's step, and one that is read where it lies takes lines of the cache from their owner, whose next step shows
    it."""
    return row["exchange_us"] + row["compute_us"]


def pairs_of(found, axis):
    """[(cells of a slab, row of direct, row of packed)] in the order of size."""
    pairs = {}
    for row in found:
        if row["axis"] == axis and "more_than_s" not in row:
            pairs.setdefault(row["slab_cells"], {})[row["faces"]] = row
    return [(cells, pair["direct"], pair["packed"]) for cells, pair in sorted(pairs.items()) if len(pair) == 2]


def better_range(pairs):
    """(from, below): the cells of slabs for which packing costs least in all; below None: any more. (0, 0): never."""
    sizes = [cells for cells, _, _ in pairs]
    ranges = [(0, 0), *((start, end) for at, start in enumerate(sizes) for end in (*sizes[at + 1:], None))]

    def regret(packed_range):
        return sum(cost_of(packed if is_packed(packed_range, cells) else direct) / min(cost_of(direct), cost_of(packed))
                   for cells, direct, packed in pairs)
    return min(ranges, key=regret)


def is_packed(packed_range, cells):
    start, end = packed_range
    return cells >= start and (end is None or cells < end)


def table():
    """{axis: (from, below)}, what stands in ways.hpp."""
    with open(TABLE, encoding="utf-8") as file:
        found = re.search(r"kPacked\{\{(.*?)\}\};", file.read(), re.DOTALL).group(1)
    ranges = re.findall(r"\{(\w+), (\w+)\}", found)
    return {axis: (int(start), None if end == "kAny" else int(end)) for axis, (start, end) in zip(jobs.AXES, ranges)}


def main():
    arguments = jobs.parse(jobs.parser_of(__doc__, 5, 0.05, "2"))
    path = os.path.join(arguments.out, FILE)
    jobs.write_lines(path, rows(arguments, jobs.command_line(arguments)))
    print(path)


if __name__ == "__main__":
    main()
