#!/usr/bin/env python3
"""Draws the figures of p2p from the files of its drivers: python3 apps/p2p/study/plots.py [FOLDER]

Writes figure-5.2.png, figure-5.3.png and figure-5.4.png, for those files that are there. Exit status 77 without
matplotlib.
"""
import os
import sys

import measure
import subjects
from subjects import SUBJECTS, runs
from figures import COLOURS, HEIGHT_IN, WIDTH_IN, pyplot, save

STYLES = {"serial": ("black", ":"), "sennit-c": (COLOURS[None], "o-"), "sennit-fortran": ("#5aa9e6", "s--"),
          "openmp": ("#7d5ba6", "d-"), "openmpi": (COLOURS["openmpi"], "^-"), "mpich": (COLOURS["mpich"], "v-"),
          "openmpi-ahead": (COLOURS["openmpi"], "^:"), "mpich-ahead": (COLOURS["mpich"], "v:"),
          "shared-openmpi": (COLOURS["openmpi"], "x--"), "shared-mpich": (COLOURS["mpich"], "+--")}


def series(rows, key, along, value):
    mine = sorted((row[along], row[value]) for row in rows if row["key"] == key and value in row)
    return [x for x, _ in mine], [y for _, y in mine]


def draw_lines(axis, rows, keys, along, value):
    for key in keys:
        x, y = series(rows, key, along, value)
        if x:
            colour, style = STYLES[key]
            axis.plot(x, y, style, color=colour, markersize=4, linewidth=1.2, label=SUBJECTS[key].name)
    axis.grid(alpha=0.3)
    axis.legend(fontsize=7)


def figure_of_ranks(plt, folder, name, keys):
    """Rate and time of a sweep, as the paper has them beside each other."""
    _, rows = runs.read_lines(os.path.join(folder, measure.file_of("ranks")))
    figure, axes = plt.subplots(1, 2, figsize=(WIDTH_IN, HEIGHT_IN))
    size = rows[0]["size"]
    for axis, value, text in ((axes[0], "rate", "MFlop/s"), (axes[1], "sweep_us", "µs a sweep")):
        draw_lines(axis, [row for row in rows if row["key"] != "serial"], keys, "ranks", value)
        ranks = sorted({row["ranks"] for row in rows})
        axis.set(xlabel="ranks or threads", ylabel=text, yscale="log", xticks=ranks, xticklabels=map(str, ranks),
                 title=f"{size} × {size}")
    save(plt, figure, folder, name)


def figure_of_sizes(plt, folder):
    _, rows = runs.read_lines(os.path.join(folder, measure.file_of("sizes")))
    figure, axes = plt.subplots(1, 2, figsize=(WIDTH_IN, HEIGHT_IN))
    draw_lines(axes[0], rows, SUBJECTS, "size", "rate")
    serial = {row["size"]: row["rate"] for row in rows if row["key"] == "serial"}
    share = [{**row, "share": row["rate"] / (row["ranks"] * serial[row["size"]] *
                                             subjects.fill_of(row["ranks"], row["size"], row["group"]))}
             for row in rows if "rate" in row and row["key"] != "serial" and row["size"] in serial]
    draw_lines(axes[1], share, [key for key in SUBJECTS if key != "serial"], "size", "share")
    axes[0].set(xlabel="side of the grid", ylabel="MFlop/s", xscale="log")
    axes[1].set(xlabel="side of the grid", ylabel="of ranks × serial rate × fill", xscale="log", ylim=(0, 1.15))
    axes[1].axhline(1, color="black", linewidth=0.8)
    save(plt, figure, folder, "figure-5.3.png")


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(runs.ROOT, "docs", "results", subjects.OUT)
    plt = pyplot()
    if os.path.exists(os.path.join(folder, measure.file_of("ranks"))):
        figure_of_ranks(plt, folder, "figure-5.2.png",
                        ("sennit-c", "sennit-fortran", "openmpi", "mpich", "shared-openmpi", "shared-mpich"))
        figure_of_ranks(plt, folder, "figure-5.4.png", ("sennit-c", "sennit-fortran", "openmp"))
    if os.path.exists(os.path.join(folder, measure.file_of("sizes"))):
        figure_of_sizes(plt, folder)


if __name__ == "__main__":
    main()
