"""The measurements for the page of results: each file is a list of groups; the subjects of a group run in turn.

page.py --measure calls write(). A row is one run: its settings, and for each part the mean of all ranks' median steps.
"""
import argparse
import os

import compare
import runs

FOLDER = os.path.join(runs.ROOT, "docs", "results", "flow")
MPIS = ("openmpi", "mpich")
KINDS = ("mpi", "sennit", "pipelined")
PROGRESS = ("on", "off", "on,interval=5", "on,interval=500", "on,interval=5000")
LEVELS = (0, 8, 16, 32, 64)
STEPS = {32: 200, 64: 60, 96: 30}
NETWORKS = ((1, None), (1, "2gbit"), (1, "500mbit"))
TWO_RAILS = ((2, "1gbit"), (2, None))
FOUR_HOSTS = ((1, "2gbit"), (1, None), (2, "1gbit"), (2, None))
SETTINGS = {"mpi": "openmpi", "hosts": 1, "rails": 1, "rate": None, "cells": 64, "ranks_y": 2, "ranks_z": 1, "threads": 1, "progress": None,
            "level": None}


def every_kind(**settings):
    return [{**SETTINGS, **settings, "kind": kind} for kind in KINDS]


def between_hosts(networks, grids=((2, 1), (1, 2))):
    return [every_kind(mpi=mpi, hosts=y * z, rails=rails, rate=rate, ranks_y=y, ranks_z=z)
            for rails, rate in networks for y, z in grids if rate != "500mbit" or y == 2 for mpi in MPIS]


def knob_group(name, values):
    """MPI, and both programs with Sennit for each value of a knob, between two hosts."""
    here = {**SETTINGS, "hosts": 2, "rate": "2gbit"}
    return [[{**here, "kind": "mpi"}, *({**here, name: value, "kind": kind} for value in values for kind in KINDS[1:])]]


def ranks_groups():
    groups = []
    for cells in (64, 96):
        for mpi in MPIS:
            groups += [every_kind(mpi=mpi, cells=cells, ranks_y=1), every_kind(mpi=mpi, cells=cells),
                       every_kind(mpi=mpi, cells=cells, hosts=2, rate="2gbit")]
        groups.append(every_kind(cells=cells, hosts=4, rate="2gbit", ranks_z=2))
    return [*groups, every_kind(ranks_y=1, threads=2)]


FILES = {
    "node": (7, [every_kind(mpi=mpi, cells=cells, ranks_y=y, ranks_z=z)
                 for cells in (64, 32) for y, z in ((2, 1), (1, 2)) for mpi in MPIS]),
    "hosts": (7, between_hosts(NETWORKS)),
    "rails": (7, between_hosts(TWO_RAILS)),
    "four": (7, between_hosts(FOUR_HOSTS, ((2, 2),))),
    "progress": (5, knob_group("progress", PROGRESS)),
    "levels": (5, knob_group("level", (None, *LEVELS))),
    "scaling": (3, ranks_groups()),
}


def measure(subject, folder_of_programs, realtime):
    """The row of one run, or None if it did not end."""
    level = None if subject["level"] is None else f"self,mapped,fabric:eager=0%events={subject['level']}"
    arguments = argparse.Namespace(
        bin=folder_of_programs, cluster=os.path.join(runs.ROOT, "tools", "cluster") if subject["hosts"] > 1 else None, paths=level,
        grid=[str(subject["ranks_y"]), str(subject["ranks_z"])], ranks=subject["ranks_y"] * subject["ranks_z"], realtime=realtime,
        cells=",".join([str(subject["cells"])] * 3), steps=STEPS[subject["cells"]], time_step="1e-3", threads=str(subject["threads"]),
        pieces="0", lines=None, **{key: subject[key] for key in ("hosts", "rails", "rate", "progress")})
    program = {"mpi": "flow-", "sennit": "flow-sennit-", "pipelined": "flow-pipelined-"}[subject["kind"]] + subject["mpi"]
    try:
        found = compare.run(arguments, subject["mpi"], program, "packed" if subject["kind"] == "mpi" else "described")
    except compare.NoEnd:
        return None
    return {**subject, "subject": found["subject"], "hash": found["field_hash"], **{part: found[f"{part}_step_us_mean"] for part in compare.PARTS}}


def rows_of(name, rounds, folder_of_programs, command):
    realtime = name == "node"  # tools/cluster gives each host its own share of the processors
    yield {**runs.head_of(name, command, realtime), "rounds": rounds}
    for group in FILES[name][1]:
        results = runs.in_turns(range(len(group)), rounds, lambda number, group=group: measure(group[number], folder_of_programs, realtime))
        if any(None in rows for rows in results.values()):
            yield {**group[0], "left_out": True}
            continue
        found = [{**row, "round": number} for rows in results.values() for number, row in enumerate(rows)]
        if len({row["hash"] for row in found}) != 1:
            raise SystemExit(f"{name}: the fields differ: {found}")
        yield from found


def write(names, rounds, folder_of_programs):
    for name in FILES if names == ["all"] else names:
        command = f"python3 apps/flow/page.py --measure {name}" + (f" --rounds {rounds}" if rounds else "")
        runs.write_lines(os.path.join(FOLDER, name + ".jsonl"), rows_of(name, rounds or FILES[name][0], folder_of_programs, command))
        print(name, flush=True)
