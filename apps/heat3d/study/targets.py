"""The targets, and by how much they were met or missed: a section of the page, computed from the files of results.

Called by page.py. It explains misses by figures that turns_text() computes, and by the sentences of BELOW.
"""
import math
import os

import jobs
import overhead
import plots
import scaling
import versions
from pages import span, table, text_of_bytes, text_of_us

OVER_NS = 3
FLAT_RATIO = 2
BY_HAND_RATIO = 1
LINES = 90


def worst_of(rows, key):
    """{bytes: the median for the MPI with the higher value}."""
    sizes = sorted({row["bytes"] for row in rows})
    return {size: max(row[key][1] for row in rows if row["bytes"] == size) for size in sizes}


def text_of_ns(value):
    return f"{value:.1f} ns" if value >= 0.05 else "less than 0.1 ns"


def overhead_rows(rows):
    for op in ("put", "get"):
        for key, over in (("over_window_ns", "the window"), ("over_pointer_ns", "`memcpy` through `sennit_ptr`")):
            worst = worst_of([row for row in rows if row["op"] == op], key)
            missed = {size: value - OVER_NS for size, value in worst.items() if value > OVER_NS}
            parts = [f"{text_of_bytes(size)} by {text_of_ns(value)}" for size, value in missed.items()]
            yield (f"{op}: at most {OVER_NS} ns over {over}, at all sizes",
                   f"at {len(worst) - len(missed)} of {len(worst)}", "; ".join(parts) or "met")


def turns_text(halos, cores):
    """The effect of shared processors on Sennit's synchronisation."""
    mine = [row for _, rows in halos for row in rows if row["way"] in jobs.BASES and row["ranks"] > 1]
    alone = [row["synchronise_us"] for row in mine if row["ranks"] <= cores]
    shared = [row for row in mine if row["ranks"] > cores]
    if not alone or not shared:
        return ""
    share = min(row["synchronise_us"] / row["halo_us"] for row in shared)
    times = span([row["synchronise_us"] for row in shared], lambda us: f"{text_of_us(us)} µs")
    others = span([(row["ranks"] / cores - 1) * row["compute_us"] for row in shared], lambda us: f"{text_of_us(us)} µs")
    return (f"Sennit's synchronisation takes {span(alone, lambda us: f'{text_of_us(us)} µs')} with a processor for each rank, "
            f"{times} on shared processors.\nThe latter is at least {math.floor(100 * share)} % of the halo: every program waits there for the other ranks to compute, by "
            f"calculation {others} ((ranks/processors - 1) × compute time).")


def misses(figure, rows, wants, ratio, part="halo_us"):
    """(number of comparisons, [(program, place, ratio)] of those below the ratio) among the rows that `wants` selects, for the
    named part of the step."""
    base = {(plots.panel_of(row), row["ranks"]): row for row in rows if row["way"] in jobs.BASES}
    count, found = 0, []
    for row in rows:
        if not wants(row) or row["ranks"] < 2 or "halo_us" not in row:
            continue
        ours = base[(plots.panel_of(row), row["ranks"])]
        count += 1
        if row[part] < ratio * ours[part]:
            found.append((plots.label_of(row), f"{figure}, {plots.panel_of(row)}, {row['ranks']}", row[part] / ours[part]))
    return count, found


def section(folder):
    read, cores = {}, 1
    for file in (overhead.FILE, scaling.file_of("blocking"), scaling.file_of("nonblocking"), versions.FILE):
        if os.path.exists(os.path.join(folder, file)):
            head, read[file] = jobs.read_lines(os.path.join(folder, file))
            cores = head["machine"]["cores"]
    rows, below = [], []
    if overhead.FILE in read:
        rows += overhead_rows(read[overhead.FILE])
    halos = [(figure, [row for row in read[file] if "ranks" in row])
             for file, figure in ((scaling.file_of("blocking"), "8"), (scaling.file_of("nonblocking"), "10"),
                                  (versions.FILE, "12")) if file in read]
    for target, ratio, wants in (("flat MPI RMA", FLAT_RATIO, lambda row: row["window"] is not None),
                                 ("MPI RMA with locality by hand", BY_HAND_RATIO, lambda row: row["way"] == "rma-shared")):
        for part, word in (("exchange_us", "exchange"), ("halo_us", "halo")):
            each = [misses(figure, data, wants, ratio, part) for figure, data in halos]
            found = [miss for _, some in each for miss in some]
            count = sum(number for number, _ in each)
            least = min((value for *_, value in found), default=ratio)
            rows.append((f"{word} of {target} at least {ratio} × Sennit's", f"in {count - len(found)} of {count}",
                         "met" if not found else f"{len(found)} below, down to {least:.2f} ×"))
            by_program = {}
            for program, place, value in found if part == "exchange_us" else ():  # the tables of the figures have those of the halo
                way, ranks = place.rsplit(", ", 1)
                by_program.setdefault(program, {}).setdefault(way, []).append(f"{value:.2f} ({ranks})")
            below += [(f"{word}, {program}", f"{ratio} ×", "; ".join(f"{way}: {', '.join(values)}" for way, values in ways.items()))
                      for program, ways in by_program.items()]
    lines = next((row["lines"] for row in read.get(versions.FILE, []) if "lines" in row), None)
    if lines:
        more = lines["rma-shared"] - lines["blocking"]
        rows.append((f"at least {LINES} lines less than with locality by hand", f"{more}",
                     "met" if more >= LINES else f"by {LINES - more}"))
    text = ["## Targets, met and missed", "", table(("target", "reached", "missed"), rows)]
    if below:
        text += ["", "".join([BELOW, turns_text(halos, cores)]).rstrip(), "",
                 table(("missed", "target", "here: figure, way: ratio (ranks)"), below)]
    return "\n".join(text) + "\n"


BELOW = """Overheads: the higher median of the two MPIs. Ratios do not include 1 rank and ended runs; ratios of the halo below their targets are in
the tables of the figures. In *pieces* the program by hand loads each cell across x from the window; Sennit's call for each cell cannot be as fast. If an MPI maps its
windows, flat RMA also uses loads, so even the program by hand is not twice as fast.
"""
