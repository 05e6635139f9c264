#!/usr/bin/env python3
"""Figure 6: what sennit_put and sennit_get cost above memcpy through a shared window of MPI, 1 B to 1 MiB.

    python3 apps/heat3d/study/overhead.py [--rounds 201] [--realtime] [--bin build/bin] [--out docs/results/heat3d]

Writes overhead.jsonl. What is measured how: overhead.cpp.
"""
import json
import os
import sys

import jobs

FILE = "overhead.jsonl"


def rows(arguments, command):
    yield jobs.head_of("6", command, arguments.realtime)
    found = False
    for mpi in jobs.LAUNCHERS:
        words = jobs.runs.launch_words(arguments, mpi, 2, f"heat3d-overhead-{mpi}")
        if words is None:
            continue
        found = True
        words += [str(arguments.rounds), str(arguments.batch_us)]
        lines = jobs.run_words(words, arguments.limit)
        if lines is None:
            sys.exit(f"{' '.join(words)}: still running after {arguments.limit} s")
        for line in lines:
            yield {"mpi": mpi, **json.loads(line)}
    if not found:
        sys.exit(f"no program heat3d-overhead-* in {arguments.bin}, or no launcher of its MPI")


def main():
    parser = jobs.parser_of(__doc__, 201)
    parser.add_argument("--batch-us", type=float, default=100, help="microseconds of a batch of calls (100)")
    parser.add_argument("--limit", type=float, default=300, help="seconds for each MPI (300)")
    arguments = parser.parse_args()
    path = os.path.join(arguments.out, FILE)
    jobs.write_lines(path, rows(arguments, jobs.command_line(arguments)))
    print(path)


if __name__ == "__main__":
    main()
