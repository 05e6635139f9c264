#!/usr/bin/env python3
"""Tries the rows of docs/manual/containers.md with `unshare` in place of a container runtime.

    tests/manual/containers_test.py CASE SENNIT ALLOCATES REGISTERS

ALLOCATES uses allocated memory alone, REGISTERS private memory too; both check their results. Each case gives every rank,
or the whole job, namespaces of its own. Ends with 77 where the system does not let us make them. What would break it: a
namespace that Sennit needs its ranks to share, or a page that is wrong about one.
"""
import subprocess
import sys

SKIPPED = 77
FORBIDDEN = "private memory can not be reached"  # what REGISTERS says when it ends with 77


def skip_unless(*command):
    """Ends the test where this is not allowed."""
    result = subprocess.run([*command, "true"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=10,
                            check=False)
    if result.returncode != 0:
        print(f"skipped: {' '.join(command)}: {result.stderr.strip()}")
        sys.exit(SKIPPED)


class Job:
    """A job of two ranks: `around` stands before the launcher, `inside` before each rank."""

    def __init__(self, sennit, around, inside, program):
        command = [*around, sennit, "run", "-n", "2", "--timeout", "20", *inside, program]
        result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=40,
                                check=False)
        self.code, self.output = result.returncode, result.stdout + result.stderr
        self.command = " ".join(command)

    def must(self, holds, what):
        if not holds:
            sys.exit(f"{self.command}\nexit status {self.code}, not {what}\n{self.output}")

    def must_work(self):
        self.must(self.code == 0, "0")

    def must_be_forbidden(self):
        self.must(self.code == SKIPPED and FORBIDDEN in self.output, "that private memory can not be reached")


def both_with(sennit, inside, allocates, registers):
    skip_unless(*inside)
    Job(sennit, [], inside, allocates).must_work()
    return Job(sennit, [], inside, registers)


def user_namespaces(sennit, allocates, registers):
    both_with(sennit, ["unshare", "--user", "--map-root-user"], allocates, registers).must_be_forbidden()
    # One for the whole job keeps its ranks together.
    around = ["unshare", "--user", "--map-root-user"]
    inside_works = Job(sennit, [], [], registers).code == 0
    if inside_works:
        Job(sennit, around, [], registers).must_work()


def process_namespaces(sennit, allocates, registers):
    both_with(sennit, ["unshare", "--pid", "--fork"], allocates, registers).must_be_forbidden()


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


CASES = {case.__name__: case for case in (user_namespaces, process_namespaces, network_namespaces, mounts_and_names,
                                          a_small_dev_shm, process_one)}


def main():
    CASES[sys.argv[1]](*sys.argv[2:])
    print("as the page says")
    return 0


if __name__ == "__main__":
    sys.exit(main())
