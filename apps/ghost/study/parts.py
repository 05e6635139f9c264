#!/usr/bin/env python3
"""Figure 5.7: the parts of an exchange, with Sennit and with MPI in each of its ways.

    python3 apps/ghost/study/parts.py [--realtime] [--out docs/results/zcom/ghost]

Writes parts.jsonl. Two ranks, the grid cut along x, y or z, 5 variables. A barrier precedes each exchange (--barrier), so no rank
waits for the other's computation.
"""
import os

import jobs

FILE = "parts.jsonl"
STEPS = {24: 300, 100: 10}  # by the side of a rank's block
GRIDS = {"x": "2,1,1", "y": "1,2,1", "z": "1,1,2"}


def rows(arguments, command):
    yield jobs.head_of("5.7", command, arguments.realtime)
    # The program with shared memory by hand is the same, whichever MPI the window comes from.
    subjects = [jobs.default_of(kind) for kind in (jobs.CHANNELS, jobs.NOTIFIED, jobs.Kind("openmpi", True))]
    for mpi in jobs.LAUNCHERS:
        subjects += [jobs.Subject(mpi, False, faces) for faces in ("packed", "datatype")]
        subjects.append(jobs.Subject(mpi, False, "packed", True))
    asked = arguments.steps
    for size, steps in {16: 3}.items() if arguments.quick else STEPS.items():
        arguments.steps = asked or steps
        for method in jobs.METHODS:
            for axis, grid in GRIDS.items():
                options = ["--size", f"{size},{size},{size}", "--ranks-grid", grid, "--method", method, "--barrier"]
                for record in jobs.compare(subjects, 2, options, arguments):
                    yield {"axis": axis, "side": size, **record}


def main():
    arguments = jobs.parse(jobs.parser_of(__doc__, 7, 0, "2"))
    path = os.path.join(arguments.out, FILE)
    jobs.write_lines(path, rows(arguments, jobs.command_line(arguments)))
    print(path)


if __name__ == "__main__":
    main()
