#!/usr/bin/env python3
"""With Sennit: slabs that the neighbour reads in place, against slabs that their owner packs first, by size.

    python3 apps/ghost/study/ways.py [--realtime] [--append] [--out docs/results/zcom/ghost]

Writes ways.jsonl. Two ranks, the grid cut along x, y or z, blocks of 48 x S x S cells, with 48 along the cut, so that a slab has S
x S cells. The table in ways.hpp is made from it: `better_range()` finds the sizes at which packing is the better choice.
"""
import os
import re
import statistics

import jobs
import parts
from jobs import runs

FILE = "ways.jsonl"
DEPTH = 48
SIDES = (4, 8, 16, 24, 32, 64, 128)
TABLE = os.path.join(jobs.HERE, "..", "ways.hpp")


def rows(arguments, command, before=None):
    """The lines of the file. `before` is (head, rows) of an existing file: the rows of another run follow them."""
    head = jobs.head_of("", command, arguments.realtime)
    if before is None:
        yield head
    else:
        yield {**before[0], "further": [*before[0].get("further", []), head]}
        yield from before[1]
    number = 1 + max((row["run"] for row in before[1]), default=0) if before else 1
    subjects = [jobs.Subject(None, False, faces) for faces in ("direct", "packed")]
    for at, (axis, grid) in enumerate(parts.GRIDS.items()):
        for side in SIDES[:2] if arguments.quick else SIDES:
            size = [side] * 3
            size[at] = DEPTH
            options = ["--size", ",".join(map(str, size)), "--ranks-grid", grid, "--method", "bspma", "--barrier"]
            for record in jobs.compare(subjects, 2, options, arguments):
                yield {"axis": axis, "slab_cells": side * side, "run": number, **record}


def ratios_of(direct, packed, key):
    """[lower quartile, median, upper quartile] of the ratio of direct to packed, round by round. Both run in each round, so
    changes between rounds, for example of the host's placement of processors, affect both."""
    ratios = sorted(a / b for a, b in zip(direct[key + "_rounds"], packed[key + "_rounds"]))
    lower, upper = runs.quartiles_of(ratios)
    return [lower, statistics.median(ratios), upper]


def differs(direct, packed, key):
    """Whether the two ways differ by more than the spread: one is faster in the whole middle half of the rounds."""
    lower, _, upper = ratios_of(direct, packed, key)
    return lower > 1 or upper < 1


def decided_by(direct, packed):
    """The key that decides between the two ways. First the whole step, which the user sees: a slab read in place takes cache
    lines from its owner, whose next step is then slower; a packed slab costs a copy. If the steps are alike, the exchange
    decides, because a rank waits for it. None: both are alike."""
    return next((key for key in ("step_us", "exchange_us") if differs(direct, packed, key)), None)


def pairs_of(found, axis):
    """[(cells of a slab, row of direct, row of packed)] ordered by size, with the rounds of all runs one after another; rounds
    of the two ways stay paired."""
    pairs = {}
    for row in found:
        if row["axis"] == axis and "more_than_s" not in row:
            pairs.setdefault(row["slab_cells"], {}).setdefault(row["run"], {})[row["faces"]] = row
    complete = {cells: [pair for pair in by_run.values() if len(pair) == 2] for cells, by_run in sorted(pairs.items())}
    return [(cells, *joined(both)) for cells, both in complete.items() if both]


def joined(both):
    """Joins the pairs of all runs into one pair."""
    for faces in ("direct", "packed"):
        mine = [pair[faces] for pair in both]
        row = {**mine[0], **{key: statistics.median(one[key] for one in mine) for key in mine[0] if key == "compute_us"}}
        for key in ("step_us", "exchange_us"):
            rounds = [value for pair in both for value, _ in zip(pair[faces][key + "_rounds"], pair[other_of(faces)][key + "_rounds"])]
            row.update({key: statistics.median(rounds), key + "_rounds": rounds})
        yield row


def other_of(faces):
    return "packed" if faces == "direct" else "direct"


def better_range(pairs):
    """(from, below): the numbers of cells of slabs for which packing is the better choice; below None: no upper limit. (0, 0):
    never. The range loses least where the step decides, and among equals least where the exchange decides."""
    sizes = [cells for cells, _, _ in pairs]
    ranges = [(0, 0), *((start, end) for at, start in enumerate(sizes) for end in (*sizes[at + 1:], None))]

    def lost(packed_range, by):
        ratios = [(is_packed(packed_range, cells), ratios_of(direct, packed, by)[1]) for cells, direct, packed in pairs
                  if decided_by(direct, packed) == by]
        return sum(max(1 / ratio if packs else ratio, 1) - 1 for packs, ratio in ratios)
    return min(ranges, key=lambda one: (lost(one, "step_us"), lost(one, "exchange_us")))


def wrong_sizes(packed_range, pairs):
    """The slab sizes for which the range and the best range differ, if the two ways differ there."""
    best = better_range(pairs)
    return [cells for cells, direct, packed in pairs
            if decided_by(direct, packed) and is_packed(packed_range, cells) != is_packed(best, cells)]


def is_packed(packed_range, cells):
    start, end = packed_range
    return cells >= start and (end is None or cells < end)


def table():
    """{axis: (from, below)}, the table in ways.hpp."""
    with open(TABLE, encoding="utf-8") as file:
        found = re.search(r"kPacked\{\{(.*?)\}\};", file.read(), re.DOTALL).group(1)
    ranges = re.findall(r"\{(\w+), (\w+)\}", found)
    return {axis: (int(start), None if end == "kAny" else int(end)) for axis, (start, end) in zip(jobs.AXES, ranges)}


def main():
    parser = jobs.parser_of(__doc__, 31, 0.08, "2")
    parser.add_argument("--append", action="store_true", help="add another run to those in the file, because runs differ "
                                                              "more than the rounds of one run")
    arguments = jobs.parse(parser)
    path = os.path.join(arguments.out, FILE)
    before = jobs.read_lines(path) if arguments.append else None
    jobs.write_lines(path, rows(arguments, jobs.command_line(arguments), before))
    print(path)


if __name__ == "__main__":
    main()
