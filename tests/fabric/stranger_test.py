#!/usr/bin/env python3
"""Strangers send nonsense to every port of a job on two made-up nodes while the conformance suite runs in it.

    stranger_test.py SENNIT SUITE WORD...

They send bytes of all lengths to the ports of the watch and of the provider. The suite must pass. Broken by bytes that
reach an open port of a compute node, by accident or not, and end the job or change its data.
"""

import os
import random
import re
import socket
import subprocess
import sys
import time

from cut_test import children_of

LIMIT_S = 60
STRANGERS_S = 3


def ports_of(job):
    """The ports on which the ranks of the job listen on the loopback interface, or on all interfaces."""
    table = subprocess.run(["ss", "-tlnpH"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    ranks = children_of(job)
    ports = set()
    for line in table.stdout.splitlines():
        owner = re.search(r"pid=(\d+)", line)
        place = re.match(r"(127\.0\.0\.1|0\.0\.0\.0|\*):(\d+)$", line.split()[3])
        if owner and place and int(owner.group(1)) in ranks:
            ports.add(int(place.group(2)))
    return sorted(ports)


def bother(ports, draw):
    """Sends a stranger's bytes until the time is over; returns the number of connections made."""
    made = 0
    kept = []
    end = time.monotonic() + STRANGERS_S
    while time.monotonic() < end:
        try:
            one = socket.create_connection(("127.0.0.1", draw.choice(ports)), timeout=1)
            one.settimeout(1)
            one.sendall(draw.randbytes(draw.choice((0, 1, 7, 8, 40, 64, 80, 300, 5000))))
            made += 1
            kept.append(one)
        except OSError:  # closed while sending
            pass
        if len(kept) > 20:
            kept.pop(draw.randrange(len(kept))).close()
        time.sleep(0.01)
    return made


def main():
    sennit, *suite = sys.argv[1:]
    seed = random.randrange(1 << 30)
    draw = random.Random(seed)
    # One test in one world, which takes longer than the strangers do.
    job = subprocess.Popen([sennit, "run", "-n", "2", "--nodes", "2", "--timeout", str(LIMIT_S), *suite],
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                           env={**os.environ, "SENNIT_PEER_TIMEOUT": "30"})
    end = time.monotonic() + 20
    ports = []
    while len(ports) < 6 and job.poll() is None and time.monotonic() < end:
        ports = ports_of(job.pid)
        time.sleep(0.05)
    made = bother(ports, draw) if ports else 0
    still_runs = job.poll() is None
    output = job.communicate(timeout=LIMIT_S)[0]
    print(f"seed {seed}: ports {ports}, {made} connections, exit code {job.returncode}")
    if job.returncode == 0 and made > 50 and still_runs:
        return 0
    print(f"the job {'ran' if still_runs else 'did not run'} to the end of the strangers' time\n{output[-4000:]}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
