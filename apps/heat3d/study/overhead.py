#!/usr/bin/env python3
"""Figure 6: the overhead of sennit_put and sennit_get over memcpy through a shared window of MPI, 1 B to 1 MiB.

    python3 apps/heat3d/study/overhead.py [--jobs 15] [--rounds 201] [--realtime] [--bin build/bin] [--out docs/results/heat3d]

Writes overhead.jsonl. overhead.cpp describes the measurement. The placement of memory, and mostly the speed of the
machine, do not change within a job. So several jobs of each MPI run, the MPIs in turn, and the median of each number is kept.
"""
import json
import os
import statistics
import sys

import jobs

FILE = "overhead.jsonl"


def middle_of(jobs_lines):
    """Joins the matching lines of all jobs into one line."""
    found = dict(jobs_lines[0], jobs=len(jobs_lines))
    for key, value in found.items():
        if isinstance(value, list):
            found[key] = [statistics.median(line[key][i] for line in jobs_lines) for i in range(len(value))]
        elif key.endswith("_ns"):
            found[key] = statistics.median(line[key] for line in jobs_lines)
    return found


def rows(arguments, command):
    yield jobs.head_of("6", command, arguments.realtime)
    starts = {mpi: jobs.runs.launch_words(arguments, mpi, 2, f"heat3d-overhead-{mpi}") for mpi in jobs.LAUNCHERS}
    starts = {mpi: [*words, str(arguments.rounds), str(arguments.batch_us)]
              for mpi, words in starts.items() if words is not None}
    if not starts:
        sys.exit(f"no program heat3d-overhead-* in {arguments.bin}, or no launcher of its MPI")

    def run(mpi):
        lines = jobs.run_words(starts[mpi], arguments.limit)
        if lines is None:
            sys.exit(f"{' '.join(starts[mpi])}: still running after {arguments.limit} s")
        return [json.loads(line) for line in lines]

    for mpi, found in jobs.runs.in_turns(starts, arguments.jobs, run).items():
        for each in zip(*found):
            yield {"mpi": mpi, **middle_of(each)}


def main():
    parser = jobs.parser_of(__doc__, 201)
    parser.add_argument("--jobs", type=int, default=15, help="jobs of each MPI (15)")
    parser.add_argument("--batch-us", type=float, default=100, help="microseconds of a batch of calls (100)")
    parser.add_argument("--limit", type=float, default=300, help="seconds for each job (300)")
    arguments = parser.parse_args()
    path = os.path.join(arguments.out, FILE)
    jobs.write_lines(path, rows(arguments, jobs.command_line(arguments)))
    print(path)


if __name__ == "__main__":
    main()
