#!/usr/bin/env python3
"""The real provider psm3 over TCP, between two hosts of tools/cluster with two rails: not taken, and the reason is printed.

    psm3_test.py PROJECT SENNIT SUITE

Uses the libfabric of the folder SENNIT_TEST_LIBFABRIC (environment), else the installed one. Exits with 77 where it has no
psm3 over sockets, as on Debian. Broken by networks that psm3 names in another way.
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cluster"))
import cluster_test  # pylint: disable=wrong-import-position
from cluster_test import SKIPPED, expect  # pylint: disable=wrong-import-position

WHY = "over TCP it closes files and sockets of the program"


def between_hosts(cluster, sennit, suite):
    folder = cluster.environment.pop("SENNIT_TEST_LIBFABRIC", "")
    words = ["env", "PSM3_HAL=sockets", "PSM3_DEVICES=self,nic"]
    if folder:
        words.append(f"LD_LIBRARY_PATH={':'.join(filter(None, [folder, os.environ.get('LD_LIBRARY_PATH')]))}")

    def run(*program):
        return cluster.run("--rails", "2", "-n", "2", "--", *words, *program)

    told = cluster.run("--launcher", "none", "--", *words, sennit, "info")
    line = next((line for line in told.stdout.splitlines() if "psm3" in line.split()), "")
    expect(told.returncode == 0 and line, told)
    if "libfabric finds no card for it here" in line:
        print(f"skipped: the libfabric here has no psm3 over sockets; SENNIT_TEST_LIBFABRIC=FOLDER names one that has\n{line}")
        return SKIPPED
    expect(f"not taken: {WHY}" in line, line)
    told = run("SENNIT_PATHS=self,mapped,fabric:provider=psm3", sennit, "info", "--peers")
    expect("no network" in told.stderr and WHY in told.stderr, told)
    told = run(sennit, "info", "--peers")
    expect("(psm3)" not in told.stdout and "used as number 1" in told.stdout, told)
    done = run(suite, "--paths", "mapped,fabric", "--quick", "--group", "transfer")
    expect(done.returncode == 0 and "ok     transfer." in done.stdout, done)
    cluster.nothing_is_left()
    return 0


if __name__ == "__main__":
    sys.exit(cluster_test.main(sys.argv[1], "between_hosts", *sys.argv[2:], cases={"between_hosts": between_hosts}))
