#!/usr/bin/env python3
"""What is said and how a job ends: errors_test.py SENNIT PROGRAM."""
import os
import re
import subprocess
import sys
import tempfile

SENNIT, PROGRAM = sys.argv[1:]

# Each mistake that PE 1 makes, and what is said of it.
NO_PE = "argument pe: there is no such PE as"
INVALID = "argument ctx: it is SHMEM_CTX_INVALID"
DESTROYED = "argument ctx: it was destroyed, or its team was"
NO_SET = "arguments PE_start, logPE_stride and PE_size: PE 1 is in no active set of"
MISTAKES = {
    "no_such_pe": rf"shmem_long_p: {NO_PE} 77",
    "not_symmetric": r"shmem_long_p: argument dest: 8 bytes at 0x[0-9a-f]+ are not symmetric memory \(for PE 0\)",
    "atomic_pe": rf"shmem_long_atomic_fetch_add: {NO_PE} -1",
    # As the program said it, and not the number in the world.
    "ctx_pe": rf"shmem_ctx_long_p: {NO_PE} 2",
    "ctx_not_symmetric": r"shmem_ctx_long_p: argument dest: 8 bytes at 0x[0-9a-f]+ are not symmetric memory \(for PE 1\)",
    "invalid_put": f"shmem_ctx_long_put: {INVALID}",
    "invalid_get": f"shmem_ctx_getmem: {INVALID}",
    "invalid_iput": f"shmem_ctx_iput64: {INVALID}",
    "invalid_g": f"shmem_ctx_long_g: {INVALID}",
    "invalid_atomic": f"shmem_ctx_long_atomic_inc: {INVALID}",
    "invalid_signal": f"shmem_ctx_signal_add: {INVALID}",
    "destroyed_put": f"shmem_ctx_long_p: {DESTROYED}",
    "destroyed_again": f"shmem_ctx_destroy: {DESTROYED}",
    "set_too_large": rf"shmem_barrier: {NO_SET} 2147483647 PEs from 1 by 2\^30",
    "set_by_32": rf"shmem_barrier: {NO_SET} 1 PEs from 1 by 2\^32",
}
ALL_MISTAKES = "^" + "".join(rf"{name}:\nPE 1: {text}\n" for name, text in MISTAKES.items()) + "$"

# case, environment, exit codes, what is said
CASES = [
    ("", {}, {0}, r"^$"),
    ("mistakes", {}, {0}, ALL_MISTAKES),
    ("no-such-pe", {}, {1}, rf"PE 1: {MISTAKES['no_such_pe']}"),
    ("free", {}, {1}, r"shmem_free: argument ptr: 0x[0-9a-f]+ was not allocated from the symmetric heap"),
    ("before-init", {}, {1}, r"shmem_long_p: the library is not initialised"),
    ("unchecked", {"SENNIT_SHMEM_CHECKS": "off"}, {0}, r"^$"),
    ("unchecked-signal", {"SENNIT_SHMEM_CHECKS": "off"}, {0}, r"^$"),
    ("unchecked-signal", {"SENNIT_SHMEM_CHECKS": "off", "SENNIT_PATHS": "self,cma"}, {0}, r"^$"),
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


def comma_locale(folder):
    """The environment of a locale with a comma in its numbers, made in `folder`; None where that can not be done."""
    try:
        made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", os.path.join(folder, "de_DE.UTF-8")],
                              capture_output=True, timeout=60, check=False).returncode == 0
    except FileNotFoundError:
        made = False
    if not made:
        print("left out: no locale with a comma in its numbers can be made here")
    return {"LOCPATH": folder, "LC_ALL": "de_DE.UTF-8"} if made else None


def run(case, environment, codes, text):
    ran = subprocess.run([SENNIT, "run", "-n", "2", "--timeout", "20", PROGRAM] + ([case] if case else []),
                         env={**os.environ, **environment}, capture_output=True, text=True, timeout=60, check=False)
    said = ran.stdout + ran.stderr
    if ran.returncode in codes and re.search(text, said):
        return True
    print(f"{case} {environment}: exit code {ran.returncode}, wanted {codes}; said:\n{said}")
    return False


def main():
    failed = sum(not run(*case) for case in CASES)
    with tempfile.TemporaryDirectory() as folder:
        locale = comma_locale(folder)
        if locale:
            failed += not run("locale", {**locale, "SHMEM_INFO": "1", "SHMEM_SYMMETRIC_SIZE": "1.5m"}, {0}, "now 1572864")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
