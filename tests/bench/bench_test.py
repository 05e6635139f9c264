#!/usr/bin/env python3
"""`sennit bench` measures what it reports and leaves nothing behind. Tiny rounds: measured values are not judged.

    bench_test.py SENNIT MPI,MPI,... CASE
"""
import json
import os
import signal
import subprocess
import sys
import time

SENNIT, MPIS = sys.argv[1], [name for name in sys.argv[2].split(",") if name]
FIELDS = ["bench", "subject", "bytes", "ranks", "median_ns", "p5_ns", "p95_ns", "rounds", "ratio_to_raw"]
MPI_OR_NONE = MPIS or ["none"]


def bench(*words, code=0):
    """The lines of `sennit bench ... --json`, parsed; checks the exit code."""
    command = [SENNIT, "bench", *words, "--json"]
    run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100, check=False)
    assert run.returncode == code, f"{' '.join(command)}: exit code {run.returncode}\n{run.stdout}{run.stderr}"
    return [json.loads(line) for line in run.stdout.splitlines()]


def check(lines, name, expected, kind=lambda subject: ""):
    """Checks each line, and that the lines are those of `expected`: {(job, bytes): [subject, ...]}.

    The ratio of a subject refers to the fastest raw subject of its kind."""
    found = {}
    for line in lines:
        missing = [field for field in FIELDS if field not in line]
        assert not missing, f"{missing} missing in {line}"
        assert line["bench"] == name and line["ranks"] >= 1 and line["rounds"] >= 1, line
        assert line["ratio_to_raw"] > 0, line
        assert 0 < line["p5_ns"] <= line["median_ns"] <= line["p95_ns"], line
        found.setdefault((line["job"], line["bytes"]), []).append(line["subject"])
    for group in found.values():
        assert len(group) == len(set(group)), f"a subject was measured twice: {group}"
    assert {key: sorted(group) for key, group in found.items()} == \
           {key: sorted(group) for key, group in expected.items()}, f"{found} instead of {expected}"
    for job, size in found:
        for kind_now in {kind(line["subject"]) for line in lines}:
            alike = [line for line in lines
                     if (line["job"], line["bytes"]) == (job, size) and kind(line["subject"]) == kind_now]
            raw = min((line["median_ns"] for line in alike if line["subject"].startswith("raw-")), default=None)
            for line in alike:
                assert abs(line["ratio_to_raw"] - line["median_ns"] / raw) < 1e-6, line


def job_names(mpi):
    return "sennit" if mpi == "none" else mpi


TINY = ["--rounds", "3", "--seconds", "0.01", "--timeout", "60"]


def pingpong():
    lines = bench("pingpong", "--mpi", ",".join(MPI_OR_NONE), "--bytes", "0,8,4K", *TINY)
    expected = {}
    for mpi in MPI_OR_NONE:
        own = [] if mpi == "none" else [f"{mpi}-sendrecv", f"{mpi}-persistent", f"{mpi}-put", f"{mpi}-put-probe"]
        for size in (0, 8, 4096):
            raw = "raw-flag" if size == 0 else "raw-payload-flag"
            expected[(job_names(mpi), size)] = [raw, "sennit-put", "sennit-pointer", *own]
    check(lines, "pingpong", expected)


NOTIFIED = ["raw-store-add", "sennit-put-notify", "sennit-put-notify-late"]


def notify():
    lines = bench("notify", "--mpi", ",".join(MPI_OR_NONE), "--bytes", "8,24", *TINY)
    ways = ["sendrecv", "persistent", "put", "put-probe", "put-shared", "put-message", "lock-message", "fence", "pscw"]
    expected = {}
    for mpi in MPI_OR_NONE:
        own = [] if mpi == "none" else [f"{mpi}-{way}" for way in ways]
        for size in (8, 24):
            expected[(job_names(mpi), size)] = [*NOTIFIED, *own]
    check(lines, "notify", expected)


def openshmem_is_measured_or_the_reason_reported():
    """With `--mpi all`, OpenSHMEM is measured or the reason is reported; a launcher that fails is a reason too."""
    missing = "openshmem: not measured: "
    run = subprocess.run([SENNIT, "bench", "notify", "--mpi", "all", "--bytes", "8", *TINY, "--json"],
                         stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    lines = [line for line in map(json.loads, run.stdout.splitlines()) if line["job"] == "openshmem"]
    if lines:
        assert missing not in run.stderr, run.stderr
        ways = ["put-add", "put-p", "put-p-poll"]
        check(lines, "notify", {("openshmem", 8): [*NOTIFIED, *(f"openshmem-{way}" for way in ways)]})
    else:
        assert missing in run.stderr, run.stderr
    words = ["--openmpi-launcher", "/bin/false", "--mpich-launcher", "/bin/false", "--mpi", "all", *TINY]
    run = subprocess.run([SENNIT, "bench", "notify", *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                         timeout=100, check=False)
    assert missing in run.stdout and run.returncode == (1 if MPIS else 0), run.stdout + run.stderr


def queue():
    rings = ["raw-ring", "raw-ring-in-place"]
    lines = bench("queue", "--mpi", ",".join(MPI_OR_NONE), "--bytes", "64,24", *TINY)
    expected = {}
    for mpi in MPI_OR_NONE:
        own = [] if mpi == "none" else [f"{mpi}-sendrecv", f"{mpi}-isend-irecv"]
        for size in (64, 24):
            expected[(job_names(mpi), size)] = [*rings, "sennit-queue", "sennit-queue-many", *own]
    check(lines, "queue", expected)
    lines = bench("queue", "--mpi", "none", "-n", "4", "--bytes", "64", *TINY)
    assert {line["ranks"] for line in lines} == {4}
    check(lines, "queue", {("sennit", 64): [*rings, "sennit-queue", "sennit-queue-many"]})


def plan():
    lines = bench("plan", "--mpi", ",".join(MPI_OR_NONE), "--bytes", "8,1K", *TINY)
    expected = {}
    for mpi in MPI_OR_NONE:
        ways = [] if mpi == "none" else ["put", "type", "lock", "fence", "pscw"]
        for size in (8, 1024):
            own = [f"{mpi}-{way}{kind}" for way in ways for kind in ("", "-shared")]
            expected[(job_names(mpi), size)] = ["raw-copies", "sennit-put", "sennit-plan", *own]
    check(lines, "plan", expected)


def channel():
    lines = bench("channel", "--mpi", ",".join(MPI_OR_NONE), "--bytes", "0,8,64K", *TINY)
    # Registered memory, if the path gives a pointer to it.
    registered = any(line["subject"] == "sennit-registered" for line in lines)
    expected = {}
    for mpi in MPI_OR_NONE:
        own = [] if mpi == "none" else [f"{mpi}-sendrecv", f"{mpi}-persistent", f"{mpi}-put", f"{mpi}-put-probe"]
        for size in (0, 8, 65536):
            raw = "raw-flag" if size == 0 else "raw-payload-flag"
            more = ["sennit-registered"] if registered and size > 0 else []
            expected[(job_names(mpi), size)] = [raw, "sennit-channel", *more, *own]
    check(lines, "channel", expected)


def transfer(name, word):
    lines = bench(name, "--mpi", ",".join(MPI_OR_NONE), "--bytes", "8,64K", *TINY)
    expected = {}
    for mpi in MPI_OR_NONE:
        own = [] if mpi == "none" else [f"{mpi}-rma", f"{mpi}-shared-window"]
        for size in (8, 65536):
            expected[(job_names(mpi), size)] = [word if size == 8 else "raw-memcpy", f"sennit-{name}", *own]
    check(lines, name, expected)


def adopt():
    lines = bench("adopt", "--bytes", "64K,4M", *TINY)
    moved = ["raw-memcpy", "memcpy-to-new-memory", "memcpy-to-new-shared", "sennit-register", "sennit-deregister"]
    huge = ["memcpy-small-pages", "sennit-register-huge", "sennit-deregister-huge"]
    check([line for line in lines if line["bench"] == "adopt"], "adopt",
          {("sennit", 65536): moved, ("sennit", 4 << 20): moved + huge})
    uses = [f"{user}-{kind}" for user in ("adopted", "peer") for kind in ("read", "write", "random")]
    # Small pages as well, where huge pages are available.
    for name, sizes in [*((use, (65536, 4 << 20)) for use in uses), *((f"{use}-small", (4 << 20,)) for use in uses)]:
        used = [line for line in lines if line["bench"] == name]
        check(used, name, {("sennit", size): ["raw-private", "sennit-adopted"] for size in sizes})
        for line in used:
            if line["subject"] == "sennit-adopted":
                assert 0 < line["ratio_low"] <= line["ratio_high"], line


def strided():
    lines = bench("strided", "--mpi", ",".join(MPI_OR_NONE), "--bytes", "1K,16K", *TINY)
    expected = {}
    for mpi in MPI_OR_NONE:
        subjects = ["raw", "sennit"] + ([] if mpi == "none" else [f"{mpi}-rma"])
        for size in (1024, 16384):
            expected[(job_names(mpi), size)] = [f"{subject}-{kind}" for subject in subjects for kind in ("words", "rows")]
    check(lines, "strided", expected, lambda subject: subject.rsplit("-", 1)[1])


def cma():
    lines = bench("cma", "--bytes", "8,64K", *TINY)
    pairs = ["raw-readv", "sennit-get", "raw-writev", "sennit-put"]
    kinds = {"raw-readv": "get", "sennit-get": "get", "raw-writev": "put", "sennit-put": "put"}
    check(lines, "cma", {("sennit", 8): pairs, ("sennit", 65536): [*pairs, "raw-readv-rows", "sennit-get-rows"]},
          lambda subject: kinds.get(subject, "rows"))


def barrier():
    lines = bench("barrier", "--mpi", "none", "-n", "2", *TINY) + bench("barrier", "--mpi", "none", "-n", "5", *TINY)
    assert {line["ranks"] for line in lines} == {2, 5}
    for ranks in (2, 5):
        check([line for line in lines if line["ranks"] == ranks], "barrier",
              {("sennit", 0): ["raw-flags", "raw-counter", "sennit-barrier"]})
    for mpi in MPIS:
        check(bench("barrier", "--mpi", mpi, *TINY), "barrier",
              {(mpi, 0): ["raw-flags", "raw-counter", "sennit-barrier", f"{mpi}-barrier"]})


def atomic():
    kinds = {("fetch-add", 8): ("raw-xadd", "sennit-fetch-add", ("fetch-and-op", "fetch-and-op-shared")),
             ("fetch-add-contended", 8): ("raw-xadd", "sennit-fetch-add", ("fetch-and-op", "fetch-and-op-shared")),
             ("compare-swap", 8): ("raw-cmpxchg", "sennit-compare-swap", ("compare-and-swap-shared",)),
             ("lock", 8): ("raw-spinlock", "sennit-lock", ("win-lock",)),
             ("lock-contended", 8): ("raw-spinlock", "sennit-lock", ("win-lock",)),
             ("accumulate", 64): ("raw-cmpxchg-loop", "sennit-accumulate", ("accumulate", "accumulate-shared"))}
    for mpi in MPI_OR_NONE:
        lines = bench("atomic", "--mpi", mpi, "--bytes", "64", *TINY)
        assert {(line["bench"], line["bytes"]) for line in lines} == set(kinds), lines
        for (name, size), (raw, own, others) in kinds.items():
            named = [] if mpi == "none" else [f"{mpi}-{other}" for other in others]
            locked = ["sennit-accumulate-locked"] if name == "accumulate" else []
            check([line for line in lines if line["bench"] == name], name,
                  {(job_names(mpi), size): [raw, own, *locked, *named]})


def collective(name):
    for ranks in (2, 3):
        lines = bench(name, "--mpi", ",".join(MPI_OR_NONE), "-n", str(ranks), "--bytes", "8,24K", *TINY)
        expected = {}
        for mpi in MPI_OR_NONE:
            own = [] if mpi == "none" else [f"{mpi}-collective"]
            for size in (8, 24576):
                expected[(job_names(mpi), size)] = ["raw-copy", "sennit-private", "sennit-segment", *own]
        check(lines, name, expected)


def start():
    lines = bench("start", "--mpi", "all", "-n", "2", "--nodes", "2", "--rounds", "2", "--timeout", "30")
    verbs = {"openmpi": "openmpi-mpirun", "mpich": "mpich-mpiexec"}
    assert [line["subject"] for line in lines] == ["raw-spawn", "sennit-run", *(verbs[mpi] for mpi in MPIS), "raw-provider", "sennit-run-nodes-2"], lines
    for line in lines:
        assert line["ranks"] == 2 and line["rounds"] == 2, line
        assert 0 < line["p5_ns"] <= line["median_ns"] <= line["p95_ns"], line


def memory():
    lines = bench("memory", "--mpi", "all", "-n", "2", "--rounds", "1", "--timeout", "30")
    assert [line["subject"] for line in lines] == ["raw-process", "sennit-rank", *(f"{mpi}-rank" for mpi in MPIS)], lines
    for line in lines:
        assert line["median_ns"] is None and line["rounds"] == (1 if line["subject"] == "raw-process" else 2), line
        # A process has some private pages, and these programs have less than 1 GiB.
        assert 4096 <= line["private_p5_bytes"] <= line["private_bytes"] <= line["private_p95_bytes"] < 1 << 30, line
        assert line["pss_bytes"] >= line["private_p5_bytes"], line
    assert all(line["ratio_to_raw"] > 1 for line in lines[1:]), "a rank needs more than an empty program"


def processes_with(word):
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if word.encode() in file.read() and int(pid) != os.getpid():
                    found.append(pid)
        except OSError:
            pass
    return found


def wait_until_gone(word):
    """Waits until no process has this word of the command line, which is unique to this test."""
    deadline = time.monotonic() + 10
    while processes_with(word):
        assert time.monotonic() < deadline, f"left running: {processes_with(word)}"
        time.sleep(0.1)


def a_job_over_time_is_ended():
    for mpi in ["none", *MPIS]:
        seconds = f"{10000 + os.getpid()}.25"
        started = time.monotonic()
        bench("barrier", "--mpi", mpi, "--rounds", "1000000", "--seconds", seconds, "--timeout", "3", code=1)
        assert time.monotonic() - started < 12, "the time limit was not kept"
        wait_until_gone(seconds)


def an_interrupted_benchmark_leaves_nothing():
    for mpi in ["none", *MPIS]:
        seconds = f"{10000 + os.getpid()}.5"
        process = subprocess.Popen([SENNIT, "bench", "barrier", "--mpi", mpi, "--rounds", "1000000", "--seconds", seconds],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == 1
        wait_until_gone(seconds)


def rate():
    lines = bench("rate", "--mpi", ",".join(MPI_OR_NONE), *TINY)
    check(lines, "rate", {(job_names(mpi), 8): ["raw-store", "sennit-put-nbi", "sennit-put-nb",
                                                *([] if mpi == "none" else [f"{mpi}-rma"])] for mpi in MPI_OR_NONE})
    # Broken by a check of the data that fails if the raw stores come last.
    check(bench("rate", "--mpi", "none", *TINY), "rate", {("sennit", 8): ["raw-store", "sennit-put-nbi", "sennit-put-nb"]})
    # Broken by a store through a pointer on a path that gives none.
    run = subprocess.run([SENNIT, "bench", "rate", "--mpi", "none", *TINY], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                         timeout=100, check=False, env={**os.environ, "SENNIT_PATHS": "self,cma"})
    assert run.returncode == 1 and "has no load and store" in run.stderr, f"{run.returncode}\n{run.stdout}{run.stderr}"


def wrong_arguments_are_refused():
    for words in (["pingpong", "--bytes", "12"], ["put", "--bytes", "0"], ["pingpong", "--mpi", "lam"], ["barrier", "-n", "0"],
                  ["queue", "-n", "1"], ["wake"], ["rails"], ["rails", "-n", "3", "--cluster", __file__], ["barrier", "-n", "4", "--cluster", __file__], ["queue", "--bytes", "2M"], ["put", "--mpi", "openshmem"],
                  ["pingpong", "--rounds", "0"], []):
        run = subprocess.run([SENNIT, "bench", *words], stdin=subprocess.DEVNULL, capture_output=True, timeout=30, check=False)
        assert run.returncode == 2 and run.stderr, f"{words} was accepted"


def cluster_tool():
    """Skips the test if this system does not allow simulated hosts."""
    tool = os.path.join(os.path.dirname(__file__), "..", "..", "tools", "cluster")
    refused = subprocess.run([tool, "check"], capture_output=True, text=True, check=False)
    if refused.returncode != 0:
        print(refused.stderr)
        sys.exit(77)
    return tool


COLLECTIVE_CALLS = ("broadcast", "allreduce", "alltoall")


def between_hosts(*names):
    """Broken by values of shared memory that are reported as values of a network."""
    tool = cluster_tool()
    own = {"put": ["sennit-put"], "get": ["sennit-get"], "rate": ["sennit-put-nbi", "sennit-put-nb"],
           "barrier": ["sennit-barrier"], "fetch-add": ["sennit-fetch-add"], "compare-swap": ["sennit-compare-swap"],
           "wake-put": ["sennit-put"], "wake-put-busy": ["sennit-put"],
           "wake-get": ["sennit-get"], "wake-get-busy": ["sennit-get"],
           "notify": ["sennit-put-notify", "sennit-put-notify-late"], "plan": ["sennit-put-nbi", "sennit-plan"],
           "progress-asleep": ["sennit-put"], "progress-busy": ["sennit-put"],
           **{call: ["sennit-private", "sennit-segment"] for call in COLLECTIVE_CALLS}}
    of_mpi = {"put": ["rma"], "get": ["rma"], "rate": ["rma"], "barrier": ["barrier"], "fetch-add": ["fetch-and-op"],
              "plan": ["put", "type", "lock", "fence", "pscw"],
              "notify": ["sendrecv", "persistent", "put-message", "lock-message", "fence", "pscw"],
              **{call: ["collective"] for call in COLLECTIVE_CALLS}}
    sized = ("put", "get", "notify", "plan", *COLLECTIVE_CALLS)
    parts = {"atomic": ["fetch-add", "compare-swap"], "wake": ["wake-put", "wake-get", "wake-put-busy", "wake-get-busy"]}
    for bench_name in names:
        sizes = (8, 64 << 10) if bench_name in sized else (0,) if bench_name == "barrier" else (8,)
        words = ["--bytes", ",".join(map(str, sizes))] if bench_name in sized else []
        all_lines = bench(bench_name, "--cluster", tool, "--mpi", ",".join(MPIS), *words, *TINY)
        for name in parts.get(bench_name, [bench_name]):
            lines = [line for line in all_lines if line["bench"] == name]
            raw = [line for line in lines if line["subject"].startswith("raw-")]
            provider = raw[0]["provider"]
            subjects = [f"raw-{provider}", *own[name]]
            check(lines, name, {(mpi, size): subjects + [f"{mpi}-{way}" for way in of_mpi.get(name, [])]
                                for mpi in MPIS for size in sizes})
            for line in lines:
                assert line["hosts"] == 2 and line["rails"] >= 1 and line["median_ns"] > 100, line
                assert (line["provider"] == "") == (line["subject"].split("-")[0] in MPIS), line
                assert ("level" in line and line["level"] > 0) == line["subject"].startswith("sennit-"), line
            expected = {line["provider"] for line in lines if line["subject"].startswith("sennit-")}
            # Not every provider has fi_atomic.
            assert len(expected) == 1 and (expected == {provider} or bench_name == "atomic"), (expected, provider)


def rails_and_progress_between_hosts():
    """Broken by a rail that is measured twice, by pairs that do not match, and by a setting that does not reach the ranks."""
    tool = cluster_tool()
    words = ["--cluster", tool, "--mpi", MPIS[0], "--rounds", "3", "--seconds", "0.01", "--timeout", "60"]
    lines = bench("rails", *words, "--bytes", "64K", "--rate", "400mbit,200mbit")
    alone = [line for line in lines if line["bench"] == "rails"]
    provider = alone[-1]["provider"]
    check(alone, "rails", {(MPIS[0], 65536): [f"raw-{provider}-rail0", f"raw-{provider}-rail1", f"hand-{provider}-parts", "sennit-put-notify"]})
    for name in ("rails-steady", "rails-unsteady"):
        pairs = [line for line in lines if line["bench"] == name]
        check(pairs, name, {(MPIS[0], 65536): [f"raw-{provider}-own-rail", f"hand-{provider}-parts", "sennit-put-notify"]})
        assert {line["ranks"] for line in pairs} == {4}, pairs
    assert {line["rails"] for line in lines if line["subject"].startswith("sennit-")} == {2}, lines
    lines = bench("progress", *words, "--progress", "off", "--progress", "on,processor=1,interval=500")
    own = [line for line in lines if line["subject"].startswith("sennit-")]
    assert [line["progress"] for line in own] == ["off"] * (len(own) // 2) + ["on,processor=1,interval=500"] * (len(own) // 2), own
    for name, subjects in (("progress-asleep", [f"raw-{provider}", "sennit-put"]), ("progress-busy", [f"raw-{provider}", "sennit-put"]),
                           ("progress-work", ["raw-work", "sennit-work", "sennit-work-put-to", "sennit-thread", "sennit-thread-put-to"])):
        assert [line["subject"] for line in lines if line["bench"] == name] == 2 * subjects, lines


CASES = {"pingpong": pingpong, "channel": channel, "notify": notify, "plan": plan, "queue": queue,
         "openshmem_is_measured_or_the_reason_reported": openshmem_is_measured_or_the_reason_reported,
         "put": lambda: transfer("put", "raw-store"), "get": lambda: transfer("get", "raw-load"),
         "barrier": barrier, "broadcast": lambda: collective("broadcast"),
         "allreduce": lambda: collective("allreduce"), "alltoall": lambda: collective("alltoall"), "adopt": adopt,
         "cma": cma, "strided": strided, "atomic": atomic, "start": start, "memory": memory,
         "a_job_over_time_is_ended": a_job_over_time_is_ended,
         "an_interrupted_benchmark_leaves_nothing": an_interrupted_benchmark_leaves_nothing,
         "rate": rate, "puts_and_gets_between_hosts": lambda: between_hosts("put", "get"),
         "rates_atomics_barriers_and_sleepers_between_hosts": lambda: between_hosts("rate", "atomic", "barrier", "wake"),
         "messages_and_events_between_hosts": lambda: between_hosts("notify"),
         "plans_between_hosts": lambda: between_hosts("plan"),
         "collective_calls_between_hosts": lambda: between_hosts(*COLLECTIVE_CALLS),
         "rails_and_progress_between_hosts": rails_and_progress_between_hosts,
         "wrong_arguments_are_refused": wrong_arguments_are_refused}

if __name__ == "__main__":
    CASES[sys.argv[3]]()
