#!/usr/bin/env python3
"""Writes the page of the study from the files of its drivers: python3 apps/ghost/study/page.py [--check] [FOLDER]

Writes FOLDER/README.md (docs/results/zcom/ghost). With --check it compares instead, exit status 1 if they differ. What is
said of this machine is computed; what is said of the paper is written here.
"""
import os
import statistics
import sys

import jobs
import pages
import parts
import scaling
import targets
import ways
from pages import machine_of, span, text_of_us

INTRODUCTION = """# ghost: the MiniGhost figures of the ZCom paper, on one node

The master's thesis on ZCom measured MiniGhost, Mantevo's small program for the exchange of ghost cells, with its channels and
with MPI on a node of 128 cores (figures 5.5, 5.6 and 5.7). It gives no numbers for them in its text: ZCom is said to be ahead in
weak and strong scaling and in every part of the exchange, most with many processes. Here `apps/ghost` does what MiniGhost does
([how](../../../../apps/ghost/README.md)), with Sennit's channels and with MPI's send and receive at its best. This page is
written by `apps/ghost/study/page.py` from the files of lines of JSON beside it.

All of it again, files, plots and page:

    python3 apps/ghost/study/all.py --realtime

**What differs from the paper.** One machine of few processors; with more ranks than those they take turns. The MPIs are those of
the distribution with their own defaults. Times are medians over the rounds of each rank's median step, exchange and its parts
the mean over ranks, computing that of the slowest rank; a ratio is to Sennit. Every program finds the same field to the bit."""

# What the paper says of each figure.
PAPER = {"weak": "ZCom ahead of MPI, more so with more processes", "strong": "ZCom ahead of MPI, more so with more processes",
         "parts": "ZCom ahead in packing, sending, waiting, receiving and unpacking"}


def measured(rows):
    return [row for row in rows if "more_than_s" not in row]


def ratios(rows, key, place, shared=False):
    """[(mpi, ratio)]: for each place, each MPI's best way of send and receive, or its shared memory, to Sennit."""
    return [(row["mpi"], row[key] / base[key]) for _, base, row in targets.fastest_of_each(rows, key, place, shared)]


def ratio_text(found):
    """Both MPIs by name, with the least and the most, and the geometric mean."""
    texts = []
    for mpi, name in jobs.MPI_NAMES.items():
        values = [ratio for which, ratio in found if which == mpi]
        if values:
            texts.append(f"{name}: {span(values, lambda ratio: f'{ratio:.2f} ×')}, "
                         f"in the geometric mean {statistics.geometric_mean(values):.2f} ×")
    return "; ".join(texts) or "not measured"


def notified_claims(rows, place):
    """What is said of Sennit's notified puts, where they were measured: as ratios to its channels."""
    claims = []
    for key, word in (("exchange_us", "exchange"), ("step_us", "whole step")):
        base = {tuple(row[name] for name in place): row[key] for row in measured(rows) if jobs.is_of(row, jobs.CHANNELS)}
        values = [row[key] / base[tuple(row[name] for name in place)] for row in measured(rows)
                  if jobs.is_of(row, jobs.NOTIFIED) and row["ranks"] > 1]
        if values:
            claims.append((f"{word}, Sennit's notified puts to its channels", "not compared",
                           f"{span(values, lambda ratio: f'{ratio:.2f} ×')}, in the geometric mean "
                           f"{statistics.geometric_mean(values):.2f} ×"))
    return claims


def part_scaling(folder, kind):
    head, rows = jobs.read_lines(os.path.join(folder, f"{kind}.jsonl"))
    cores = head["machine"]["cores"]
    place = ("ranks", "method")
    ours = []
    for key, word in (("exchange_us", "exchange, MPI to Sennit"), ("step_us", "whole step, MPI to Sennit")):
        for crowd, choose in (("a processor each", lambda row: 1 < row["ranks"] <= cores),
                              ("sharing processors", lambda row: row["ranks"] > cores)):
            mine = [row for row in rows if choose(row)]
            if mine:
                ours.append((f"{word}, {crowd}", PAPER[kind], ratio_text(ratios(mine, key, place))))
    base = {(row["ranks"], row["method"]): row for row in measured(rows) if jobs.is_of(row, jobs.CHANNELS)}
    ours += notified_claims(rows, place)
    lines = []
    for row in rows:
        start = [str(row["ranks"]), jobs.label_of(row)]
        if "more_than_s" in row:
            lines.append([*start, "", "", "", "", "", f"not done in {row['more_than_s']:.0f} s"])
            continue
        mine = base.get((row["ranks"], row["method"]))
        ratio = f"{row['exchange_us'] / mine['exchange_us']:.2f}" if mine and row["ranks"] > 1 else ""
        lines.append([*start, row["method"].upper(), jobs.in_text(row["ranks_grid"]), text_of_us(row["compute_us"]),
                      text_of_us(row["exchange_us"]), ratio, text_of_us(row["step_us"])])
    size = jobs.in_text(scaling.SIZES[kind])
    table = pages.table(["ranks", "program", "method", "ranks along x, y, z", "computing", "exchange", "ratio", "whole step"],
                        lines)
    return f"""## Figure {scaling.FIGURES[kind]}: {kind} scaling

{size} cells {'a rank' if kind == 'weak' else 'in all'}, 5 variables, 7 points.

![step and exchange by ranks](figure-{scaling.FIGURES[kind]}.png)

{pages.claims(ours)}

µs a step.

{table}

{machine_of(head)}
"""


def part_parts(folder):
    head, rows = jobs.read_lines(os.path.join(folder, parts.FILE))
    place = ("side", "method", "axis")
    found = ratios(rows, "exchange_us", place)
    ours = [("exchange, MPI in its best way to Sennit", PAPER["parts"], ratio_text(found)),
            ("exchange and computing, MPI in its best way to Sennit", "", ratio_text(ratios(rows, "both_us", place))),
            ("exchange, MPI's shared memory by hand to Sennit", "not compared",
             ratio_text(ratios(rows, "exchange_us", place, shared=True))), *notified_claims(rows, place)]
    note = ""
    if any(jobs.is_of(row, jobs.NOTIFIED) for row in rows):
        note = " With notified puts *send* is the put, which moves the cells, and *receive* the reset of the signals."
    base = {tuple(row[name] for name in place): row["exchange_us"] for row in measured(rows)
            if jobs.is_of(row, jobs.CHANNELS)}
    lines = []
    for row in measured(rows):
        ratio = row["exchange_us"] / base[tuple(row[name] for name in place)]
        lines.append([f"{row['side']}³", row["method"].upper(), row["axis"], jobs.label_of(row),
                      row["way_" + row["axis"]], *(text_of_us(row[part + "_us"]) for part in jobs.PARTS),
                      text_of_us(row["exchange_us"]), f"{ratio:.2f}", text_of_us(row["compute_us"])])
    table = pages.table(["cells a rank", "method", "cut", "program", "slabs", *jobs.PARTS, "exchange", "ratio", "computing"],
                        lines)
    return f"""## Figure 5.7: what an exchange consists of

![parts of an exchange](figure-5.7.png)

{pages.claims(ours)}

µs of a step, two ranks that meet before each exchange. *pack*: copying into buffers, but for slabs across x, which the step
packs. *send*: starting the sends; Sennit: saying that the cells are there. *wait*: for messages. *receive*: starting the
receives; Sennit: saying that the cells were read. *unpack*: copying out of buffers.{note} With 7 points nothing is unpacked: with
Sennit, and with MPI where slabs are *packed*, the step reads the neighbour's cells where they are, in its memory or in the
received buffer. So a part of what moves cells from one cache to the other is in *computing*, in all of these programs, and
exchange alone says too much; the sum of both says what is gained.

{table}

{machine_of(head)}
"""


def range_text(packed_range):
    start, end = packed_range
    if end is None:
        return f"packed from {start} cells on"
    return f"packed from {start} to {end - 1} cells" if end > start else "never packed"


def row_of_ways(cells, direct, packed, packed_range):
    """Of one size: what was measured, what the table chooses, what decided, and in what the other way is better."""
    packs = ways.is_packed(packed_range, cells)
    costs = []
    for key, word in (("step_us", "step"), ("exchange_us", "exchange")):
        ratio = ways.ratios_of(direct, packed, key)[1]
        loss = 1 / ratio if packs else ratio
        if ways.differs(direct, packed, key) and loss > 1:
            costs.append(f"{word} {loss:.2f} ×")
    by = {"step_us": "step", "exchange_us": "exchange", None: "neither"}[ways.decided_by(direct, packed)]
    low, middle, high = ways.ratios_of(direct, packed, "step_us")
    return [str(cells), *(text_of_us(row[key]) for key in ("step_us", "exchange_us", "compute_us") for row in (direct, packed)),
            f"{middle:.2f} ({low:.2f} to {high:.2f})", "packed" if packs else "direct", by, ", ".join(costs)]


def runs_of(head):
    return "\n\n".join(machine_of(one) for one in (head, *head.get("further", [])))


def runs_text(rows, stands):
    """What each run by itself would have chosen, where there are several."""
    numbers = sorted({row["run"] for row in rows})
    if len(numbers) < 2:
        return "The file has one run."
    texts = []
    for axis in (axis for axis in jobs.AXES if ways.pairs_of(rows, axis)):
        each = [ways.wrong_sizes(stands[axis], ways.pairs_of([row for row in rows if row["run"] == run], axis)) for run in numbers]
        texts.append(f"{axis}: " + ", ".join(
            f"run {run} alone says otherwise of {' '.join(map(str, wrong))} cells" if wrong else f"run {run} says the same"
            for run, wrong in zip(numbers, each)))
    return (f"The rounds of {len(numbers)} runs are taken together, because runs differ by more than the rounds of one do. Set beside "
            f"`ways.hpp`,\none run by itself would have chosen so: {'; '.join(texts)}.")


def part_ways(folder):
    head, rows = jobs.read_lines(os.path.join(folder, ways.FILE))
    stands, lines = ways.table(), []
    texts = []
    for axis in jobs.AXES:
        pairs = ways.pairs_of(rows, axis)
        if not pairs:
            continue
        best = ways.better_range(pairs)
        wrong = ways.wrong_sizes(stands[axis], pairs)
        texts.append(f"{axis}: best {range_text(best)}, in the table {range_text(stands[axis])}"
                     + (f", which is wrong for {', '.join(map(str, wrong))} cells" if wrong else ""))
        lines += [[axis, *row_of_ways(*pair, stands[axis])] for pair in pairs]
    table = pages.table(["cut", "cells of a slab", "step, direct", "packed", "exchange, direct", "packed", "computing, direct", "packed",
                         "step, direct to packed", "chosen", "by", "what it costs"], lines)
    return f"""## Slabs read where they lie, or packed first

![direct and packed by size](ways.png)

The neighbour may read a slab where it lies (*direct*), or its owner packs it into a buffer that the neighbour reads. Across x
every cell lies in a line of the cache of its own, and reading it there moves the whole line to the neighbour; the step that
computes these cells has them at hand and packs them, and the neighbour's step takes them, in every program that packs. So a part
of what one way saves in the exchange it takes in computing, and what decides is the whole step, which has both. Where the steps
of the two ways differ by less than the spread, the exchange decides: for that a rank waits. A round runs both ways, and one differs
from the other by more than the spread if it is ahead all through the middle half of the rounds; that half stands in brackets. The last
column says how many times as long the chosen way takes in what it is behind in.

{runs_text(rows, stands)}

The table in `apps/ghost/ways.hpp` is made from such a file. By this one: {'; '.join(texts)}.

µs a step, two ranks, 5 variables in an exchange. A step has the barrier before the exchange, too.

{table}

{runs_of(head)}
"""


def page(folder):
    sections = [INTRODUCTION + "\n", *filter(None, [targets.section(folder)])]
    for file, part in (*((f"{kind}.jsonl", lambda at, kind=kind: part_scaling(at, kind)) for kind in scaling.SIZES),
                       (parts.FILE, part_parts), (ways.FILE, part_ways)):
        if os.path.exists(os.path.join(folder, file)):
            sections.append(part(folder))
    return "\n".join(sections)


def main():
    words = [word for word in sys.argv[1:] if word != "--check"]
    folder = words[0] if words else os.path.join(jobs.ROOT, "docs", "results", jobs.RESULTS)
    return pages.write_or_check(os.path.join(folder, "README.md"), page(folder), "page.py")


if __name__ == "__main__":
    sys.exit(main())
