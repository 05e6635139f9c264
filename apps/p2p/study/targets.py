"""The targets and whether they were met: a section of the page, computed from the rates by size. Called by page.py.

An MPI counts with its fastest way at each size. The suite's own programs are the ones to beat, where they were measured.
"""
import os

import measure
import suite
from pages import table
from subjects import BASE, SUBJECTS, runs, shares_of

BOUND_SHARE, BOUND_SIZE = 0.95, 1000
MPI_RATIO, MPI_SIZE = 1.6, 200
TWO_SIDED = tuple(key for key, subject in SUBJECTS.items() if subject.mpi is not None and not key.startswith("shared-"))
BY_HAND = tuple(key for key in SUBJECTS if key.startswith("shared-"))

SAME_KERNEL = """All programs call the kernel of this repository. The comparison is with the fastest MPI program. If the host moves the virtual processors so that they share a cache, small
grids are twice as fast, so a median may be either rate."""


def ratios_to_fastest(rows, keys):
    """{size: (Sennit's rate / rate of the fastest of these programs, its key)}"""
    base = {row["size"]: row["rate"] for row in rows if row["key"] == BASE and "rate" in row}
    best = {}
    for row in rows:
        if row["key"] in keys and "rate" in row and row["rate"] > best.get(row["size"], (0, ""))[0]:
            best[row["size"]] = (row["rate"], row["key"])
    return {size: (base[size] / rate, key) for size, (rate, key) in sorted(best.items()) if size in base}


def verdict(is_met, text):
    return "met" if is_met else f"**missed** {text}"


def row_of_bound(rows):
    share = shares_of(rows).get((BASE, BOUND_SIZE))
    name = f"at least {BOUND_SHARE} of the bound at {BOUND_SIZE}²"
    if share is None:
        return (name, "not measured", "")
    return (name, f"{share:.3f}", verdict(share >= BOUND_SHARE, f"by {BOUND_SHARE - share:.3f}"))


def row_of_mpi(rows, keys=TWO_SIDED, whose="MPI"):
    name = f"at least {MPI_RATIO} × {whose} at {MPI_SIZE}²"
    found = ratios_to_fastest(rows, keys).get(MPI_SIZE)
    if found is None:
        return (name, "not measured", "")
    ratio, key = found
    return (name, f"{ratio:.2f} × {suite.name_of(key)}", verdict(ratio >= MPI_RATIO, f"by {MPI_RATIO - ratio:.2f}"))


def row_of_every_size(rows, name, keys):
    found = ratios_to_fastest(rows, keys)
    if not found:
        return (name, "not measured", "")
    below = {size: ratio for size, (ratio, _) in found.items() if ratio <= 1}
    least = min(ratio for ratio, _ in found.values())
    return (name, f"at {len(found) - len(below)} of {len(found)}, the least {least:.3f} ×",
            verdict(not below, "at " + ", ".join(f"{size}² ({ratio:.3f} ×)" for size, ratio in below.items())))


def suite_rows(folder):
    path = os.path.join(folder, suite.FILE)
    if not os.path.exists(path):
        return []
    _, rows = runs.read_lines(path)
    keys = {row["key"] for row in rows}
    mpi, openmp = (tuple(key for key in keys if key.startswith(start)) for start in ("suite-mpi", "suite-openmp"))
    return [row_of_mpi(rows, mpi, "the suite's MPI"),
            row_of_every_size(rows, "faster than the suite's MPI at every size", mpi),
            row_of_every_size(rows, "faster than the suite's OpenMP at every size", openmp)]


def section(folder):
    path = os.path.join(folder, measure.file_of("sizes"))
    if not os.path.exists(path):
        return ""
    _, rows = runs.read_lines(path)
    found = [row_of_bound(rows), row_of_mpi(rows),
             row_of_every_size(rows, "faster than MPI, send and receive, at every size", TWO_SIDED),
             row_of_every_size(rows, "faster than OpenMP at every size", ("openmp",))]
    name, here, _ = row_of_every_size(rows, "no target: faster than MPI's shared window", BY_HAND)
    text = f"""## Targets, met and missed

{table(("target", "here", "met or missed"), [*found, (name, here, "")])}

{SAME_KERNEL}
"""
    found = suite_rows(folder)
    return text if not found else f"""{text}
Against the [suite's own programs](#beside-the-suites-own-programs):

{table(("target", "here", "met or missed"), found)}
"""
