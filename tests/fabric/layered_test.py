#!/usr/bin/env python3
"""Runs a job on two made-up nodes with the layer between Sennit and libfabric (layer/layer.hpp).

    layered_test.py SENNIT RANKS FOLDER SETTINGS SUITE WORD...

FOLDER has the layer's libfabric; SETTINGS are its modes and faults. Fails also if a rule was broken, if a rank ran without the
layer, and if a fault in SETTINGS never happened: then the run would show nothing.
"""

import os
import re
import subprocess
import sys

LIMIT_S = 180
# The layer's summary, one for each rank.
SUMMARY = re.compile(r"fabric layer: (\d+) posted, (\d+) keys, (\d+) descriptors, (\d+) again, (\d+) reordered, (\d+) delayed, "
                     r"(\d+) lost, (\d+) repeated, (\d+) garbled, (\d+) swallowed, (\d+) refused, (\d+) names, (\d+) rules broken")
NAMES = ["posted", "keys", "descriptors", "again", "reordered", "delayed", "lost", "repeated", "garbled", "swallowed", "refused", "names", "broken"]
SETTINGS = {"again": "again", "connect_ms": "again", "reorder": "reordered", "delay_us": "delayed", "lose": "lost", "repeat": "repeated", "garble": "garbled",
            "unopened": "refused", "unclosed": "refused", "unlent": "refused", "hints": "swallowed", "names": "names"}


def main():
    sennit, ranks, folder, settings, *suite = sys.argv[1:]
    job = subprocess.run([sennit, "run", "-n", ranks, "--nodes", "2", "--timeout", str(LIMIT_S), *suite],
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                         env={"SENNIT_PEER_TIMEOUT": "60", **os.environ, "LD_LIBRARY_PATH": folder, "FABRIC_LAYER": settings})
    counts = [dict(zip(NAMES, map(int, found))) for found in SUMMARY.findall(job.stdout)]
    wanted = {"posted"} | {count for word, count in SETTINGS.items() if re.search(rf"\b{word}\b", settings)}
    if "local" in settings:
        wanted.add("descriptors")
    sums = {name: sum(count[name] for count in counts) for name in NAMES}
    print(f"{settings}: exit code {job.returncode}, {sums}")
    missing = [name for name in sorted(wanted) if sums[name] == 0]
    if job.returncode == 0 and len(counts) == int(ranks) and sums["broken"] == 0 and not missing:
        return 0
    print(job.stdout[-4000:])
    print(f"{len(counts)} of {ranks} ranks had the layer; it never happened: {missing}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
