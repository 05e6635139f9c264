#!/usr/bin/env python3
"""Writes the page of the study from the files of its drivers: python3 apps/heat3d/study/page.py [--check] [FOLDER]

Writes FOLDER/README.md (docs/results/heat3d). With --check it compares instead, exit status 1 if they differ. Statements about this
machine are computed; statements about the paper are written here.
"""
import os
import sys

import jobs
import overhead
import plots
import scaling
import targets
import versions
from pages import folder_of, machine_of, span, table, text_of_bytes, text_of_us, write_or_check

SIZES = (8, 256, 4096, 65536, 1048576)  # the file has more
PARTS = (("exchange_us", "exchange"), ("synchronise_us", "synchronisation"), ("halo_us", "halo"), ("step_us", "whole step"))
RATIOS = PARTS[2:]

INTRODUCTION = """# heat3d: the study of Zhou and Gracia, repeated on one node

H. Zhou and J. Gracia (*Application Productivity and Performance Evaluation of Transparent Locality-aware One-sided Communication Primitives*,
IJNC 7(2), 2017) compared DART-MPI, which chooses between shared memory and the network, with flat MPI RMA and with an MPI RMA program
that makes this choice (*by hand*). Here Sennit takes the place of DART-MPI ([programs and measurement](../../../apps/heat3d/study/README.md)).
`apps/heat3d/study/page.py` writes this page; this measures everything:

    python3 apps/heat3d/study/all.py --realtime

**Different from the paper:** one machine, not up to 4096 cores of a Cray XC40; ranks may share a processor; no network; the distribution's MPIs
with their defaults. The programs have two fields, so a step has one barrier, not six.

**Times** are µs for each step. The time of a run is its median step (whole step: the mean), and the tables have the median of the runs. *Exchange* is the
mean over the ranks. *Synchronisation* is that of the rank that waits least. *Halo* is that of the rank with the smallest sum of both. **Ratios** are
relative to Sennit with as many ranks: halo/whole step. `> 30 s`: the run was ended.

| word | meaning |
|---|---|
| own memory | window on the program's memory (`MPI_Win_create`) |
| MPI's memory | window that MPI allocated (`MPI_Win_allocate`) and may map |
| pieces | a get for each row of cells (across x: for each cell), as in the paper |
| whole | one get for a layer (`sennit_get_strided`, derived datatypes) |
| x packed | the step packs the cells across x ([how](../../../apps/heat3d/README.md)) |

Reading single cells in place also slows the owner's next step, which must fetch each cache line again."""


def part_6(folder):
    head, rows = jobs.read_lines(os.path.join(folder, overhead.FILE))
    series = list(dict.fromkeys((row["op"], row["mpi"]) for row in rows))
    cells = {(row["op"], row["mpi"], row["bytes"]): row for row in rows}
    lines = []
    for size in SIZES:
        found = [cells.get((*one, size)) for one in series]
        if any(found):
            lines.append([text_of_bytes(size), *(f"{row['sennit_ns']:.1f} ({row['over_window_ns'][1]:+.1f}, {row['over_pointer_ns'][1]:+.1f})" if row
                                                 else "–" for row in found)])
    names = [f"{op}, {jobs.MPI_NAMES[mpi]}" for op, mpi in series]
    short = [row[key][1] for row in rows if row["bytes"] <= 256 for key in ("over_window_ns", "over_pointer_ns")]
    return f"""## Figure 6: the overhead of a put and a get

![time and overhead by size](figure-6.png)

The paper: around 5 ns at any size, negligible above 4 KiB. The table has ns for each call (overhead over `memcpy` into a shared window, and through `sennit_ptr`).
An overhead is a difference within a round. The table has the median of {rows[0]['jobs']} jobs' medians. `{overhead.FILE}` has more sizes.

- From 4 KiB on, the C library copies by `rep movs`, Sennit on AMD by vectors, which are faster below 32 KiB ([copies](../../design/copies.md)).
- Up to 256 B the overheads are {span(short, lambda ns: f'{ns:.1f}')} ns.

{table(["", *names], lines)}

{machine_of(head)}
"""


def table_of(rows):
    """Columns: layers and ranks. Rows: Sennit's parts of a step, then the ratios of each program: halo/whole step."""
    base = {(plots.panel_of(row), row["ranks"]): row for row in rows if row["way"] in jobs.BASES and row["ranks"] > 1 and "halo_us" in row}
    others = {}
    for row in rows:
        if row["way"] not in jobs.BASES:
            others.setdefault(plots.label_of(row), {})[plots.panel_of(row), row["ranks"]] = row

    def ratio_text(row, ours, key):
        if row is None:
            return "–"
        return f"> {row['more_than_s']:.0f} s" if "more_than_s" in row else f"{row[key] / ours[key]:.2f}"
    def cell(found, place, ours):
        both = [ratio_text(found.get(place), ours, key) for key, _ in RATIOS]
        return both[0] if both[0] == both[1] else "/".join(both)
    layers = list(dict.fromkeys(layer for layer, _ in base))

    def row_of(name, text):
        """A cell for each way to read layers, with a text for each number of ranks."""
        cells = [[text(place, ours) for place, ours in base.items() if place[0] == layer] for layer in layers]
        return [name, *("–" if set(each) == {"–"} else ", ".join(each) for each in cells)]
    lines = [row_of(f"Sennit: {word}, µs", lambda place, ours, key=key: text_of_us(ours[key])) for key, word in PARTS]
    lines += [row_of(name, lambda place, ours, found=found: cell(found, place, ours)) for name, found in others.items()]
    ranks = ", ".join(map(str, dict.fromkeys(count for _, count in base)))
    return table(["", *(f"{layer}: {ranks} ranks" for layer in layers)], lines)


def part_scaling(folder, kind, figures, paper):
    head, rows = jobs.read_lines(os.path.join(folder, scaling.file_of(kind)))
    word = {"blocking": "blocking", "nonblocking": "non-blocking"}[kind]
    return f"""## Figures {figures[0]} and {figures[1]}: weak scaling, {word}

{' × '.join(map(str, scaling.SHAPES[kind]))} cells a rank. The paper: {paper}

![the halo's time by ranks](figure-{figures[0]}.png)

![exchange and synchronisation by ranks](figure-{figures[1]}.png)

{table_of(rows)}

{machine_of(head)}
"""


def part_12(folder):
    head, rows = jobs.read_lines(os.path.join(folder, versions.FILE))
    lines = versions.recorded_lines(folder)
    rows = [row for row in rows if "ranks" in row]
    counted = "; ".join(f"{jobs.WAYS[way][0]} {count}" for way, count in lines.items())
    return f"""## Figure 12: three versions

{' × '.join(map(str, scaling.SHAPES['blocking']))} cells a rank. The paper: the halo of the program by hand takes at least 0.83 × the library's beyond 24 cores, about as long
with 4096; the program has 96 lines more.

![the halo's time of each version](figure-12.png)

{table_of(rows)}

Lines of code (`tools/count-lines`) without lines that all versions share; locality by hand takes {lines["rma-shared"] - lines["blocking"]} more than Sennit, blocking:
{counted}.

{machine_of(head)}
"""


def page(folder):
    paper_blocking = ("flat RMA's halo takes 2.43 × the library's on one node (16 cores), 1.38 × on average to 4096 cores; exchange and\n"
                      "synchronisation grow with the ranks.")
    paper_nonblocking = "flat RMA's halo takes a little less than the library's to 256 cores, then 1.12 × to 1.8 ×."
    sections = [INTRODUCTION.rstrip() + "\n", targets.section(folder)]
    for file, part in ((overhead.FILE, part_6),
                       (scaling.file_of("blocking"),
                        lambda at: part_scaling(at, "blocking", (8, 9), paper_blocking)),
                       (scaling.file_of("nonblocking"),
                        lambda at: part_scaling(at, "nonblocking", (10, 11), paper_nonblocking)),
                       (versions.FILE, part_12)):
        if os.path.exists(os.path.join(folder, file)):
            sections.append(part(folder))
    return "\n".join(sections)


def main():
    folder = folder_of("heat3d")
    return write_or_check(os.path.join(folder, "README.md"), page(folder), "page.py")


if __name__ == "__main__":
    sys.exit(main())
