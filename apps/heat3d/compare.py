#!/usr/bin/env python3
"""Times heat3d with Sennit and with every MPI it was built for, in turn: A B C A B C ...

    python3 apps/heat3d/compare.py [--bin build/bin] [--ranks 2,4] [--size 64,64,64] [--rounds 7] [option of heat3d ...]

Prints, for each number of ranks and size, medians over the rounds: of the median step the longest computing and the
shortest exchange of all ranks, each with its ratio to the first program; and the mean whole step.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys

ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1"}
COLUMNS = (("computing", "compute_step_median_us_max"), ("exchange", "exchange_step_median_us_min"),
           ("exchange+sync", "communicate_step_median_us_min"))


def contenders(folder, ways):
    """{subject: words before the options, for n ranks}"""
    heat3d = os.path.join(folder, "heat3d")
    found = {}
    for way in ways["sennit"]:
        found[f"sennit {way}"] = lambda n, way=way: [os.path.join(folder, "sennit"), "run", "-n", n, heat3d,
                                                     "--layers", way]
    for way in ways["notified"]:
        found[f"notified {way}"] = lambda n, way=way: [os.path.join(folder, "sennit"), "run", "-n", n,
                                                       f"{heat3d}-notified", "--layers", way]
    for mpi, names in (("openmpi", ("mpirun.openmpi", "mpirun")), ("mpich", ("mpiexec.hydra", "mpiexec.mpich"))):
        launcher = next(filter(None, map(shutil.which, names)), None)
        if launcher and os.path.exists(f"{heat3d}-{mpi}"):
            for way in ways["mpi"]:
                found[f"{mpi} {way}"] = lambda n, launcher=launcher, mpi=mpi, way=way: [
                    launcher, "-n", n, f"{heat3d}-{mpi}", "--layers", way]
    return found


def measure(found, ranks, size, arguments, options):
    results = {subject: [] for subject in found}
    for _ in range(arguments.rounds):
        for subject, command in found.items():
            words = [*command(ranks), "--size", size, "--max-steps", str(arguments.steps), "--no-output", "--quiet",
                     "--json", *options]
            run = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                                 timeout=arguments.limit, env=ENVIRONMENT)
            if run.returncode != 0:
                sys.exit(f"{' '.join(words)}: exit status {run.returncode}\n{run.stderr}")
            results[subject].append(json.loads(run.stdout.splitlines()[-1]))
    print(f"{ranks} ranks, {size} cells, {arguments.rounds} rounds of {arguments.steps} steps")
    print(f"  {'us a step':<18}" + "".join(f"{name:>16}{'ratio':>8}" for name, _ in COLUMNS) + f"{'whole step':>14}")
    base = {}
    for subject, rows in results.items():
        line = f"  {subject:<18}"
        for name, key in COLUMNS:
            value = statistics.median(row[key] for row in rows)
            base.setdefault(name, value)
            line += f"{value:>16.2f}{value / base[name] if base[name] > 0 else float('nan'):>8.2f}"
        whole = statistics.median(row["loop_s"] / row["steps"] * 1e6 for row in rows)
        print(line + f"{whole:>14.1f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description="heat3d with Sennit and with MPI, in turn")
    parser.add_argument("--bin", default="build/bin")
    parser.add_argument("--ranks", default="2,4", help="numbers of ranks")
    parser.add_argument("--size", action="append", help="cells X,Y,Z; may be repeated")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--limit", type=float, default=120, help="seconds for one run")
    parser.add_argument("--sennit", default="copy", help="values of --layers for Sennit, with commas")
    parser.add_argument("--notified", default="", help="the same for heat3d-notified (none)")
    parser.add_argument("--mpi", default="datatype", help="values of --layers for MPI, with commas")
    arguments, options = parser.parse_known_args()
    found = contenders(arguments.bin, {key: [way for way in getattr(arguments, key).split(",") if way]
                                       for key in ("sennit", "notified", "mpi")})
    for size in arguments.size or ["64,64,64"]:
        for ranks in arguments.ranks.split(","):
            measure(found, ranks, size, arguments, options)


if __name__ == "__main__":
    main()
