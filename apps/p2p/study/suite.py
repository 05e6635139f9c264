#!/usr/bin/env python3
"""Rates of p2p beside those of Sync_p2p in the Parallel Research Kernels, which the user must fetch and build before.

    python3 apps/p2p/study/suite.py --openmpi TREE --mpich TREE [--sizes 100,200,...] [--realtime] [--out docs/results/zcom/p2p]

TREE is the suite's folder with its programs built for that MPI (SERIAL, OPENMP, MPI1 and MPISHM: Synch_p2p/p2p). The serial and the
OpenMP program come from the first tree that has them; a program that is in neither tree is left out. Writes suite.jsonl. All take
turns, with 2 ranks or threads. The suite reports the rate of its mean sweep, so the rates of p2p are those of the mean sweep too.
"""
import os
import re
import statistics
import sys

import subjects
from subjects import runs
from programs import Program

FILE = "suite.jsonl"
FIGURE = "the suite's own programs"
RANKS = 2
OURS = ("sennit-c", "sennit-fortran")
# By key, without the MPI: the name on the page, and the folder in the suite.
KINDS = {"serial": ("serial", "SERIAL"), "openmp": ("OpenMP", "OPENMP"), "mpi": ("send and receive", "MPI1"),
         "shared": ("shared window", "MPISHM")}
RATE = re.compile(r"Rate \(MFlops/s\): ([0-9.]+)")


class SuiteProgram(Program):
    """A program of the suite; its output is not JSON."""

    def __init__(self, kind, tree, mpi=None):
        name, folder = KINDS[kind]
        super().__init__(f"suite-{kind}" + (f"-{mpi}" if mpi else ""),
                         f"the suite's, {runs.MPI_NAMES[mpi]}, {name}" if mpi else f"the suite's, {name}",
                         os.path.join(os.path.abspath(tree), folder, "Synch_p2p", "p2p"), mpi, alone=mpi is None)
        self.kind = kind

    def is_there(self):
        return os.path.exists(self.program)

    def rate(self, arguments, size, iterations):
        """MFlop/s of the mean sweep, or None if the run took too long. A run that is not verified ends the driver."""
        ranks = 1 if self.kind == "serial" else RANKS
        words = self.words(arguments, ranks)
        if words is None:
            sys.exit(f"{self.program}: its launcher is not there")
        threads = [str(ranks)] if self.kind == "openmp" else []
        lines = runs.run_words([*words, *threads, str(iterations), str(size), str(size)], arguments.limit,
                               self.environment(ranks))
        if lines is None:
            return None
        text = "\n".join(lines)
        found = RATE.search(text)
        if "Solution validates" not in text or found is None:
            sys.exit(f"{self.program}: no verified rate in\n{text}")
        return float(found.group(1))


class OwnProgram:
    """A program of p2p, measured as in the other drivers."""

    def __init__(self, key):
        self.key, self.subject = key, subjects.SUBJECTS[key]

    def rate(self, arguments, size, iterations):
        row = subjects.solve(self.subject, arguments, RANKS, iterations, ["--columns", str(size)])
        return None if row is None else row["rate_mflops"]


def programs_of(trees):
    """The programs of the suite that were built. `trees`: {MPI: folder or None}"""
    found = [SuiteProgram(kind, tree, mpi) for mpi, tree in trees.items() if tree for kind in ("mpi", "shared")]
    for kind in ("serial", "openmp"):
        either = [SuiteProgram(kind, tree) for tree in trees.values() if tree]
        found += [program for program in either if program.is_there()][:1]
    return [program for program in found if program.is_there()]


def name_of(key):
    """The name on the page of a program of the suite, or of p2p."""
    if key in subjects.SUBJECTS:
        return subjects.SUBJECTS[key].name
    _, kind, *mpi = key.split("-")
    return SuiteProgram(kind, "", *mpi).name


def rows(arguments, command, programs):
    yield runs.head_of(FIGURE, command, arguments.realtime)
    for size in subjects.numbers(arguments.sizes):
        iterations = subjects.choose_iterations(subjects.SUBJECTS[OURS[0]], arguments, RANKS, ["--columns", str(size)])
        if iterations is None:
            sys.exit(f"{size}: no run within --limit")
        found = runs.in_turns(programs, arguments.rounds, lambda one: one.rate(arguments, size, iterations))  # pylint: disable=cell-var-from-loop
        for program, rates in found.items():
            row = {"key": program.key, "size": size, "iterations": iterations, "rounds": len(rates)}
            if None in rates:
                yield {**row, "more_than_s": arguments.limit}
                continue
            yield {**row, "rate": round(statistics.median(rates), 1), "rate_range": [round(min(rates), 1), round(max(rates), 1)]}


def main():
    parser = runs.parser_of(__doc__, subjects.OUT, 7)
    for mpi, name in runs.MPI_NAMES.items():
        parser.add_argument(f"--{mpi}", metavar="TREE", help=f"the suite, built with {name}")
    parser.add_argument("--sizes", default="100,200,500,1000,2000,4000", help="sides of the grid")
    subjects.add_run_options(parser)
    arguments = parser.parse_args()
    suite = programs_of({mpi: getattr(arguments, mpi) for mpi in runs.MPI_NAMES})
    if not suite:
        parser.error("no program of the suite is in the folders that were named")
    words = ["python3", "apps/p2p/study/suite.py"] + [f"--{mpi} TREE" for mpi in runs.MPI_NAMES if getattr(arguments, mpi)]
    command = " ".join(words + ["--realtime"] * arguments.realtime)
    ours = [OwnProgram(key) for key in OURS if subjects.SUBJECTS[key].words(arguments, RANKS) is not None]
    path = os.path.join(arguments.out, FILE)
    runs.write_lines(path, rows(arguments, command, [*ours, *suite]))
    print(path)


if __name__ == "__main__":
    main()
