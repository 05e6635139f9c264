#!/usr/bin/env python3
"""Cuts connections of a job on two made-up nodes again and again while the conformance suite runs in it.

    cut_test.py SENNIT RANKS [--limit SECONDS] SUITE WORD...

Both ends of a connection get a reset, as from a network that has lost its state. Every test must pass: nothing is lost, nothing
arrives twice, and no old data overwrites new data. Broken by a path that repeats transfers which may still arrive; other tests
miss that, since connections do not break by themselves on one machine. Exits with 77 where connections cannot be cut.
"""

import os
import random
import re
import subprocess
import sys
import tempfile
import time

LIMIT_S = 60  # of the job, without --limit
PAUSE_S = 0.02
SKIPPED = 77


def output_of(*command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


def connections(processes):
    """The local ends ("address:port") of the connections of these processes."""
    ends = set()
    for line in output_of("ss", "-tnpH", "state", "established").stdout.splitlines():
        owner = re.search(r"pid=(\d+)", line)
        if owner and int(owner.group(1)) in processes:
            ends.add(line.split()[2])
    return sorted(ends)


def children_of(process):
    try:
        with open(f"/proc/{process}/task/{process}/children", encoding="ascii") as file:
            found = {int(child) for child in file.read().split()}
    except OSError:  # the process has ended
        return set()
    return found.union(*map(children_of, found))


def main():
    sennit, ranks, *suite = sys.argv[1:]
    limit_s = LIMIT_S
    if suite[0] == "--limit":
        limit_s = int(suite[1])
        del suite[:2]
    seed = random.randrange(1 << 30)
    draw = random.Random(seed)
    log = tempfile.TemporaryFile("w+")
    job = subprocess.Popen([sennit, "run", "-n", ranks, "--nodes", "2", "--timeout", str(limit_s), *suite],
                           stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                           env={**os.environ, "SENNIT_LOG": "info"})
    cut = 0
    end = time.monotonic() + limit_s
    while job.poll() is None and time.monotonic() < end:
        ends = connections(children_of(job.pid))
        if ends:
            killed = output_of("ss", "-KtnH", "src", draw.choice(ends))
            if "Operation not" in killed.stderr or "Invalid" in killed.stderr:
                job.kill()
                print(f"skipped: connections cannot be cut here: {killed.stderr.strip()}")
                return SKIPPED
            cut += len(killed.stdout.splitlines())
        time.sleep(PAUSE_S)
    job.wait()
    log.seek(0)
    output = log.read()
    print(f"{cut} connections cut, seed {seed}, exit code {job.returncode}")
    if job.returncode != 0:
        print("\n".join(line for line in output.splitlines() if "info:" not in line)[-4000:])
        return 1
    fences = output.count("does not know whether its transfers have arrived: fence")
    print(f"{fences} fences")
    if cut < 5 or fences == 0:
        print("too few connections were cut, or transfers that may still arrive were repeated without a fence")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
