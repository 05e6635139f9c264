"""Tests of the study's programs and drivers: python3 study_test.py TEST --bin FOLDER

TEST is the name of one of the functions below that is marked with @test; ctest calls one at a time.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
STUDY = os.path.join(HERE, "..", "study")
sys.path[:0] = [STUDY, os.path.join(HERE, "..", "..", "common", "tests")]
import harness  # noqa: E402  pylint: disable=wrong-import-position
import jobs  # noqa: E402  pylint: disable=wrong-import-position
import scaling  # noqa: E402  pylint: disable=wrong-import-position
import versions  # noqa: E402  pylint: disable=wrong-import-position
from harness import RUN_LIMIT_S, Failed, Skipped, need, test  # noqa: E402  pylint: disable=wrong-import-position

UNEVEN = ["--size", "13,11,17", "--length", "1,0.8,1.3", "--west", "80", "--up", "-30", "--north", "insulated",
          "--initial", "7"]
GRIDS = (("2,1,1", 2), ("1,2,1", 2), ("1,1,2", 2), ("2,2,1", 4), ("1,2,3", 6), ("2,2,2", 8))
FLAT_LAYERS = ("pieces", "whole", "pieces-allocated", "whole-allocated")


def every_subject():
    """Every program of the study with every way to fetch layers."""
    found = [jobs.Subject(way, layers) for way in ("blocking", "nonblocking") for layers in ("pieces", "whole")]
    found += [jobs.Subject("notified", layers) for layers in ("plan", "packed")]
    for mpi in jobs.LAUNCHERS:
        found += [jobs.Subject(f"rma-{kind}", layers, mpi) for kind in ("blocking", "nonblocking")
                  for layers in FLAT_LAYERS]
        found += [jobs.Subject("rma-shared", layers, mpi) for layers in ("pieces", "whole", "pieces-far", "whole-far")]
        found += [jobs.Subject("sendrecv", layers, mpi) for layers in ("cells", "datatype", "packed")]
    return found


def hash_of(subject, arguments, grid, ranks, options):
    words = subject.command(arguments, ranks)
    if words is None:
        return None
    row = jobs.solve([*words, "--ranks-grid", grid], 12, options, RUN_LIMIT_S)
    need(row is not None, f"{' '.join(words)}: still running after {RUN_LIMIT_S} s")
    return row["field_hash"], row["residual"]


def compare_fields(arguments, cases, options):
    """`cases`: (subject, grid, ranks). All must give the field of a single rank; subjects of a missing MPI are skipped."""
    expected = hash_of(jobs.Subject("blocking", "pieces"), arguments, "1,1,1", 1, options)
    need(expected is not None, f"heat3d-blocking or sennit is not in {arguments.bin}")
    for subject, grid, ranks in cases:
        found = hash_of(subject, arguments, grid, ranks, options)
        left_out = found is None and subject.mpi is not None and subject.mpi not in arguments.launchers.split(",")
        need(left_out or found == expected, f"{subject.program} {subject.layers}, ranks {grid}: {found}, not {expected}")


@test
def every_variant_gives_the_same_field(arguments):
    """Breaks when a stride, an offset or a datatype of one variant is wrong, or a get is read before it is complete. The
    cut along x, y or z changes from one subject to the next."""
    cases = [(subject, *GRIDS[turn % 3]) for turn, subject in enumerate(every_subject())]
    compare_fields(arguments, cases, UNEVEN)


@test
def every_variant_gives_the_same_field_on_every_grid(arguments):
    """Breaks for the same reasons as the test before, with each cut and up to 8 ranks, which wait for processors, so
    that the timing varies. With MPI such runs take a second each, so a subject with MPI runs only one of the large
    grids."""
    cases = [(subject, grid, ranks) for turn, subject in enumerate(every_subject())
             for grid, ranks in (GRIDS if subject.mpi is None else [*GRIDS[:3], GRIDS[3 + turn % 3]])]
    compare_fields(arguments, cases, [*UNEVEN, "--diffusivity-slope", "0.005"])


@test
def the_library_saves_90_lines_of_manual_locality(arguments):
    """Breaks when the comparison of figure 12 no longer matches the page: the same work in at least 90 lines less, every
    file of a variant counted, and no other file."""
    del arguments
    lines = jobs.lines_of_code()
    need(lines["rma-shared"] - lines["blocking"] >= 90, f"{lines}")
    need(lines["rma-blocking"] > lines["blocking"] > 50, f"{lines}")
    counted = {file for _, files in jobs.WAYS.values() for file in files}
    written = {f"variants/{file}" for file in os.listdir(os.path.join(jobs.HEAT3D, "variants"))}
    shared = {"variants/faces.hpp", "variants/faces.cpp"}
    need(written - shared <= counted, f"not counted: {sorted(written - shared - counted)}")


@test
def the_line_counts_on_the_page_match_the_files(arguments):
    """Breaks when a variant was changed or added, and the page still has the earlier counts."""
    del arguments
    recorded = versions.recorded_lines(os.path.join(jobs.ROOT, "docs", "results", "heat3d"))
    counted = jobs.lines_of_code()
    need(recorded == counted, f"recorded {recorded}\ncounted {counted}\npython3 apps/heat3d/study/versions.py --lines "
         "counts anew, page.py writes the page")


@test
def ranks_are_laid_out_along_the_axes_of_the_paper(arguments):
    """Breaks when a rank has more or fewer cells than the paper's 32768, or long rows are cut."""
    del arguments
    for ranks in range(1, 9):
        for kind, along_x in (("blocking", None), ("nonblocking", 1)):
            grid = scaling.grid_of(kind, ranks)
            need(grid[0] * grid[1] * grid[2] == ranks, f"{kind}, {ranks}: {grid}")
            need(along_x in (None, grid[0]), f"{kind}, {ranks}: {grid}")
            size = [int(word) for word in scaling.options_of(kind, ranks)[1].split(",")]
            need(size[0] * size[1] * size[2] == 32768 * ranks, f"{kind}, {ranks}: {size}")
    need(scaling.grid_of("blocking", 8) == [2, 2, 2], "8 ranks should cut every axis")


def check_files(folder):
    """Checks the files of the drivers: heads, a row for every program that exists, plausible times."""
    expected = {"overhead.jsonl": "6", "scaling-blocking.jsonl": "8, 9", "scaling-nonblocking.jsonl": "10, 11",
                "versions.jsonl": "12"}
    for file, figure in expected.items():
        head, rows = jobs.read_lines(os.path.join(folder, file))
        need(head["figure"] == figure and "python3 apps/heat3d/study/" in head["command"], f"{file}: {head}")
        need(folder not in head["command"] and head["machine"]["cores"] >= 1, f"{file}: {head}")
        need(rows, f"{file}: nothing was measured")
        for row in rows:
            if file == "overhead.jsonl":
                need(0 < row["window_ns"] < 1e9 and 0 < row["sennit_ns"] < 1e9, f"{file}: {row}")
                low, middle, high = row["over_window_ns"]
                need(low <= middle <= high, f"{file}: {row}")
            elif "ranks" in row:
                need(row["exchange_us"] > 0 and row["compute_us"] > 0 and row["halo_us"] > 0, f"{file}: {row}")
                need(row["steps"] == 5 and row["ranks"] == 2, f"{file}: {row}")
    sizes = {row["bytes"] for row in jobs.read_lines(os.path.join(folder, "overhead.jsonl"))[1]}
    need(sizes == {1 << power for power in range(21)}, f"overhead.jsonl: sizes {sorted(sizes)}")


@test
def the_whole_study_runs_and_draws_its_figures(arguments):
    """Breaks when a driver, a plot or the page does not understand what a program writes."""
    if not any(os.path.exists(os.path.join(arguments.bin, f"heat3d-overhead-{mpi}")) for mpi in jobs.LAUNCHERS):
        raise Skipped("the study compares with an MPI, and none is there")
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run([sys.executable, os.path.join(STUDY, "all.py"), "--quick", "--bin", arguments.bin, "--out",
                              folder], capture_output=True, text=True, check=False, timeout=180)
        need(run.returncode == 0, f"all.py: {run.returncode}\n{run.stdout}{run.stderr}")
        check_files(folder)
        with open(os.path.join(folder, "README.md"), encoding="utf-8") as file:
            page = file.read()
        for figure in (6, 8, 9, 10, 11, 12):
            need(f"(figure-{figure}.png)" in page, f"figure {figure} is not on the page")
        if "the plots are left out" in run.stderr:
            raise Skipped("everything but the plots was run: matplotlib is not there (Debian: python3-matplotlib)")
        for figure in (6, 8, 9, 10, 11, 12):
            with open(os.path.join(folder, f"figure-{figure}.png"), "rb") as file:
                head = file.read(24)
            need(head[:8] == b"\x89PNG\r\n\x1a\n", f"figure {figure} is no PNG")
            need(int.from_bytes(head[16:20], "big") >= 800, f"figure {figure} is too small to read")


@test
def the_results_page_matches_its_files(arguments):
    """Breaks when the page was edited by hand, or was not written again after a measurement."""
    del arguments
    run = subprocess.run([sys.executable, os.path.join(STUDY, "page.py"), "--check"], capture_output=True, text=True,
                         check=False)
    need(run.returncode == 0, run.stdout + run.stderr)


@test
def wrong_fields_and_endless_runs_give_no_figures(arguments):
    """Breaks when a driver accepts a figure from programs that disagree, or waits forever for one."""
    row = {"steps": 4, "residual": 0, "loop_s": 1e-3, "subject": "x", "cells": [1], "ranks_grid": [1],
           **{key: 1.0 for key in jobs.PARTS.values()}}
    with tempfile.TemporaryDirectory() as folder:
        arguments = argparse.Namespace(bin=folder, realtime=False, rounds=1, steps=4, limit=1, budget=9)

        def write(name, text):
            path = os.path.join(folder, name)
            with open(path, "w", encoding="utf-8") as file:
                file.write("#!/bin/sh\n" + text)
            os.chmod(path, 0o755)
        write("sennit", 'shift 3; exec "$@"\n')
        subjects = [jobs.Subject("blocking", "pieces"), jobs.Subject("nonblocking", "pieces")]
        for subject, digits in zip(subjects, ("1", "1")):
            write(subject.program, "echo '" + json.dumps({**row, "field_hash": digits}) + "'\n")
        need(len(list(jobs.compare(subjects, 2, [], arguments))) == 2, "two programs that agree should both be there")
        write("heat3d-nonblocking", "echo '" + json.dumps({**row, "field_hash": "2"}) + "'\n")
        try:
            list(jobs.compare(subjects, 2, [], arguments))
        except SystemExit as stop:
            need("not all programs found the same field" in str(stop), str(stop))
        else:
            raise Failed("different fields were taken")
        write("heat3d-nonblocking", "exec sleep 5\n")
        records = list(jobs.compare(subjects, 2, [], arguments))
        need(records[1].get("more_than_s") == 1 and "halo_us" in records[0], f"{records}")


if __name__ == "__main__":
    sys.exit(harness.main())
