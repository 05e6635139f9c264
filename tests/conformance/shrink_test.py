#!/usr/bin/env python3
"""Plants faults that need two steps, and checks that shrink.py finds two such steps in long random programs.

    shrink_test.py SUITE FAULTS [SENNIT]    the conformance suite, the library of planted faults (planted_fault.cpp),
                                            and the launcher, for ranks that are processes

Broken by programs whose steps change when others are left out, by a failure without its seed and program, and by a search that
stops too early.
"""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SEEDS = ["--seed", "5", "--seeds", "2"]
# The fault, the part of the suite that runs, and the two steps in the order of the program.
PLANTED = [
    ("collective", ["--test", "programs_do_what_the_sequential_oracle_says", "--group", "collective"], r"broadcast.*, count \d+", r"allreduce.*, count [1-9]"),
    ("lock", ["--test", "random_programs_of_locks_of_several_teams_exclude_their_members"], r"rank (\d) takes lock.* by try", r"rank (\d) takes lock \d \d by (no|a) limit"),
    ("accumulate", ["--group", "atomic"], r"accumulate_nb,", r"get_accumulate,"),
    ("strided", ["--group", "strided"], r"put of \d+ bytes in a list", r"get of \d+ bytes in a box"),
    ("random", ["--group", "random"], r"put_nb of", r"get_nb of"),
    ("stress", ["--group", "stress"], r"queues of", r"by get_with"),
]


def shrink(suite, faults, fault, chosen, launcher=()):
    command = [suite, "--quick", *chosen, *SEEDS]
    if not launcher:
        command += ["--threads", "3"]
    if fault is not None:
        command = ["env", f"LD_PRELOAD={faults}", f"PLANTED_FAULT={fault}", *command]
    command = [*launcher, *command]
    return subprocess.run([sys.executable, os.path.join(HERE, "shrink.py"), "--tries", "1", *command],
                          capture_output=True, text=True, timeout=240)


def check(suite, faults, planted, launcher=()):
    fault, chosen, first, second = planted
    run = shrink(suite, faults, fault, chosen, launcher)
    assert run.returncode == 0, f"{fault}: not shrunk: {run.stdout}{run.stderr}"
    failed = re.search(r"FAILED .* on rank (\d+)", run.stdout)
    steps = re.findall(rf"^    rank {failed[1]}, program \d+, (step \d+: .*)$", run.stdout, re.MULTILINE)
    last = re.search(r"^shrunk to (\d+) steps, seed (\d+), in (\d+) runs: (.*)$", run.stdout, re.MULTILINE)
    assert last is not None, f"{fault}: no command: {run.stdout}"
    assert last[1] == "2", f"{fault}: {last[1]} steps are left: {run.stdout}"
    is_there = re.search(rf"{first}.*\n(.*\n)*.*{second}", "\n".join(steps))
    assert is_there is not None, f"{fault}: rank {failed[1]} made the wrong steps: {run.stdout}"
    again = subprocess.run(last[4].split(), capture_output=True, text=True, timeout=60)
    assert again.returncode == 1 and f", seed {last[2]}" in again.stderr, f"{fault}: {last[4]} does not fail"
    print(f"{fault}: after {last[3]} runs {' and '.join(steps)}")


def main():
    suite, faults, *launcher = sys.argv[1:]
    for planted in PLANTED:
        check(suite, faults, planted)
    if launcher:
        check(suite, faults, PLANTED[3], [*launcher, "run", "-n", "2", "--timeout", "60"])
    run = shrink(suite, faults, None, ["--group", "strided"])
    assert run.returncode == 1 and "does not fail" in run.stderr, f"a suite without a fault: {run.stdout}{run.stderr}"


if __name__ == "__main__":
    main()
