"""The code that the drivers of the study share: the compared ways, and starting them in turn."""
import json
import os
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "..", "bench", "study"))
import runs  # noqa: E402  pylint: disable=wrong-import-position
from runs import (LAUNCHERS, MPI_NAMES, ROOT, command_line, head_of, read_lines,  # noqa: E402,F401  pylint: disable=C0413,W0611
                  run_words, write_lines)

HEAT3D = os.path.join(ROOT, "apps", "heat3d")

# The files that contain a way of communication, for counting lines; files that all programs share are not listed.
SENNIT_FILES = ("variants/sennit_faces.hpp", "variants/sennit_faces.cpp")
MPI_FILES = ("../common/mpi_ranks.hpp", "mpi_ranks.hpp", "mpi_ranks.cpp", "variants/mpi_faces.hpp", "variants/mpi_faces.cpp")
FLAT_FILES = (*MPI_FILES, "variants/rma_flat.hpp", "variants/rma_flat.cpp")
WAYS = {
    "blocking": ("Sennit, blocking", (*SENNIT_FILES, "variants/sennit_blocking.cpp")),
    "nonblocking": ("Sennit, non-blocking", (*SENNIT_FILES, "variants/sennit_nonblocking.cpp")),
    "rma-blocking": ("flat MPI RMA, blocking", (*FLAT_FILES, "variants/rma_blocking.cpp")),
    "rma-nonblocking": ("flat MPI RMA, non-blocking", (*FLAT_FILES, "variants/rma_nonblocking.cpp")),
    "rma-shared": ("MPI RMA, locality by hand", (*MPI_FILES, "variants/rma_shared.cpp")),
    "pointers": ("Sennit, plain pointers", ("heat3d_sennit.cpp",)),
    "notified": ("Sennit, notified puts", ("../common/sennit_ranks.hpp", "../common/sennit_ranks.cpp",
                                           "variants/sennit_notified.cpp")),
    "sendrecv": ("MPI send and receive", ("../common/mpi_ranks.hpp", "mpi_ranks.hpp", "mpi_ranks.cpp", "heat3d_mpi.cpp")),
}
BASES = ("blocking", "nonblocking")  # ratios are relative to these
# The parts of a step, from the report of a run. Computing and exchange do not wait for others (except exchange by send and
# receive); synchronisation waits least in the rank that arrives last.
PARTS = {"compute_us": "compute_step_median_us_max", "exchange_us": "exchange_step_median_us_mean",
         "synchronise_us": "synchronise_step_median_us_min", "halo_us": "communicate_step_median_us_min"}


def lines_of_code():
    """{way: lines}, counted by tools/count-lines."""
    return runs.lines_of_code({way: [os.path.join(HEAT3D, file) for file in files] for way, (_, files) in WAYS.items()})


class Subject:
    """One program with one way to fetch layers, for one MPI or for none."""

    def __init__(self, way, layers, mpi=None):
        self.way, self.layers, self.mpi = way, layers, mpi

    @property
    def program(self):
        if self.mpi is None:
            return "heat3d" if self.way == "pointers" else f"heat3d-{self.way}"
        return f"heat3d-{self.mpi}" if self.way == "sendrecv" else f"heat3d-{self.way}-{self.mpi}"

    @property
    def window(self):
        """The kind of memory under the window of a flat variant, else None."""
        if self.way not in ("rma-blocking", "rma-nonblocking"):
            return None
        return "MPI's memory" if self.layers.endswith("-allocated") else "own memory"

    def describe(self):
        return {"way": self.way, "mpi": self.mpi, "layers": self.layers, "window": self.window}

    def command(self, arguments, ranks):
        """The words that start it, or None if it or its launcher is missing."""
        words = runs.launch_words(arguments, self.mpi, ranks, self.program)
        return None if words is None else [*words, "--layers", self.layers]


def solve(words, steps, options, limit_s):
    lines = run_words([*words, *options, "--max-steps", str(steps), "--check-every", str(steps), "--no-output",
                       "--quiet", "--json"], limit_s)
    return None if lines is None else json.loads(lines[-1])


def choose_steps(words, options, arguments):
    """The number of steps that take about `--run-seconds`, from a short run; None if even that takes too long."""
    if arguments.steps:
        return arguments.steps
    pilot = solve(words, 3, options, arguments.limit)
    if pilot is None:
        return None
    return int(min(2000, max(3, arguments.run_seconds * 3 / pilot["loop_s"])))


def compare(subjects, ranks, options, arguments):
    """Runs all of them in turn, A B C A B C, and yields a record for each: medians over the rounds of each part.

    A subject that has run for `--budget` seconds takes no more turns.
    """
    starts = {}
    for subject in subjects:
        words = subject.command(arguments, ranks)
        if words is not None:
            starts[subject] = (words, choose_steps(words, options, arguments))

    def run(subject):
        words, steps = starts[subject]
        return None if steps is None else solve(words, steps, options, arguments.limit)

    found = runs.in_turns(starts, arguments.rounds, run,
                          lambda results: sum(row["loop_s"] for row in results) >= arguments.budget)
    hashes = {(row["steps"], row["field_hash"]) for results in found.values() for row in results if row}
    if len(hashes) != len({steps for steps, _ in hashes}):
        sys.exit(f"{ranks} ranks: not all programs found the same field: {sorted(hashes)}")
    for subject, results in found.items():
        steps = starts[subject][1]
        record = {**subject.describe(), "ranks": ranks, "steps": steps, "rounds": len(results)}
        if None in results:
            yield {**record, "more_than_s": arguments.limit}
            continue
        record.update(subject=results[0]["subject"], cells=results[0]["cells"], ranks_grid=results[0]["ranks_grid"])
        for name, key in PARTS.items():
            record.update(runs.middle_of(results, name, key))
        record["step_us"] = statistics.median(row["loop_s"] / row["steps"] * 1e6 for row in results)
        yield record


def parser_of(text, rounds):
    """The options that all drivers have."""
    return runs.parser_of(text, "heat3d", rounds)


def add_run_options(parser, ranks):
    parser.add_argument("--ranks", default=ranks, help=f"numbers of ranks ({ranks})")
    parser.add_argument("--steps", type=int, default=0, help="steps of a run (0: about --run-seconds)")
    parser.add_argument("--run-seconds", type=float, default=0.5, help="seconds that a run takes, without its start (0.5)")
    parser.add_argument("--limit", type=float, default=30, help="seconds after which a run is given up (30)")
    parser.add_argument("--budget", type=float, default=5, help="seconds of steps for one program and setting (5)")
