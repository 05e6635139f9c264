#!/usr/bin/env python3
"""Runs a scene of overdue.c on two made-up nodes, through the layer (layer/layer.hpp), which swallows posted operations.

    overdue_test.py SENNIT FOLDER PROGRAM SCENE TIMEOUT LIMIT WORD...

FOLDER has the layer's libfabric, TIMEOUT is the peers' timeout. The job must end without an error in LIMIT seconds, and its
log must have each WORD; a WORD that begins with ! must be absent. Fails also if nothing was swallowed, except in the scene that
needs only keys of the provider.
"""

import os
import re
import subprocess
import sys
import tempfile
import time

LIMIT_S = 60


def main():
    sennit, folder, program, scene, timeout, limit, *words = sys.argv[1:]
    with tempfile.TemporaryDirectory() as place:
        file = f"{place}/swallows"
        layer = {"first": "mr=prov_key", "hush": f"no_transfers={file},no_sends={file}"}.get(scene, f"no_transfers={file}")
        if scene.startswith("mute"):
            layer += f",no_sends={file}"
        start = time.monotonic()
        job = subprocess.run([sennit, "run", "-n", "2", "--nodes", "2", "--keep-going", "--timeout", str(LIMIT_S), program, scene, file],
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
                             env={**os.environ, "SENNIT_LOG": "info", "SENNIT_PEER_TIMEOUT": timeout, "LD_LIBRARY_PATH": folder,
                                  "FABRIC_LAYER": layer, **({"SENNIT_FINALIZE_TIMEOUT": "1"} if scene == "leave" else {})})
        took = time.monotonic() - start
    swallowed = sum(map(int, re.findall(r"(\d+) swallowed", job.stdout)))
    wrong = [word for word in words if (word.lstrip("!") in job.stdout) == word.startswith("!")]
    print(f"{scene}: exit code {job.returncode}, {took:.1f} s, {swallowed} swallowed")
    is_seen = swallowed or scene == "first"
    if job.returncode == 0 and took < float(limit) and is_seen and not wrong and " 0 rules broken" in job.stdout:
        return 0
    print(job.stdout[-6000:])
    print("not as promised:", wrong)
    return 1


if __name__ == "__main__":
    sys.exit(main())
