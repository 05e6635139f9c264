"""Plots and rows of tables of the figures of a part, for the page of a report (rendering.py) and for pages of results (results.py).

Every function that draws returns a figure of matplotlib; the page has the captions.
"""
import math

import charts
from pages import text_of_bytes, time_text

# Inches. The width is that of a telephone, so letters there have the size of the text.
WIDTH_IN, HEIGHT_IN, LINE_IN = 4.4, 3.1, 0.26
MOST_CURVES, MOST_BARS, MOST_PLOTS = 8, 16, 4
DOMAIN_BORDER, CACHE_BORDER = 2.5, 0.75
JOBS = {"openmpi": "Open MPI", "mpich": "MPICH", "openshmem": "Open MPI's OpenSHMEM", "sennit": "sennit run", "": "–"}


def is_ours(one):
    return one["series"].lower().startswith("sennit")


def values_of(one, unit=1):
    """Median, low and high."""
    return [one[key] / unit for key in ("median", "low", "high")]


def whisker_of(some):
    """The meaning of the whiskers of a plot; figures of applications have no job."""
    return "" if "cores" in some[0] else "5th to 95th percentile" if some[0]["job"] else "range of the runs"


def curves(some):
    """Time by size: the raw limit, Sennit's and the fastest others of one job."""
    names = sorted({one["series"] for one in some}, key=lambda name: (not name.startswith("raw"), not name.startswith("sennit"),
                                                                      min(one["median"] for one in some if one["series"] == name)))[:MOST_CURVES]
    figure, (axis,) = charts.new(width=WIDTH_IN, height=HEIGHT_IN + 0.08 * len(names))
    mine = sorted((one for one in some if one["series"] in names), key=lambda one: one["x"])
    charts.curves(axis, {name: [(max(1, one["x"]), *values_of(one)) for one in mine if one["series"] == name] for name in names},
                  xlabel="size" + (" (0 is drawn at 1)" if any(one["x"] == 0 for one in mine) else ""), ylabel="time, ns", yscale="log")
    charts.size_ticks(axis, [max(1, one["x"]) for one in mine], most=6)
    return figure


def bars(some):
    """Time of each subject, the fastest on top."""
    some = sorted(some, key=lambda one: one["median"])[:MOST_BARS]
    figure, (axis,) = charts.new(width=WIDTH_IN, height=0.9 + LINE_IN * len(some))
    unit, name = next((size, name) for size, name in ((1e6, "ms"), (1e3, "µs"), (1, "ns")) if size == 1 or some[-1]["median"] >= 10 * size)
    rows = [(one["series"], [middle], low, high) for one in some for middle, low, high in [values_of(one, unit)]]
    is_wide = some[-1]["median"] > 50 * some[0]["median"]
    charts.bars(axis, rows, xlabel=f"time, {name}" + (", logarithmic" if is_wide else ""), xscale="log" if is_wide else "linear")
    return figure


def border_width(one, other):
    """The width of the line between two cores, as in the image of `sennit map`: thick between NUMA nodes and packages, thin
    between caches."""
    if (one["package"], one["numa"]) != (other["package"], other["numa"]):
        return DOMAIN_BORDER
    cache = "l3" if max(one["l3"], other["l3"]) >= 0 else "l2"
    return CACHE_BORDER if one[cache] != other[cache] else 0


def heat(some):
    """One way: a square for each pair of cores, in hwloc's order. The value is the time for a flag, otherwise the bandwidth."""
    places = some[0]["places"]
    measured = {core for one in some for core in one["cores"]}
    cores = [core for core in places if core in measured] or sorted(measured)
    values = [[math.nan] * len(cores) for _ in cores]
    for one in some:
        values[cores.index(one["cores"][0])][cores.index(one["cores"][1])] = one["gb_per_s"] or one["median"]
    figure, (axis,) = charts.new(width=WIDTH_IN, height=HEIGHT_IN)
    charts.heat(axis, values, cores, "half a round trip, ns" if some[0]["gb_per_s"] is None else "GB/s")
    axis.set(xlabel="to core", ylabel="from core")
    for at in range(len(cores) - 1 if places else 0):
        width = border_width(places[cores[at]], places[cores[at + 1]])
        for line in (axis.axhline, axis.axvline) if width else ():
            line(at + 0.5, color="white", linewidth=width)
    return figure


def rates(some):
    """Total bandwidth by the number of transfers at once, also with fresh buffers."""
    series = {}
    for one in sorted(some, key=lambda one: (one["fresh"], one["transfers"])):
        total = one["x"] * one["transfers"]
        series.setdefault(one["series"] + (", fresh buffers" if one["fresh"] else ""), []).append((one["transfers"], one["gb_per_s"], total / one["high"], total / one["low"]))
    figure, (axis,) = charts.new(width=WIDTH_IN, height=HEIGHT_IN + 0.4)
    charts.curves(axis, series, xlabel="transfers at once", ylabel="total, GB/s", ylim=(0, None))
    counts = sorted({one["transfers"] for one in some})
    if counts[-1] <= 16:
        axis.set_xticks(counts)
    return figure


def panels_of_map(some):
    """(caption, drawing function, figures) of figures 1 and 2 of "To Share or Not to Share": pairs by way and size, simultaneous
    transfers by size and place."""
    pairs, at_once = [one for one in some if "cores" in one], [one for one in some if "transfers" in one]
    for way, size in dict.fromkeys((one["series"], one["x"]) for one in pairs):
        caption = f"{way}: copy of {text_of_bytes(size)}, one pair at a time" if size else f"{way}: half a round trip of a word"
        yield caption, heat, [one for one in pairs if (one["series"], one["x"]) == (way, size)]
    for size, where in dict.fromkeys((one["x"], one["where"]) for one in at_once):
        yield f"transfers of {text_of_bytes(size)} at once, {where}", rates, [one for one in at_once if (one["x"], one["where"]) == (size, where)]


def panels(some):
    """(caption, drawing function, figures): the plots of the map; for other parts the first few plots, one for each group and
    job."""
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
               "series": one["series"], "median": time_text(one["median"]), "spread": f"{time_text(one['low'])} to {time_text(one['high'])}",
               "ratio": f"{one['median'] / base:.2f} ×", "is_ours": is_ours(one), "is_raw": one["raw"]}
