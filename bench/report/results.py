#!/usr/bin/env python3
"""Measures and writes the pages of results of the kernels and of the map, by the parts of `sennit report`.

    python3 bench/report/results.py kernels|map --measure FILE ...    # runs the command of each FILE (all: every file), writes it
    python3 bench/report/results.py kernels|map [--plots]           # writes README.md from the files; --plots draws, too
    python3 bench/report/results.py kernels|map --check             # compares README.md instead, exit status 1 if it differs

The files are in docs/results/NAME. A file has a line with command, machine and date, then the lines of the command. --plots needs matplotlib.
"""
import argparse
import os
import sys

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "bench", "study"))
import charts  # noqa: E402  pylint: disable=wrong-import-position
import claims  # noqa: E402  pylint: disable=wrong-import-position
import parts  # noqa: E402  pylint: disable=wrong-import-position
import plots  # noqa: E402  pylint: disable=wrong-import-position
import report  # noqa: E402  pylint: disable=wrong-import-position
from pages import machine_of, table, text_of_bytes, three_digits, time_text, write_or_check  # noqa: E402  pylint: disable=wrong-import-position
from runs import head_of, read_lines, write_lines  # noqa: E402  pylint: disable=wrong-import-position
from results_text import FOUND, INTRODUCTION, TITLES  # noqa: E402  pylint: disable=wrong-import-position

LIMIT_MINUTES = 20
KERNELS = ("daxpy", "cannon", "summa", "sort")
JOBS = "apps/kernels/compare.py --bin {bin} --lines {out} --rounds 5 --limit 30"
PLACES = {"node": f"{JOBS} --realtime", "hosts": f"{JOBS} --cluster tools/cluster --hosts 2"}
# Cannon needs a square number of ranks, so it has more ranks than these two processors.
RANKS = {"daxpy": "2", "cannon": "4", "summa": "2", "sort": "2"}
FILES = {"map": {"map": "map --bytes 1M,100M --bytes-at-once 1M,200M --seconds 120 --json"},
         "kernels": {f"{kernel}-{place}": f"{words} --kernels {kernel} --ranks {'1,' if place == 'node' else ''}{RANKS[kernel]}"
                     for kernel in KERNELS for place, words in PLACES.items()}}


def measure(name, file, folder):
    """Writes one file; ends the program if the command prints no line or takes too long."""
    command = FILES[name][file]
    measuring = report.Measuring(os.path.join(ROOT, "build", "bin", "sennit"), LIMIT_MINUTES)
    head = head_of("", report.shown(command), "--realtime" in command)
    state, reason, rows = measuring.run(command)
    rows = [row for row in rows if "machine" not in row]
    if not rows or state not in ("complete", "failed"):
        sys.exit(f"{report.shown(command)}: {state} {reason}")
    if state == "failed":
        print(f"{report.shown(command)}: {reason}", file=sys.stderr)
    write_lines(os.path.join(folder, f"{file}.jsonl"), [head, *rows])


def part_of(name, rows):
    return parts.figures_of({"name": name, "lines": rows})


def crossed(corner, figures, down, across, cell):
    """A table with down(figure) in the rows and across(figure) in the columns."""
    names = list(dict.fromkeys(map(across, figures)))
    cells = {(down(one), across(one)): cell(one) for one in figures}
    return table([corner, *names], [[row, *(cells.get((row, name), "–") for name in names)] for row in dict.fromkeys(map(down, figures))])


def time_and_spread(one):
    """The median and range, with one unit if all three have the same."""
    low, high, middle = (time_text(one[key]) for key in ("low", "high", "median"))
    if low.split(" ")[1] == middle.split(" ")[1] == high.split(" ")[1]:
        low, high = low.split(" ")[0], high.split(" ")[0]
    return f"{middle} ({low.replace(' ', '')}–{high.replace(' ', '')})"


def place_of(one):
    return one["group"].split(", ", 1)[1]


def kernel_table(figures):
    least = {group: min(one["median"] for one in figures if one["group"] == group) for group in {one["group"] for one in figures}}

    def cell(one):
        middle, low, high = (three_digits(value) for value in plots.values_of(one, 1e6))
        mark = "**" if one["median"] == least[one["group"]] else ""
        return f"{mark}{middle}{mark} ({low}–{high})"
    return crossed("latency, ms", sorted(figures, key=lambda one: not plots.is_ours(one)), lambda one: one["series"], place_of, cell)


def claim_table(answers):
    """A table of the claims, with a column for each place that they name."""
    places = list(dict.fromkeys(claim.split("; ")[1] for claim, *_ in answers if "; " in claim))
    if not places:
        return table(["claim", "the paper", "here"], [list(row) for row in answers])
    lines = {}
    for claim, paper, here in answers:
        name, place = claim.split("; ")
        lines.setdefault((name, paper), {})[place] = here.replace("Sennit's OpenSHMEM", "sennit-shmem").replace("Open MPI's OpenSHMEM", "openmpi-shmem")
    return table(["claim", "the paper", *places], [[*head, *(found.get(place, "–") for place in places)] for head, found in lines.items()])


def map_table(figures):
    """A sentence with the time of a word for each pair of cores, and a table of copies: of the first pair, and of the most
    transfers at once. The pictures have all copies."""
    def measured(one):
        return f"{one['group']}, {text_of_bytes(one['x'])}"
    words = [one for one in figures if not one["x"]]
    sentence = "; ".join(f"{one['group']}: {time_and_spread(one)}" for one in words)
    first = next((one["cores"] for one in figures if one["x"] and "cores" in one), None)
    most = {place: max(one["transfers"] for one in figures if one.get("where") == place) for place in {one.get("where") for one in figures} - {None}}
    shown = [one for one in figures if one["x"] and (one["cores"] == first if "cores" in one else one["transfers"] == most[one["where"]])]
    copies = crossed("GB/s", shown, measured, lambda one: one["series"],
                     lambda one: f"{one['gb_per_s']:.1f}")
    return (f"{sentence[0].upper()}{sentence[1:]}.\n\n" if words else "") + copies


def image_name(file, number):
    return f"{file}-{number}.png"


def draw(folder, section, figures):
    for number, (_, drawing, mine) in enumerate(plots.panels(drawn(figures)), 1):
        charts.save(drawing(mine), folder, image_name(section, number), plots.whisker_of(mine))


def sections(name, files):
    """(name of the section, figures, heads)"""
    if name == "map":
        yield "map", part_of("map", files["map"][1]), [files["map"][0]]
        return
    for kernel in KERNELS:
        mine = [files[file] for file in (f"{kernel}-node", f"{kernel}-hosts") if file in files]
        yield kernel, part_of("kernels", [row for _, rows in mine for row in rows]), [head for head, _ in mine]


def drawn(figures):
    """The figures that are plotted: all except those of one rank."""
    return [one for one in figures if one["part"] == "map" or one["ranks"] > 1]


def pictures(section, figures):
    found = [(caption, f"![]({image_name(section, number)})", mine[0]) for number, (caption, _, mine) in enumerate(plots.panels(drawn(figures)), 1)]
    # Copies of one pair at a time, by way and size, are a table of pictures.
    copies = [(caption, picture, one) for caption, picture, one in found if "cores" in one and one["x"]]
    words = [f"{caption}:\n\n{picture}" for caption, picture, one in found if not ("cores" in one and one["x"])]
    if copies:
        cells = {(one["series"], one["x"]): picture for _, picture, one in copies}
        sizes, ways = (list(dict.fromkeys(key[at] for key in cells)) for at in (1, 0))
        words.insert(1, table(["one pair at a time, copy of", *map(text_of_bytes, sizes)],
                              [[way, *(cells.get((way, size), "–") for size in sizes)] for way in ways]))
    return "\n\n".join(words)


def page(name, files):
    text = [f"# {TITLES[name]}", INTRODUCTION[name]]
    everything = [figures for _, figures, _ in sections(name, files)]
    lost = claims.losses([one for figures in everything for one in figures]) if name == "kernels" else []
    text += ["## Findings", FOUND[name]]
    if lost:
        text += ["Where another library has a lower median than Sennit's best version:",
                 table(["where", "fastest", "Sennit's best, its latency over the fastest", "difference"], [list(row) for row in lost])]
    for section, figures, heads in sections(name, files):
        if not figures:
            continue
        answers = [[claim.removeprefix(f"{section}: "), paper, here] for claim, paper, here in parts.answers_of(name, figures)]
        text += [f"## {TITLES[section] if name == 'kernels' else 'The map'}", claim_table(answers), pictures(section, figures),
                 kernel_table(figures) if name == "kernels" else map_table(figures), machine_of(*heads, commands=name != "kernels")]
    return "\n\n".join(text) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=FILES)
    parser.add_argument("--folder", help="of the files and the page (docs/results/NAME)")
    parser.add_argument("--measure", nargs="+", metavar="FILE", default=[])
    parser.add_argument("--plots", action="store_true")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    name = arguments.name
    folder = arguments.folder or os.path.join(ROOT, "docs", "results", name)
    for file in FILES[name] if arguments.measure == ["all"] else arguments.measure:
        if file not in FILES[name]:
            parser.error(f"there is no {file}; there are {', '.join(FILES[name])}")
        measure(name, file, folder)
    if arguments.measure:
        return 0
    files = {file: read_lines(os.path.join(folder, f"{file}.jsonl")) for file in FILES[name] if os.path.exists(os.path.join(folder, f"{file}.jsonl"))}
    if arguments.plots:
        for section, figures, _ in sections(name, files):
            draw(folder, section, figures)
    return write_or_check(os.path.join(folder, "README.md"), page(name, files), "bench/report/results.py")


if __name__ == "__main__":
    sys.exit(main())
