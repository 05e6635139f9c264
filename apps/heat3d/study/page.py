#!/usr/bin/env python3
"""Writes the page of the study from the files of its drivers: python3 apps/heat3d/study/page.py [--check] [FOLDER]

Writes FOLDER/README.md (docs/results/heat3d). With --check it compares instead, exit status 1 if they differ. What is
said of this machine is computed; what is said of the paper is written here.
"""
import os
import sys

import jobs
import overhead
import plots
import scaling
import targets
import versions
from pages import claims, machine_of, span, text_of_bytes, text_of_us, write_or_check

SIZES = (1, 8, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576)
PARTS = (("compute_us", "computing"), ("exchange_us", "exchange"), ("synchronise_us", "synchronisation"))

INTRODUCTION = """# heat3d: the study of Zhou and Gracia, repeated on one node

H. Zhou and J. Gracia compared DART-MPI, a library that chooses between shared memory and the network by itself, with MPI
RMA written flat and with MPI RMA that knows by hand who shares its node (*Application Productivity and Performance
Evaluation of Transparent Locality-aware One-sided Communication Primitives*, IJNC 7(2), 2017). Here Sennit takes the
place of DART-MPI. This page is written by `apps/heat3d/study/page.py` from the files of lines of JSON beside it; the
programs and how they are measured: [study](../../../apps/heat3d/study/README.md).

All of it again, files, plots and page:

    python3 apps/heat3d/study/all.py --realtime

**What differs from the paper.** One machine of few processors instead of up to 4096 cores of a Cray XC40, so nothing here
crosses a network, and from as many ranks as processors on they share them. The MPIs are those of the distribution with
their own defaults. The program has two fields, so one barrier a step is enough where the paper's has six; all versions
here have the same one. Computing is that of the slowest rank, exchange the mean over ranks, synchronisation and halo (both
together) those of the rank that waits least.

Times are medians over the rounds of each run's median step; a ratio is to Sennit. *Own memory* is a window made on memory
of the program (`MPI_Win_create`), *MPI's memory* one that MPI allocated (`MPI_Win_allocate`), where an MPI may know more
than the flat program does. *Pieces* fetches each run of cells by a get of its own, single cells across x, as the paper
does; *whole* fetches a layer by one get (`sennit_get_strided`, derived datatypes).

Whoever reads single cells where they lie, with Sennit, through a shared window or in a window that an MPI maps, takes a
cache line for each from its owner, who takes it back in its next step. Where the processors share no cache, the owner's
computing shows that. heat3d itself avoids it by packing those cells while the step has them (*x packed*,
[how](../../../apps/heat3d/README.md)), with Sennit's plain pointers and with send and receive. The last column has it all: a step from beginning to end, the mean of a run."""


def part_6(folder):
    head, rows = jobs.read_lines(os.path.join(folder, overhead.FILE))
    lines = ["| | bytes | shared window | `sennit_ptr` | Sennit | over the window | over `sennit_ptr` |",
             "|---|---|---|---|---|---|---|"]
    for row in rows:
        if row["bytes"] in SIZES:
            over = [f"{row[key][1]:.1f} [{row[key][0]:.1f}, {row[key][2]:.1f}]"
                    for key in ("over_window_ns", "over_pointer_ns")]
            lines.append(f"| {row['op']}, {jobs.MPI_NAMES[row['mpi']]} | {text_of_bytes(row['bytes'])} | "
                         f"{row['window_ns']:.1f} | {row['pointer_ns']:.1f} | {row['sennit_ns']:.1f} | " +
                         " | ".join(over) + " |")
    ours = []
    for op in ("put", "get"):
        over = {row["bytes"]: [] for row in rows}
        for row in rows:
            if row["op"] == op:
                over[row["bytes"]].append(row["over_pointer_ns"][1])
        worst = {size: max(values) for size, values in over.items()}
        small = [value for size, value in worst.items() if size <= 128]
        kept = sum(value <= targets.OVER_NS for value in worst.values())
        share = max(row["over_pointer_ns"][1] / row["pointer_ns"] for row in rows
                    if row["op"] == op and row["bytes"] >= 65536)
        ours.append((f"{op} over memcpy", "around 5 ns, whatever the size; no matter above 4 KiB",
                     f"{span(small, lambda ns: f'{ns:.1f} ns')} to 128 B; at most {targets.OVER_NS} ns at {kept} of "
                     f"{len(worst)} sizes; from 64 KiB on at most {100 * share:.1f} % of the copy"))
    return f"""## Figure 6: what a put and a get cost above the shared window

![time and overhead by size](figure-6.png)

{claims(ours)}

ns a call; overheads are differences within a round, medians and quartiles. The window and `sennit_ptr` are both `memcpy`,
into memory that lies elsewhere; what these two differ by is that place. The overhead of the library is the last column: it
finds the segment by a few loads, of which each needs the one before, and most of that is done while the copy before goes on.
From 4 KiB on the C library copies by a single instruction here (`rep movs`), and Sennit by vectors, on processors of AMD, which
are faster there ([copies](../../design/copies.md)): what the library costs is less than what it gains. At 32 KiB both buffers
just do not fit the first cache, and the two are equal. The processor has a faster and a slower state, in which the same
instructions take up to twice as long; the overhead of short copies is 1 to 2 ns in the one and 3 to 4 ns in the other.

{chr(10).join(lines)}

{machine_of(head)}
"""


def table_of(rows, parts):
    """Rows of a comparison: a line for each number of ranks and program, with the ratio of the halo to Sennit's."""
    lines = ["| ranks | program | " + " | ".join(word for _, word in parts) + " | halo | ratio | whole step |",
             "|---|---|" + "---|" * (len(parts) + 3)]
    base = {(plots.panel_of(row), row["ranks"]): row.get("halo_us") for row in rows if row["way"] in jobs.BASES}
    for row in rows:
        name = f"{row['ranks']} | {plots.label_of(row)}, {plots.panel_of(row)}"
        if "more_than_s" in row:
            lines.append(f"| {name} | " + "| " * len(parts) + f"not done in {row['more_than_s']:.0f} s | | |")
            continue
        halo = base[(plots.panel_of(row), row["ranks"])]
        lines.append(f"| {name} | " + " | ".join(text_of_us(row[key]) for key, _ in parts) +
                     f" | {text_of_us(row['halo_us'])} | {row['halo_us'] / halo:.2f} | {text_of_us(row['step_us'])} |")
    return "\n".join(lines)


def ratios_of(rows, chosen, layers, ranks=None):
    """Of the halo of the programs that `chosen` picks to Sennit's, with the same ranks."""
    base = {row["ranks"]: row["halo_us"] for row in rows if row["way"] in jobs.BASES and plots.panel_of(row) == layers}
    return [row["halo_us"] / base[row["ranks"]] for row in rows
            if chosen(row) and plots.panel_of(row) == layers and "halo_us" in row and row["ranks"] > 1 and
            (ranks is None or ranks(row["ranks"]))]


def ratio_text(rows, chosen, cores):
    """How many times as long as Sennit's the halo of these programs takes, said for both ways and crowded or not."""
    found = []
    for layers in plots.LAYERS:
        for word, ranks in (("a processor each", lambda n: n <= cores), ("sharing processors", lambda n: n > cores)):
            values = ratios_of(rows, chosen, layers, ranks)
            if values:
                found.append(f"{layers}, {word}: {span(values, lambda ratio: f'{ratio:.2f} ×')}")
    return "; ".join(found) or "not measured"


def growth_text(rows, key):
    """How a part grows from the fewest to the most ranks that exchange anything, with Sennit."""
    found = []
    for layers in plots.LAYERS:
        mine = sorted((row["ranks"], row[key]) for row in rows
                      if row["way"] in jobs.BASES and plots.panel_of(row) == layers and row["ranks"] > 1 and key in row)
        if len(mine) > 1:
            found.append(f"{layers}: {text_of_us(mine[0][1])} µs with {mine[0][0]} ranks, {text_of_us(mine[-1][1])} µs "
                         f"with {mine[-1][0]}")
    return "; ".join(found) or "not measured"


def part_scaling(folder, kind, figures, paper):
    head, rows = jobs.read_lines(os.path.join(folder, scaling.file_of(kind)))
    cores = head["machine"]["cores"]
    shape = " × ".join(map(str, scaling.SHAPES[kind]))
    word = {"blocking": "blocking", "nonblocking": "non-blocking"}[kind]

    own, its = (lambda row: row["window"] == "own memory"), (lambda row: row["window"] == "MPI's memory")
    ours = [("halo, flat MPI RMA to the library's", paper[0],
             f"own memory: {ratio_text(rows, own, cores)}. MPI's memory: {ratio_text(rows, its, cores)}"),
            ("exchange, with more ranks", paper[1], f"Sennit, {growth_text(rows, 'exchange_us')}"),
            ("synchronisation, with more ranks", paper[2], f"Sennit, {growth_text(rows, 'synchronise_us')}")]
    return f"""## Figures {figures[0]} and {figures[1]}: weak scaling, {word}

{shape} cells a rank.

![the halo's time by ranks](figure-{figures[0]}.png)

![exchange and synchronisation by ranks](figure-{figures[1]}.png)

{claims(ours)}

µs a step.

{table_of(rows, PARTS)}

{machine_of(head)}
"""


def part_12(folder):
    head, rows = jobs.read_lines(os.path.join(folder, versions.FILE))
    lines = versions.recorded_lines(folder)
    rows = [row for row in rows if "ranks" in row]
    cores = head["machine"]["cores"]
    more = lines["rma-shared"] - lines["blocking"]
    ours = [("lines, by hand more than with the library", "96", str(more)),
            ("halo, by hand to the library's", "below 1, at least 0.83 beyond 24 cores, near 1 with 4096",
             ratio_text(rows, lambda row: row["way"] == "rma-shared", cores)),
            ("halo, flat to the library's", "1.38 on average (figure 8)",
             ratio_text(rows, lambda row: row["way"] == "rma-blocking", cores)),
            ("halo, send and receive to the library's", "not compared",
             ratio_text(rows, lambda row: row["way"] == "sendrecv", cores)),
            ("halo, plain pointers to the library's get", "not compared",
             ratio_text(rows, lambda row: row["way"] == "pointers", cores))]
    if any(row["way"] == "notified" for row in rows):
        ours.append(("halo, notified puts to the library's get", "not compared",
                     ratio_text(rows, lambda row: row["way"] == "notified", cores)))
    files = {way: ", ".join(f"`{file.replace('../', '')}`" for file in names) for way, (_, names) in jobs.WAYS.items()}
    counted = "\n".join(f"| {jobs.WAYS[way][0]} | {count} | {files[way]} |" for way, count in lines.items())
    return f"""## Figure 12: three versions

![the halo's time of each version](figure-12.png)

{claims(ours)}

µs a step, {' × '.join(map(str, scaling.SHAPES['blocking']))} cells a rank.

{table_of(rows, PARTS)}

Lines of code without blanks and comments (`tools/count-lines`), of all that a version has for itself or shares with others
of its library; what all versions share is not in it.

| version | lines | files in `apps/heat3d/`, `common/` beside it |
|---|---|---|
{counted}

{machine_of(head)}
"""


def page(folder):
    paper_blocking = ("2.43 × on one node (16 cores), 1.38 × on average to 4096 cores",
                      "grows, most where messages cross groups of the network", "grows")
    paper_nonblocking = ("a little below 1 to 256 cores, from there on 1.12 × to 1.8 ×",
                         "grows, and makes the jump at 4096 cores", "grows")
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
    words = [word for word in sys.argv[1:] if word != "--check"]
    folder = words[0] if words else os.path.join(jobs.ROOT, "docs", "results", "heat3d")
    path = os.path.join(folder, "README.md")
    return write_or_check(path, page(folder), "page.py")


if __name__ == "__main__":
    sys.exit(main())
