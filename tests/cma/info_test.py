"""`sennit info --peers` gives the reason why a peer's private memory cannot be reached, and shows the pairs that still copy.

Broken by a table that shows only the path in use, or a reason from the wrong side.
"""
import json
import subprocess
import sys

SENNIT, FORBIDDEN = sys.argv[1:3]


def info(*words):
    command = [SENNIT, "run", "-n", "3", "--timeout", "30", FORBIDDEN, "run", SENNIT, "info", "--peers", *words]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    if result.returncode == 77:
        print(result.stderr)
        sys.exit(77)
    assert result.returncode == 0, result.stderr
    return result.stdout


text = info()
print(text)
assert "seccomp filter" in text, "the text has the reason"
assert "private memory" in text, "the text tells of the pairs that copy"

pairs = {(p["from"], p["to"]): p for p in json.loads(info("--json"))["peers"]["pairs"]}
assert "seccomp" in pairs[1, 0]["reasons"]["cma"], pairs[1, 0]
assert "could not reach" in pairs[0, 1]["reasons"]["cma"], pairs[0, 1]
assert "works" in pairs[0, 2]["reasons"]["cma"], pairs[0, 2]
assert pairs[1, 0]["path"] == "mapped"

# Memory that ranks register: heap and static memory move to where peers map it, memory on the stack cannot.
ranks = json.loads(info("--json"))["peers"]["ranks"]
for rank in ranks:
    heap, static, stack = rank["registered_memory"]
    assert heap["mechanism"] == static["mechanism"] == "adopt", rank
    assert stack["mechanism"] == "cma" and "stack" in stack["reasons"]["adopt"], rank
    assert "other processes" in heap["reasons"]["inproc"], rank
assert "not adopt: the memory is on the stack" in text, "the text has the reason of the stack"
