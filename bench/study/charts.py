"""Draws the charts of `sennit report` and of the pages of docs/results in one style. Callers select data and write texts.

A series is {name: points}; a point is (x, middle) or (x, middle, low, high), and a whisker shows low to high. The name selects the
colour: a library has the same colour in every chart. Drawing functions get an axis of new() and the texts of matplotlib's
Axes.set().
"""
import collections
import io
import itertools
import math
import os
import re
import sys

from pages import text_of_bytes
from runs import NO_MATPLOTLIB

try:
    import matplotlib
except ImportError:
    matplotlib = None

WIDTH_IN, HEIGHT_IN, DPI = 11, 4.2, 110
LINE_IN, LETTER_IN = 0.17, 0.066  # of a legend
STYLE = {"font.family": ["DejaVu Sans", "sans-serif"], "font.size": 9, "axes.titlesize": 10, "axes.grid": True, "axes.axisbelow": True, "grid.alpha": 0.3,
         "legend.fontsize": 8, "legend.frameon": False, "lines.linewidth": 1, "lines.markersize": 4, "errorbar.capsize": 2, "hatch.color": "white",
         "svg.fonttype": "none", "svg.hashsalt": "sennit"}
# The first pattern that a name contains selects its library.
LIBRARIES = {"sennit": "#1b6ca8", "openmpi-shmem|openshmem": "#b5651d", "open ?mpi": "#c8553d", "mpich": "#588157", "openmp": "#8d5a97", "gpi-2": "#2a9d8f",
             r"\blci\b": "#d4a017", r"\bsos\b": "#e07a9b", r"\braw\b|bare|serial|by hand": "#444444"}
OTHERS = ("#3c787e", "#dda448", "#7a5195", "#bb342f", "#8cbcb9", "#5d4037", "#9aa5b1", "#9bbf4d")
FORMS = ("o-", "s--", "^-.", "d:", "x-", "v--", "+-.", "*:")
Look = collections.namedtuple("Look", "colour form shade hatch")


def pyplot():
    """matplotlib without a screen; ends the program with NO_MATPLOTLIB if it is missing."""
    if matplotlib is None:
        print("matplotlib is not there (Debian: python3-matplotlib)")
        sys.exit(NO_MATPLOTLIB)
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt  # pylint: disable=import-outside-toplevel
    plt.rcParams.update(STYLE)
    return plt


def new(columns=1, lines=1, width=WIDTH_IN, height=HEIGHT_IN):
    """(figure, its axes); `height` is the height of one line of axes."""
    figure, axes = pyplot().subplots(lines, columns, figsize=(width, height * lines), squeeze=False)
    return figure, list(axes.flat)


def looks(names):
    """{name: Look}. Names of one library, or with the same text before a comma, share a colour; each has its own form and shade."""
    found, others, used = {}, {}, collections.Counter()
    for name in dict.fromkeys(names):
        library = next((pattern for pattern in LIBRARIES if re.search(pattern, name, re.IGNORECASE)), None)
        group = library or name.split(",")[0]
        colour = LIBRARIES[library] if library else others.setdefault(group, OTHERS[len(others) % len(OTHERS)])
        at = used[group]
        used[group] += 1
        found[name] = Look(colour, FORMS[at % len(FORMS)], max(0.3, 1 - 0.3 * (at // 2)), "////" if at % 2 else "")
    return found


def whiskers(points):
    """The lengths for errorbar, or None for points without low and high."""
    if len(points[0]) < 4:
        return None
    return [[max(0, middle - low) for _, middle, low, _ in points], [max(0, high - middle) for _, middle, _, high in points]]


def curves(axis, series, names=(), **texts):
    """`names`: the names on all axes of the figure, so that a name looks the same on each."""
    look = looks([*names, *series])
    for name, points in series.items():
        if points:
            axis.errorbar([point[0] for point in points], [point[1] for point in points], yerr=whiskers(points), color=look[name].colour, fmt=look[name].form,
                          alpha=look[name].shade, label=name)
    axis.set(**texts)


def bars(axis, rows, parts=(), **texts):
    """Horizontal bars, the first row on top: (name, values, low, high). Several values make a stack of these `parts`."""
    names = [name for name, *_ in rows]
    look = looks(parts or names)
    left = [0.0] * len(rows)
    for number, part in enumerate(parts or [None]):
        widths = [values[number] for _, values, *_ in rows]
        axis.barh(range(len(rows)), widths, left=left, height=0.65, label=part,
                  color=look[part].colour if part else [look[name].colour for name in names])
        left = [one + width for one, width in zip(left, widths)]
    axis.errorbar([low for *_, low, _ in rows], range(len(rows)), xerr=[[0] * len(rows), [high - low for *_, low, high in rows]], fmt="none", ecolor="black")
    axis.set_yticks(range(len(rows)), names)
    axis.set(ylim=(len(rows) - 0.4, -0.6), **texts)
    axis.grid(False, axis="y")


def groups(axis, series, names=(), **texts):
    """Bars side by side, a group for each x of {name: points}."""
    look = looks([*names, *series])
    places = sorted({point[0] for points in series.values() for point in points})
    width = 0.85 / len(series)
    for number, (name, points) in enumerate(series.items()):
        axis.bar([places.index(point[0]) + (number - (len(series) - 1) / 2) * width for point in points], [point[1] for point in points], yerr=whiskers(points),
                 width=0.94 * width, color=look[name].colour, alpha=look[name].shade, hatch=look[name].hatch, label=name,
                 error_kw={"ecolor": "#444444", "capsize": 1})
    axis.set_xticks(range(len(places)), map(str, places))
    axis.grid(False, axis="x")
    axis.set(**texts)


def heat(axis, values, names, label):
    """A square for each pair of names. Colours begin at 0, so similar values look alike. If there are few squares, their values
    are printed."""
    top = max(value for row in values for value in row if not math.isnan(value))
    image = axis.imshow(values, vmin=0, vmax=top, cmap="viridis", interpolation="nearest")
    step = -(-len(names) // 12)
    axis.set_xticks(range(0, len(names), step), names[::step])
    axis.set_yticks(range(0, len(names), step), names[::step])
    axis.set_facecolor("#dddddd")
    axis.grid(False)
    for (y, row), x in itertools.product(enumerate(values) if len(names) <= 8 else (), range(len(names))):
        axis.text(x, y, "–" if math.isnan(row[x]) else f"{row[x]:.3g}", ha="center", va="center", color="white" if row[x] < 0.6 * top else "black")
    axis.figure.colorbar(image, ax=axis, label=label)


def ticks(axis, values, text=str, most=9):
    """Logarithmic x with ticks at these values; if there are many, at the values nearest to even distances."""
    values = sorted(set(values))
    if len(values) > most:
        even = [values[0] * (values[-1] / values[0]) ** (at / (most - 1)) for at in range(most)]
        values = sorted({min(values, key=lambda value, place=place: abs(math.log(value / place))) for place in even})
    axis.set_xscale("log")
    axis.set_xticks(values, map(text, values))
    axis.xaxis.set_minor_locator(matplotlib.ticker.NullLocator())


def size_ticks(axis, sizes, most=7):
    ticks(axis, sizes, text_of_bytes, most)


def plain_numbers(axis):
    """Labels 1, 2, 5, 10 on a logarithmic y of less than two decades, instead of powers of ten."""
    low, high = axis.get_ylim()
    if axis.get_yscale() == "log" and high < 100 * low:
        axis.yaxis.set_major_locator(matplotlib.ticker.LogLocator(subs=(1, 2, 5)))
        axis.yaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda value, _: f"{value:g}"))
        axis.yaxis.set_minor_formatter(matplotlib.ticker.NullFormatter())


def finish(figure, whisker=""):
    """One legend for all axes, below them, with the meaning of a whisker."""
    handles = {}
    for axis in figure.axes:
        plain_numbers(axis)
        for handle, name in zip(*axis.get_legend_handles_labels()):
            handles.setdefault(name, handle)
    height = figure.text(0.995, 0.005, f"whiskers: {whisker}", ha="right", va="bottom", fontsize=8).get_fontsize() / 72 / figure.get_figheight() if whisker else 0
    if len(handles) > 1:
        columns = max(1, min(len(handles), int(figure.get_figwidth() / (0.5 + LETTER_IN * max(map(len, handles))))))
        figure.legend(handles.values(), handles, loc="lower center", ncol=columns, bbox_to_anchor=(0.5, height))
        height += LINE_IN * (0.6 + -(-len(handles) // columns)) / figure.get_figheight()
    figure.tight_layout(rect=(0, height, 1, 1))


def save(figure, folder, name, whisker=""):
    """A PNG with a palette, which has a third of the size. The octree keeps rare colours, so a covered line keeps its colour in the
    legend."""
    from PIL import Image  # pylint: disable=import-outside-toplevel; matplotlib needs it too
    finish(figure, whisker)
    image = io.BytesIO()
    figure.savefig(image, dpi=DPI)
    pyplot().close(figure)
    Image.open(image).convert("RGB").quantize(256, getattr(Image, "Quantize", Image).FASTOCTREE).save(os.path.join(folder, name), optimize=True)
    print(os.path.join(folder, name))


def svg_of(figure, whisker=""):
    """An SVG with text as text, as wide as the page, without the header of an SVG file."""
    finish(figure, whisker)
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    pyplot().close(figure)
    image = text.getvalue()[text.getvalue().index("<svg"):]
    return re.sub(r'<svg ([^>]*?)width="[^"]*" height="[^"]*"|<svg ([^>]*?)height="[^"]*" ([^>]*?)width="[^"]*"',
                  lambda match: "<svg role=\"img\" " + " ".join(filter(None, match.groups())), image, count=1)
