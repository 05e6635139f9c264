#!/usr/bin/env python3
"""Every wait ends: waits_test.py WHAT SENNIT PROGRAM, where PROGRAM is made from waits.c and WHAT is one of

    few, all, copied        a PE ends while the others wait, for each wait of a list
    traced                  the output of `sennit trace where` for such a wait
    limited                 a PE does nothing, and SENNIT_TIMEOUT ends the others' waits
    nodes                   the same on two made-up nodes
    late                    a PE does nothing for more than 10 s
    shared, shared_copied   eight PEs on one processor
    alone                   a program that was not started by a launcher
"""
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
import time

WHAT, SENNIT, PROGRAM = sys.argv[1:]
COPIED = {"SENNIT_PATHS": "self,cma", "SENNIT_REGISTER": "cma"}

# From the start of the job to its end. A wait that does not end would reach the launcher's limit, which is much longer.
BOUND_S = 8.0
LIMIT_S = 20
GONE = (r"(SENNIT_ERR_PEER_LOST: PE \d \(process \d+\) has ended without shmem_finalize"
        r"|SENNIT_ERR_PEER_LOST: PE \d is gone|the process of PE \d has ended)$")

FEW = ["long_wait_until", "barrier_all", "long_sum_reduce", "quiet"]
ALL = FEW + """init long_wait_until_all long_wait_until_any long_wait_until_some signal_wait_until set_lock sync_all team_sync
barrier long_sum_to_all broadcastmem collectmem fcollectmem alltoallmem long_sum_inscan malloc free team_split_strided
team_destroy finalize""".split()
# The call that reports the error, where the wait itself returns the error as its result.
SAID_BY = {"team_split_strided": "barrier_all"}
KILLED = 128 + 9


def pes_of(case, copied):
    # If the kernel copies, a look at a lock takes long, and longer with more PEs in its queue.
    return 8 if case == "set_lock" and copied else 3


def said_by(case, copied):
    if case == "init":
        return "shmem_init"
    if case == "quiet":  # mapped memory outlives its PE; memory that the kernel copies does not
        return r"PE \d: shmem_long_put_nbi" if copied else r"PE \d: quiet is over\n(.*\n)*PE \d: shmem_long_wait_until"
    return rf"PE \d: shmem_{SAID_BY.get(case, case)}"


def ends(case, how, environment):
    """None, or the faults of the job of this case."""
    began = time.monotonic()
    ran = subprocess.run([SENNIT, "run", "-n", str(pes_of(case, bool(environment))), "--keep-going", "--timeout", str(LIMIT_S), PROGRAM, case, how],
                         env={**os.environ, **environment}, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                         timeout=60, check=False)
    took = time.monotonic() - began
    said = ran.stdout + ran.stderr
    # A PE that left has no error itself; only the others report it.
    codes = {1} if how == "leave" else {KILLED, 1}
    wrong = []
    if ran.returncode not in codes:
        wrong.append(f"exit code {ran.returncode}, wanted {codes}")
    if took > BOUND_S:
        wrong.append(f"it took {took:.1f} s")
    if not re.search(rf"(?m)^{said_by(case, bool(environment))}: {GONE}", said):
        wrong.append("no PE has named its wait")
    if "it came out of" in said:
        wrong.append("a PE has returned from its wait")
    return f"{case} {how} {environment}: {', '.join(wrong)}; said:\n{said}" if wrong else None


def limited():
    """SENNIT_TIMEOUT ends each wait, and the message names the call and what is missing."""
    word = r"the word at 0x[0-9a-f]+ \(variables of the program, symmetric offset \d+\) is 0, wanted != 0"
    first = r"none of 2 words is as wanted; the first, at 0x[0-9a-f]+ \(variables of the program, symmetric offset \d+\), is 0, wanted != 0"
    lock = r"the lock at 0x[0-9a-f]+ \(variables of the program, symmetric offset \d+\) "
    late = r"PE 2 has not arrived"
    missing = {
        "in_heap": ("long_wait_until", r"the word at symmetric offset 0 \(symmetric heap\) is [56], wanted > 7"),
        "long_wait_until": (None, word), "long_wait_until_all": (None, word), "signal_wait_until": (None, word),
        "long_wait_until_any": (None, first), "long_wait_until_some": (None, first), "set_lock": (None, lock + "is held by PE 2"),
        "set_overwritten_lock": ("set_lock", lock + "has lost this request: its word was changed by other calls or a store"),
        "set_lock_again": ("set_lock", lock + "is held by this PE"),
        "barrier": (None, word.replace("0, wanted != 0", "[01], wanted >= 1")),
        "long_sum_to_all": (None, word.replace("0, wanted != 0", "[01], wanted >= 1")),
        "quiet": ("long_wait_until", word),
        "broadcastmem": (None, "PEs? .*2 ha(s|ve) not arrived"), "long_sum_inscan": (None, "PEs? .*0.* ha(s|ve) not arrived"),
    }

    def wrong_with(case):
        name, why = missing.get(case, (None, late))
        ran = subprocess.run([SENNIT, "run", "-n", "3", "--keep-going", "--timeout", str(LIMIT_S), PROGRAM, case, "stay"],
                             env={**os.environ, "SENNIT_TIMEOUT": "0.4"}, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                             timeout=60, check=False)
        said = ran.stdout + ran.stderr
        is_said = re.search(rf"(?m)^PE \d: shmem_{name or case}: no end after 0.4 s \(SENNIT_TIMEOUT\): {why}$", said)
        return "" if ran.returncode == 1 and is_said and "it came out of" not in said else f"{case}: exit code {ran.returncode}; said:\n{said}"

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        return list(filter(None, pool.map(wrong_with, ["in_heap", "set_lock_again", "set_overwritten_lock"] + [case for case in ALL if case != "init"])))


def nodes():
    """PEs of the same node are named; of other nodes the message says only that some are late. Each PE in turn has the shortest limit."""
    wanted = {"0": ": PEs of other nodes have not arrived", "1": ": PEs of other nodes have not arrived", "2": ": PE 3 has not arrived"}

    def wrong_with(pe):
        limits = f"test $SENNIT_RANK = {pe} && export SENNIT_TIMEOUT=0.4; exec {PROGRAM} barrier_all stay"
        ran = subprocess.run([SENNIT, "run", "-n", "4", "--nodes", "2", "--keep-going", "--timeout", str(LIMIT_S), "sh", "-c", limits],
                             env={**os.environ, "SENNIT_TIMEOUT": str(LIMIT_S)}, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                             timeout=60, check=False)
        said = re.findall(r"PE (\d): shmem_barrier_all: no end after 0.4 s \(SENNIT_TIMEOUT\)(.*)\n", ran.stderr)
        return "" if ran.returncode == 1 and said == [(pe, wanted[pe])] else f"PE {pe}: exit code {ran.returncode}; said:\n{ran.stderr}"

    return list(filter(None, map(wrong_with, wanted)))


def late():
    """One waiting PE warns of the late PE after 10 s, once. The job's limit ends the job before the late PE comes."""
    def wrong_with(case):
        ran = subprocess.run([SENNIT, "run", "-n", "3", "--timeout", "12", PROGRAM, case, "stay"], stdin=subprocess.DEVNULL,
                             capture_output=True, text=True, timeout=60, check=False)
        warning = rf"sennit: PE 0: warning: shmem_{case} has waited for 10 s: PE 2 has not arrived; SENNIT_TIMEOUT sets a limit\n"
        is_right = ran.returncode == 124 and re.fullmatch(warning + r"sennit run: the job has run for .*\n", ran.stderr)
        return "" if is_right else f"{case}: exit code {ran.returncode}; said:\n{ran.stderr}"

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        return list(filter(None, pool.map(wrong_with, ("barrier_all", "team_sync", "malloc", "finalize"))))


def traced():
    """`sennit trace where` prints the word with its latest value, or the lock. Broken by a note that is made only once, or that
    only a debugger sees."""
    def wrong_with(case, wanted):
        with tempfile.TemporaryDirectory() as folder:
            name = os.path.join(folder, "trace.json")
            job = subprocess.Popen([SENNIT, "run", "-n", "3", "--timeout", str(LIMIT_S), PROGRAM, case, "stay"],
                                   env={**os.environ, "SENNIT_TRACE": name}, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            said, end = "", time.monotonic() + BOUND_S
            while not all(re.search(f"(?m)^  {line}$", said) for line in wanted) and time.monotonic() < end:
                time.sleep(0.05)
                said = subprocess.run([SENNIT, "trace", "where", name], capture_output=True, text=True, timeout=20, check=False).stdout
            job.terminate()
            job.wait(LIMIT_S)
        return "" if all(re.search(f"(?m)^  {line}$", said) for line in wanted) else f"traced {case}:\n{said}"

    words = [rf"PE {pe} waits in shmem_long_wait_until: the word at symmetric offset 0 \(symmetric heap\) is {value}, wanted > 7"
             for pe, value in ((0, 6), (1, 5))]
    locks = [rf"PE {pe} waits in shmem_set_lock: the lock at .* is held by PE 2" for pe in (0, 1)]
    return list(filter(None, (wrong_with("in_heap", words), wrong_with("set_lock", locks))))


def deaths():
    jobs = [(case, "kill", COPIED if WHAT == "copied" else {}) for case in (FEW if WHAT == "few" else ALL)]
    if WHAT == "all":
        jobs += [(case, how, {}) for case in FEW[:3] for how in ("leave", "early")]
    # The jobs sleep most of the time.
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        return [wrong for wrong in pool.map(lambda job: ends(*job), jobs) if wrong]


def shared():
    """A waiting PE that keeps the processor delays the next one by a time slice, some 3 ms, and one that sleeps delays it by a
    millisecond or more. Each of these cases has two thousand hand-overs or more, which take some 0.1 s in total."""
    bound_s = 2.0
    is_copied = WHAT == "shared_copied"
    # If the kernel copies, atomic operations take long themselves.
    bounded = {"ring", "ring_of_tests", "barriers", "sums"} | (set() if is_copied else {"ring_of_signals", "sums_of_a_set", "locks"})
    first = min(os.sched_getaffinity(0))
    ran = subprocess.run([SENNIT, "run", "-n", "8", "--timeout", "50", PROGRAM, "shared"],
                         env={**os.environ, **(COPIED if is_copied else {})}, stdin=subprocess.DEVNULL, capture_output=True,
                         text=True, timeout=60, check=False, preexec_fn=lambda: os.sched_setaffinity(0, {first}))
    took = {name: float(seconds) for name, seconds in re.findall(r"(?m)^(\w+) (\d+\.\d+)$", ran.stdout)}
    slow = [name for name in bounded if not took.get(name, bound_s) < bound_s]
    if ran.returncode == 0 and not slow:
        return []
    return [f"exit code {ran.returncode}, slow: {slow}; said:\n{ran.stdout}{ran.stderr}"]


def alone():
    unlaunched = {name: value for name, value in os.environ.items() if not name.startswith(("SENNIT_", "PMI", "OMPI_"))}
    ran = subprocess.run([PROGRAM, "alone"], env=unlaunched, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                         timeout=LIMIT_S, check=False)
    said = ran.stdout + ran.stderr
    return [f"alone: exit code {ran.returncode}; said:\n{said}"] if ran.returncode != 0 or said else []


def main():
    wrong = {"shared": shared, "shared_copied": shared, "alone": alone, "limited": limited, "nodes": nodes, "late": late, "traced": traced}.get(WHAT, deaths)()
    print("\n".join(wrong), end="")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
