"""The programs of p2p, the best way to start each, and comparing them in turn."""
import json
import os
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "..", "bench", "study"))
import runs  # noqa: E402  pylint: disable=wrong-import-position
from programs import Program as Subject, cores  # noqa: E402,F401  pylint: disable=wrong-import-position

OUT = os.path.join("zcom", "p2p")

# The suffix of the key of an MPI program that posts its receives ahead.
AHEAD = "-ahead"
SUBJECTS = {subject.key: subject for subject in (
    Subject("serial", "serial", "p2p-serial", alone=True),
    Subject("sennit-c", "Sennit, C", "p2p"),
    Subject("sennit-fortran", "Sennit, Fortran", "p2p-fortran"),
    Subject("openmp", "OpenMP", "p2p-openmp", alone=True),
    *(Subject(mpi, f"{runs.MPI_NAMES[mpi]}, send and receive", f"p2p-{mpi}", mpi) for mpi in runs.LAUNCHERS),
    *(Subject(mpi + AHEAD, f"{runs.MPI_NAMES[mpi]}, receives posted ahead", f"p2p-{mpi}", mpi) for mpi in runs.LAUNCHERS),
    *(Subject(f"shared-{mpi}", f"{runs.MPI_NAMES[mpi]}, shared window by hand", f"p2p-shared-{mpi}", mpi)
      for mpi in runs.LAUNCHERS))}
BASE = "sennit-c"


def options_of(subject, ranks):
    """Ranks that share processors should compute many lines in each turn."""
    if subject.key.endswith(AHEAD):
        return ["--way", "ahead"]
    return ["--behind", "48"] if subject.key.startswith("sennit") and ranks > cores() else []


def solve(subject, arguments, ranks, iterations, options):
    """The result of one run, or None if it took too long."""
    words = [*subject.words(arguments, ranks), *options, *options_of(subject, ranks), "--iterations", str(iterations)]
    lines = runs.run_words([*words, "--json"], arguments.limit, subject.environment(ranks))
    return None if lines is None else json.loads(lines[-1])


def choose_iterations(subject, arguments, ranks, options):
    """The number of sweeps that take about `--run-seconds`, from a short run; None if even that takes too long."""
    if arguments.iterations:
        return arguments.iterations
    pilot = solve(subject, arguments, ranks, 3, options)
    if pilot is None:
        return None
    return int(min(100000, max(3, arguments.run_seconds / (pilot["sweep_median_us"] * 1e-6))))


def compare(keys, arguments, ranks, size, group):
    """Runs the programs in turn, A B C A B C, and yields a record for each: medians over the rounds.

    A subject that has run for `--budget` seconds takes no more turns.
    """
    options = ["--columns", str(size), "--group", str(group)]
    found = {}
    for key in keys:
        subject = SUBJECTS[key]
        on = 1 if key == "serial" else ranks
        if subject.words(arguments, on) is not None:
            found[key] = (subject, on, choose_iterations(subject, arguments, on, options), [])
    for _ in range(arguments.rounds):
        for subject, on, iterations, results in found.values():
            spent_s = sum(row["time_s"] for row in results if row)
            if iterations is not None and None not in results and spent_s < arguments.budget:
                results.append(solve(subject, arguments, on, iterations, options))
    for key, (_, on, iterations, results) in found.items():
        record = {"key": key, "ranks": on, "size": size, "group": group, "iterations": iterations,
                  "rounds": len(results)}
        if iterations is None or None in results:
            yield {**record, "more_than_s": arguments.limit}
            continue
        rates = [row["median_rate_mflops"] for row in results]
        yield {**record, "subject": results[0]["subject"], "way": results[0]["way"],
               "rate": round(statistics.median(rates), 1), "rate_range": [round(min(rates), 1), round(max(rates), 1)],
               "mean_rate": round(statistics.median(row["rate_mflops"] for row in results), 1),
               "sweep_us": round(statistics.median(row["sweep_median_us"] for row in results), 3)}


def fill_of(ranks, size, group):
    """The fraction of time in which a rank works: the pipeline has as many steps as groups plus ranks behind the
    first, and each rank works in one step per group."""
    groups = -(-(size - 1) // group)
    return groups / (groups + ranks - 1)


def shares_of(rows):
    """{(key, size): rate / bound}, if each rank has its own processor."""
    serial = {row["size"]: row["rate"] for row in rows if row["key"] == "serial" and "rate" in row}
    return {(row["key"], row["size"]): row["rate"] / (row["ranks"] * serial[row["size"]] *
                                                      fill_of(row["ranks"], row["size"], row["group"]))
            for row in rows if "rate" in row and row["key"] != "serial" and row["size"] in serial}


def add_run_options(parser):
    parser.add_argument("--iterations", type=int, default=0, help="sweeps of a run (0: about --run-seconds)")
    parser.add_argument("--run-seconds", type=float, default=0.3, help="seconds that a run takes, without its start (0.3)")
    parser.add_argument("--limit", type=float, default=20, help="seconds after which a run is given up (20)")
    parser.add_argument("--budget", type=float, default=4, help="seconds of sweeps for one program and setting (4)")


def numbers(text):
    return [int(word) for word in text.split(",")]
