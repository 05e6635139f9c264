"""`sennit doctor` where a job or a thread cannot start: the cause is bad, is counted once, and is named.

Broken by a doctor that fails where threads are refused, or finds nothing bad where no job starts.
"""
import errno
import json
import os
import platform
import resource
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from refuse import NUMBERS, refuse  # noqa: E402

SENNIT = sys.argv[1]


def refused_call(name, error=errno.EPERM):
    if platform.machine() not in NUMBERS:
        print("left out: the numbers of system calls are not known for", platform.machine())
        sys.exit(77)
    return lambda: refuse([NUMBERS[platform.machine()][name]], error)


def limit(which, value):
    # Python ignores this signal; a shell that starts sennit does not.
    def set_it():
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(which, (value, value))
    return set_it


def check(prepare, name, part):
    """Exactly one finding is bad in addition to this machine's own bad findings, and it has that text."""
    result = subprocess.run([SENNIT, "doctor", "--json"], capture_output=True, text=True, timeout=60, preexec_fn=prepare)
    if result.returncode == 77 or "left out" in result.stdout:
        print(result.stdout)
        sys.exit(77)
    assert result.returncode == 1, (name, part, result)
    findings = {one["name"]: one for one in json.loads(result.stdout)["findings"]}
    bad = [one for one in findings if findings[one]["verdict"] == "bad" and one not in BEFORE]
    assert bad == [name], (name, part, bad, result.stdout)
    assert part in findings[name]["is"] + findings[name]["costs"], findings[name]
    if name not in ("start", "threads", "seccomp") or part == "SIGSYS":
        assert findings["start"]["mend"] == "see " + name, findings["start"]


before = json.loads(subprocess.run([SENNIT, "doctor", "--json"], capture_output=True, text=True, timeout=60, check=False).stdout)
BEFORE = [one["name"] for one in before["findings"] if one["verdict"] == "bad"]
assert "start" not in BEFORE and "threads" not in BEFORE, before

for call, named in (("memfd_create", "memfd_create"), ("bind", "abstract socket"), ("ftruncate", "growing the memory file"),
                    ("setpgid", "setpgid")):
    check(refused_call(call), "start", named + ": Operation not permitted"
          if call in ("memfd_create", "setpgid") else named)
# A C library may start threads by clone3; fork and vfork do not use it.
check(refused_call("clone3"), "threads", "no second thread: Operation not permitted")
# Ranks start without this call.
check(refused_call("process_vm_readv"), "seccomp", "sennit_register")
# The default of some filters is to kill the process.
check(refused_call("process_vm_readv", None), "seccomp", "SIGSYS")
check(limit(resource.RLIMIT_FSIZE, 1024000), "file_size", "no rank starts")
check(limit(resource.RLIMIT_FSIZE, 0), "file_size", "no rank starts")
check(limit(resource.RLIMIT_AS, 100_000_000), "address_space", "cannot start")
# Ranks start, but cannot map each other.
check(limit(resource.RLIMIT_AS, 150_000_000), "address_space", "do not reach each other")
# More than the memory of two ranks, but not enough for that and the program.
check(limit(resource.RLIMIT_AS, 231_000_000), "start", "RLIMIT_AS (ulimit -v) allows 231000000 bytes")
check(limit(resource.RLIMIT_NOFILE, 20), "open_files", "40 for 2 ranks")
