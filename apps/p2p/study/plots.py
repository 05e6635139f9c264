#!/usr/bin/env python3
"""Draws the figures of p2p from the files of its drivers: python3 apps/p2p/study/plots.py [FOLDER]

Writes figure-5.2.png, figure-5.3.png and figure-5.4.png, for those files that exist. Exit status 77 without matplotlib.
"""
import os

import measure
import subjects
from subjects import SUBJECTS, runs
import charts
from pages import folder_of


def rates(row, unit=1):
    """The rate and its range."""
    return [value / unit for value in (row["rate"], *row["rate_range"])]


def times(row):
    """The time of a sweep and its range, computed from the rates."""
    return [row["sweep_us"] * row["rate"] / rate for rate in (row["rate"], *reversed(row["rate_range"]))]


def series_of(rows, keys, along, values):
    return {SUBJECTS[key].name: sorted((row[along], *values(row)) for row in rows if row["key"] == key and "rate" in row) for key in keys}


def figure_of_ranks(folder, name, keys):
    """Rate and time of a sweep side by side, as in the paper."""
    _, rows = runs.read_lines(os.path.join(folder, measure.file_of("ranks")))
    figure, axes = charts.new(2)
    for axis, values, text in zip(axes, (rates, times), ("MFlop/s", "µs a sweep")):
        charts.curves(axis, series_of(rows, keys, "ranks", values), xlabel="ranks or threads", ylabel=text, yscale="log", title=f"{rows[0]['size']} × {rows[0]['size']}")
        charts.ticks(axis, [row["ranks"] for row in rows])
    charts.save(figure, folder, name, "range of the rounds")


def figure_of_sizes(folder):
    _, rows = runs.read_lines(os.path.join(folder, measure.file_of("sizes")))
    figure, axes = charts.new(2)
    shares = subjects.shares_of(rows)
    bounds = {(row["key"], row["size"]): row["rate"] / shares[row["key"], row["size"]] for row in rows if (row["key"], row["size"]) in shares}
    charts.curves(axes[0], series_of(rows, SUBJECTS, "size", rates), ylabel="MFlop/s", ylim=(0, None))
    charts.curves(axes[1], series_of([row for row in rows if (row["key"], row["size"]) in bounds], SUBJECTS, "size",
                                     lambda row: rates(row, bounds[row["key"], row["size"]])), ylabel="of ranks × serial rate × fill", ylim=(0, None))
    for axis in axes:
        axis.set(xlabel="side of the grid")
        charts.ticks(axis, [row["size"] for row in rows])
    axes[1].axhline(1, color="black", linewidth=0.8)
    charts.save(figure, folder, "figure-5.3.png", "range of the rounds")


def main():
    folder = folder_of(subjects.OUT)
    if os.path.exists(os.path.join(folder, measure.file_of("ranks"))):
        figure_of_ranks(folder, "figure-5.2.png", ("sennit-c", "sennit-fortran", "openmpi", "mpich", "shared-openmpi", "shared-mpich"))
        figure_of_ranks(folder, "figure-5.4.png", ("sennit-c", "sennit-fortran", "openmp"))
    if os.path.exists(os.path.join(folder, measure.file_of("sizes"))):
        figure_of_sizes(folder)


if __name__ == "__main__":
    main()
