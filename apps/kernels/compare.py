#!/usr/bin/env python3
"""Runs the kernels with every available library, in turn, as the paper measures them: weak scaling, 5 runs to warm up, 50 timed.

    python3 apps/kernels/compare.py [--kernels daxpy,cannon] [--ranks 1,2,4] [--rounds 7] [--lines FILE] [-- option of kernels ...]
    python3 apps/kernels/compare.py --cluster tools/cluster --hosts 1,2,4 --ranks 4 [--rails 2] [--rate 1gbit]
    python3 apps/kernels/compare.py --other "sos=oshrun -np {ranks} ./kernels-sos"
    python3 apps/kernels/compare.py --cluster tools/cluster --other "sos=tools/cluster run --hosts {hosts} --launcher hydra -n {ranks} -- ./kernels-sos"

Each round is one job of each version. A row has the median over rounds of the mean latency, the least and the most of them, the
throughput by equation 5.1, and the ratio of the latency to that of the fastest version of a library other than Sennit. --lines
writes the result of each job as a line of JSON. --other runs the versions for OpenSHMEM; its command must contain {hosts} with
--cluster, and must not without. A failed job is named on stderr and has no row; the exit status is then 1.
"""
import argparse
import json
import math
import os
import re
import shlex
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "bench", "study"))
import runs  # noqa: E402  pylint: disable=wrong-import-position
from programs import Program  # noqa: E402  pylint: disable=wrong-import-position

SENNIT = {"daxpy": ("sennit", "sennit-pipelined"), "cannon": ("sennit", "sennit-notified"), "summa": ("sennit",), "sort": ("sennit",)}
MPI = {"daxpy": ("mpi", "rma", "rma-put"), "cannon": ("mpi", "rma"), "summa": ("mpi", "rma"), "sort": ("mpi", "rma")}
SHMEM = {"daxpy": ("shmem", "shmem-async"), "cannon": ("shmem",), "summa": ("shmem",), "sort": ("shmem",)}
SHMEM_TEAMS = {**SHMEM, "summa": ("shmem", "shmem-teams")}
KERNELS = tuple(SENNIT)
OURS = ("sennit", "sennit-shmem")
# Memory for x and y of all PEs on each PE. Open MPI's OpenSHMEM crashes at exit with its memory hooks.
ENVIRONMENT = {"SHMEM_SYMMETRIC_SIZE": "512M", "OPENBLAS_NUM_THREADS": "1"}
OPENSHMEM = {"OMPI_MCA_memory": "^patcher"}
LIMIT_S = 300


class Subject:
    """A program, its versions of each kernel, and the settings of its jobs."""

    def __init__(self, key, program, versions, mpi=None, environment=None):
        self.key, self.versions, self.mpi = key, versions, mpi
        self.more = environment or {}
        self.program = Program(key, key, program, mpi)

    def words(self, arguments, ranks):
        return self.program.words(arguments, ranks)

    def environment(self, ranks):
        return {**self.program.environment(ranks), **ENVIRONMENT, **self.more}

    def words_between_hosts(self, arguments, hosts, ranks):
        """None if a part is missing. Sennit's ranks are started by any available launcher."""
        mpi = self.mpi or next(filter(runs.launcher_of, runs.LAUNCHERS), None)
        path = os.path.join(arguments.bin, self.program.program)
        if mpi is None or runs.launcher_of(mpi) is None or not os.path.exists(path):
            return None
        # Between hosts of --cluster, Open MPI 4.1 makes windows only with UCX.
        of_windows = {"OMPI_MCA_osc": "ucx"} if self.mpi == "openmpi" else {}
        settings = [f"{name}={value}" for name, value in {**self.environment(ranks), **of_windows}.items()]
        return runs.cluster_words(arguments, hosts, mpi, ranks, ["env", *settings, path])


class Other:
    """A command of the user's, for hosts if it contains {hosts}."""

    def __init__(self, text):
        self.key, self.command = text.split("=", 1)
        self.versions = SHMEM

    def words(self, arguments, ranks):
        return self.words_between_hosts(arguments, 0, ranks)

    def environment(self, ranks):
        del ranks
        return ENVIRONMENT

    def words_between_hosts(self, arguments, hosts, ranks):
        del arguments
        return shlex.split(self.command.format(ranks=ranks, hosts=hosts))


SUBJECTS = (Subject("sennit", "kernels", SENNIT), Subject("sennit-shmem", "kernels-shmem", SHMEM_TEAMS),
            Subject("openmpi", "kernels-openmpi", MPI, "openmpi"), Subject("mpich", "kernels-mpich", MPI, "mpich"),
            Subject("openmpi-shmem", "kernels-openshmem", SHMEM, "openmpi", OPENSHMEM))


def fits(kernel, ranks):
    return kernel != "cannon" or math.isqrt(ranks) ** 2 == ranks


def words_of(subject, arguments, hosts, ranks):
    return subject.words(arguments, ranks) if hosts == 0 else subject.words_between_hosts(arguments, hosts, ranks)


def run(subject, arguments, place, kernel, version):
    """The result of a job, or None; `place` is (hosts, ranks), with 0 hosts for this machine without --cluster."""
    words = [*words_of(subject, arguments, *place), "--kernel", kernel, "--version", version, *arguments.options, "--json"]
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=arguments.limit,
                              env={**runs.ENVIRONMENT, **subject.environment(place[1])})
        lines, why = [line for line in done.stdout.splitlines() if line.startswith("{")], f"{done.returncode}\n{done.stderr}"
    except subprocess.TimeoutExpired:
        done, lines, why = None, [], f"no end after {arguments.limit} s"
    if done is None or done.returncode != 0 or len(lines) != 1:
        print(f"{' '.join(words)}: {why}", file=sys.stderr)
        return None
    return {"library": subject.key, "hosts": place[0], **json.loads(lines[0])}


def rows_of(results):
    """(library, version, median, least, most in us, MB/s, ratio to the fastest of another library or None)"""
    middle = {key: statistics.median(row["latency_us"] for row in rows) for key, rows in results.items()}
    others = [value for (library, _), value in middle.items() if library not in OURS]
    for (library, version), rows in results.items():
        values = [row["latency_us"] for row in rows]
        median = middle[library, version]
        yield (library, version, median, min(values), max(values), rows[0]["bytes"] / median,
               median / min(others) if others else None)


def measure(arguments, kernel, place):
    """All results of one kernel at one place; prints its table."""
    subjects = {(subject.key, version): (subject, version) for subject in (*SUBJECTS, *map(Other, arguments.other))
                if words_of(subject, arguments, *place) is not None for version in subject.versions[kernel]}
    found = runs.in_turns(subjects, arguments.rounds, lambda key: run(subjects[key][0], arguments, place, kernel, subjects[key][1]))
    good = {key: rows for key, rows in found.items() if None not in rows}
    where = f"{place[0]} hosts, " if place[0] else ""
    print(f"{kernel}, {where}{place[1]} ranks\n  {'library':<14} {'version':<17} {'latency us':>12} {'least':>12} {'most':>12} {'MB/s':>10} {'ratio':>6}")
    for library, version, median, least, most, rate, ratio in rows_of(good):
        print(f"  {library:<14} {version:<17} {median:12.1f} {least:12.1f} {most:12.1f} {rate:10.0f} " + (f"{ratio:6.2f}" if ratio else ""), flush=True)
    return [row for rows in good.values() for row in rows], len(good) < len(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.path.join(runs.ROOT, "build", "bin"))
    parser.add_argument("--kernels", default=",".join(KERNELS))
    parser.add_argument("--ranks", default="1,2,4")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--lines", help="file of JSON lines")
    parser.add_argument("--other", action="append", default=[], help="another OpenSHMEM: NAME=command with {ranks}, between hosts also {hosts}")
    parser.add_argument("--cluster", help="the tool tools/cluster")
    parser.add_argument("--hosts", default="2", help="numbers of hosts, each for every number of ranks that it divides")
    parser.add_argument("--rails", type=int, default=1)
    parser.add_argument("--rate", help="rate of each rail and direction, such as 1gbit")
    parser.add_argument("--limit", type=float, default=LIMIT_S, help="seconds of a job")
    parser.add_argument("--realtime", action="store_true", help="run jobs with a processor for each rank in the real-time class")
    parser.add_argument("options", nargs="*", help="options of kernels, behind --")
    arguments = parser.parse_args()
    wanted = {"ranks", "hosts"} if arguments.cluster else {"ranks"}
    for text in arguments.other:
        name, _, command = text.partition("=")
        if not name or set(re.findall(r"{(\w*)}", command)) != wanted:
            parser.error(f"--other {text}: NAME=command with {' and '.join(f'{{{word}}}' for word in sorted(wanted))} is needed")
    if arguments.cluster and subprocess.run([arguments.cluster, "check"], capture_output=True, check=False).returncode != 0:
        print("this system allows no hosts of namespaces")
        sys.exit(77)
    hosts = [int(word) for word in arguments.hosts.split(",")] if arguments.cluster else [0]
    places = [(many, int(ranks)) for many in hosts for ranks in arguments.ranks.split(",") if many == 0 or int(ranks) % many == 0]
    results, failed = [], False
    for kernel in arguments.kernels.split(","):
        for place in places:
            if fits(kernel, place[1]):
                rows, some_failed = measure(arguments, kernel, place)
                results, failed = results + rows, failed or some_failed
    if arguments.lines:
        head = runs.head_of("kernels", shlex.join(["python3", "apps/kernels/compare.py", *sys.argv[1:]]), arguments.realtime)
        runs.write_lines(arguments.lines, [head, *results])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
