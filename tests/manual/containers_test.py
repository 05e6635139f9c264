#!/usr/bin/env python3
"""Tests the rows of docs/manual/containers.md with `unshare` instead of a container runtime.

    tests/manual/containers_test.py CASE SENNIT ALLOCATES REGISTERS|RESERVES

ALLOCATES uses only allocated memory, REGISTERS also private memory, RESERVES more than its control group allows; all check
their results. Each case gives every rank, or the whole job, separate namespaces. Ends with 77 if the system does not allow
that. Broken by a namespace that Sennit's ranks need to share, or by a page that is wrong about one.
"""
import os
import subprocess
import sys

SKIPPED = 77
LIMIT_MIB = 64  # of a control group; reserving_rank.cpp needs more
FORBIDDEN = "private memory cannot be reached"  # printed by REGISTERS when it ends with 77


def skip_unless(*command):
    """Ends the test if the command is not allowed."""
    result = subprocess.run([*command, "true"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=10,
                            check=False)
    if result.returncode != 0:
        print(f"skipped: {' '.join(command)}: {result.stderr.strip()}")
        sys.exit(SKIPPED)


class Job:
    """A job of two ranks: `around` is put before the launcher, `inside` before each rank."""

    def __init__(self, sennit, around, inside, program, register=""):
        command = [*around, sennit, "run", "-n", "2", "--timeout", "20", *inside, program]
        result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=40,
                                check=False, env={**os.environ, "SENNIT_REGISTER": register})
        self.code, self.output = result.returncode, result.stdout + result.stderr
        self.command = " ".join(command)

    def must(self, holds, what):
        if not holds:
            sys.exit(f"{self.command}\nexit status {self.code}, not {what}\n{self.output}")

    def must_work(self):
        self.must(self.code == 0, "0")

    def must_be_forbidden(self):
        self.must(self.code == SKIPPED and FORBIDDEN in self.output, "77 with: private memory cannot be reached")


def both_with(sennit, inside, allocates, registers):
    skip_unless(*inside)
    Job(sennit, [], inside, allocates).must_work()
    return Job(sennit, [], inside, registers)


def without_copies(sennit, inside, allocates, registers):
    """The kernel does not copy: only memory works that can be moved into a file which peers map."""
    both_with(sennit, inside, allocates, registers).must_work()
    Job(sennit, [], inside, registers, register="cma").must_be_forbidden()


def user_namespaces(sennit, allocates, registers):
    without_copies(sennit, ["unshare", "--user", "--map-root-user"], allocates, registers)
    # One namespace for the whole job keeps its ranks together.
    around = ["unshare", "--user", "--map-root-user"]
    inside_works = Job(sennit, [], [], registers).code == 0
    if inside_works:
        Job(sennit, around, [], registers).must_work()


def process_namespaces(sennit, allocates, registers):
    without_copies(sennit, ["unshare", "--pid", "--fork"], allocates, registers)


def network_namespaces(sennit, allocates, registers):
    inside = ["unshare", "--net"]
    skip_unless(*inside)
    job = Job(sennit, [], inside, allocates)
    job.must(job.code == 1 and "SENNIT_ERR_OTHER_NODE" in job.output, "SENNIT_ERR_OTHER_NODE")


def mounts_and_names(sennit, allocates, registers):
    inside = ["unshare", "--mount", "--uts", "--ipc"]
    plain = Job(sennit, [], [], registers)
    job = both_with(sennit, inside, allocates, registers)
    job.must(job.code == plain.code, f"{plain.code}, as without namespaces")


def a_small_dev_shm(sennit, allocates, registers):
    around = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o size=4k tmpfs /dev/shm && exec "$@"', "sh"]
    skip_unless(*around)
    Job(sennit, around, [], allocates).must_work()


def process_one(sennit, allocates, registers):
    around = ["unshare", "--pid", "--fork", "--mount-proc"]
    skip_unless(*around)
    Job(sennit, around, [], allocates).must_work()
    failing = Job(sennit, around, ["sh", "-c"], "exit 3")
    failing.must(failing.code == 3, "3")


def own_group():
    """The folder of this process's memory control group, version 1 or 2."""
    with open("/proc/self/cgroup", encoding="ascii") as file:
        for line in file:
            number, controllers, path = line.rstrip("\n").split(":", 2)
            if controllers == "memory":
                return "/sys/fs/cgroup/memory" + path.rstrip("/"), "memory.limit_in_bytes"
    return "/sys/fs/cgroup" + path.rstrip("/") if number == "0" else "", "memory.max"


def memory_limit(sennit, _, reserves):
    folder, limit = own_group()
    group = f"{folder}/sennit-test-{os.getpid()}"
    try:
        os.mkdir(group)
    except OSError as error:
        print(f"skipped: no control group can be made: {error}")
        sys.exit(SKIPPED)
    try:
        with open(f"{group}/{limit}", "w", encoding="ascii") as file:
            file.write(str(LIMIT_MIB << 20))
        enter = ["sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh"]
        for _ in range(3):  # the result depends on which rank reserves first
            Job(sennit, enter, [], reserves).must_work()
    except OSError as error:
        print(f"skipped: the control group has no limit: {error}")
        sys.exit(SKIPPED)
    finally:
        os.rmdir(group)


CASES = {case.__name__: case for case in (user_namespaces, process_namespaces, network_namespaces, mounts_and_names,
                                          a_small_dev_shm, process_one, memory_limit)}


def main():
    CASES[sys.argv[1]](*sys.argv[2:])
    print("as the page says")
    return 0


if __name__ == "__main__":
    sys.exit(main())
