"""Makes the page of a report: plots by matplotlib, text by Jinja2 from page.html.j2. Called by report.py; reads nothing else."""
import base64
import io
import os
import re

import jinja2

import figures as study
import parts
from lines import time_text
from pages import text_of_bytes

HERE = os.path.dirname(os.path.abspath(__file__))
# Inches: as wide as a telephone, so that letters are as large there as in the text.
WIDTH_IN, HEIGHT_IN, LINE_IN = 4.4, 3.1, 0.26
COLOURS = ("#1b6ca8", "#c8553d", "#588157", "#8d5a97", "#b5651d", "#2a9d8f", "#6c757d", "#d4a017")
MOST_CURVES, MOST_BARS = 8, 16
JOBS = {"openmpi": "Open MPI", "mpich": "MPICH", "openshmem": "Open MPI's OpenSHMEM", "sennit": "sennit run", "": "–"}


def short_time(nanoseconds):
    return f"{nanoseconds:.1f} ns" if nanoseconds < 100 else time_text(nanoseconds)


def svg_of(plt, figure):
    """Text stays text; without the head of a file, which has no place in a page."""
    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    plt.close(figure)
    image = text.getvalue()[text.getvalue().index("<svg"):]
    return re.sub(r'<svg ([^>]*?)width="[^"]*" height="[^"]*"|<svg ([^>]*?)height="[^"]*" ([^>]*?)width="[^"]*"',
                  lambda match: "<svg role=\"img\" " + " ".join(filter(None, match.groups())), image, count=1)


def whiskers(some):
    middle = [one["median"] for one in some]
    return [[max(0, one["median"] - one["low"]) for one in some], [max(0, one["high"] - one["median"]) for one in some]], middle


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
    figure.legend(*axis.get_legend_handles_labels(), loc="lower center", ncol=2, fontsize=8, frameon=False)
    figure.tight_layout(rect=(0, 0.16 / figure.get_figheight() * (0.6 + (min(len(names), MOST_CURVES) + 1) // 2), 1, 1))
    return svg_of(plt, figure)


def bars(plt, some):
    """Time of each subject, the fastest on top."""
    some = sorted(some, key=lambda one: one["median"])[:MOST_BARS]
    labels = [one["series"] for one in some]
    figure, axis = plt.subplots(figsize=(WIDTH_IN, 0.9 + LINE_IN * len(some)))
    spread, middle = whiskers(some)
    colours = ["black" if one["raw"] else COLOURS[0] if one["series"].lower().startswith("sennit") else "#a9a9a9" for one in some]
    axis.barh(range(len(some)), middle, xerr=spread, color=colours, height=0.6, error_kw={"ecolor": "#c8553d", "capsize": 2, "linewidth": 1})
    axis.set_yticks(range(len(some)), labels, fontsize=8)
    axis.invert_yaxis()
    axis.set(xlabel="time, ns" if max(middle) < 1e5 else "time, ns (logarithmic)", xscale="linear" if max(middle) < 20 * min(middle) else "log")
    axis.grid(alpha=0.3, axis="x")
    figure.tight_layout()
    return svg_of(plt, figure)


def plots(plt, some):
    """[(title, image)]: one for each group and job; at most four."""
    found = []
    for group, job, ranks in list(dict.fromkeys((one["group"], one["job"], one["ranks"]) for one in some)):
        mine = [one for one in some if (one["group"], one["job"], one["ranks"]) == (group, job, ranks)]
        title = group + (f", job of {JOBS.get(job, job)}, {ranks} ranks" if job and ranks else "")
        found.append((title, (curves if len({one["x"] for one in mine}) > 1 else bars)(plt, mine)))
    return found[:4]


def rows_of(some):
    """Of the table: each with its ratio to the fastest raw limit of the same job and size, or to the fastest where there is none."""
    for one in sorted(some, key=lambda one: (one["group"], one["ranks"], one["x"], one["job"], one["median"])):
        same = [other for other in some if all(other[key] == one[key] for key in ("group", "job", "ranks", "x"))]
        base = min(other["median"] for other in [other for other in same if other["raw"]] or same)
        yield {"group": one["group"], "size": text_of_bytes(one["x"]), "job": JOBS.get(one["job"], one["job"]), "ranks": one["ranks"] or "–",
               "series": one["series"], "median": short_time(one["median"]), "spread": f"{short_time(one['low'])} to {short_time(one['high'])}",
               "ratio": f"{one['median'] / base:.2f} ×", "is_ours": one["series"].lower().startswith("sennit"), "is_raw": one["raw"]}


def section(plt, part):
    about, some = parts.BY_NAME[part["name"]], parts.figures_of(part)
    return {**part, "title": about.title, "question": about.question, "paper": about.paper, "rows": list(rows_of(some)),
            "here": about.claim(some) if about.claim and some else "", "plots": plots(plt, some) if some else [],
            "left_out": [line for line in part["lines"] if line.get("map") == "left-out"]}


def compared(comparison):
    """The comparison as texts; what is within the noise is counted alone."""
    if comparison is None:
        return None
    order = ("slower", "slower, as the machine is", "faster", "faster, as the machine is", "only in the old one", "only in the new one", "within the noise")

    def text(one):
        return "–" if one is None else f"{short_time(one['median'])} ({short_time(one['low'])} to {short_time(one['high'])})"
    rows = [{**row, "size": text_of_bytes(row["x"]), "job": JOBS.get(row["job"], row["job"]), "old": text(row["old"]), "new": text(row["new"]),
             "ratio": "–" if row["ratio"] is None else f"{row['ratio']:.2f} ×"} for row in comparison["rows"] if row["verdict"] != "within the noise"]
    rows.sort(key=lambda row: order.index(row["verdict"]))
    return {**comparison, "rows": rows, "counts": [(name, comparison["counts"][name]) for name in order if name in comparison["counts"]]}


def page(report, comparison):
    """HTML that loads nothing."""
    plt = study.pyplot()
    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "sennit", "font.family": ["DejaVu Sans", "sans-serif"], "font.size": 9})
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(HERE), autoescape=True, trim_blocks=True, lstrip_blocks=True)
    topology = base64.b64encode(report.get("topology", "").encode()).decode()
    return environment.get_template("page.html.j2").render(
        report=report, sections=[section(plt, part) for part in report["parts"]], topology=topology, comparison=compared(comparison))
