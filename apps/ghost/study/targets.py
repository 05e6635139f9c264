"""The targets and whether they were met: a section of the page, computed from the files of results. Called by page.py.

Compares an exchange of each MPI by send and receive, in its fastest way, with an exchange by Sennit's channels as `chosen`, at
every measured point.
"""
import os

import jobs
import parts
import scaling
import ways
from pages import table, text_of_us

TARGET = 2


def fastest_of_each(rows, key, place, shared=False):
    """[(place, base, row)]: at each place the row of each MPI's fastest way of send and receive, or of its shared memory, and
    the row of Sennit's channels."""
    found, by_place = [], {}
    for row in rows:
        if "more_than_s" not in row:
            by_place.setdefault(tuple(row[name] for name in place), []).append(row)
    for where, group in by_place.items():
        base = [row for row in group if jobs.is_of(row, jobs.CHANNELS) and row["faces"] == "chosen"]
        for mpi in jobs.LAUNCHERS:
            mine = [row for row in group if jobs.is_of(row, jobs.Kind(mpi, shared))]
            if base and mine and base[0][key] > 0:
                found.append((where, base[0], min(mine, key=lambda row: row[key])))
    return found


def waits(kind, rows, cores):
    """{place: us that a rank waits until the other ranks on its processor have computed, even if an exchange takes no time}.
    Estimated from the computing time of ranks that have their own processor."""
    apart = {row["method"]: row["compute_us"] for row in rows if row["ranks"] == cores and jobs.is_of(row, jobs.CHANNELS)}
    found = {}
    for ranks, method in {(row["ranks"], row["method"]) for row in rows if row["ranks"] > cores and row["method"] in apart}:
        share = ranks / cores
        found[ranks, method] = (share - 1) * apart[method] / (share if kind == "strong" else 1)
    return found


def figures(folder):
    """(figure, text of a place, [(place, base, row)], waits()) of each file that exists, for more than one rank."""
    for kind, figure in scaling.FIGURES.items():
        path = os.path.join(folder, f"{kind}.jsonl")
        if os.path.exists(path):
            head, rows = jobs.read_lines(path)
            cores, found = head["machine"]["cores"], fastest_of_each(rows, "exchange_us", ("ranks", "method"))
            for name, chosen in (("a processor each", lambda ranks, cores=cores: 1 < ranks <= cores),
                                 ("sharing processors", lambda ranks, cores=cores: ranks > cores)):
                yield (f"{figure}, {name}", lambda where: f"{where[0]} ranks, {where[1].upper()}",
                       [one for one in found if chosen(one[0][0])], waits(kind, rows, cores))
    if os.path.exists(os.path.join(folder, parts.FILE)):
        _, rows = jobs.read_lines(os.path.join(folder, parts.FILE))
        yield ("5.7, 2 ranks", lambda where: f"{where[0]}³, {where[1].upper()}, cut across {where[2]}",
               fastest_of_each(rows, "exchange_us", ("side", "method", "axis")), {})


def section(folder):
    lines, below = [], []
    for figure, name_of, found, waiting in figures(folder):
        ratios = [row["exchange_us"] / base["exchange_us"] for _, base, row in found]
        missed = sum(ratio < TARGET for ratio in ratios)
        if found:
            lines.append((figure,
                          f"{len(found) - missed} of {len(found)} cases, least {min(ratios):.2f} ×",
                          f"**missed** at {missed}" if missed else "met"))
        for (where, base, row), ratio in zip(found, ratios):
            if ratio < TARGET:
                free = f"{row['exchange_us'] / waiting[where]:.2f} ×" if where in waiting else ""
                below.append((f"{figure.split(',')[0]}: {name_of(where)}", jobs.label_of(row), f"{ratio:.2f} ×", free,
                              parts_text(base) + changed_text(base), parts_text(row)))
    if not lines:
        return ""
    heads = (f"MPI's exchange ≥ {TARGET} × Sennit's", "here", "met or missed")
    text = f"## Targets, met and missed\n\n{table(heads, lines)}\n"
    if below:
        now = "; *now* is the\npresent choice of `ways.hpp`, where it differs" if any("; " in line[4] for line in below) else ""
        text += f"""
Each MPI is shown with its fastest scheme. On shared processors, in every program, nearly all of an exchange is the wait for other ranks that compute. *If free* is the
ratio if Sennit's exchange took only this wait, estimated from ranks with a processor each{now}. The misses in µs, with the parts of 5 % and more:

{table(("where", "", "here", "if free", "Sennit", "MPI"), below)}
"""
    return text


def changed_text(row):
    """For a row of figure 5.7: the way that the table has now, if it differs."""
    if "axis" not in row:
        return ""
    now = "packed" if ways.is_packed(ways.table()[row["axis"]], row["side"] ** 2) else "direct"
    return "" if now == row["way_" + row["axis"]] else f"; {row['way_' + row['axis']]}, now {now}"


def parts_text(row):
    some = ", ".join(f"{part} {text_of_us(row[part + '_us'])}" for part in jobs.PARTS if row[part + "_us"] > 0.05 * row["exchange_us"])
    return f"{text_of_us(row['exchange_us'])} ({some})"
