"""Plots and rows of tables of the figures of a part, for the page of a report (rendering.py) and for pages of results (results.py).

Every function that draws takes pyplot and returns a figure of matplotlib; captions are those of the page.
"""
import math

from lines import time_text
from pages import text_of_bytes

# Inches: the width of a telephone, so that letters have the size of the text there.
WIDTH_IN, HEIGHT_IN, LINE_IN = 4.4, 3.1, 0.26
COLOURS = ("#1b6ca8", "#c8553d", "#588157", "#8d5a97", "#b5651d", "#2a9d8f", "#6c757d", "#d4a017")
MOST_CURVES, MOST_BARS, MOST_PLOTS = 8, 16, 4
CORES_WITH_VALUES = 8
DOMAIN_BORDER, CACHE_BORDER = 2.5, 0.75
JOBS = {"openmpi": "Open MPI", "mpich": "MPICH", "openshmem": "Open MPI's OpenSHMEM", "sennit": "sennit run", "": "–"}
STYLE = {"font.family": ["DejaVu Sans", "sans-serif"], "font.size": 9}


def short_time(nanoseconds):
    return f"{nanoseconds:.1f} ns" if nanoseconds < 100 else time_text(nanoseconds)


def is_ours(one):
    return one["series"].lower().startswith("sennit")


def whiskers(some):
    middle = [one["median"] for one in some]
    return [[max(0, one["median"] - one["low"]) for one in some], [max(0, one["high"] - one["median"]) for one in some]], middle


def legend_below(figure, axis, lines):
    """Adds a legend of `lines` lines with two columns."""
    figure.legend(*axis.get_legend_handles_labels(), loc="lower center", ncol=2, fontsize=8, frameon=False)
    figure.tight_layout(rect=(0, 0.16 / figure.get_figheight() * (0.6 + lines), 1, 1))
    return figure


def curves(plt, some):
    """Time by size: the raw limit, Sennit's and the fastest others of one job."""
    names = sorted({one["series"] for one in some}, key=lambda name: (not name.startswith("raw"), not name.startswith("sennit"),
                                                                      min(one["median"] for one in some if one["series"] == name)))
    figure, axis = plt.subplots(figsize=(WIDTH_IN, HEIGHT_IN + 0.08 * len(names[:MOST_CURVES])))
    raws = [name for name in names if name.startswith("raw")]
    for number, name in enumerate(names[:MOST_CURVES]):
        colour = ("black", "#888888")[number % 2] if name in raws else COLOURS[(number - len(raws)) % len(COLOURS)]
        mine = sorted((one for one in some if one["series"] == name), key=lambda one: one["x"])
        spread, middle = whiskers(mine)
        axis.errorbar([max(1, one["x"]) for one in mine], middle, yerr=spread, fmt="o--" if mine[0]["raw"] else "o-", markersize=3, linewidth=1,
                      capsize=2, color=colour, label=name)
    axis.set(xscale="log", yscale="log", xlabel="size, bytes" + (" (0 is drawn at 1)" if any(one["x"] == 0 for one in some) else ""), ylabel="time, ns")
    axis.grid(alpha=0.3)
    return legend_below(figure, axis, (min(len(names), MOST_CURVES) + 1) // 2)


def bars(plt, some):
    """Time of each subject, the fastest on top."""
    some = sorted(some, key=lambda one: one["median"])[:MOST_BARS]
    labels = [one["series"] for one in some]
    figure, axis = plt.subplots(figsize=(WIDTH_IN, 0.9 + LINE_IN * len(some)))
    unit, name = next((size, name) for size, name in ((1e6, "ms"), (1e3, "µs"), (1, "ns")) if size == 1 or some[-1]["median"] >= 10 * size)
    spread, middle = whiskers([{key: one[key] / unit for key in ("median", "low", "high")} for one in some])
    colours = ["black" if one["raw"] else COLOURS[0] if is_ours(one) else "#a9a9a9" for one in some]
    axis.barh(range(len(some)), middle, xerr=spread, color=colours, height=0.6, error_kw={"ecolor": "#c8553d", "capsize": 2, "linewidth": 1})
    axis.set_yticks(range(len(some)), labels, fontsize=8)
    axis.invert_yaxis()
    is_wide = max(middle) > 50 * min(middle)
    axis.set(xlabel=f"time, {name}" + (", logarithmic" if is_wide else ""), xscale="log" if is_wide else "linear")
    axis.grid(alpha=0.3, axis="x")
    figure.tight_layout()
    return figure


def border_width(one, other):
    """Of the line between two cores, as in the image of `sennit map`: thick between NUMA nodes and packages, thin between caches."""
    if (one["package"], one["numa"]) != (other["package"], other["numa"]):
        return DOMAIN_BORDER
    cache = "l3" if max(one["l3"], other["l3"]) >= 0 else "l2"
    return CACHE_BORDER if one[cache] != other[cache] else 0


def heat(plt, some):
    """One way: a square for each pair of cores, in hwloc's order. Colours begin at 0, so that similar values look alike. The value is the
    time for a flag, else the bandwidth."""
    places = some[0]["places"]
    measured = {core for one in some for core in one["cores"]}
    cores = [core for core in places if core in measured] or sorted(measured)
    values = [[math.nan] * len(cores) for _ in cores]
    for one in some:
        values[cores.index(one["cores"][0])][cores.index(one["cores"][1])] = one["gb_per_s"] or one["median"]
    figure, axis = plt.subplots(figsize=(WIDTH_IN, HEIGHT_IN))
    top = max(value for row in values for value in row if not math.isnan(value))
    image = axis.imshow(values, vmin=0, vmax=top, cmap="viridis", interpolation="nearest")
    step = -(-len(cores) // 12)
    axis.set_xticks(range(0, len(cores), step), cores[::step])
    axis.set_yticks(range(0, len(cores), step), cores[::step])
    axis.set(xlabel="to core", ylabel="from core")
    axis.set_facecolor("#dddddd")
    for at in range(len(cores) - 1 if places else 0):
        width = border_width(places[cores[at]], places[cores[at + 1]])
        for line in (axis.axhline, axis.axvline) if width else ():
            line(at + 0.5, color="white", linewidth=width)
    if len(cores) <= CORES_WITH_VALUES:
        for y, row in enumerate(values):
            for x, value in enumerate(row):
                axis.text(x, y, "–" if math.isnan(value) else f"{value:.3g}", ha="center", va="center",
                          color="white" if value < 0.6 * top else "black")
    figure.colorbar(image, ax=axis, label="half a round trip, ns" if some[0]["gb_per_s"] is None else "GB/s")
    figure.tight_layout()
    return figure


def rates(plt, some):
    """Total bandwidth by the number of transfers at once; dashed with fresh buffers."""
    figure, axis = plt.subplots(figsize=(WIDTH_IN, HEIGHT_IN + 0.4))
    ways = list(dict.fromkeys(one["series"] for one in some))
    keys = sorted({(ways.index(one["series"]), one["fresh"]) for one in some})
    for way, fresh in keys:
        mine = sorted((one for one in some if one["series"] == ways[way] and one["fresh"] == fresh), key=lambda one: one["transfers"])
        total = [one["x"] * one["transfers"] for one in mine]
        rate = [one["gb_per_s"] for one in mine]
        spread = [[max(0, value - size / one["high"]) for value, size, one in zip(rate, total, mine)],
                  [max(0, size / one["low"] - value) for value, size, one in zip(rate, total, mine)]]
        axis.errorbar([one["transfers"] for one in mine], rate, yerr=spread, fmt="o--" if fresh else "o-", markersize=3, linewidth=1, capsize=2,
                      color=COLOURS[way % len(COLOURS)], label=ways[way] + (", fresh buffers" if fresh else ""))
    axis.set(xlabel="transfers at once", ylabel="total, GB/s", ylim=(0, None))
    if max(one["transfers"] for one in some) <= 16:
        axis.set_xticks(sorted({one["transfers"] for one in some}))
    axis.grid(alpha=0.3)
    return legend_below(figure, axis, (len(keys) + 1) // 2)


def panels_of_map(some):
    """(caption, drawn by, figures) of figures 1 and 2 of "To Share or Not to Share": pairs by way and size, transfers at once by size and place."""
    pairs, at_once = [one for one in some if "cores" in one], [one for one in some if "transfers" in one]
    for way, size in dict.fromkeys((one["series"], one["x"]) for one in pairs):
        caption = f"{way}: copy of {text_of_bytes(size)}, one pair at a time" if size else f"{way}: half a round trip of a word"
        yield caption, heat, [one for one in pairs if (one["series"], one["x"]) == (way, size)]
    for size, where in dict.fromkeys((one["x"], one["where"]) for one in at_once):
        yield f"transfers of {text_of_bytes(size)} at once, {where}", rates, [one for one in at_once if (one["x"], one["where"]) == (size, where)]


def panels(some):
    """(caption, drawn by, figures): the plots of the map, or else the first few of one for each group and job."""
    if some and some[0]["part"] == "map":
        yield from panels_of_map(some)
        return
    keys = ("group", "job", "ranks")
    for group, job, ranks in list(dict.fromkeys(tuple(one[key] for key in keys) for one in some))[:MOST_PLOTS]:
        mine = [one for one in some if tuple(one[key] for key in keys) == (group, job, ranks)]
        caption = group + (f", job of {JOBS.get(job, job)}, {ranks} ranks" if job and ranks else "")
        yield caption, curves if len({one["x"] for one in mine}) > 1 else bars, mine


def rows_of(some):
    """Rows of the table: each figure with its ratio to the fastest raw limit of the same job and size, or to the fastest figure if there is none."""
    for one in sorted(some, key=lambda one: (one["group"], one["ranks"], one["x"], one["job"], one["median"])):
        same = [other for other in some if all(other[key] == one[key] for key in ("group", "job", "ranks", "x"))]
        base = min(other["median"] for other in [other for other in same if other["raw"]] or same)
        has_size = one["x"] > 0 or (one["job"] and "cores" not in one)
        yield {"group": one["group"], "size": text_of_bytes(one["x"]) if has_size else "–", "job": JOBS.get(one["job"], one["job"]), "ranks": one["ranks"] or "–",
               "series": one["series"], "median": short_time(one["median"]), "spread": f"{short_time(one['low'])} to {short_time(one['high'])}",
               "ratio": f"{one['median'] / base:.2f} ×", "is_ours": is_ours(one), "is_raw": one["raw"]}
