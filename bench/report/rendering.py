"""Makes the page of a report by Jinja2 from page.html.j2; plots.py draws. Called by report.py; reads no other files."""
import base64
import os

import jinja2

import charts
import parts
import plots
from pages import text_of_bytes, time_text
from plots import JOBS

HERE = os.path.dirname(os.path.abspath(__file__))


def section(part):
    about, some = parts.BY_NAME[part["name"]], parts.figures_of(part)
    return {**part, "title": about.title, "question": about.question, "answers": parts.answers_of(part["name"], some), "rows": list(plots.rows_of(some)),
            "paper": about.paper if about.answers else "", "plots": [(caption, charts.svg_of(draw(mine), plots.whisker_of(mine))) for caption, draw, mine in plots.panels(some)],
            "left_out": [line for line in part["lines"] if line.get("map") == "left-out"]}


def compared(comparison):
    """The comparison as texts; changes within the noise are only counted."""
    if comparison is None:
        return None
    order = ("slower", "slower, as the machine is", "faster", "faster, as the machine is", "only in the old one", "only in the new one", "within the noise")

    def text(one):
        return "–" if one is None else f"{time_text(one['median'])} ({time_text(one['low'])} to {time_text(one['high'])})"
    rows = [{**row, "size": text_of_bytes(row["x"]), "job": JOBS.get(row["job"], row["job"]), "old": text(row["old"]), "new": text(row["new"]),
             "ratio": "–" if row["ratio"] is None else f"{row['ratio']:.2f} ×"} for row in comparison["rows"] if row["verdict"] != "within the noise"]
    rows.sort(key=lambda row: order.index(row["verdict"]))
    return {**comparison, "rows": rows, "counts": [(name, comparison["counts"][name]) for name in order if name in comparison["counts"]]}


def page(report, comparison):
    """The page as HTML that loads no other files."""
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(HERE), autoescape=True, trim_blocks=True, lstrip_blocks=True)
    topology = base64.b64encode(report.get("topology", "").encode()).decode()
    return environment.get_template("page.html.j2").render(
        report=report, sections=[section(part) for part in report["parts"]], topology=topology, comparison=compared(comparison))
