#!/usr/bin/env python3
"""The messages about mistakes, and the end of a job: errors_test.py SENNIT PROGRAM."""
import os
import re
import resource
import subprocess
import sys
import tempfile

SENNIT, PROGRAM = sys.argv[1:]

# Each mistake of PE 1, and its message.
NO_PE = "argument pe: there is no PE"
NO_PLACE = r"\d+ bytes at 0x[0-9a-f]+ are not symmetric memory \(for PE"
INVALID = "argument ctx: it is SHMEM_CTX_INVALID"
DESTROYED = "argument ctx: it was destroyed, or its team was"
NO_SET = "arguments PE_start, logPE_stride and PE_size: an active set of"
MISTAKES = {
    "no_such_pe": rf"shmem_long_p: {NO_PE} 77",
    "not_symmetric": rf"shmem_long_p: argument dest: {NO_PLACE} 0\)",
    "past_the_end": rf"shmem_putmem: argument dest: {NO_PLACE} 0\): they begin in symmetric memory and end outside",
    "atomic_pe": rf"shmem_long_atomic_fetch_add: {NO_PE} -1",
    "get_source": rf"shmem_getmem: argument source: {NO_PLACE} 0\)",
    "atomic_source": rf"shmem_long_atomic_fetch: argument source: {NO_PLACE} 0\)",
    "atomic_dest": rf"shmem_ctx_long_atomic_set: argument dest: {NO_PLACE} 0\)",
    "signal_address": rf"shmem_long_put_signal: argument sig_addr: {NO_PLACE} 0\)",
    "signal_operator": r"shmem_long_put_signal: argument sig_op: 9 is neither SHMEM_SIGNAL_SET nor SHMEM_SIGNAL_ADD",
    "strides": r"shmem_long_iput: arguments dst and sst: 0 and 1 are less than the length of a block, 1",
    "lock": rf"shmem_set_lock: argument lock: {NO_PLACE} 0\)",
    # The number that the program used, not the number in the world.
    "ctx_pe": rf"shmem_ctx_long_p: {NO_PE} 2",
    "ctx_not_symmetric": rf"shmem_ctx_long_p: argument dest: {NO_PLACE} 1\)",
    "invalid_put": f"shmem_ctx_long_put: {INVALID}",
    "invalid_get": f"shmem_ctx_getmem: {INVALID}",
    "invalid_iput": f"shmem_ctx_iput64: {INVALID}",
    "invalid_g": f"shmem_ctx_long_g: {INVALID}",
    "invalid_atomic": f"shmem_ctx_long_atomic_inc: {INVALID}",
    "invalid_signal": f"shmem_ctx_signal_add: {INVALID}",
    "destroyed_put": f"shmem_ctx_long_p: {DESTROYED}",
    "destroyed_again": f"shmem_ctx_destroy: {DESTROYED}",
    "destroyed_default": "shmem_ctx_destroy: argument ctx: it is the default one",
    "destroyed_world": "shmem_team_destroy: argument team: it is a predefined team",
    "team_sync": "shmem_team_sync: argument team: it is SHMEM_TEAM_INVALID",
    "team_sum": "shmem_long_sum_reduce: argument team: it is SHMEM_TEAM_INVALID",
    "team_root": "shmem_broadcastmem: argument PE_root: there is no PE 5 in a team of 2",
    "team_strides": "shmem_alltoallsmem: arguments dst and sst: 0 and 1 are not 1 or more",
    "set_too_large": rf"shmem_barrier: {NO_SET} 2147483647 PEs from 1 by 2\^30 needs PE 2305843007066210305, but there are 2 PEs",
    "set_by_32": rf"shmem_barrier: {NO_SET} 1 PE from 1 by 2\^32 is invalid",
    "set_without_me": rf"shmem_sync: {NO_SET} 1 PE from 0 by 2\^0 does not contain PE 1, the caller",
    "set_root": "shmem_broadcast32: argument PE_root: there is no PE 7 in an active set of 1",
    "set_dest": rf"shmem_fcollect32: argument dest: {NO_PLACE} 1\)",
    "set_strided_dest": rf"shmem_alltoalls64: argument dest: {NO_PLACE} 1\)",
    "set_source": rf"shmem_long_sum_to_all: argument source: {NO_PLACE} 1\)",
    "set_count": "shmem_long_sum_to_all: argument nreduce: -1 is negative",
}
NOT_HELD = "shmem_clear_lock: argument lock:"
LOCK = r"the lock at 0x[0-9a-f]+ \(variables of the program, symmetric offset \d+\)"
# In the order of errors.c.
COMPARE = """long_wait_until long_test long_wait_until_all long_wait_until_any long_wait_until_some long_test_all long_test_any
long_test_some long_wait_until_all_vector long_test_any_vector signal_wait_until ushort_test wait_until""".split()
MISTAKES |= {f"cmp_{i}": f"shmem_{name}: argument cmp: there is no comparison 9" for i, name in enumerate(COMPARE, 1)}

# case, environment, exit codes, expected output
CASES = [
    ("", {}, {0}, r"^$"),
    ("mistakes", {}, {0}, None),
    ("no-such-pe", {}, {1}, rf"PE 1: {MISTAKES['no_such_pe']}"),
    ("clear-free", {}, {1}, rf"PE 1: {NOT_HELD} no PE holds {LOCK}\n"),
    ("clear-of-other", {}, {1}, rf"PE 1: {NOT_HELD} {LOCK} is held by PE 0, and not by this PE, which holds no lock\n"),
    ("clear-of-other", {"SENNIT_PATHS": "self,cma", "SENNIT_REGISTER": "cma"}, {1}, rf"PE 1: {NOT_HELD} {LOCK} is held by PE 0, and"),
    ("free", {}, {1}, r"shmem_free: argument ptr: 0x[0-9a-f]+ was not allocated from the symmetric heap"),
    ("before-init", {}, {1}, r"(?m)^shmem_long_p: the library is not initialised$"),
    ("unchecked", {"SENNIT_SHMEM_CHECKS": "off"}, {0}, r"^$"),
    ("unchecked-signal", {"SENNIT_SHMEM_CHECKS": "off"}, {0}, r"^$"),
    ("unchecked-signal", {"SENNIT_SHMEM_CHECKS": "off", "SENNIT_PATHS": "self,cma"}, {0}, r"^$"),
    ("again", {}, {0}, r"^$"),
    ("again", {"SENNIT_REGISTER": "cma"}, {0}, r"^$"),
    # Errors of Sennit's calls name the OpenSHMEM call that the program made.
    ("different", {}, {1}, r"PE (0: shmem_barrier_all: SENNIT_ERR_ARG: PE 1 waits in shmem_broadcast, this PE in a barrier"
     r"|1: shmem_broadcastmem: SENNIT_ERR_ARG: PE 0 waits in a barrier, this PE in shmem_broadcast)"
     r": all PEs of a team make the same collective calls in the same order"),
    ("operators", {}, {1}, r"PE (0: shmem_long_max_reduce: SENNIT_ERR_ARG: PE 1|1: shmem_long_sum_reduce: SENNIT_ERR_ARG: PE 0)"
     r" is also in a reduction of 8 bytes, but with another root, type or operator\n"),
    ("uneven", {}, {0}, r"^$"),
    ("uneven", {"SHMEM_DEBUG": "1"}, {1}, r"PE [01]: shmem_malloc: argument size in bytes: (8|16) here, and 8 to 16 on all PEs: it must be the same\n"),
    ("", {"SENNIT_NO_SUCH_KNOB": "1"}, {0}, r"^sennit: (PE 0: )?warning: .*SENNIT_NO_SUCH_KNOB"),
    ("exit-0", {}, {0}, r""),
    ("exit-7", {}, {7}, r""),
    ("dies", {}, {134}, r""),
    # One line for the job, also without SHMEM_DEBUG.
    ("too-large", {"SHMEM_SYMMETRIC_SIZE": "0.5m"}, {0},
     r"^PE 0: shmem_malloc: no room for 1048576 bytes with alignment 64 in the symmetric heap: 524288 of 524288 bytes are free; "
     r"SHMEM_SYMMETRIC_SIZE makes it larger\n$"),
    ("too-large", {"SHMEM_SYMMETRIC_SIZE": "512k", "SHMEM_DEBUG": "1"}, {0}, r"shmem_malloc: no room for 1048576 bytes"),
    ("", {"SHMEM_SYMMETRIC_SIZE": "many"}, {1}, r'shmem_init: SHMEM_SYMMETRIC_SIZE is not a size: "many"; give bytes, or a number and one of k, m, g and t: 268435456, 20m, 1.5G'),
    ("", {"SHMEM_SYMMETRIC_SIZE": "20mfoo"}, {1}, r'shmem_init: SHMEM_SYMMETRIC_SIZE is not a size: "20mfoo"'),
    ("", {"SHMEM_VERSION": "1"}, {0}, r"OpenSHMEM 1\.6"),
    ("", {"SMA_INFO": "1", "SMA_SYMMETRIC_SIZE": "2M"}, {0}, r"now 2097152"),
    ("not-symmetric", {"SENNIT_SHMEM_STATICS": "off"}, {1}, r"not symmetric memory \(for PE 0\)\n"),
    ("variable", {"SENNIT_SHMEM_STATICS": "off"}, {1}, rf"(?m)^PE 1: {MISTAKES['not_symmetric']}: they are in .*/shmem_errors, "
     r"and with SENNIT_SHMEM_STATICS=off variables are not symmetric$"),
]

# A heap that is impossible: its size, a limit of the job, and the message with the size asked for and the size available.
NO_HEAP = "shmem_init: cannot allocate a symmetric heap of {} bytes for each of 2 PEs: "
SETTING = "; set SHMEM_SYMMETRIC_SIZE to a smaller size$"
HEAPS = [
    ("1000t", None, NO_HEAP.format(1000 << 40) + rf"{(1000 << 40) + 56} bytes are more than an address space holds" + SETTING),
    ("60t", None, NO_HEAP.format(60 << 40) + rf"{(60 << 40) + 56} bytes asked for, but the node has \d+ bytes of memory and swap" + SETTING),
    ("1g", (resource.RLIMIT_AS, 600 << 20), NO_HEAP.format(1 << 30)
     + rf"no address space for \d+ bytes: RLIMIT_AS \(ulimit -v\) allows {600 << 20} bytes, of which \d+ bytes are in use" + SETTING),
    ("1g", (resource.RLIMIT_FSIZE, 600 << 20), NO_HEAP.format(1 << 30)
     + rf"RLIMIT_FSIZE \(ulimit -f\) allows a file of {600 << 20} bytes, not of \d+ bytes" + SETTING),
]


def comma_locale(folder):
    """The environment of a locale with a comma in its numbers, made in `folder`; None if that is impossible."""
    try:
        made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", os.path.join(folder, "de_DE.UTF-8")],
                              capture_output=True, timeout=60, check=False).returncode == 0
    except FileNotFoundError:
        made = False
    if not made:
        print("left out: no locale with a comma in its numbers can be made here")
    return {"LOCPATH": folder, "LC_ALL": "de_DE.UTF-8"} if made else None


def mistake_missing(said):
    """The mistakes whose messages are wrong; None if all are right and there is no other output."""
    blocks = dict(block.split(":\n", 1) for block in re.findall(r"(?m)^\w+:\n(?:.* .*\n)*", said))
    if set(blocks) != set(MISTAKES):
        return f"other mistakes: {set(blocks) ^ set(MISTAKES)}"
    wrong = [name for name, text in MISTAKES.items() if not re.fullmatch(rf"PE 1: {text}\n", blocks[name])]
    return f"said otherwise: {wrong}" if wrong else None


def run(case, environment, codes, text, limit=None):
    ran = subprocess.run([SENNIT, "run", "-n", "2", "--timeout", "20", PROGRAM] + ([case] if case else []),
                         env={**os.environ, **environment}, capture_output=True, text=True, timeout=60, check=False,
                         preexec_fn=(lambda: resource.setrlimit(limit[0], (limit[1], limit[1]))) if limit else None)
    said = ran.stdout + ran.stderr
    if text is None:
        text = mistake_missing(said)
        if text is None:
            return True
        print(text)
    elif ran.returncode in codes and re.search(text, said):
        return True
    print(f"{case} {environment}: exit code {ran.returncode}, wanted {codes}; said:\n{said}")
    return False


def main():
    failed = sum(not run(*case) for case in CASES)
    failed += sum(not run("", {"SHMEM_SYMMETRIC_SIZE": size}, {1}, "(?m)^" + text, limit) for size, limit, text in HEAPS)
    with tempfile.TemporaryDirectory() as folder:
        locale = comma_locale(folder)
        if locale:
            failed += not run("locale", {**locale, "SENNIT_TIMEOUT": "9.5", "SHMEM_INFO": "1", "SHMEM_SYMMETRIC_SIZE": "1.5m"}, {0}, "now 1572864")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
