#!/usr/bin/env python3
"""Finds the few steps of a random program with which a test of the conformance suite still fails.

    shrink.py [--tries N] COMMAND...      a command of the suite that fails: with --threads, or under `sennit run`

Takes the test, seed and program from the failure and runs that program alone, then less and less of it: first the shortest
failing beginning (--steps), then without the steps that are not needed (--only). Prints the failure, the remaining steps, and
the command that repeats it. A run that does not fail in N attempts (3) counts as correct.
Exit codes: 0 shrunk, 1 the command does not fail or has no random program, 2 usage.
"""
import argparse
import os
import re
import subprocess
import sys

MOST_STEPS = 1 << 20
MOST_RUNS = 1000
LIMIT_S = 600
# Does not wait for ranks that have ended after a failure.
ENVIRONMENT = {"SENNIT_FINALIZE_TIMEOUT": "1", **os.environ}
RIGHT = (0, 77)
USAGE = 2
FAILURE = re.compile(r"(?:FAILED|STUCK ) +(\w+)\.(\w+)\b.*?, seed (\d+)(?:, program (\d+))?")
STUCK_AT = re.compile(r"rank \d+ is at: .*, program (\d+)")
# Options of the suite that the failure determines, and the number of values of each.
NARROWED = {"--group": 1, "--test": 1, "--seed": 1, "--seeds": 1, "--program": 1, "--steps": 1, "--only": 1,
            "--show": 0}


class Runs:
    """Runs the suite with more options, and keeps the last failure's output."""

    def __init__(self, command, tries):
        self.command = command
        self.tries = tries
        self.count = 0
        self.text = ""

    def fails(self, *words):
        if self.count >= MOST_RUNS:
            return False
        for _ in range(self.tries):
            self.count += 1
            run = subprocess.run([*self.command, *words], capture_output=True, text=True, errors="replace",
                                 timeout=LIMIT_S, env=ENVIRONMENT)
            if run.returncode == USAGE:
                sys.exit(f"the command is refused: {run.stderr}")
            if run.returncode not in RIGHT:
                self.text = run.stderr
                return True
        return False


def narrowed(command, group, test, seed):
    """The command for one test and one seed. Words before the suite's name stay."""
    own = next((i for i, word in enumerate(command) if os.path.basename(word).startswith("conformance_suite")), 0)
    kept = list(command[:own + 1])
    rest = iter(command[own + 1:])
    for word in rest:
        if word not in NARROWED:
            kept.append(word)
            continue
        for _ in range(NARROWED[word]):
            next(rest, None)
    return [*kept, "--group", group, "--test", test, "--seed", seed]


def as_list(steps):
    """Steps as text, for example 3,7-9."""
    parts = []
    for step in steps:
        if parts and parts[-1][1] == step - 1:
            parts[-1][1] = step
        else:
            parts.append([step, step])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in parts)


def shortest_beginning(runs):
    good, bad = 0, 1
    while bad < MOST_STEPS and not runs.fails("--steps", str(bad)):
        good, bad = bad, bad * 2
    while bad - good > 1:
        middle = (good + bad) // 2
        if runs.fails("--steps", str(middle)):
            bad = middle
        else:
            good = middle
    return bad


def without_needless(runs, steps):
    """Leaves out smaller and smaller pieces of the list while the program still fails."""
    size = len(steps) // 2
    while size > 0:
        at = 0
        while at < len(steps) and len(steps) > 1:
            fewer = steps[:at] + steps[at + size:]
            if fewer and runs.fails("--only", as_list(fewer)):
                steps = fewer
            else:
                at += size
        size = min(size, len(steps)) // 2
    return steps


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--tries", type=int, default=3)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if not options.command:
        parser.error("no command is given")
    whole = Runs(options.command, options.tries)
    if not whole.fails():
        sys.exit("the command does not fail")
    failures = [failure.groups() for failure in FAILURE.finditer(whole.text)]
    if not failures:
        sys.exit(f"no failure of a test is named:\n{whole.text}")
    group, test, seed, program = next((failure for failure in failures if failure[-1] is not None), failures[0])
    program = program or next(iter(sorted(STUCK_AT.findall(whole.text), key=int)), None)
    if program is None:
        sys.exit(f"{test} with seed {seed} fails outside random programs, and there is nothing to shrink:\n{whole.text}")

    runs = Runs(narrowed(options.command, group, test, seed), options.tries)
    # The failure may need an earlier program.
    if runs.fails("--program", program):
        runs.command += ["--program", program]
    elif not runs.fails():
        sys.exit(f"{test} with seed {seed} does not fail alone; the whole command fails with\n{whole.text}")
    steps = without_needless(runs, list(range(1, shortest_beginning(runs) + 1)))
    runs.command += ["--only", as_list(steps)]
    if not runs.fails("--show"):
        sys.exit("the remaining steps did not fail again; give more --tries")
    print(runs.text, end="")
    print(f"shrunk to {len(steps)} steps, seed {seed}, in {runs.count} runs:", *runs.command)


if __name__ == "__main__":
    main()
