#!/usr/bin/env python3
"""What is said and how a job ends: errors_test.py SENNIT PROGRAM."""
import os
import re
import subprocess
import sys

SENNIT, PROGRAM = sys.argv[1:]

# case, environment, exit codes, what is said
CASES = [
    ("", {}, {0}, r"^$"),
    ("no-such-pe", {}, {1}, r"PE 1: shmem_long_p: argument pe: there is no such PE as 77"),
    ("not-symmetric", {}, {1}, r"PE 1: shmem_long_p: 8 bytes at 0x[0-9a-f]+ are not symmetric memory \(for PE 0\)"),
    ("atomic-pe", {}, {1}, r"PE 1: shmem_long_atomic_fetch_add: argument pe: there is no such PE as -1"),
    ("free", {}, {1}, r"shmem_free: argument ptr: 0x[0-9a-f]+ was not allocated from the symmetric heap"),
    ("comparison", {}, {1}, r"shmem_wait_until: argument cmp: 9 is no comparison"),
    ("before-init", {}, {1}, r"shmem_long_p: the library is not initialised"),
    ("unchecked", {"SENNIT_SHMEM_CHECKS": "off"}, {0}, r"^$"),
    ("again", {}, {0}, r"^$"),
    ("again", {"SENNIT_REGISTER": "cma"}, {0}, r"^$"),
    ("exit-0", {}, {0}, r""),
    ("exit-7", {}, {7}, r""),
    ("dies", {}, {134}, r""),
    ("too-large", {"SHMEM_SYMMETRIC_SIZE": "0.5m"}, {0}, r"^$"),
    ("too-large", {"SHMEM_SYMMETRIC_SIZE": "512k", "SHMEM_DEBUG": "1"}, {0},
     r"shmem_malloc: 1048576 bytes .* are not in the heap, of which 524288 of 524288 are free"),
    ("", {"SHMEM_SYMMETRIC_SIZE": "many"}, {1}, r'shmem_init: SHMEM_SYMMETRIC_SIZE is no size: "many"'),
    ("", {"SHMEM_SYMMETRIC_SIZE": "1000t"}, {1}, r"a symmetric heap of 1099511627776000 bytes for each of 2 PEs can not be had"),
    ("", {"SHMEM_VERSION": "1"}, {0}, r"OpenSHMEM 1\.6"),
    ("", {"SMA_INFO": "1", "SMA_SYMMETRIC_SIZE": "2M"}, {0}, r"now 2097152"),
    ("not-symmetric", {"SENNIT_SHMEM_STATICS": "off"}, {1}, r"not symmetric memory"),
]


def main():
    failed = 0
    for case, environment, codes, text in CASES:
        run = subprocess.run([SENNIT, "run", "-n", "2", "--timeout", "20", PROGRAM] + ([case] if case else []),
                             env={**os.environ, **environment}, capture_output=True, text=True, timeout=60, check=False)
        said = run.stdout + run.stderr
        if run.returncode not in codes or not re.search(text, said):
            failed += 1
            print(f"{case} {environment}: exit code {run.returncode}, wanted {codes}; said:\n{said}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
