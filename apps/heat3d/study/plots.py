#!/usr/bin/env python3
"""Draws the figures of the study from the files of its drivers: python3 apps/heat3d/study/plots.py [FOLDER]

Writes figure-6.png to figure-12.png into the folder, for those files that exist. Exit status 77 without matplotlib.
"""
import os

import jobs
import overhead
import scaling
import versions
import charts
from pages import folder_of

LAYERS = {"pieces": "a get for each run of cells", "whole": "one get for a layer"}


def label_of(row):
    """A subject in words: Sennit, or the MPI with the name of its variant."""
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


def figure_6(folder):
    _, rows = jobs.read_lines(os.path.join(folder, overhead.FILE))
    figure, axes = charts.new(2, 2, height=0.9 * charts.HEIGHT_IN)
    for column, op in enumerate(("put", "get")):
        times, over = {}, {}
        for row in rows:
            name = jobs.MPI_NAMES[row["mpi"]]
            for series, key, text in ((times, "sennit_ns", f"Sennit, beside {name}"), (times, "window_ns", f"shared window of {name}"),
                                      (over, "over_window_ns", f"shared window of {name}"), (over, "over_pointer_ns", f"memcpy through sennit_ptr, beside {name}")):
                point = [row[key]] if series is times else [row[key][at] for at in (1, 0, 2)]
                if row["op"] == op:
                    series.setdefault(text, []).append((row["bytes"], *point))
        charts.curves(axes[column], times, title=f"blocking {op}", xlabel="size", ylabel="ns a call", yscale="log")
        charts.curves(axes[2 + column], over, times, title=f"blocking {op}: overhead of Sennit over others", xlabel="size", ylabel="ns")
        axes[2 + column].set_yscale("symlog", linthresh=10)
        axes[2 + column].axhline(0, color="black", linewidth=0.8)
        for axis in axes[column::2]:
            charts.size_ticks(axis, [row["bytes"] for row in rows])
    charts.save(figure, folder, "figure-6.png", "quartiles")


def figure_groups(folder, file, name, parts, computing):
    """Axes for each way to fetch layers, a group of bars for each number of ranks; each of `parts` is (key, word). With
    `computing`, the computing time is a line."""
    _, rows = jobs.read_lines(os.path.join(folder, file))
    rows = [row for row in rows if "ranks" in row and row["ranks"] > 1]
    panels = [layers for layers in LAYERS if any(panel_of(row) == layers for row in rows)]
    figure, axes = charts.new(len(panels))
    names = [label_of(row) + word for row in rows for _, word in parts]
    for axis, layers in zip(axes, panels):
        series, base = {}, {}
        for row in rows:
            if panel_of(row) == layers:
                if row["way"] in jobs.BASES:
                    base[row["ranks"]] = row["compute_us"]
                for key, word in parts:
                    if key in row:
                        series.setdefault(label_of(row) + word, []).append((row["ranks"], max(row[key], 0.01), *row[key + "_range"]))
        charts.groups(axis, series, names, title=LAYERS[layers], xlabel="ranks", ylabel="µs a step", yscale="log")
        axis.set_ylim(bottom=max(0.01, 0.6 * min(point[1] for points in series.values() for point in points)))
        if computing:
            axis.hlines(base.values(), [at - 0.45 for at in range(len(base))], [at + 0.45 for at in range(len(base))], color="black", label="computing")
    charts.save(figure, folder, name, "range of the rounds")


def main():
    folder = folder_of("heat3d")
    halo, parts = (("halo_us", ""),), (("exchange_us", ": exchange"), ("synchronise_us", ": synchronisation"))
    blocking, nonblocking = scaling.file_of("blocking"), scaling.file_of("nonblocking")
    for file, draw, *words in ((overhead.FILE, figure_6), (blocking, figure_groups, blocking, "figure-8.png", halo, True),
                               (blocking, figure_groups, blocking, "figure-9.png", parts, False),
                               (nonblocking, figure_groups, nonblocking, "figure-10.png", halo, True),
                               (nonblocking, figure_groups, nonblocking, "figure-11.png", parts, False),
                               (versions.FILE, figure_groups, versions.FILE, "figure-12.png", halo, False)):
        if os.path.exists(os.path.join(folder, file)):
            draw(folder, *words)


if __name__ == "__main__":
    main()
