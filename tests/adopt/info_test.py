"""`sennit info --peers` names how each rank reaches a peer's registered memory, where that differs from the owner's mechanism.

XPMEM is a stub that refuses every attachment by rank 1.
Broken by an owner's mechanism that is reported for every rank, or by a lost reason.
"""
import json
import os
import subprocess
import sys

SENNIT, STUB = sys.argv[1:3]
ENVIRONMENT = {**os.environ, "LD_LIBRARY_PATH": STUB, "XPMEM_STUB": "refused"}


def info(*words):
    command = [SENNIT, "run", "-n", "3", "--timeout", "30", SENNIT, "info", "--peers", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True, env=ENVIRONMENT).stdout


text = info()
print(text)
assert "heap    by xpmem" in text, "the owner's offer"
assert "heap    by cma (copied by the kernel, or by the path's messages)\n" in text, "how rank 1, which cannot attach, reaches the memory"
assert text.count("not xpmem: this rank cannot attach what the owner offers by XPMEM: Permission denied") == 1

peers = json.loads(info("--json"))["peers"]
for rank in peers["ranks"]:
    assert rank["registered_memory"][0]["mechanism"] == "xpmem", rank
for pair in peers["pairs"]:
    can_not = pair["from"] == 1 and pair["to"] != 1
    memory = pair["registered_memory"]
    assert memory["mechanism"] == ("cma" if can_not else "xpmem"), pair
    assert memory["reasons"]["xpmem"] == (
        "this rank cannot attach what the owner offers by XPMEM: Permission denied" if can_not else "taken"), pair
