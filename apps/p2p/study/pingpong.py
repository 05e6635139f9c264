#!/usr/bin/env python3
"""Table 5.1: a message there and back with Sennit's channels, MPI two-sided and MPI one-sided.

    python3 apps/p2p/study/pingpong.py [--seconds 1] [--realtime] [--bin build/bin] [--out docs/results/zcom/p2p]

Writes pingpong.jsonl from `sennit bench channel` and `sennit bench pingpong`, in which the ranks of one job measure all
in turn; docs/benchmarks.md says how. Each is run --rounds times, and the page shows medians.
"""
import json
import os
import sys

import subjects
from subjects import runs

FILE = "pingpong.jsonl"


def rows(arguments, command):
    yield runs.head_of("5.1", command, arguments.realtime)
    sennit = os.path.join(arguments.bin, "sennit")
    if not os.path.exists(sennit):
        sys.exit(f"{sennit} is not there")
    for turn in range(arguments.rounds):
        for bench in ("channel", "pingpong"):
            words = [*runs.quiet_words(arguments, 2), sennit, "bench", bench, "--mpi", arguments.mpi, "--bytes",
                     str(arguments.bytes), "--seconds", str(arguments.seconds), "--json"]
            lines = runs.run_words(words, arguments.limit)
            if lines is None:
                sys.exit(f"{' '.join(words)}: still running after {arguments.limit} s")
            for line in lines:
                record = json.loads(line)
                if record.get("bytes") == arguments.bytes:
                    yield {"turn": turn, "bench": bench, "job": record["job"], "subject": record["subject"],
                           "bytes": record["bytes"], "round_trip_ns": round(2 * record["median_ns"], 2)}


def main():
    parser = runs.parser_of(__doc__, subjects.OUT, 5)
    parser.add_argument("--mpi", default="all", help="the MPIs to compare with (all)")
    parser.add_argument("--bytes", type=int, default=8, help="size of the message (8)")
    parser.add_argument("--seconds", type=float, default=0.5, help="seconds that each of the two benchmarks takes (0.5)")
    parser.add_argument("--limit", type=float, default=120, help="seconds after which a run is given up (120)")
    arguments = parser.parse_args()
    path = os.path.join(arguments.out, FILE)
    runs.write_lines(path, rows(arguments, runs.command_line(arguments)))
    print(path)


if __name__ == "__main__":
    main()
