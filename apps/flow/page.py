#!/usr/bin/env python3
"""Measures flow and writes its page of results, docs/results/flow/README.md, from the files of JSON lines beside it.

    python3 apps/flow/page.py --measure all            # or some of node hosts rails four progress levels scaling
    python3 apps/flow/page.py [--plots] [FOLDER]       # --plots needs matplotlib (Debian: python3-matplotlib)
    python3 apps/flow/page.py --check [FOLDER]         # exit status 1 if the page does not match the files

--bin: the folder of the programs (build/bin). --rounds: runs of each subject, for a shorter measurement.
"""
import argparse
import os
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "bench", "study")]
import charts  # noqa: E402  pylint: disable=wrong-import-position
import compare  # noqa: E402  pylint: disable=wrong-import-position
import measure  # noqa: E402  pylint: disable=wrong-import-position
from pages import machine_of, table, write_or_check  # noqa: E402  pylint: disable=wrong-import-position
from runs import MPI_NAMES, ROOT, read_lines  # noqa: E402  pylint: disable=wrong-import-position

NAMES = {"mpi": "MPI", "sennit": "converted", "pipelined": "pipelined"}
PLACE = ("mpi", "hosts", "rails", "rate", "cells", "ranks_y", "ranks_z", "threads")
FLOOR, SLOWED = 1.36, 1.25
COMPARED = ("node", "hosts", "rails", "four")
KNOBS = {"progress": "progress", "levels": "level"}

INTRODUCTION = """# flow: a step of a channel flow, with MPI and with Sennit

This page repeats figures 6 and 7 of Feng, Xie, Cao, Xie, Cui, Qi, Zheng, "UNR: Unified Notifiable RMA Library for HPC" (section VI-C): the solver PowerLLEL with
MPI and with UNR. [flow](../../../apps/flow/README.md) describes the programs and defines the times. The scheme, the exchanges and the pipeline are those of the
paper. Differences:

- The MPIs are Open MPI 4.1.4 and MPICH 4.0.2 with their defaults. Between four hosts they yield while they wait
  (`mpi_yield_when_idle`, `MPIR_CVAR_POLLS_BEFORE_YIELD`), but not in figure 7.
- Hosts are namespaces of one machine (`tools/cluster`), joined by TCP (`net`), with one processor each; four hosts share two. In some runs the rails are
  limited (*shaped*) to a rate.
- A rank has one thread, and no processor is free for a progress thread.
- Between four hosts TCP used `reno`, and the pipeline chose its number of pieces. All other runs: BBR, 8 pieces.

`apps/flow/page.py` writes this page; with `--measure all` it measures.

- **Times**: the time of a run is the mean of the ranks' median steps. The tables have the median of the runs.
- **Ratios**: MPI's time divided by Sennit's, median over pairs of successive runs (range). Bold: the target is missed.
- **Best**: Sennit's program with the shorter step. *Converted* has plans in place of MPI's calls; *pipelined* adds the paper's pipeline. MPI's program packs its
  transposes; *converted* describes them by datatypes.
- **†**: not reliable. In some runs (*slowed*) the computation took more than SLOWED × the shortest time for the same cells and grid, because other programs or the kernel
  used the rank's processor.""".replace("SLOWED", str(SLOWED))


def left_out(rows):
    networks = {}
    for row in rows:
        if row.get("left_out"):
            networks.setdefault(MPI_NAMES[row["mpi"]], []).append(network(row).split(", ", 1)[-1])
    return [f"{mpi} ({'; '.join(found)})" for mpi, found in networks.items()]


def read_rows(path):
    """(head, rows of runs); head["left_out"]: the MPIs and networks with which a program did not end."""
    head, rows = read_lines(path)
    return {**head, "left_out": left_out(rows)}, [row for row in rows if not row.get("left_out")]


def ms(row, part="step"):
    return row[part] / 1e3


def groups_of(rows):
    """{place: {(kind, progress, level): rows by round}}"""
    groups = {}
    for row in rows:
        group = groups.setdefault(tuple(row[key] for key in PLACE), {})
        group.setdefault((row["kind"], row["progress"], row["level"]), []).append(row)
    return groups


def middle(rows, part="step"):
    return statistics.median(ms(row, part) for row in rows)


def ratios(mpi, ours, part):
    return [ms(a, part) / ms(b, part) for a, b in zip(mpi, ours) if b[part] > 0]


def text_of(values):
    return f"{statistics.median(values):.2f} ({min(values):.2f}–{max(values):.2f})" if values else "–"


def share(rows):
    return statistics.median(row["communicate"] / row["step"] for row in rows)


def rate(row):
    return row["rate"] or "not shaped"


def network(row):
    if row["hosts"] == 1:
        return "node"
    rails = "1 rail" if row["rails"] == 1 else f"{row['rails']} rails"
    return f"{row['hosts']} hosts, {rails}, {rate(row)}"


def short_label(row):
    """The label without hosts and rails, which the title of a section may already name."""
    place = {1: "", 2: f"{rate(row)}; "}.get(row["hosts"], f"{network(row).split(', ', 1)[-1]}; ")
    return f"{place}{row['cells']}³, {row['ranks_y']}×{row['ranks_z']}; {MPI_NAMES[row['mpi']]}"


def label(row):
    return f"{network(row)}; {row['cells']}³, {row['ranks_y']}×{row['ranks_z']}; {MPI_NAMES[row['mpi']]}"


def configuration(row):
    return label(row), row["threads"]


def mark(row, slow):
    """† for a row of a table if its configuration is in `slow`, else nothing."""
    return "† " if configuration(row) in slow else ""


def computing(row):
    return row["velocity_compute"] + row["pressure_compute"]


def slowed(rows):
    """The runs whose computing time exceeds SLOWED times the least of the same cells and grid."""
    least = {}
    for row in rows:
        key = (row["cells"], row["ranks_y"], row["ranks_z"], row["threads"])
        least[key] = min(least.get(key, computing(row)), computing(row))
    return [row for row in rows if computing(row) > SLOWED * least[row["cells"], row["ranks_y"], row["ranks_z"], row["threads"]]]


def compared(files):
    """(MPI's rows, the best program's name and rows) of each configuration."""
    found = []
    for name in COMPARED:
        for group in groups_of(files[name][1] if name in files else []).values():
            ours = {kind: group[kind, None, None] for kind in measure.KINDS[1:]}
            best = min(ours, key=lambda kind, ours=ours: middle(ours[kind]))
            found.append((group["mpi", None, None], best, ours[best]))
    return found


def is_met(part, ratio):
    return ratio > 1 if part == "step" else ratio >= FLOOR


def targets(found):
    def line(name, target, part):
        values = [statistics.median(ratios(mpi, ours, part)) for mpi, _, ours in found]
        missed = sum(not is_met(part, value) for value in values)
        verdict = f"**missed** in {missed} of {len(values)}" if missed else "met"
        return [name, target, f"{min(values):.2f} to {max(values):.2f} ×: {verdict}"]
    return table(["medians of all configurations", "target", "here"],
                 [line("communication, MPI's over Sennit's best", f"≥ {FLOOR} ×", "communicate"),
                  line("whole step, MPI's over Sennit's best", "> 1 ×", "step")])


def verdict_of(mpi, ours, part):
    """The ratio, bold where the target is missed."""
    values = ratios(mpi, ours, part)
    return text_of(values) if is_met(part, statistics.median(values)) else f"**{text_of(values)}**"


def configuration_table(found, slow):
    lines = []
    for mpi, best, ours in found:
        lines.append([mark(mpi[0], slow) + short_label(mpi[0]), f"{middle(mpi, 'communicate'):.2f}, {middle(mpi):.2f}", f"{100 * share(mpi):.0f}", NAMES[best],
                      verdict_of(mpi, ours, "communicate"), verdict_of(mpi, ours, "step")])
    return table(["", "MPI: communication, step, ms", "share, %", "best", "communication", "step"], lines)


def paper_section(found):
    gains = [100 * (statistics.median(ratios(mpi, ours, "step")) - 1) for mpi, _, ours in found]
    mpi, _, ours = min(found, key=lambda one: abs(share(one[0]) - (1 - 1 / 1.39)))
    gain = 100 * (statistics.median(ratios(mpi, ours, "step")) - 1)
    return f"""## The whole step beside the paper's

The paper's whole step gains 20 to 39 % (20 % if no processor is free for the polling thread). Here the gain is {min(gains):+.0f} to {max(gains):+.0f} % (medians).

The paper does not give the share of communication. If the time of computing does not change, a gain of 39 % needs a share of at least 28 % (1 - 1 / 1.39). The
nearest configuration here is {label(mpi[0])}: share {100 * share(mpi):.0f} %, gain {gain:+.0f} %."""


def knob_table(rows, key, slow):
    """A line for each value of the setting, with the programs side by side."""
    group = next(iter(groups_of(rows).values()))
    mpi = group["mpi", None, None]
    lines = {}
    for (kind, progress, level), ours in group.items():
        if kind != "mpi":
            value = progress if key == "progress" else "default" if level is None else f"events={level}"
            lines.setdefault(f"{mark(mpi[0], slow)}`{value}`", []).extend(
                f"{middle(ours, part):.2f}: {text_of(ratios(mpi, ours, part))}" for part in ("communicate", "step"))
    heads = [f"{NAMES[kind]}: {part}" for kind in measure.KINDS[1:] for part in ("communication", "step")]
    return (f"MPI: communication {middle(mpi, 'communicate'):.2f} ms, step {middle(mpi):.2f} ms. Sennit's ms, then MPI's time / Sennit's:\n\n"
            + table(["", *heads], [[value, *cells] for value, cells in lines.items()]))


def scaling_table(rows, slow):
    """A line for each place and size, with the MPIs side by side."""
    lines, mpis = {}, list(dict.fromkeys(row["mpi"] for row in rows))
    for group in groups_of(rows).values():
        mpi = group["mpi", None, None][0]
        ranks = mpi["ranks_y"] * mpi["ranks_z"]
        threads = f", {mpi['threads']} threads" if mpi["threads"] > 1 else ""
        place = f"{mpi['cells']}³, {network(mpi)}, {ranks} rank{'s' if ranks > 1 else ''}{threads}"
        lines.setdefault(place, {})[mpi["mpi"]] = mark(mpi, slow) + ", ".join(f"{middle(group[kind, None, None]):.2f}" for kind in measure.KINDS)
    return table(["ms of a step: " + ", ".join(NAMES[kind] for kind in measure.KINDS), *(MPI_NAMES[mpi] for mpi in mpis)],
                 [[place, *(found.get(mpi, "–") for mpi in mpis)] for place, found in lines.items()])


TEXTS = {
    "node": ("On a node", ""),
    "hosts": ("Between two hosts, one rail", ""),
    "rails": ("Between two hosts, two rails", ""),
    "four": ("Between four hosts", ""),
    "progress": ("The progress thread", "64³ cells, 2×1, two hosts, one rail of 2 Gbit/s, Open MPI. The paper reserves a core for its polling thread and gains 31 % instead of 20 %.\n"
                 "Here no processor can be reserved, so `processor=N` is left out."),
    "levels": ("Support levels", "The same configuration with completion data of N bits (`SENNIT_PATHS=\"self,mapped,fabric:eager=0;events=N\"`). With `eager=0` no put\n"
               "is a task, so events use completion data."),
    "scaling": ("Figure 7: strong scaling", "Hosts are joined by a rail of 2 Gbit/s. Four ranks share two processors, so their rows show no scaling. MPICH was not measured there."),
}


def sections(files):
    """Texts in the order of the page."""
    found = compared(files)
    yield INTRODUCTION
    if found:
        unreliable = sum(len({label(row) for row in slowed(files[name][1])}) for name in COMPARED if name in files)
        missing = [name for name in COMPARED if name not in files]
        yield f"## Targets\n\n{targets(found)}" + (f"\n\n**Not measured:** {', '.join(missing)}." if missing else "") + (
            f"\n\n{unreliable} of these {len(found)} configurations are not reliable (†)." if unreliable else "")
        yield paper_section(found)
        yield "## Figure 6: the parts of a step\n\n![parts of a step](figure-6.png)\n\nEach part has its own median, so the length of a bar differs from the step in the tables."
    for name, (title, text) in TEXTS.items():
        yield f"## {title}" + (f"\n\n{text}" if text else "")
        if name not in files:
            yield f"**Not measured** (`--measure {name}`)."
            continue
        head, rows = files[name]
        if head["left_out"]:
            yield f"A program did not end within {compare.LIMIT_S} s: {'; '.join(head['left_out'])}."
        slow = slowed(rows)
        places = {configuration(row) for row in slow}
        if name == "scaling":
            yield "![a step by ranks](figure-7.png)\n\n" + scaling_table(rows, places)
        else:
            yield configuration_table(compared({name: files[name]}), places) if name in COMPARED else knob_table(rows, KNOBS[name], places)
        yield f"{head['rounds']} rounds" + (f", {len(slow)} of {len(rows)} runs slowed" if slow else "") + f". {machine_of(head)}"


PARTS = {"velocity: compute": ("velocity_compute",), "velocity: communication": ("velocity_halo",), "pressure: compute": ("pressure_compute",),
         "pressure: communication": ("pressure_transpose", "pressure_tridiagonal", "pressure_halo")}


def plot_parts(folder, files):
    """Axes for each network and number of cells."""
    found = {}
    for group in (group for name in COMPARED if name in files for group in groups_of(files[name][1]).values()):
        for (kind, _, _), rows in group.items():
            row, steps = rows[0], list(map(ms, rows))
            found.setdefault(f"{network(row)}; {row['cells']}³ cells", []).append(
                (f"{row['ranks_y']}×{row['ranks_z']}; {MPI_NAMES[row['mpi']]}, {NAMES[kind]}", [sum(middle(rows, one) for one in part) for part in PARTS.values()],
                 min(steps), max(steps)))
    figure, axes = charts.new(2, -(-len(found) // 2), height=0.6 * charts.HEIGHT_IN)
    for axis, (title, bars) in zip(axes, found.items()):
        charts.bars(axis, bars, PARTS, title=title, xlabel="ms of a step")
        axis.tick_params("y", labelsize=7)
    for axis in axes[len(found):]:
        axis.remove()
    charts.save(figure, folder, "figure-6.png", "range of the rounds' steps")


def plot_scaling(folder, rows):
    """Axes for each number of cells and MPI."""
    rows = [row for row in rows if row["threads"] == 1 and (row["hosts"] > 1 or row["ranks_y"] == 1)]
    found = {}
    for row in rows:
        name = MPI_NAMES[row["mpi"]] if row["kind"] == "mpi" else f"Sennit, {NAMES[row['kind']]}"
        found.setdefault((row["cells"], row["mpi"]), {}).setdefault(name, {}).setdefault(row["ranks_y"] * row["ranks_z"], []).append(ms(row))
    figure, axes = charts.new(len(found))
    for axis, ((cells, mpi), series) in zip(axes, found.items()):
        first = statistics.median(ms(row) for row in rows if row["cells"] == cells and row["ranks_y"] * row["ranks_z"] == 1)
        axis.plot((1, 2, 4), (first, first / 2, first / 4), "k:", label="ideal")
        charts.curves(axis, {name: [(ranks, statistics.median(times), min(times), max(times)) for ranks, times in points.items()] for name, points in series.items()},
                      yscale="log", xlabel="ranks (2, 4: a host each)", ylabel="step, ms", title=f"{cells}³ cells, {MPI_NAMES[mpi]}")
        charts.ticks(axis, (1, 2, 4))
    charts.save(figure, folder, "figure-7.png", "range of the rounds")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", default=measure.FOLDER)
    parser.add_argument("--measure", nargs="+", metavar="FILE", choices=["all", *measure.FILES], help="all, or some of " + " ".join(measure.FILES))
    parser.add_argument("--plots", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"))
    parser.add_argument("--rounds", type=int)
    arguments = parser.parse_args()
    if arguments.measure:
        measure.write(arguments.measure, arguments.rounds, arguments.bin)
        return 0
    paths = {name: os.path.join(arguments.folder, name + ".jsonl") for name in measure.FILES}
    files = {name: read_rows(path) for name, path in paths.items() if os.path.exists(path)}
    if arguments.plots:
        if any(name in files for name in COMPARED):
            plot_parts(arguments.folder, files)
        if "scaling" in files:
            plot_scaling(arguments.folder, files["scaling"][1])
    return write_or_check(os.path.join(arguments.folder, "README.md"), "\n\n".join(sections(files)) + "\n", "page.py")


if __name__ == "__main__":
    sys.exit(main())
