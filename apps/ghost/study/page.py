#!/usr/bin/env python3
"""Writes the page of the study from the files of its drivers: python3 apps/ghost/study/page.py [--check] [FOLDER]

Writes FOLDER/README.md (docs/results/zcom/ghost). With --check it compares instead, exit status 1 if they differ. Statements about
this machine are computed; statements about the thesis are written here.
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

INTRODUCTION = """# ghost: the MiniGhost figures of the ZCom thesis, on one node

The master's thesis on ZCom measured MiniGhost, Mantevo's program for the exchange of ghost cells, on a node of 128 cores (figures 5.5, 5.6 and 5.7, without
numbers). [`apps/ghost`](../../../../apps/ghost/README.md) does the same with Sennit's channels and notified puts, and with the distribution's MPIs with their
defaults. Here more ranks share few processors. `apps/ghost/study/page.py` writes this page; this measures everything:

    python3 apps/ghost/study/all.py --realtime

**Times** are µs a step: the median over the rounds of each rank's median step. Exchange and its parts: mean over the ranks. Computing: slowest rank.
**Ratios** are relative to Sennit's channels. SVAF exchanges one variable at a time, BSPMA all five. The stencil has 7 points."""

# The thesis' statement about each figure.
THESIS = {"weak": "ZCom is ahead of MPI, more so with more processes.", "strong": "as in figure 5.5.",
          "parts": "ZCom is ahead in each part."}


def measured(rows):
    return [row for row in rows if "more_than_s" not in row]


def ratios(rows, key, place, shared=False):
    """[(mpi, ratio)]: for each place, each MPI's fastest way of send and receive (or its shared memory) relative to Sennit."""
    return [(row["mpi"], row[key] / base[key]) for _, base, row in targets.fastest_of_each(rows, key, place, shared)]


def spread_text(values):
    """The least, the most and the geometric mean."""
    return f"{span(values, lambda ratio: f'{ratio:.2f}').replace(' to ', '–')} ({statistics.geometric_mean(values):.2f})" if values else "–"


def notified_ratios(rows, key, place):
    """The ratios of Sennit's notified puts, where they were measured."""
    base = {tuple(row[name] for name in place): row[key] for row in measured(rows) if jobs.is_of(row, jobs.CHANNELS)}
    return [row[key] / base[tuple(row[name] for name in place)] for row in measured(rows) if jobs.is_of(row, jobs.NOTIFIED) and row["ranks"] > 1]


def claims(lines):
    """A table of lines (name, rows, key, place, whether of shared memory): each MPI's fastest way, and notified puts."""
    cells = []
    for name, rows, key, place, shared in lines:
        found = ratios(rows, key, place, shared)
        cells.append([name, *(spread_text([ratio for which, ratio in found if which == mpi]) for mpi in jobs.MPI_NAMES),
                      "–" if shared else spread_text(notified_ratios(rows, key, place))])
    return pages.table(["ratio (geometric mean)", *(f"{name}, best way" for name in jobs.MPI_NAMES.values()), "Sennit, notified"], cells)


def programs_of(rows):
    """The labels of all programs but Sennit's channels, in the order of the file."""
    return list(dict.fromkeys(jobs.label_of(row) for row in rows if not jobs.is_of(row, jobs.CHANNELS)))


def ratio_cell(row, base, key):
    if row is None:
        return "–"
    if "more_than_s" in row:
        return f"> {row['more_than_s']:.0f} s"
    return f"{row[key] / base[key]:.2f}"


def part_scaling(folder, kind):
    head, rows = jobs.read_lines(os.path.join(folder, f"{kind}.jsonl"))
    place = ("ranks", "method")
    names, cells = programs_of(rows), []
    for base in (row for row in measured(rows) if jobs.is_of(row, jobs.CHANNELS) and row["ranks"] > 1):
        here = {jobs.label_of(row): row for row in rows if all(row[name] == base[name] for name in place)}
        cells.append([f"{base['method'].upper()}, {base['ranks']}", text_of_us(base["exchange_us"]), text_of_us(base["step_us"]),
                      *(ratio_cell(here.get(name), base, "exchange_us") + "/" + ratio_cell(here.get(name), base, "step_us") for name in names)])
    table = pages.table(["method, ranks", "exchange, µs", "step, µs", *names], cells)
    return f"""## Figure {scaling.FIGURES[kind]}: {kind} scaling

{jobs.in_text(scaling.SIZES[kind])} cells {'a rank' if kind == 'weak' else 'in all'}. The thesis: {THESIS[kind]}

![step and exchange by ranks](figure-{scaling.FIGURES[kind]}.png)

Ratios, exchange/step:

{table}

{machine_of(head)}
"""


def best_cell(rows, base):
    """The fastest of these ways, with its name if there are several."""
    best = min(rows, key=lambda row: row["exchange_us"], default=None)
    return ratio_cell(best, base, "exchange_us") + (f" {best['faces']}{'†' if best['tuned'] else ''}" if len(rows) > 1 else "")


def part_parts(folder):
    head, rows = jobs.read_lines(os.path.join(folder, parts.FILE))
    place = ("side", "method", "axis")
    lines = [("exchange", rows, "exchange_us", place, False), ("exchange and computing", rows, "both_us", place, False),
             ("exchange, MPI's shared memory by hand", rows, "exchange_us", place, True)]
    note = ""
    if any(jobs.is_of(row, jobs.NOTIFIED) for row in rows):
        note = " With notified puts *send* is the put, *receive* the reset\n  of the signals."
    kinds = {"Sennit, notified": [jobs.NOTIFIED], "MPI's shared memory by hand": [jobs.Kind(mpi, True) for mpi in jobs.MPI_NAMES],
             **{name: [jobs.Kind(mpi)] for mpi, name in jobs.MPI_NAMES.items()}}
    cells = []
    for base in (row for row in measured(rows) if jobs.is_of(row, jobs.CHANNELS)):
        here = [row for row in measured(rows) if all(row[name] == base[name] for name in place)]
        cells.append([f"{base['side']}³ {base['method'].upper()}, {base['axis']} {base['way_' + base['axis']]}", text_of_us(base["exchange_us"]),
                      *(best_cell([row for row in here if any(jobs.is_of(row, kind) for kind in some)], base) for some in kinds.values())])
    table = pages.table(["cells, method, slabs", "exchange, µs", *kinds], cells)
    return f"""## Figure 5.7: parts of an exchange

The thesis: {THESIS["parts"]}

![parts of an exchange](figure-5.7.png)

{claims(lines)}

Two ranks, with a barrier before each exchange. Parts:

- *pack*: copies into buffers, without slabs across x, which the step packs. *unpack*: copies out of buffers; none with 7 points.
- *send*, *receive*: start of the messages; with Sennit's channels the notices that the cells are written, and read.{note}
- *wait*: until messages have arrived.
- *computing*: with Sennit and *packed* MPI the step itself reads the neighbour's cells, which is a part of the data movement. So compare the sum of exchange and
  computing.

Exchanges, each MPI with its best scheme (†: MPI copies through shared memory, not by the kernel):

{table}

{machine_of(head)}
"""


def range_text(packed_range):
    start, end = packed_range
    if end is None:
        return f"packed from {start} cells on"
    return f"packed from {start} to {end - 1} cells" if end > start else "never packed"


def cells_of_ways(direct, packed):
    """The cells of one size: step and exchange, direct relative to packed."""
    low, middle, high = ways.ratios_of(direct, packed, "step_us")
    return f"{middle:.2f} ({low:.2f}–{high:.2f}); {ways.ratios_of(direct, packed, 'exchange_us')[1]:.2f}"


def runs_of(head):
    return machine_of(head, *head.get("further", []))


def runs_text(rows, stands):
    """The choice that each run alone would give, if there are several runs."""
    numbers = sorted({row["run"] for row in rows})
    if len(numbers) < 2:
        return "The file has one run."
    sizes, wrong = 0, set()
    for axis in jobs.AXES:
        sizes += len(ways.pairs_of(rows, axis))
        for run in numbers:
            wrong |= {(axis, size) for size in ways.wrong_sizes(stands[axis], ways.pairs_of([row for row in rows if row["run"] == run], axis))}
    return f"{len(numbers)} runs are combined. At {len(wrong)} of {sizes} places a run alone contradicts the table."


def part_ways(folder):
    head, rows = jobs.read_lines(os.path.join(folder, ways.FILE))
    stands, lines = ways.table(), {}
    texts, axes = [], []
    for axis in jobs.AXES:
        pairs = ways.pairs_of(rows, axis)
        if not pairs:
            continue
        best = ways.better_range(pairs)
        wrong = ways.wrong_sizes(stands[axis], pairs)
        texts.append(f"{axis}: {range_text(stands[axis])}, measured best {range_text(best)}"
                     + (f", which is wrong for {', '.join(map(str, wrong))} cells" if wrong else ""))
        for pair in pairs:
            lines.setdefault(pair[0], {})[axis] = cells_of_ways(*pair[1:])
        axes.append(axis)
    table = pages.table(["cells of a slab", *axes], [[str(cells), *(found.get(axis, "–") for axis in axes)] for cells, found in sorted(lines.items())])
    return f"""## Slabs read in place, or packed first

![direct and packed by size](ways.png)

The neighbour reads a slab in place (*direct*) or in its owner's buffer (*packed*). Across x a direct read moves a cache line for each cell.
The method with the faster whole step is chosen. If the middle half of the ratios (in parentheses) includes 1, the method with the faster exchange is chosen.

Table in `apps/ghost/ways.hpp`, made from `{ways.FILE}`:

{chr(10).join(f"- {text}" for text in texts)}

{runs_text(rows, stands)}

Ratios of direct to packed, two ranks, BSPMA: step (middle half); exchange:

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
    folder = pages.folder_of(jobs.RESULTS)
    return pages.write_or_check(os.path.join(folder, "README.md"), page(folder), "page.py")


if __name__ == "__main__":
    sys.exit(main())
