#!/usr/bin/env python3
"""Runs flow with MPI, with Sennit, and with Sennit pipelined in turn, and prints how long each part of a step takes.

    python3 apps/flow/compare.py --mpi openmpi,mpich --cells 64,64,64 --grid 2,1 --rounds 7 --steps 60 [--realtime] [--lines FILE]
    python3 apps/flow/compare.py --cluster tools/cluster --hosts 2 --rails 1 [--rate 400mbit] ...

Each rank has its own processor; ranks with several --threads are not bound. With --cluster each host has a share of the processors.
Times are microseconds of a step: the mean of all ranks' median steps in a run, and of that the median over the runs.
The last columns are MPI's time over Sennit's: the median of the ratios of consecutive runs, and in parentheses the least and the
most.
--lines adds a line of JSON for each run to a file. With --cluster the ranks are on hosts made of namespaces. If fields differ, the
program ends with an error.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "bench", "study"))
import runs  # noqa: E402  pylint: disable=wrong-import-position

PARTS = ("velocity_compute", "velocity_halo", "pressure_compute", "pressure_transpose", "pressure_tridiagonal", "pressure_halo",
         "communicate", "velocity_update", "pressure_solver", "step")
BIND = {"openmpi": ["--bind-to", "core"], "mpich": ["-bind-to", "core"]}
FREE = {"openmpi": ["--bind-to", "none"], "mpich": ["-bind-to", "none"]}
LIMIT_S = 60


class NoEnd(SystemExit):
    """A run took longer than LIMIT_S."""


def start_words(arguments, mpi, program):
    """The words that start the program; its options follow."""
    words = runs.launch_words(arguments, mpi, arguments.ranks, program)
    if words is None:
        sys.exit(f"{program} or the launcher of {mpi} is not there")
    if not arguments.cluster:
        before_n = words.index("-n")
        return [*words[:before_n], *(BIND[mpi] if arguments.threads == "1" else FREE[mpi]), *words[before_n:]]
    knobs = [f"SENNIT_PATHS={arguments.paths.replace('%', ';')}"] if arguments.paths else []
    knobs += [f"SENNIT_PROGRESS={arguments.progress}"] if arguments.progress else []
    # The MPIs count the hosts' slots as processors, so they do not see that ranks share a processor.
    knobs += [f"{name}={value}" for name, value in runs.yielding(arguments.ranks).items()]
    return runs.cluster_words(arguments, arguments.hosts, mpi, arguments.ranks, ["env", *knobs, words[-1]])


def run(arguments, mpi, program, way):
    options = ["--cells", arguments.cells, "--ranks-y", arguments.grid[0], "--ranks-z", arguments.grid[1], "--steps",
               str(arguments.steps), "--check-every", "1000000", "--time-step", arguments.time_step, "--no-output", "--quiet",
               "--json"]
    options += ["--threads", arguments.threads, "--pieces", arguments.pieces]
    if "pipelined" not in program:
        options += ["--transpose", way]
    lines = runs.run_words([*start_words(arguments, mpi, program), *options], LIMIT_S)
    if lines is None:
        raise NoEnd(f"{program}: no end after {LIMIT_S} s")
    found = json.loads(next(line for line in lines if line.startswith("{")))
    if arguments.lines:
        where = {"hosts": arguments.hosts, "rails": arguments.rails, "rate": arguments.rate} if arguments.cluster else {"hosts": 1}
        with open(arguments.lines, "a", encoding="utf-8") as file:
            file.write(json.dumps({"mpi": mpi, **where, **found}) + "\n")
    return found


def table(results, mpi, way):
    """Rows for people."""
    print(f"{mpi}, transpose {way}")
    print(f"  {'':<22}" + "".join(f"{subject:>12}" for subject in results) + "   MPI / Sennit          MPI / pipelined")
    for part in PARTS:
        values = {subject: [found[f"{part}_step_us_mean"] for found in rows] for subject, rows in results.items()}
        line = f"  {part:<22}" + "".join(f"{statistics.median(row):>12.1f}" for row in values.values())
        for subject in ("sennit", "pipelined"):
            if min(values[subject]) > 1:
                ratios = [a / b for a, b in zip(values["mpi"], values[subject])]
                line += f"   {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        print(line, flush=True)
    hashes = {found["field_hash"] for rows in results.values() for found in rows}
    if len(hashes) != 1:
        sys.exit(f"the fields differ: {hashes}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.path.join(runs.ROOT, "build", "bin"))
    parser.add_argument("--mpi", default="openmpi,mpich")
    parser.add_argument("--cells", default="64,64,64")
    parser.add_argument("--grid", default="2,1", help="ranks in y and z")
    parser.add_argument("--ways", default="packed/described", help="values of --transpose, of MPI and of Sennit: "
                        "packed/described,packed/packed")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--time-step", default="1e-3")
    parser.add_argument("--lines", help="file of JSON lines")
    parser.add_argument("--cluster", help="the tool tools/cluster")
    parser.add_argument("--hosts", type=int, default=2)
    parser.add_argument("--rails", type=int, default=1)
    parser.add_argument("--rate", help="rate of each rail and direction, such as 400mbit")
    parser.add_argument("--paths", help="with --cluster: the knob SENNIT_PATHS, with %% for ;")
    parser.add_argument("--progress", help="with --cluster: the knob SENNIT_PROGRESS")
    parser.add_argument("--threads", default="1", help="threads of each rank; with fewer processors set OMP_WAIT_POLICY=passive")
    parser.add_argument("--pieces", default="0", help="pieces of the pipeline; 0: chosen")
    parser.add_argument("--realtime", action="store_true", help="in the real-time class, away from other load of the machine")
    arguments = parser.parse_args()
    arguments.grid = arguments.grid.split(",")
    if arguments.cluster and subprocess.run([arguments.cluster, "check"], capture_output=True, check=False).returncode != 0:
        print("this system allows no hosts of namespaces")
        sys.exit(77)
    arguments.ranks = int(arguments.grid[0]) * int(arguments.grid[1])
    for mpi in arguments.mpi.split(","):
        for way in arguments.ways.split(","):
            programs = {"mpi": f"flow-{mpi}", "sennit": f"flow-sennit-{mpi}", "pipelined": f"flow-pipelined-{mpi}"}
            of_mpi, of_sennit = way.split("/")
            results = runs.in_turns(programs, arguments.rounds, lambda name: run(
                arguments, mpi, programs[name], of_mpi if name == "mpi" else of_sennit))
            table(results, mpi, way)


if __name__ == "__main__":
    main()
