#!/usr/bin/env python3
"""Draws the figures of the study from the files of its drivers: python3 apps/ghost/study/plots.py [FOLDER]

Writes figure-5.5.png to figure-5.7.png and ways.png into the folder, for those files that are there. Exit status 77
without matplotlib.
"""
import os
import sys

import jobs
import parts
import scaling
import ways
from figures import COLOURS, HEIGHT_IN, WIDTH_IN, pyplot, save

LINES = {"svaf": "--", "bspma": "-"}
PART_COLOURS = dict(zip(jobs.PARTS, ("#8d6a9f", "#dda448", "#bb342f", "#3c787e", "#8cbcb9")))
KIND_COLOURS = {jobs.CHANNELS: COLOURS[None], jobs.NOTIFIED: "#dda448",
                **{jobs.Kind(mpi): COLOURS[mpi] for mpi in jobs.LAUNCHERS}}
WAY_COLOURS = {"direct": "#1b6ca8", "packed": "#c8553d"}


def figure_scaling(plt, folder, kind):
    """Time of a step, and of its exchanges, by ranks."""
    _, rows = jobs.read_lines(os.path.join(folder, f"{kind}.jsonl"))
    figure, axes = plt.subplots(1, 2, figsize=(WIDTH_IN, HEIGHT_IN))
    for axis, key, title in zip(axes, ("step_us", "exchange_us"), ("a whole step", "its exchanges")):
        for kind_of_program, colour in KIND_COLOURS.items():
            for method, line in LINES.items():
                mine = sorted((row["ranks"], row[key]) for row in rows
                              if jobs.is_of(row, kind_of_program) and row.get("method") == method and
                              row.get(key) and (key == "step_us" or row["ranks"] > 1))
                if not mine:
                    continue
                name = "Sennit" if kind_of_program.mpi is None else jobs.MPI_NAMES[kind_of_program.mpi]
                name += ", notified" if kind_of_program.notified else ""
                axis.plot(*zip(*mine), line, marker="o", markersize=4, color=colour, label=f"{name}, {method.upper()}")
        axis.set(title=f"{kind} scaling: {title}", xlabel="ranks", ylabel="µs", yscale="log")
        axis.set_xticks(sorted({row["ranks"] for row in rows}))
        axis.grid(alpha=0.3)
        axis.legend(fontsize=7)
    save(plt, figure, folder, f"figure-{scaling.FIGURES[kind]}.png")


def figure_parts(plt, folder):
    """Stacked bars: a panel for each size and method, a group for each axis that is cut."""
    _, rows = jobs.read_lines(os.path.join(folder, parts.FILE))
    sides = sorted({row["side"] for row in rows})
    figure, axes = plt.subplots(len(jobs.METHODS), len(sides), figsize=(WIDTH_IN, 2 * HEIGHT_IN), squeeze=False)
    for line, method in zip(axes, jobs.METHODS):
        for axis, side in zip(line, sides):
            mine = [row for row in rows if row.get("method") == method and row["side"] == side]
            labels = []
            for at, row in enumerate(mine):
                bottom = 0
                for part in jobs.PARTS:
                    axis.barh(at, row[part + "_us"], left=bottom, color=PART_COLOURS[part], height=0.7)
                    bottom += row[part + "_us"]
                labels.append(f"{row['axis']}: {jobs.label_of(row)}")
            axis.set(title=f"{method.upper()}, {side}³ cells a rank", xlabel="µs of exchange in a step")
            axis.set_yticks(range(len(mine)), labels, fontsize=6)
            axis.invert_yaxis()
            axis.grid(alpha=0.3, axis="x")
    handles = [plt.Rectangle((0, 0), 1, 1, color=PART_COLOURS[part]) for part in jobs.PARTS]
    figure.legend(handles, jobs.PARTS, ncol=len(jobs.PARTS), fontsize=8, loc="lower center")
    figure.tight_layout(rect=(0, 0.03, 1, 1))
    save(plt, figure, folder, "figure-5.7.png", tight=False)


def figure_ways(plt, folder):
    _, rows = jobs.read_lines(os.path.join(folder, ways.FILE))
    figure, axes = plt.subplots(1, 3, figsize=(WIDTH_IN, HEIGHT_IN))
    for panel, axis in zip(axes, jobs.AXES):
        for faces, colour in WAY_COLOURS.items():
            mine = [(cells, {"direct": direct, "packed": packed}[faces]["exchange_us"])
                    for cells, direct, packed in ways.pairs_of(rows, axis)]
            if mine:
                panel.plot(*zip(*mine), "o-", color=colour, markersize=4, label=faces)
        panel.set(title=f"cut along {axis}", xlabel="cells of a slab", xscale="log", yscale="log")
        panel.grid(alpha=0.3)
    axes[0].set_ylabel("µs of exchange in a step, 5 variables")
    axes[0].legend(fontsize=7)
    save(plt, figure, folder, "ways.png")


def main():
    plt = pyplot()
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(jobs.ROOT, "docs", "results", jobs.RESULTS)

    def there(file):
        return os.path.exists(os.path.join(folder, file))
    for kind in scaling.SIZES:
        if there(f"{kind}.jsonl"):
            figure_scaling(plt, folder, kind)
    if there(parts.FILE):
        figure_parts(plt, folder)
    if there(ways.FILE):
        figure_ways(plt, folder)


if __name__ == "__main__":
    main()
