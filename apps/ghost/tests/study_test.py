"""Tests of the study's drivers, plots and page: python3 study_test.py TEST --bin FOLDER"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
STUDY = os.path.join(HERE, "..", "study")
sys.path.insert(0, os.path.join(HERE, "..", "..", "common", "tests"))
sys.path.insert(0, STUDY)
import harness  # noqa: E402  pylint: disable=wrong-import-position
import jobs  # noqa: E402  pylint: disable=wrong-import-position
import targets  # noqa: E402  pylint: disable=wrong-import-position
import ways  # noqa: E402  pylint: disable=wrong-import-position
from harness import need, test  # noqa: E402  pylint: disable=wrong-import-position

RESULTS = os.path.join(jobs.ROOT, "docs", "results", jobs.RESULTS)
FILES = {"weak.jsonl": "5.5", "strong.jsonl": "5.6", "parts.jsonl": "5.7", "ways.jsonl": ""}
FIGURES = ("figure-5.5.png", "figure-5.6.png", "figure-5.7.png", "ways.png")


@test
def the_table_of_ways_follows_the_measurements(arguments):
    """Breaks when ways.hpp chooses, for slabs of some size, the way that was measured to be slower by more than the spread."""
    del arguments
    path = os.path.join(RESULTS, ways.FILE)
    if not os.path.exists(path):
        raise harness.Skipped(f"{path} has not been measured")
    _, rows = jobs.read_lines(path)
    for axis, packed_range in ways.table().items():
        pairs = ways.pairs_of(rows, axis)
        need(len(pairs) == len(ways.SIDES), f"{axis}: {len(pairs)} sizes")
        wrong = ways.wrong_sizes(packed_range, pairs)
        need(not wrong, f"{axis}: packed {packed_range}, which is wrong for {wrong} cells; best is {ways.better_range(pairs)}")


def planted(step_us, exchange_us):
    """Rows of direct and packed by size: (direct, packed) of each. All times vary from round to round by as much as the ways
    differ. The two times of a round differ by 3 %, in alternating directions."""
    def row(cells, at, step, exchange):
        noise = [(1 + 0.2 * (3 * turn % 8)) * (1 + 0.03 * (turn % 2 == at)) for turn in range(8)]
        return {"axis": "x", "slab_cells": cells, "run": 1, "faces": ("direct", "packed")[at], "compute_us": 1,
                "step_us_rounds": [step * factor for factor in noise], "exchange_us_rounds": [exchange * factor for factor in noise]}
    return ways.pairs_of([row(side * side, at, steps[at], exchanges[at])
                          for side, steps, exchanges in zip((4, 8, 16, 32, 64, 128), step_us, exchange_us) for at in range(2)], "x")


@test
def a_wrong_table_of_ways_is_found(arguments):
    """Breaks when the comparison accepts a table that is worse at some size, or reports an error where there is no difference."""
    del arguments
    # The step decides: packed from 256 cells to 1024. The exchange says the reverse, and does not count.
    pairs = planted([(10, 11), (20, 22), (50, 40), (90, 80), (200, 260), (900, 990)], [(2, 1), (2, 1), (1, 2), (1, 2), (2, 1), (2, 1)])
    need(ways.better_range(pairs) == (256, 4096), f"{ways.better_range(pairs)}")
    for table, wrong in (((256, 4096), []), ((200, 1025), []), ((0, 0), [256, 1024]), ((256, None), [4096, 16384]),
                         ((1, None), [16, 64, 4096, 16384]), ((64, 4096), [64]), ((1024, 4096), [256]), ((256, 1024), [1024])):
        need(ways.wrong_sizes(table, pairs) == wrong, f"{table}: {ways.wrong_sizes(table, pairs)} in the place of {wrong}")
    # Steps within the spread: the exchange decides, except for 4096, where it is alike too.
    pairs = planted([(10, 10.1)] * 6, [(2, 1), (2, 1), (1, 2), (1, 2), (1, 1.01), (1, 2)])
    need(ways.better_range(pairs) == (16, 256), f"{ways.better_range(pairs)}")
    for table, wrong in (((1, 256), []), ((0, 0), [16, 64]), ((1, None), [256, 1024, 16384]), ((1, 1024), [256])):
        need(ways.wrong_sizes(table, pairs) == wrong, f"{table}: {ways.wrong_sizes(table, pairs)} in the place of {wrong}")
    # Two runs with opposite results decide nothing.
    reverse = [{"axis": "x", "slab_cells": cells, "run": run, "compute_us": 1, "faces": faces, **{
        key + "_rounds": [10.0 if (faces == "direct") == (run == 1) else 20.0] * 8 for key in ("step_us", "exchange_us")}}
               for cells in (16, 64) for run in (1, 2) for faces in ("direct", "packed")]
    for table in ((0, 0), (1, None)):
        need(ways.wrong_sizes(table, ways.pairs_of(reverse, "x")) == [], f"{table} is blamed for what runs do not agree in")
        need(ways.wrong_sizes(table, ways.pairs_of([row for row in reverse if row["run"] == 1], "x")) ==
             ([16, 64] if table[1] is None else []), f"{table}: one run alone")
    # Nothing differs: no table is wrong.
    pairs = planted([(10, 10.1)] * 6, [(1, 1.01)] * 6)
    need(all(ways.wrong_sizes(table, pairs) == [] for table in ((0, 0), (1, None), (64, 4096))), "a difference that is none")


@test
def wrong_fields_and_endless_runs_give_no_figures(arguments):
    """Breaks when a driver accepts a figure from programs that disagree, or waits forever for one."""
    keys = [f"{name}_step_median_us_{kind}" for name in ("exchange", "compute", *jobs.PARTS) for kind in ("mean", "max")]
    row = {"steps": 4, "loop_s": 1e-3, "subject": "x", "cells": [1], "ranks_grid": [1], "method": "svaf", "variables": 1,
           "stencil": 7, "way_x": "", "way_y": "", "way_z": "", **dict.fromkeys(keys, 1.0)}
    subjects = [jobs.Subject(None, False, "direct"), jobs.Subject(None, False, "packed")]
    with tempfile.TemporaryDirectory() as folder:
        arguments = argparse.Namespace(bin=folder, realtime=False, rounds=1, steps=4, limit=1, budget=9)

        def write(name, text):
            path = os.path.join(folder, name)
            with open(path, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\n" + text)
            os.chmod(path, 0o755)

        def answers(direct, packed):
            write("ghost", f"case $2 in direct) {direct};; packed) {packed};; esac\n")
        write("sennit", 'shift 3; exec "$@"\n')
        say = [f"echo '{json.dumps({**row, 'field_hash': digits})}'" for digits in "12"]
        answers(say[0], say[0])
        need(len(list(jobs.compare(subjects, 2, [], arguments))) == 2, "two ways that agree should both be there")
        answers(say[0], say[1])
        try:
            list(jobs.compare(subjects, 2, [], arguments))
        except SystemExit as stop:
            need("not all programs found the same field" in str(stop), str(stop))
        else:
            raise harness.Failed("different fields were taken")
        answers(say[0], "exec sleep 5")
        records = list(jobs.compare(subjects, 2, [], arguments))
        need(records[1].get("more_than_s") == 1 and records[0]["exchange_us"] == 1, f"{records}")


def check_rows(file, rows, there):
    need({row["mpi"] for row in rows} == there, f"{file}: {rows}")
    for row in rows:
        need(row["exchange_us"] > 0 and row["compute_us"] > 0 and row["steps"] == 3, f"{file}: {row}")
        need(row["ranks"] == 2 and sum(row[part + "_us"] for part in jobs.PARTS) > 0, f"{file}: {row}")


@test
def the_whole_study_runs_and_draws_its_figures(arguments):
    """Breaks when a driver, a plot or the page does not understand what a program writes."""
    there = {mpi for mpi in (None, *jobs.LAUNCHERS) if jobs.words_of(jobs.default_of(jobs.Kind(mpi)), 1, arguments)}
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run([sys.executable, os.path.join(STUDY, "all.py"), "--quick", "--bin", arguments.bin, "--out",
                              folder], capture_output=True, text=True, check=False, timeout=280)
        need(run.returncode == 0, f"all.py: {run.returncode}\n{run.stdout}{run.stderr}")
        for file, figure in FILES.items():
            head, rows = jobs.read_lines(os.path.join(folder, file))
            need(head["figure"] == figure and "python3 apps/ghost/study/" in head["command"], f"{file}: {head}")
            need(folder not in head["command"], f"{file}: {head}")
            check_rows(file, rows, {None} if file == ways.FILE else there)
            need(file == ways.FILE or any(jobs.is_of(row, jobs.NOTIFIED) for row in rows), f"{file}: no notified puts")
        with open(os.path.join(folder, "README.md"), encoding="utf-8") as file:
            page = file.read()
        for figure in FIGURES:
            need(f"({figure})" in page, f"{figure} is not on the page")
        if "the plots are left out" in run.stderr:
            raise harness.Skipped("everything but the plots was run: matplotlib is not there (Debian: python3-matplotlib)")
        for figure in FIGURES:
            with open(os.path.join(folder, figure), "rb") as file:
                head = file.read(24)
            need(head[:8] == b"\x89PNG\r\n\x1a\n", f"{figure} is no PNG")
            need(int.from_bytes(head[16:20], "big") >= 800, f"{figure} is too small to read")


@test
def the_page_lists_missed_targets(arguments):
    """Breaks when an exchange less than twice as fast counts as met, when a slower way of an MPI counts, or when a miss is not
    listed."""
    del arguments

    def row(ranks, mpi, faces, exchange_us):
        return {**jobs.Subject(mpi, False, faces)._asdict(), "ranks": ranks, "method": "svaf", "exchange_us": exchange_us, "compute_us": 0.3,
                **{part + "_us": exchange_us if part == "wait" else 0 for part in jobs.PARTS}}

    def lines(ours, theirs, datatype):
        rows = [row(ranks, *way) for ranks in (1, 2, 8) for way in
                ((None, "chosen", ours), ("openmpi", "packed", theirs), ("openmpi", "datatype", datatype))]
        with tempfile.TemporaryDirectory() as folder:
            jobs.write_lines(os.path.join(folder, "weak.jsonl"), [{"machine": {"cores": 2}}, *rows])
            text = targets.section(folder)
        return [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")][1:]
    met = lines(1, 2, 9)
    need([line[1:] for line in met] == [["1 of 1 cases, least 2.00 ×", "met"]] * 2, f"{met}")
    for theirs, datatype in ((1.98, 9), (9, 1.98)):
        missed = lines(1, theirs, datatype)
        need([line[1:] for line in missed[:2]] == [["0 of 1 cases, least 1.98 ×", "**missed** at 1"]] * 2, f"{missed}")
        need([line[0].rsplit(": ", 1)[1] for line in missed[3:]] == ["2 ranks, SVAF", "8 ranks, SVAF"], f"{missed}")
        need(all(line[2] == "1.98 ×" and line[5] == "1.98 (wait 1.98)" for line in missed[3:]), f"{missed}")
        # Four ranks on a processor: each waits while three others compute; with strong scaling each has a quarter of the work.
        need([line[3] for line in missed[3:]] == ["", "2.20 ×"], f"{missed}")
    strong = targets.waits("strong", [row(ranks, None, "chosen", 1) for ranks in (1, 2, 8)], 2)
    need(abs(strong.pop((8, "svaf")) - 3 * 0.3 / 4) < 1e-9 and not strong, f"{strong}")
    # Measured before the table was changed.
    for axis, packed_range in ways.table().items():
        now, before = ("packed", "direct") if ways.is_packed(packed_range, 24 * 24) else ("direct", "packed")
        for way, expected in ((now, ""), (before, f"; {before}, now {now}")):
            found = targets.changed_text({"axis": axis, "side": 24, "way_" + axis: way})
            need(found == expected, f"{axis}, {way}: '{found}'")


@test
def the_results_page_matches_its_files(arguments):
    """Breaks when the page was edited by hand, or was not written again after a measurement."""
    del arguments
    if not os.path.exists(os.path.join(RESULTS, "README.md")):
        raise harness.Skipped("nothing has been measured")
    run = subprocess.run([sys.executable, os.path.join(STUDY, "page.py"), "--check"], capture_output=True, text=True,
                         check=False)
    need(run.returncode == 0, run.stdout + run.stderr)


if __name__ == "__main__":
    sys.exit(harness.main())
