#!/usr/bin/env python3
"""Writes the page of p2p from the files of its drivers: python3 apps/p2p/study/page.py [--check] [FOLDER]

Writes FOLDER/README.md (docs/results/zcom/p2p). With --check it compares instead, exit status 1 if they differ. What is
said of this machine is computed; what is said of the paper is written here.
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
from pages import claims, machine_of, span, table, text_of_us, write_or_check

INTRODUCTION = """# p2p: ZCom's pipelined stencil, repeated on one node

N. Imhoff compared ZCom, a library of zero-copy channels between the processes of a node, with MPI and OpenMP by Sync_p2p,
a kernel of the Parallel Research Kernels (*Optimization of Intra-Node Communication in HPC Systems: Development and
Implementation of a Zero-Copy API*, 2024, section 5.2). Here Sennit's channels take ZCom's place. This page is written by
`apps/p2p/study/page.py` from the files of lines of JSON beside it; what the programs do: [p2p](../../../../apps/p2p/README.md).

All of it again, files, plots and page:

    python3 apps/p2p/study/all.py --realtime

**What differs from the paper.** One machine of few processors instead of a node of 128 cores, so that from as many ranks as
processors on they share them. All programs call one and the same kernel; MPI sends and receives in place, OpenMP has a
strip of its own for each thread and one counter between neighbours. Between Sennit's neighbours is one channel,
on which 128 lines may be under way; where ranks share processors, one that finds nothing waits for 49, and then computes as many in its turn. What the paper's OpenMP program did is not known; its
rates (18.5 MFlop/s with 2 threads) are of another order than ours.

A rate counts two operations for each cell, as the suite does; it is that of the median sweep of a run, and here of the
median run. *The bound* is ranks × the rate of the serial program × the part of the time in which the pipeline is full:
with G groups of lines and P ranks G / (G + P − 1). A processor's share of the grid fits its caches better than the
whole, and while it waits for an addition it may begin the next line, so the bound can be passed."""


def rate_text(row):
    if row is None:
        return ""
    if "more_than_s" in row:
        return f"not done in {row['more_than_s']:.0f} s"
    return f"{row['rate']:.0f}" if row["rate"] >= 10 else f"{row['rate']:.2g}"


def matrix(rows, along, text):
    """A line for each program, a column for each value of `along`."""
    columns = sorted({row[along] for row in rows})
    by_place = {(row["key"], row[along]): row for row in rows}
    return table(["", *map(str, columns)],
                 [[subject.name, *(text(by_place.get((key, column))) for column in columns)]
                  for key, subject in SUBJECTS.items() if any((key, column) in by_place for column in columns)])


def over(rows, others, along):
    """Sennit's rate to that of each of `others`, by `along`."""
    base = {row[along]: row["rate"] for row in rows if row["key"] == BASE and "rate" in row}
    return {(row["key"], row[along]): base[row[along]] / row["rate"] for row in rows
            if row["key"] in others and "rate" in row and row[along] in base}


def ratio_text(values):
    return span(values, lambda ratio: f"{ratio:.2f} ×") if values else "not measured"


# Table 5.1 of the paper: how many times as fast as MPI two-sided.
PAPER_ONE_SIDED, PAPER_CHANNEL = "0.66 ×", "23.86 ×"


def part_5_1(folder):
    head, rows = runs.read_lines(os.path.join(folder, pingpong.FILE))
    lines, ours = [], []
    for mpi, name in runs.MPI_NAMES.items():
        def median(bench, subject, job=mpi):
            values = [row["round_trip_ns"] for row in rows
                      if (row["bench"], row["subject"], row["job"]) == (bench, subject, job)]
            return statistics.median(values) if values else None
        found = {"MPI two-sided": median("channel", f"{mpi}-sendrecv"),
                 "MPI one-sided (put, flush, put, flush)": median("pingpong", f"{mpi}-put"),
                 "Sennit, channel": median("channel", "sennit-channel"),
                 "by hand: words and a flag in shared memory": median("channel", "raw-payload-flag")}
        base, one_sided = found["MPI two-sided"], found["MPI one-sided (put, flush, put, flush)"]
        if base is None:
            continue
        for what, value in found.items():
            if value is not None:
                lines.append([name, what, f"{value * 1e-6:.6f}", f"{base / value:.2f}"])
        if found["Sennit, channel"]:
            ours.append([f"channel, to two-sided of {name}", PAPER_CHANNEL, f"{base / found['Sennit, channel']:.2f} ×"])
        if one_sided:
            ours.append([f"one-sided to two-sided of {name}", PAPER_ONE_SIDED, f"{base / one_sided:.2f} ×"])
    size = rows[0]["bytes"] if rows else 0
    return f"""## Table 5.1: a message of {size} bytes there and back

Times as fast:

{claims(ours)}

{table(["job", "", "ms", "times as fast as MPI two-sided"], lines)}

The two ranks of a job measure everything in turn, so compare within a job.

{machine_of(head)}
"""


def part_ranks(folder):
    head, rows = runs.read_lines(os.path.join(folder, measure.file_of("ranks")))
    rows = [row for row in rows if row["key"] != "serial"]
    mpi, openmp = over(rows, targets.TWO_SIDED, "ranks"), over(rows, ("openmp",), "ranks")
    cores = head["machine"]["cores"]

    def crowd(ratios, crowded):
        return ratio_text([ratio for (_, ranks), ratio in ratios.items() if ranks > 1 and (ranks > cores) == crowded])
    ours = [["rate over MPI's", "ahead of MPI's at many ranks, 2.6 × at 1000² (figure 5.3)",
             f"a processor each: {crowd(mpi, False)}; sharing processors: {crowd(mpi, True)}"],
            ["time of a sweep", "shorter than MPI's at every number of ranks",
             f"shorter at {sum(ratio > 1 for ratio in mpi.values())} of {len(mpi)}, with each MPI and way of it"],
            ["rate over OpenMP's", "265 against 18.5 MFlop/s with 2, 2808 against 417 at most",
             f"a processor each: {crowd(openmp, False)}; sharing processors: {crowd(openmp, True)}"]]
    sweeps = matrix(rows, "ranks", lambda row: "" if row is None or "sweep_us" not in row else text_of_us(row["sweep_us"]))
    return f"""## Figures 5.2 and 5.4: by number of ranks or threads

![rate and time of a sweep, with MPI](figure-5.2.png)

![rate and time of a sweep, with OpenMP](figure-5.4.png)

{claims(ours)}

MFlop/s, {rows[0]['size']} × {rows[0]['size']}, lines handed over one by one:

{matrix(rows, 'ranks', rate_text)}

µs a sweep:

{sweeps}

{machine_of(head)}
"""


def part_5_3(folder):
    head, rows = runs.read_lines(os.path.join(folder, measure.file_of("sizes")))
    shares = shares_of(rows)
    mpi = over(rows, targets.TWO_SIDED, "size")
    sizes = sorted({row["size"] for row in rows})
    ranks = max(row["ranks"] for row in rows)
    ours = [["rate over MPI's, from the smallest to the largest grid", "2.58 × at 1000², 1.05 × at 32000²",
             "; ".join(f"{size}²: " + ratio_text([ratio for (_, at), ratio in mpi.items() if at == size])
                       for size in sizes)],
            ["rate over OpenMP's", "ahead at every number of threads",
             ratio_text(list(over(rows, ("openmp",), "size").values()))],
            ["of the bound", "not given", "; ".join(f"{size}²: {shares[(BASE, size)]:.2f}" for size in sizes
                                                    if (BASE, size) in shares)]]
    text = table(["of the bound", *(f"{size}²" for size in sizes)],
                 [[subject.name, *(f"{shares[(key, size)]:.2f}" if (key, size) in shares else "" for size in sizes)]
                  for key, subject in SUBJECTS.items() if any((key, size) in shares for size in sizes)])
    return f"""## Figure 5.3: by size of the grid

![rate and part of the bound by size](figure-5.3.png)

{claims(ours)}

MFlop/s with {ranks} ranks, lines handed over one by one:

{matrix(rows, 'size', rate_text)}

{text}

{machine_of(head)}
"""


def part_groups(folder):
    head, rows = runs.read_lines(os.path.join(folder, measure.file_of("groups")))
    parts = []
    for size in sorted({row["size"] for row in rows}):
        mine = [row for row in rows if row["size"] == size]
        parts.append(f"{size}²:\n\n{matrix(mine, 'group', rate_text).rstrip()}\n")
    return f"""## Lines handed over in groups

The suite allows it and calls it cheating, because it is no longer the synchronisation of single lines that is measured.
The fewer the hand-overs, the less it matters how they are made. MFlop/s by the lines of a group:

{chr(10).join(parts)}

{machine_of(head)}
"""


def part_suite(folder):
    head, rows = runs.read_lines(os.path.join(folder, suite.FILE))
    sizes, keys = sorted({row["size"] for row in rows}), list(dict.fromkeys(row["key"] for row in rows))
    by_place = {(row["key"], row["size"]): row for row in rows}
    lines = [[suite.name_of(key), *(rate_text(by_place.get((key, size))) for size in sizes)] for key in keys]
    return f"""## Beside the suite's own programs

Sync_p2p as the Parallel Research Kernels have it, built by whoever measures and not part of this repository: the kernel, the
timing and the placing of data are the suite's. Its programs tell the rate of the mean sweep, so ours is that of the mean here,
and lower than above. MFlop/s with {suite.RANKS} ranks or threads, in turns:

{table(["", *map(str, sizes)], lines)}

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
    words = [word for word in sys.argv[1:] if word != "--check"]
    folder = words[0] if words else os.path.join(runs.ROOT, "docs", "results", subjects.OUT)
    return write_or_check(os.path.join(folder, "README.md"), page(folder), "page.py")


if __name__ == "__main__":
    sys.exit(main())
