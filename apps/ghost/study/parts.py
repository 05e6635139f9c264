#!/usr/bin/env python3
"""Figure 5.7: what an exchange consists of, with Sennit and with MPI in each of its ways.

    python3 apps/ghost/study/parts.py [--realtime] [--out docs/results/zcom/ghost]

Writes parts.jsonl. Two ranks, the grid cut along x, y or z, 5 variables. Ranks meet before each exchange (--meet), so that
none waits for the computing of the other.
"""
import os

import jobs

FILE = "parts.jsonl"
SIZES = (24, 100)
GRIDS = {"x": "2,1,1", "y": "1,2,1", "z": "1,1,2"}


def rows(arguments, command):
    yield jobs.head_of("5.7", command, arguments.realtime)
    subjects = [jobs.default_of(None, False)]
    for mpi in jobs.LAUNCHERS:
        subjects += [jobs.Subject(mpi, False, faces) for faces in jobs.FACES[mpi, False]]
        subjects += [jobs.Subject(mpi, False, "packed", True), jobs.default_of(mpi, True)]
    for size in (16,) if arguments.quick else SIZES:
        for method in jobs.METHODS:
            for axis, grid in GRIDS.items():
                options = ["--size", f"{size},{size},{size}", "--ranks-grid", grid, "--method", method, "--meet"]
                for record in jobs.compare(subjects, 2, options, arguments):
                    yield {"axis": axis, "side": size, **record}


def main():
    arguments = jobs.parse(jobs.parser_of(__doc__, 5, 0.15, "2"))
    path = os.path.join(arguments.out, FILE)
    jobs.write_lines(path, rows(arguments, jobs.command_line(arguments)))
    print(path)


if __name__ == "__main__":
    main()
