#!/usr/bin/env python3
"""Compares the cost of OpenSHMEM calls of two libraries: compare.py [--jobs N] [--limit S] OURS -- THEIRS

OURS and THEIRS are whole commands, launcher included, that run speed.c compiled with each library; words behind the
program are the cases that are wanted. Jobs alternate; a row is the ratio theirs/ours of the medians over the jobs, with the
least and the most of the ratios of neighbouring jobs. A job that hangs is ended, and what it measured before is taken.

    build/bin/openshmem/oshcc -O2 -std=gnu11 bench/openshmem/speed.c -o ours
    oshcc -O2 -std=gnu11 bench/openshmem/speed.c -o theirs
    bench/openshmem/compare.py build/bin/openshmem/oshrun -np 2 --bind core ./ours -- \
        mpirun.openmpi -n 2 --bind-to core --mca memory ^patcher ./theirs
"""
import argparse
import statistics
import subprocess
import sys


def run(words, limit_s):
    """{(case, bytes): nanoseconds} of one job; of one that hangs what it measured before."""
    words = ["timeout", "--kill-after=5", str(limit_s), *words]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    rows = [line.split() for line in done.stdout.splitlines()]
    rows = {(row[0], int(row[1])): float(row[2]) for row in rows if len(row) == 3}
    if not rows:
        sys.exit(f"{' '.join(words)}: no result\n{done.stderr}")
    if done.returncode != 0:
        print(f"after {list(rows)[-1][0]} of {list(rows)[-1][1]} bytes ended with {done.returncode}: {' '.join(words)}",
              file=sys.stderr)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=7, help="of each library")
    parser.add_argument("--limit", type=int, default=60, help="seconds of a job, which is then ended")
    options, words = parser.parse_known_args()
    if "--" not in words:
        parser.error("two commands with -- between them are wanted")
    middle = words.index("--")
    sides = (words[:middle], words[middle + 1:])
    jobs = [tuple(run(side, options.limit) for side in sides) for _ in range(options.jobs)]
    print(f"{'case':16} {'bytes':>8} {'ours, ns':>12} {'theirs, ns':>12} {'theirs/ours':>12} {'least':>8} {'most':>8}")
    for key in dict.fromkeys(key for ours, theirs in jobs for key in (*ours, *theirs)):
        both = [(ours[key], theirs[key]) for ours, theirs in jobs if key in ours and key in theirs]
        if not both:
            continue
        ours, theirs = (statistics.median(column) for column in zip(*both))
        ratios = [b / a for a, b in both if a > 0]
        print(f"{key[0]:16} {key[1]:8} {ours:12.1f} {theirs:12.1f} {theirs / ours:12.2f} {min(ratios):8.2f} {max(ratios):8.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
