#!/usr/bin/env python3
"""Writes the page of p2p from the files of its drivers: python3 apps/p2p/study/page.py [--check] [FOLDER]

Writes FOLDER/README.md (docs/results/zcom/p2p). With --check it compares instead, exit status 1 if they differ. Statements about
this machine are computed; statements about the paper are written here.
"""
import os
import statistics
import sys

import measure
import pingpong
import subjects
import suite
import targets
from subjects import BASE, SUBJECTS, runs, shares_of
from pages import folder_of, machine_of, span, table, together, write_or_check

INTRODUCTION = """# p2p: ZCom's pipelined stencil, repeated on one node

N. Imhoff (*Optimization of Intra-Node Communication in HPC Systems: Development and Implementation of a Zero-Copy API*, 2024, section 5.2) compared
ZCom's zero-copy channels with MPI and OpenMP by Sync_p2p of the Parallel Research Kernels. Here Sennit's channels take ZCom's place
([programs](../../../../apps/p2p/README.md)). `apps/p2p/study/page.py` writes this page; this measures everything:

    python3 apps/p2p/study/all.py --realtime

**Different from the paper:** the paper had 128 cores; here ranks share few processors. Its OpenMP program is unknown, with far lower rates than ours.

A rate counts two operations for each cell. It is the rate of the median sweep of the median run. *The bound* is P × the serial rate × G / (G + P − 1), for a pipeline
of P ranks and G groups of lines. A program may exceed it, because parts of the grid fit the caches better. If a row has two figures, they are those of Open MPI and
MPICH."""


NAMES = tuple(runs.MPI_NAMES.values())


def rate_text(row):
    if row is None:
        return ""
    if "more_than_s" in row:
        return f"> {row['more_than_s']:.0f} s"
    return f"{row['rate']:.0f}" if row["rate"] >= 10 else f"{row['rate']:.2g}"


def matrix(rows, along, text):
    """A row for each program, a column for each value of `along`."""
    columns = sorted({row[along] for row in rows})
    by_place = {(row["key"], row[along]): row for row in rows}
    return table(["", *map(str, columns)], together(
        ([subject.name, *(text(by_place.get((key, column))) for column in columns)]
         for key, subject in SUBJECTS.items() if any((key, column) in by_place for column in columns)), NAMES))


def over(rows, others, along):
    """Sennit's rate divided by that of each of `others`, by `along`."""
    base = {row[along]: row["rate"] for row in rows if row["key"] == BASE and "rate" in row}
    return {(row["key"], row[along]): base[row[along]] / row["rate"] for row in rows
            if row["key"] in others and "rate" in row and row[along] in base}


def ratio_text(values):
    return span(values, lambda ratio: f"{ratio:.2f}") if values else "not measured"


def part_5_1(folder):
    head, rows = runs.read_lines(os.path.join(folder, pingpong.FILE))
    columns = {}
    for mpi, name in runs.MPI_NAMES.items():
        def median(bench, subject, job=mpi):
            values = [row["round_trip_ns"] for row in rows
                      if (row["bench"], row["subject"], row["job"]) == (bench, subject, job)]
            return statistics.median(values) if values else None
        found = {"two-sided": median("channel", f"{mpi}-sendrecv"), "one-sided (put, flush)": median("pingpong", f"{mpi}-put"),
                 "Sennit, channel": median("channel", "sennit-channel"),
                 "by hand in shared memory": median("channel", "raw-payload-flag")}
        if found["two-sided"] is not None:
            columns[name] = {what: "–" if value is None else f"{value:.0f} ({found['two-sided'] / value:.2f})" for what, value in found.items()}
    lines = [[what, *(column[what] for column in columns.values())] for what in next(iter(columns.values()), {})]
    size = rows[0]["bytes"] if rows else 0
    return f"""## Table 5.1: a message of {size} bytes there and back

ns (times as fast as two-sided). The paper: channel 23.86 ×, one-sided 0.66 ×.

{table(["", *(f"job of {name}" for name in columns)], lines)}

{machine_of(head)}
"""


def part_ranks(folder):
    head, rows = runs.read_lines(os.path.join(folder, measure.file_of("ranks")))
    rows = [row for row in rows if row["key"] != "serial"]
    mpi, openmp = over(rows, targets.TWO_SIDED, "ranks"), over(rows, ("openmp",), "ranks")
    cores = head["machine"]["cores"]

    def crowd(ratios, crowded):
        return ratio_text([ratio for (_, ranks), ratio in ratios.items() if ranks > 1 and (ranks > cores) == crowded])
    return f"""## Figures 5.2 and 5.4: by number of ranks or threads

![rate and time of a sweep, with MPI](figure-5.2.png)

![rate and time of a sweep, with OpenMP](figure-5.4.png)

| Sennit's rate relative to | the paper | a processor each | shared processors |
|---|---|---|---|
| MPI's | ahead at many ranks; shorter sweeps at every number | {crowd(mpi, False)} | {crowd(mpi, True)} |
| OpenMP's | 265 to 18.5 MFlop/s with 2, at most 2808 to 417 | {crowd(openmp, False)} | {crowd(openmp, True)} |

MFlop/s by ranks, {rows[0]['size']}², line by line; sweeps are shorter than MPI's in {sum(ratio > 1 for ratio in mpi.values())} of {len(mpi)} cases:

{matrix(rows, 'ranks', rate_text)}

{machine_of(head)}
"""


def part_5_3(folder):
    head, rows = runs.read_lines(os.path.join(folder, measure.file_of("sizes")))
    shares = shares_of(rows)
    mpi = over(rows, targets.TWO_SIDED, "size")
    sizes = sorted({row["size"] for row in rows})
    sizes = sizes[1::2] or sizes
    ranks = max(row["ranks"] for row in rows)
    by_place = {(row["key"], row["size"]): row for row in rows}
    text = table(["", *(f"{size}²" for size in sizes)],
                 [*([f"{SUBJECTS[key].name}, MFlop/s", *(rate_text(by_place.get((key, size))) for size in sizes)] for key in ("serial", BASE)),
                  *together(([subject.name, *(f"{shares[(key, size)]:.2f}" if (key, size) in shares else "–" for size in sizes)]
                             for key, subject in SUBJECTS.items() if any((key, size) in shares for size in sizes)), NAMES)])
    return f"""## Figure 5.3: by size of the grid

![rate and part of the bound by size](figure-5.3.png)

The paper: 2.58 × MPI's rate at 1000², 1.05 × at 32000², ahead of OpenMP at every number of threads. Here {ratio_text(list(mpi.values()))} × MPI's rate,
{ratio_text(list(over(rows, ("openmp",), "size").values()))} × OpenMP's.

{ranks} ranks, line by line: the rates of two programs, then each program's part of the bound.

{text}

{machine_of(head)}
"""


def part_groups(folder):
    head, rows = runs.read_lines(os.path.join(folder, measure.file_of("groups")))
    groups, lines = sorted({row["group"] for row in rows}), []
    for size in sorted({row["size"] for row in rows}):
        mine = [row for row in rows if row["size"] == size and "rate" in row]
        ours = {row["group"]: row["rate"] for row in mine if row["key"] == BASE}
        best = {group: max((row["rate"] for row in mine if row["group"] == group and row["key"] in targets.TWO_SIDED), default=None) for group in groups}
        lines.append([f"{size}²: Sennit, C, MFlop/s", *(f"{ours[group]:.0f}" if group in ours else "–" for group in groups)])
        lines.append([f"{size}²: relative to the fastest MPI", *(f"{ours[group] / best[group]:.2f}" if group in ours and best[group] else "–" for group in groups)])
    return f"""## Lines handed over in groups

With groups of lines there are fewer hand-overs. The suite allows groups, but calls them cheating. By number of lines in a group:

{table(["", *map(str, groups)], lines)}

{machine_of(head)}
"""


def part_suite(folder):
    head, rows = runs.read_lines(os.path.join(folder, suite.FILE))
    sizes, keys = sorted({row["size"] for row in rows}), list(dict.fromkeys(row["key"] for row in rows))
    by_place = {(row["key"], row["size"]): row for row in rows}
    lines = [[suite.name_of(key), *(rate_text(by_place.get((key, size))) for size in sizes)] for key in keys]
    return f"""## Beside the suite's own programs

The suite's programs are Sync_p2p itself, with its kernel, timing and placement of data. Rates here are those of the mean sweep, so Sennit's differ from those above.
MFlop/s with {suite.RANKS} ranks or threads:

{table(["", *map(str, sizes)], together(lines, NAMES))}

{machine_of(head)}
"""


def page(folder):
    sections = [INTRODUCTION.rstrip() + "\n", *filter(None, [targets.section(folder)])]
    for file, part in ((pingpong.FILE, part_5_1), (measure.file_of("ranks"), part_ranks),
                       (measure.file_of("sizes"), part_5_3), (suite.FILE, part_suite), (measure.file_of("groups"), part_groups)):
        if os.path.exists(os.path.join(folder, file)):
            sections.append(part(folder))
    return "\n".join(sections)


def main():
    folder = folder_of(subjects.OUT)
    return write_or_check(os.path.join(folder, "README.md"), page(folder), "page.py")


if __name__ == "__main__":
    sys.exit(main())
