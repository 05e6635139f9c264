#!/usr/bin/env python3
"""Runs one scene of fault_rank.cpp and checks the output of its ranks and the resources left behind.

    faults_test.py SENNIT FAULT_RANK SCENE RANKS LOST [PREFIX...]

LOST is the number of ranks that end without output. Every other rank must print "as promised".
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from leftovers import Leftovers  # noqa: E402


def main():
    sennit, program, scene, ranks, lost = sys.argv[1:6]
    prefix = sys.argv[6:]
    with Leftovers(within=2.0) as job:
        command = prefix + [sennit, "run", "-n", ranks, "--keep-going", "--timeout", "100", program, scene]
        result = job.run(command, timeout=120)
        if result.returncode == 77:
            print("skipped: the scene needs something that this machine or user lacks")
            sys.exit(77)
        kept = result.stdout.count("as promised")
        if kept != int(ranks) - int(lost):
            print(result.stdout, result.stderr, sep="\n")
            sys.exit(f"{kept} of {ranks} ranks printed 'as promised'; only {lost} were to be lost")
        if lost == "0" and result.returncode != 0:
            print(result.stderr)
            sys.exit(f"the exit code is {result.returncode}")


if __name__ == "__main__":
    main()
