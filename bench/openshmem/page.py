#!/usr/bin/env python3
"""Writes the page of results from the measurements of compare.py: python3 bench/openshmem/page.py [--check] [FOLDER]

Writes FOLDER/README.md (docs/results/openshmem) from pair.jsonl (2 PEs), exchange.jsonl (round trips
between 2 PEs, in more jobs) and crowd.jsonl (more PEs than processors). With
--check it compares the page instead; exit status 1 if the page differs. Figures are computed; reasons are written here.
"""
import math
import os
import statistics
import sys

import reasons
from compare import middle, ratios
from pages import folder_of, machine_of, table, text_of_bytes, write_or_check
from runs import read_lines

PAIR, EXCHANGE, CROWD = "pair.jsonl", "exchange.jsonl", "crowd.jsonl"
OURS = "sennit"
NAMES = {OURS: "Sennit", "openmpi": "Open MPI", "openmpi-basic": "Open MPI, scoll basic", "sos": "SOS", "sos-collective": "SOS"}
MAIN_NAMES = (OURS, "openmpi", "sos")  # the other names run the same command with a setting or with other cases
SHOWN_BYTES = (8, 4096, 1 << 20)  # the files have more sizes
NOT_SHOWN = ("inc", "fetch", "set", "swap", "put_nbi", "team_fcollect", "team_alltoall", "team_max")  # like other cases; the files have them
# Groups of cases: on one word, by size, collective.
WORDS = ("p", "g", "p_wait", "fetch_add", "add", "inc", "fetch", "set", "swap", "compare_swap", "p_static", "fetch_add_static")
ONE_WORD = (*WORDS, "bare_store", "bare_fetch_add")
SIZED = ("put", "get", "put_nbi", "put_quiet", "put_flag_wait", "put_signal_wait")
COLLECTIVE = ("barrier_all", "sync_all", "team_sync", "broadcast", "fcollect", "alltoall", "sum", "max", "team_broadcast",
              "team_fcollect", "team_alltoall", "team_sum", "team_max")
BELOW_BYTES, SHORT_RATIO, BURST_RATIO = 256, 2, 2
OVER_NS = (("p", "bare_store", "shmem_long_p", "a bare store", 3),
           ("fetch_add", "bare_fetch_add", "shmem_long_atomic_fetch_add", "a bare `lock xadd`", 5))


def least_of(values):
    return min(value for value in values if value is not None)


def against_better(row):
    """(name, [ratio of each round]) of the other library with the lowest median, or None if no other library has a value."""
    found = [(middle(row[name]), name) for name in NAMES if name != OURS and name in row]
    if OURS not in row or not found:
        return None
    name = min(found)[1]
    return name, ratios(row, name, OURS)


def chosen(rows, cases):
    """(row, name, ratios) of these cases, if another library has a value."""
    for row in rows:
        against = against_better(row) if row["case"] in cases else None
        if against:
            yield row, *against


def place_of(row):
    return row["case"] if row["bytes"] == 0 or row["case"] in WORDS else f"{row['case']}, {text_of_bytes(row['bytes'])}"


def count_reached(where, compared, least):
    """(reached, missed, rows of the table of misses): how many ratios are at least `least`."""
    compared = list(compared)
    missed = [(row, name, each) for row, name, each in compared if statistics.median(each) < least]
    lines = [(f"{place_of(row)}{where}: {least} ×",
              f"{statistics.median(each):.2f} [{min(each):.2f}, {max(each):.2f}]",
              f"{least_of(row[name]) / least_of(row[OURS]):.2f}",
              f"{text_of_ns(middle(row[name]))} ({NAMES[name]}), {text_of_ns(middle(row[OURS]))}")
             for row, name, each in missed]
    low = min((statistics.median(each) for _, _, each in missed), default=None)
    return (f"at {len(compared) - len(missed)} of {len(compared)}",
            "met" if not missed else f"{len(missed)} below, down to {low:.2f} ×", lines)


def mean_of(compared):
    """The geometric mean of the median ratios."""
    return math.exp(statistics.fmean(math.log(statistics.median(each)) for _, _, each in compared))


def text_of_ns(value):
    return f"{value:.1f}" if value < 100 else f"{value:.0f}"


def over_bare(rows):
    values = {row["case"]: row[OURS] for row in rows if OURS in row and row["case"] in sum(((a, b) for a, b, *_ in OVER_NS), ())}
    for case, bare, name, text, limit in OVER_NS:
        over = [a - b for a, b in zip(values[case], values[bare]) if a is not None and b is not None]
        value = statistics.median(over)
        yield (f"`{name}`: at most {limit} ns over {text}, in one process",
               f"{value:.2f} ns [{min(over):.2f}, {max(over):.2f}]", "met" if value <= limit else f"by {value - limit:.2f} ns")


def targets(pair, crowd, crowd_pes):
    """(rows of the targets, rows of the misses)"""
    rows, below = [], []

    def add(text, where, compared, least):
        reached, missed, lines = count_reached(where, compared, least)
        rows.append((text, reached, missed))
        below.extend(lines)

    add("put, get, put_nbi, put and quiet, put and flag, put with signal: no slower at any size", "", chosen(pair, SIZED), 1)
    add("p, g, atomic operations, p and wait: no slower", "", chosen(pair, WORDS), 1)
    short = [one for one in chosen(pair, SIZED + WORDS) if one[0]["bytes"] < BELOW_BYTES]
    add(f"all of these below {BELOW_BYTES} B: {SHORT_RATIO} ×", "", short, SHORT_RATIO)
    add(f"messages a second (put_burst): {BURST_RATIO} ×", "", chosen(pair, ("put_burst",)), BURST_RATIO)
    add("collective calls of 2 PEs: no slower at any size", ", 2 PEs", chosen(pair, COLLECTIVE), 1)
    means = {case: mean_of(list(chosen(pair, (case,)))) for case in COLLECTIVE if list(chosen(pair, (case,)))}
    slower = [f"{case} {mean:.2f} ×" for case, mean in means.items() if mean <= 1]
    least, most = min(means, key=means.get), max(means, key=means.get)
    rows.append(("collective calls of 2 PEs: faster in the mean of all sizes",
                 f"{means[least]:.2f} × ({least}) to {means[most]:.2f} × ({most})", "met" if not slower else ", ".join(slower)))
    add(f"collective calls of {crowd_pes} PEs on 2 processors: faster than both", f", {crowd_pes} PEs",
        chosen(crowd, COLLECTIVE), 1)
    rows += over_bare(pair)
    return rows, below


def ratio_text(row, name):
    each = ratios(row, name, OURS) if name in row else []
    return f"{statistics.median(each):.2f}" if each else "–"


def everything(rows, names):
    """Two tables: cases without sizes, and cases by size."""
    others = [name for name in names if name != OURS]
    titles = list(dict.fromkeys(NAMES[name] for name in others))
    words, sized = [], {}
    for row in rows:
        if OURS not in row or row["case"] in NOT_SHOWN or not any(name in row for name in others):
            continue
        if row["bytes"] == 0 or row["case"] in ONE_WORD:
            cells = {NAMES[name]: ratio_text(row, name) for name in others if name in row}
            words.append([row["case"], text_of_ns(middle(row[OURS])), *(cells.get(title, "–") for title in titles)])
        elif row["bytes"] in SHOWN_BYTES:
            sized.setdefault(row["case"], {})[row["bytes"]] = row
    lines = []
    for case, by_size in sized.items():
        mine = {NAMES[name]: name for name in others if any(name in row for row in by_size.values())}
        lines.append([case, *(f"{text_of_ns(middle(by_size[size][OURS]))} ({', '.join(ratio_text(by_size[size], mine[title]) if title in mine else '–' for title in titles)})"
                              if size in by_size else "–" for size in SHOWN_BYTES)])
    return "\n\n".join([table(["", "Sennit, ns", *titles], words), f"By size: Sennit's ns (ratios of {'; '.join(titles)}).",
                        table(["", *map(text_of_bytes, SHOWN_BYTES)], lines)])


def measured(head):
    return f"{machine_of(head, commands=False).rstrip('.')}; {head['jobs']} jobs of each."


def launch_of(command):
    """The command without the names of the cases."""
    words = command.split(" ")
    return " ".join(words[:1 + max(at for at, word in enumerate(words) if "sennit-bench-shmem" in word)])


def commands(head):
    return "\n".join(f"- {NAMES[name]}: `{launch_of(command)}`" + (f". {head['notes'][name]}" if name in head["notes"] else "")
                     for name, command in head["commands"].items() if name in MAIN_NAMES)


def page(folder):
    (pair_head, pair), (exchange_head, exchange), (crowd_head, crowd) = (
        read_lines(os.path.join(folder, file)) for file in (PAIR, EXCHANGE, CROWD))
    repeated = {row["case"] for row in exchange}
    pair = [row for row in pair if row["case"] not in repeated] + exchange
    rows, below = targets(pair, crowd, reasons.CROWD_PES)
    crowd_name = f"{reasons.CROWD_PES} PEs on {crowd_head['machine']['cores']} processors"
    parts = [reasons.INTRODUCTION, "## Targets, met and missed", reasons.RATIOS, table(("target", "reached", "missed"), rows)]
    if below:
        parts += ["Misses: ratio [range of the rounds], ratio of the fastest jobs, medians of the other library and Sennit:",
                  table(("where, target", "here", "fastest jobs", "ns"), below), reasons.WHY]
    parts += ["## How it was measured", reasons.HOW, f"2 PEs (`{CROWD}` has the commands for {reasons.CROWD_PES}):", commands(pair_head),
              "## Figures, 2 PEs", f"Ratios are times divided by Sennit's. {measured(pair_head)}\n"
              f"Exchanges: {measured(exchange_head)}", everything(pair, pair_head["names"]),
              f"## Figures, {crowd_name}", measured(crowd_head), everything(crowd, crowd_head["names"])]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def main():
    folder = folder_of("openshmem")
    return write_or_check(os.path.join(folder, "README.md"), page(folder), "page.py")


if __name__ == "__main__":
    sys.exit(main())
