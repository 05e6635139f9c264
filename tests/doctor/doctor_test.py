"""`sennit doctor`: text and JSON agree, -n counts, the exit code follows the verdicts, wrong options exit with 2.

Broken by a check missing in the list, an exit code that does not follow the verdicts, text without the command.
"""
import json
import os
import subprocess
import sys
import tempfile

SENNIT = sys.argv[1]
NAMES = {"start", "security_module", "file_size", "address_space", "stack", "processes", "threads", "ptrace_scope", "seccomp", "userfaultfd", "xpmem", "memlock", "huge_pages", "shmem_enabled", "memory_limit", "numa_balancing",
         "cpuset", "cpu_quota", "governor", "autogroup", "libfabric", "interfaces", "ports", "congestion", "progress",
         "open_files"}


def doctor(*words):
    return subprocess.run([SENNIT, "doctor", *words], capture_output=True, text=True, timeout=30)


def write(root, name, text):
    os.makedirs(os.path.dirname(root + name), exist_ok=True)
    with open(root + name, "w", encoding="utf-8") as file:
        file.write(text)


# This machine, in any state.
result = doctor("--json")
report = json.loads(result.stdout)
assert {one["name"] for one in report["findings"]} == NAMES, result.stdout
bad = [one for one in report["findings"] if one["verdict"] == "bad"]
assert result.returncode == (1 if bad else 0) and report["bad"] == len(bad)
for one in report["findings"]:
    assert (one["verdict"] == "good") == (not one["mend"]) == (not one["costs"]), one
figures = {one["name"]: one["figures"] for one in report["findings"]}
assert figures["shmem_enabled"]["touch_ns_per_mib"] > 0, "it was measured"
assert figures["userfaultfd"]["guard_errno"] >= 0, "it was tried"
assert figures["ports"]["tried"] >= 1, "it was tried"
assert figures["start"]["exit_code"] == 0 and figures["start"]["start_ns"] > 0, "two ranks were started"
assert figures["threads"]["thread_errno"] == 0, "a thread was started"
looked = json.loads(doctor("--json", "--no-measure").stdout)
assert "touch_ns_per_mib" not in json.dumps(looked), "it was not measured"
assert json.loads(doctor("--json", "-n", "100000").stdout)["ranks"] == 100000
assert doctor("-n", "100000").returncode == 1, "nobody has so many processors"

# A made-up machine of files.
with tempfile.TemporaryDirectory() as root:
    write(root, "/proc/sys/kernel/yama/ptrace_scope", "0\n")
    write(root, "/proc/self/status", "Cpus_allowed_list:\t0-3\n")
    write(root, "/sys/devices/system/cpu/online", "0-3\n")
    good = doctor("--root", root, "-n", "4")
    assert good.returncode == 0 and " 0 bad" in good.stdout, good
    assert doctor("--root", root, "-n", "5").returncode == 1
    # The device is looked up but never read, and an unreadable file is no error: a folder behaves like one.
    os.makedirs(root + "/dev/xpmem")
    os.makedirs(root + "/proc/modules")
    unreadable = doctor("--root", root, "-n", "4")
    assert unreadable.returncode == 0 and "/dev/xpmem is there" in unreadable.stdout, unreadable
    write(root, "/proc/sys/kernel/yama/ptrace_scope", "1\n")
    ill = doctor("--root", root)
    assert ill.returncode == 1, ill
    assert "mend: sudo sysctl -w kernel.yama.ptrace_scope=0" in ill.stdout, ill.stdout
    assert "measured" not in ill.stdout, "figures of this machine say nothing about another"

for words in (["-n", "0"], ["-n", "many"], ["--unknown"]):
    assert doctor(*words).returncode == 2, words
help_text = doctor("--help").stdout
assert "--root" not in help_text and "0 if nothing is bad" in help_text
