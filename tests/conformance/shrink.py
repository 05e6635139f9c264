#!/usr/bin/env python3
"""Finds the least number of steps with which a random program still fails.

    shrink.py COMMAND...        a command of the conformance suite that fails, with its --seed

Runs COMMAND with `--steps K` for falling K and prints the shortest that fails. Failures that depend on timing are
tried several times for every K.
"""
import subprocess
import sys

TRIES = 3
MOST = 1 << 20


def fails(command, steps):
    for _ in range(TRIES):
        run = subprocess.run(command + ["--steps", str(steps)], capture_output=True, text=True, timeout=600)
        if run.returncode not in (0, 77):
            return run.stderr
    return None


def main():
    command = sys.argv[1:]
    if not command:
        sys.exit(__doc__)
    last = fails(command, MOST)
    if last is None:
        sys.exit("the command does not fail")
    good, bad = 0, MOST
    while bad - good > 1:
        middle = (good + bad) // 2
        text = fails(command, middle)
        if text is None:
            good = middle
        else:
            bad, last = middle, text
    print(last, end="")
    print("shortest:", *command, "--steps", bad)


if __name__ == "__main__":
    main()
