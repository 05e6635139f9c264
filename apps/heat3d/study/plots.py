#!/usr/bin/env python3
"""Draws the figures of the study from the files of its drivers: python3 apps/heat3d/study/plots.py [FOLDER]

Writes figure-6.png to figure-12.png into the folder, for those files that are there. Exit status 77 without matplotlib.
"""
import os
import sys

import jobs
import overhead
import scaling
import versions
from figures import COLOURS, HEIGHT_IN, WIDTH_IN, pyplot, save

LAYERS = {"pieces": "a get for each run of cells", "whole": "one get for a layer"}


def label_of(row):
    """A subject in words: Sennit, or the MPI with what tells its variants apart."""
    if row["mpi"] is None:
        if row["way"] == "notified":
            return f"Sennit, notified, x{'' if row['layers'] == 'plan' else ' and y'} packed"
        return "Sennit" if row["way"] in jobs.BASES else "Sennit, pointers, x packed"
    name = jobs.MPI_NAMES[row["mpi"]]
    if row["way"] == "rma-shared":
        return f"{name}, by hand"
    if row["way"] == "sendrecv":
        return f"{name}, send/receive" + (", x packed" if row["layers"] == "datatype" else "")
    return f"{name}, flat, {row['window']}"


def panel_of(row):
    """The way to fetch layers under which a row is shown."""
    return row.get("group") or row["layers"].removesuffix("-allocated")


def shade_of(row):
    """Full colour, or lighter for the second program of a library, and the third."""
    if row["way"] == "sendrecv":
        return 0.3 if row["layers"] == "cells" else 0.15
    if row["way"] == "pointers":
        return 0.4
    if row["way"] == "notified":
        return 0.7 if row["layers"] == "plan" else 0.55
    return {"MPI's memory": 0.5, "own memory": 0.75}.get(row["window"], 1.0)


def figure_6(plt, folder):
    _, rows = jobs.read_lines(os.path.join(folder, overhead.FILE))
    figure, axes = plt.subplots(2, 2, figsize=(WIDTH_IN, 1.6 * HEIGHT_IN), sharex=True)
    for column, op in enumerate(("put", "get")):
        for mpi in jobs.LAUNCHERS:
            mine = [row for row in rows if row["op"] == op and row["mpi"] == mpi]
            if not mine:
                continue
            sizes = [row["bytes"] for row in mine]
            name = jobs.MPI_NAMES[mpi]
            axes[0][column].plot(sizes, [row["sennit_ns"] for row in mine], "o-", markersize=3, color=COLOURS[mpi],
                                 label=f"Sennit (beside {name})")
            axes[0][column].plot(sizes, [row["window_ns"] for row in mine], "x--", markersize=4, color=COLOURS[mpi],
                                 label=f"memcpy, shared window of {name}")
            for key, style, word in (("over_window_ns", "x--", "shared window"),
                                     ("over_pointer_ns", "o-", "memcpy through sennit_ptr")):
                middle = [row[key][1] for row in mine]
                spread = [[max(0, row[key][1] - row[key][0]) for row in mine],
                          [max(0, row[key][2] - row[key][1]) for row in mine]]
                axes[1][column].errorbar(sizes, middle, yerr=spread, fmt=style, markersize=3, linewidth=1, capsize=2,
                                         color=COLOURS[mpi], label=f"over {word} ({name})")
        axes[0][column].set(title=f"blocking {op}", xscale="log", yscale="log", ylabel="ns a call")
        axes[1][column].set(xscale="log", xlabel="bytes", ylabel="overhead, ns (quartiles)")
        axes[1][column].set_yscale("symlog", linthresh=10)
        axes[1][column].axhline(0, color="black", linewidth=0.8)
        axes[1][column].axhline(3, color="grey", linewidth=0.8, linestyle=":")
        for line in axes:
            line[column].legend(fontsize=7)
            line[column].grid(alpha=0.3)
    save(plt, figure, folder, "figure-6.png")


def draw_groups(axis, rows, parts):
    """Bars in groups, one group for each number of ranks; each of `parts` is (key, word, hatch)."""
    ranks = sorted({row["ranks"] for row in rows})
    labels = list(dict.fromkeys(label_of(row) for row in rows))
    bars = len(labels) * len(parts)
    named = set()
    for row in rows:
        for turn, (key, word, hatch) in enumerate(parts):
            if key not in row:
                continue
            index = labels.index(label_of(row)) * len(parts) + turn
            place = ranks.index(row["ranks"]) + (index - (bars - 1) / 2) * 0.85 / bars
            name = f"{label_of(row)}{word}"
            axis.bar(place, max(row[key], 0.01), width=0.8 / bars, color=COLOURS[row["mpi"]], alpha=shade_of(row),
                     hatch=hatch, edgecolor="white", linewidth=0.3,
                     label=None if name in named else name)
            named.add(name)
    axis.set(xticks=range(len(ranks)), xticklabels=[str(n) for n in ranks], xlabel="ranks", ylabel="µs a step",
             yscale="log")
    axis.set_ylim(bottom=max(0.01, 0.6 * min(row[key] for row in rows for key, _, _ in parts if key in row)))
    axis.grid(axis="y", alpha=0.3)
    return ranks


def figure_groups(plt, folder, file, name, parts, computing):
    """One panel for each way to fetch layers; with `computing`, its time as a line."""
    _, rows = jobs.read_lines(os.path.join(folder, file))
    rows = [row for row in rows if "ranks" in row and row["ranks"] > 1]
    panels = [layers for layers in LAYERS if any(panel_of(row) == layers for row in rows)]
    figure, axes = plt.subplots(1, len(panels), figsize=(WIDTH_IN, HEIGHT_IN), squeeze=False)
    for axis, layers in zip(axes[0], panels):
        mine = [row for row in rows if panel_of(row) == layers]
        ranks = draw_groups(axis, mine, parts)
        if computing:
            base = {row["ranks"]: row["compute_us"] for row in mine if row["way"] in jobs.BASES}
            axis.hlines([base[n] for n in ranks], [at - 0.45 for at in range(len(ranks))],
                        [at + 0.45 for at in range(len(ranks))], color="black", linewidth=1, label="computing")
        axis.set_title(LAYERS[layers])
    handles, labels = axes[0][0].get_legend_handles_labels()
    for axis in axes[0][1:]:
        for handle, label in zip(*axis.get_legend_handles_labels()):
            if label not in labels:
                handles.append(handle)
                labels.append(label)
    figure.legend(handles, labels, fontsize=7, ncol=4, loc="lower center")
    figure.subplots_adjust(bottom=0.28, left=0.07, right=0.98)
    save(plt, figure, folder, name, tight=False)


def draw(folder):
    plt = pyplot()
    halo = (("halo_us", "", ""),)
    parts = (("exchange_us", ": exchange", ""), ("synchronise_us", ": synchronisation", "////"))
    if os.path.exists(os.path.join(folder, overhead.FILE)):
        figure_6(plt, folder)
    for kind, whole, broken in (("blocking", "figure-8.png", "figure-9.png"),
                                ("nonblocking", "figure-10.png", "figure-11.png")):
        file = scaling.file_of(kind)
        if os.path.exists(os.path.join(folder, file)):
            figure_groups(plt, folder, file, whole, halo, computing=True)
            figure_groups(plt, folder, file, broken, parts, computing=False)
    if os.path.exists(os.path.join(folder, versions.FILE)):
        figure_groups(plt, folder, versions.FILE, "figure-12.png", halo, computing=False)


def main():
    draw(sys.argv[1] if len(sys.argv) > 1 else os.path.join(jobs.ROOT, "docs", "results", "heat3d"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
