#!/usr/bin/env python3
"""Compares the cost of OpenSHMEM calls of some libraries: compare.py [options] OURS -- THEIRS [-- THEIRS ...]

Each argument is a whole command, launcher included, that runs speed.c compiled with that library; words after the program
are the cases to measure, and words after a minus the cases to leave out. Jobs take turns: a round is one job of each. A row
has the median of each library over the rounds, and for each of THEIRS the median, least and most of the rounds' ratios
theirs/ours. A job that hangs is ended, and the values that it measured before are used. --json writes all values of all
rounds, as lines of JSON, from which page.py makes the page of results.

    build/bin/openshmem/oshcc -O2 -std=gnu11 bench/openshmem/{speed,teams}.c -o ours
    oshcc -O2 -std=gnu11 bench/openshmem/{speed,teams_absent}.c -o theirs
    bench/openshmem/compare.py build/bin/openshmem/oshrun -np 2 --bind core ./ours -- \
        mpirun.openmpi -n 2 --bind-to core --mca memory ^patcher ./theirs
"""
import argparse
import os
import shlex
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "study"))
from runs import ENVIRONMENT, head_of, write_lines  # noqa: E402  pylint: disable=wrong-import-position


def run(words, limit_s):
    """{(case, bytes): nanoseconds} of one job; if it hangs, the cases measured before."""
    words = ["timeout", "--kill-after=5", str(limit_s), *words]
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, env=ENVIRONMENT)
    rows = [line.split() for line in done.stdout.splitlines()]
    rows = {(row[0], int(row[1])): float(row[2]) for row in rows if len(row) == 3 and row[1].isdigit()}
    if not rows:
        sys.exit(f"{' '.join(words)}: no result\n{done.stderr}")
    if done.returncode != 0:
        print(f"after {list(rows)[-1][0]} of {list(rows)[-1][1]} bytes ended with {done.returncode}: {' '.join(words)}",
              file=sys.stderr)
    return rows


def commands_of(words):
    """The lists of words separated by --."""
    commands = [[]]
    for word in words:
        if word == "--":
            commands.append([])
        else:
            commands[-1].append(word)
    return commands


def middle(values):
    """The median of the rounds that have a value."""
    return statistics.median(value for value in values if value is not None)


def ratios(row, name, ours):
    """The ratios of the rounds in which both have a value."""
    return [theirs / mine for mine, theirs in zip(row[ours], row[name]) if mine and theirs is not None]


def rows_of(rounds, names):
    """A row for each case and size: its values in each round, None if a job ended before."""
    keys = dict.fromkeys(key for jobs in rounds for rows in jobs for key in rows)
    for case, size in keys:
        values = {name: [jobs[i].get((case, size)) for jobs in rounds] for i, name in enumerate(names)}
        yield {"case": case, "bytes": size,
               **{name: each for name, each in values.items() if any(value is not None for value in each)}}


def print_table(rows, names):
    ours, others = names[0], names[1:]
    print(f"{'case':16} {'bytes':>8} {ours + ', ns':>14}" +
          "".join(f" {name + ', ns':>14} {name + '/' + ours:>16} {'least':>7} {'most':>7}" for name in others))
    for row in rows:
        if ours not in row or not any(name in row for name in others):
            continue
        line = f"{row['case']:16} {row['bytes']:8} {middle(row[ours]):14.1f}"
        for name in others:
            found = ratios(row, name, ours) if name in row else []
            if not found:
                line += f" {'':14} {'':16} {'':7} {'':7}"
                continue
            line += f" {middle(row[name]):14.1f} {statistics.median(found):16.2f} {min(found):7.2f} {max(found):7.2f}"
        print(line)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--jobs", type=int, default=7, help="of each library")
    parser.add_argument("--limit", type=int, default=60, help="seconds after which a job is ended")
    parser.add_argument("--names", help="names of the libraries, with commas: ours,theirs")
    parser.add_argument("--json", help="file to write all values to")
    parser.add_argument("--note", action="append", default=[],
                        help="for the first line of that file: NAME=TEXT, the version and settings of a library")
    parser.add_argument("commands", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    commands = commands_of(options.commands)
    if len(commands) < 2 or not all(commands):
        parser.error("give two or more commands, with -- between them")
    names = options.names.split(",") if options.names else ["ours", *(f"theirs{i or ''}" for i in range(len(commands) - 1))]
    if len(names) != len(commands):
        parser.error(f"{len(names)} names for {len(commands)} commands")
    rounds = [[run(command, options.limit) for command in commands] for _ in range(options.jobs)]
    rows = list(rows_of(rounds, names))
    print_table(rows, names)
    if options.json:
        head = head_of("openshmem", shlex.join([os.path.basename(sys.argv[0]), *sys.argv[1:]]), False)
        write_lines(options.json, [{**head, "jobs": options.jobs, "names": names,
                                    "commands": dict(zip(names, map(shlex.join, commands))),
                                    "notes": dict(note.split("=", 1) for note in options.note)}, *rows])
    return 0


if __name__ == "__main__":
    sys.exit(main())
