"""The code that the drivers of the study share: the compared programs, and running them in turn."""
import collections
import json
import os
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "..", "bench", "study"))
import runs  # noqa: E402  pylint: disable=wrong-import-position
from runs import LAUNCHERS, MPI_NAMES, ROOT, command_line, head_of, read_lines, write_lines  # noqa: E402,F401  pylint: disable=C0413,W0611

RESULTS = os.path.join("zcom", "ghost")
AXES = "xyz"
METHODS = {"svaf": "one variable in an exchange (SVAF)", "bspma": "all variables in an exchange (BSPMA)"}
PARTS = ("pack", "send", "wait", "receive", "unpack")
# A program: the MPI, or None for Sennit; whether it uses MPI's shared memory; whether it uses Sennit's notified puts and not
# channels.
Kind = collections.namedtuple("Kind", "mpi shared notified", defaults=(False, False))
CHANNELS, NOTIFIED = Kind(None), Kind(None, notified=True)
# Ways to exchange slabs, the default first.
FACES = {CHANNELS: ("chosen", "direct", "packed"),
         NOTIFIED: ("chosen", "direct", "packed"),
         **{Kind(mpi): ("packed", "datatype", "isend") for mpi in LAUNCHERS},
         **{Kind(mpi, True): ("chosen", "direct", "packed") for mpi in LAUNCHERS}}

# By default the kernel copies an MPI's long messages once. These settings make the MPI copy twice, through shared memory, which is
# faster for some sizes.
NO_KERNEL = {"openmpi": {"OMPI_MCA_btl_vader_single_copy_mechanism": "none"}, "mpich": {"UCX_TLS": "posix,self"}}

# One program with one way to exchange slabs; `tuned` is with NO_KERNEL.
Subject = collections.namedtuple("Subject", "mpi shared faces tuned notified", defaults=(False, False))


def default_of(kind):
    return Subject(kind.mpi, kind.shared, FACES[kind][0], notified=kind.notified)


def program_of(mpi, shared, notified):
    if mpi is None:
        return "ghost-notified" if notified else "ghost"
    return f"ghost-shared-{mpi}" if shared else f"ghost-{mpi}"


def is_of(row, kind):
    """Whether a row of a file is of that kind of program; older files do not have the key of notified puts."""
    return (row["mpi"], row["shared"], row.get("notified", False)) == kind


def program_name(row):
    name = "Sennit" if row["mpi"] is None else MPI_NAMES[row["mpi"]] + (", shared by hand" if row["shared"] else "")
    return name + (", notified" if is_of(row, NOTIFIED) else "")


def label_of(row):
    name = program_name(row)
    return name if row["faces"] == "chosen" else f"{name}, {row['faces']}" + (", two copies" if row["tuned"] else "")


def words_of(subject, ranks, arguments):
    """The words that start it, or None if it or its launcher is missing."""
    words = runs.launch_words(arguments, subject.mpi, ranks, program_of(subject.mpi, subject.shared, subject.notified))
    return None if words is None else [*words, "--faces", subject.faces]


def environment_of(subject):
    return NO_KERNEL[subject.mpi] if subject.tuned else None


def solve(words, steps, options, limit_s, environment=None):
    lines = runs.run_words([*words, *options, "--steps", str(steps), "--sum-every", str(steps), "--json"], limit_s,
                           environment)
    return None if lines is None else json.loads(lines[-1])


def choose_steps(words, options, arguments):
    """The number of steps that take about `--run-seconds`, from a short run; None if even that takes too long."""
    if arguments.steps:
        return arguments.steps
    pilot = solve(words, 3, options, arguments.limit)
    return None if pilot is None else int(min(2000, max(5, arguments.run_seconds * 3 / pilot["loop_s"])))


def record_of(results):
    """Medians over the rounds. Of a step: `exchange` and its parts are the mean over ranks of each rank's median step; `compute`
    is the slowest rank's; step_us is the whole step."""
    first = results[0]
    record = {key: first[key] for key in ("subject", "cells", "ranks_grid", "method", "variables", "stencil", "way_x",
                                          "way_y", "way_z")}
    record.update(runs.middle_of(results, "exchange_us", "exchange_step_median_us_mean"))
    record.update(runs.middle_of(results, "compute_us", "compute_step_median_us_max"))
    for part in PARTS:
        record[part + "_us"] = statistics.median(row[part + "_step_median_us_mean"] for row in results)
    record["both_us"] = record["exchange_us"] + record["compute_us"]
    rounds = {"step_us": [row["loop_s"] / row["steps"] * 1e6 for row in results],
              "exchange_us": [row["exchange_step_median_us_mean"] for row in results]}
    record["step_us"] = statistics.median(rounds["step_us"])
    for key, values in rounds.items():
        record[key + "_rounds"] = [round(value, 3) for value in values]
    return record


def compare(subjects, ranks, options, arguments):
    """Runs all of them in turn and yields a record for each. All must find the same field, or the driver ends. A subject that
    has run for `--budget` seconds takes no more turns."""
    starts = {}
    for subject in subjects:
        words = words_of(subject, ranks, arguments)
        if words is not None:
            starts[subject] = (words, choose_steps(words, options, arguments))

    def run(subject):
        words, steps = starts[subject]
        if steps is None:
            return None
        return solve(words, steps, options, arguments.limit, environment_of(subject))

    found = runs.in_turns(starts, arguments.rounds, run,
                          lambda results: sum(row["loop_s"] for row in results) >= arguments.budget)
    hashes = {(row["steps"], row["field_hash"]) for results in found.values() for row in results if row}
    if len(hashes) != len({steps for steps, _ in hashes}):
        sys.exit(f"{ranks} ranks, {options}: not all programs found the same field: {sorted(hashes)}")
    for subject, results in found.items():
        record = {**subject._asdict(), "ranks": ranks, "steps": starts[subject][1], "rounds": len(results)}
        yield {**record, "more_than_s": arguments.limit} if None in results else {**record, **record_of(results)}


def parser_of(text, rounds, run_seconds, ranks):
    """The options that all drivers have."""
    parser = runs.parser_of(text, RESULTS, rounds)
    parser.add_argument("--ranks", default=ranks, help=f"numbers of ranks ({ranks})")
    parser.add_argument("--steps", type=int, default=0, help="steps of a run (0: about --run-seconds)")
    parser.add_argument("--run-seconds", type=float, default=run_seconds,
                        help=f"seconds that a run takes, without its start ({run_seconds})")
    parser.add_argument("--limit", type=float, default=20, help="seconds after which a run is given up (20)")
    parser.add_argument("--budget", type=float, default=4, help="seconds of steps for one program and setting (4)")
    parser.add_argument("--quick", action="store_true", help="one round of a few steps: shows that everything works")
    return parser


def parse(parser):
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.rounds, arguments.steps, arguments.ranks = 1, 3, "2"
    return arguments


def in_text(numbers):
    return " x ".join(str(int(number)) for number in numbers)
