#!/usr/bin/env python3
"""Draws the figures of the study from the files of its drivers: python3 apps/ghost/study/plots.py [FOLDER]

Writes figure-5.5.png to figure-5.7.png and ways.png into the folder, for those files that exist. Exit status 77 without matplotlib.
"""
import os

import jobs
import parts
import scaling
import ways
import charts
from pages import folder_of


def spread(row, key):
    return min(row[key + "_rounds"]), max(row[key + "_rounds"])


def figure_scaling(folder, kind):
    """Time of a step, and of its exchanges, by ranks; a row of axes for each method."""
    _, rows = jobs.read_lines(os.path.join(folder, f"{kind}.jsonl"))
    figure, axes = charts.new(2, len(jobs.METHODS), height=0.8 * charts.HEIGHT_IN)
    found = [(method, key) for method in jobs.METHODS for key in ("step_us", "exchange_us")]
    names = list(map(jobs.program_name, rows))
    for axis, (method, key) in zip(axes, found):
        series = {}
        for row in rows:
            if row.get("method") == method and key in row and (key == "step_us" or row["ranks"] > 1):
                series.setdefault(jobs.program_name(row), []).append((row["ranks"], row[key], *spread(row, key)))
        charts.curves(axis, series, names, title=f"{kind} scaling, {method.upper()}: {'a whole step' if key == 'step_us' else 'its exchanges'}", xlabel="ranks",
                      ylabel="µs", yscale="log")
        charts.ticks(axis, [row["ranks"] for row in rows])
    charts.save(figure, folder, f"figure-{scaling.FIGURES[kind]}.png", "range of the rounds")


def figure_parts(folder):
    """Stacked bars: axes for each size and method, a group for each axis along which the grid is cut."""
    _, rows = jobs.read_lines(os.path.join(folder, parts.FILE))
    sides = sorted({row["side"] for row in rows})
    figure, axes = charts.new(len(sides), len(jobs.METHODS), height=1.1 * charts.HEIGHT_IN)
    for axis, (method, side) in zip(axes, [(method, side) for method in jobs.METHODS for side in sides]):
        bars = [(f"{row['axis']}: {jobs.label_of(row)}", [row[part + "_us"] for part in jobs.PARTS], *row["exchange_us_range"])
                for row in rows if row.get("method") == method and row["side"] == side]
        charts.bars(axis, bars, jobs.PARTS, title=f"{method.upper()}, {side}³ cells a rank", xlabel="µs of exchange in a step")
        axis.tick_params("y", labelsize=6)
    charts.save(figure, folder, "figure-5.7.png", "range of the rounds' exchanges")


def figure_ways(folder):
    _, rows = jobs.read_lines(os.path.join(folder, ways.FILE))
    figure, axes = charts.new(len(jobs.AXES))
    for axis, cut in zip(axes, jobs.AXES):
        pairs = ways.pairs_of(rows, cut)
        series = {faces: [(pair[0], pair[at]["exchange_us"], *jobs.runs.quartiles_of(pair[at]["exchange_us_rounds"])) for pair in pairs]
                  for at, faces in ((1, "direct"), (2, "packed"))}
        charts.curves(axis, series, title=f"cut along {cut}", xlabel="cells of a slab", ylabel="µs of exchange in a step, 5 variables", yscale="log")
        charts.ticks(axis, [pair[0] for pair in pairs], most=5)
    charts.save(figure, folder, "ways.png", "quartiles")


def main():
    folder = folder_of(jobs.RESULTS)
    for file, draw in (*((f"{kind}.jsonl", lambda at, kind=kind: figure_scaling(at, kind)) for kind in scaling.SIZES), (parts.FILE, figure_parts),
                       (ways.FILE, figure_ways)):
        if os.path.exists(os.path.join(folder, file)):
            draw(folder)


if __name__ == "__main__":
    main()
