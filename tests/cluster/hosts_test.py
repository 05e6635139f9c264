#!/usr/bin/env python3
"""Hosts of tools/cluster for an ordinary user, with slow rails, and a rank that dies on one of several hosts.

    tests/cluster/hosts_test.py PROJECT CASE [WORD...]

Skipped like cluster_test.py. Broken by a cluster that only root gets, a rail without the requested rate, or a death that
ranks of other hosts do not notice.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import cluster_test
from cluster_test import expect, has_hydra_died


def a_plain_user_has_hosts_too(cluster):
    """A plain user has hosts, or gets instructions. If the caller is root, all other cases run as root."""
    if os.geteuid() != 0:
        print("all cases are a plain user's here")
        return
    nobody = {"user": 65534, "group": 65534, "extra_groups": [], "cwd": "/"}
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:  # the folders of the project and of this test may belong to root
        os.chmod(folder, 0o755)
        for name in ("cluster", "cluster_keeper.py", "cluster_relay.py"):
            shutil.copy(os.path.join(os.path.dirname(cluster.tool), name), folder)
        theirs = os.path.join(folder, "cluster")
        check = subprocess.run([theirs, "check"], capture_output=True, text=True, check=False, **nobody)
        print(check)
        if check.returncode != 0:
            expect(check.returncode == 125 and "refuses namespaces" in check.stderr and "as a plain user" in check.stderr, check)
            return
        script = f"""
            set -e
            id -u; hostname; {theirs} exec h1 hostname; ls /sys/class/net | tr '\\n' ' '
            {theirs} cut rail h1 0; {theirs} exec h1 cat /sys/class/net/rail0/carrier
            {theirs} restore rail h1 0; {theirs} break h1 0; exit 7"""
        own, cluster.tool = cluster.tool, theirs
        done = cluster.run("--rails", "2", "--launcher", "none", "--", "sh", "-c", script, **nobody)
        expect(done.returncode == 7 and done.stdout == "0\nh0\nh1\nlo mgmt rail0 rail1 0\n0 connections\n", done)
        for launcher in ("mpirun", "hydra", "srun"):
            for _ in range(5):
                done = cluster.run("--launcher", launcher, "-n", "4", "--", "sh", "-c", "hostname; sleep 0.2", **nobody)
                if not has_hydra_died(launcher, done):
                    break
            if done.returncode == 125:
                expect("apt-get install" in done.stderr or (launcher == "srun" and "srun needs root" in done.stderr), done)
            else:
                expect(done.returncode == 0 and sorted(done.stdout.split()) == ["h0", "h0", "h1", "h1"], done)
    cluster.tool = own
    cluster.nothing_is_left()


def hosts_have_processors_of_their_own(cluster):
    """With --split-processors every processor belongs to one host, for programs of a launcher and of `exec`; with fewer
    processors than hosts, each host gets one."""
    allowed = 'sed -n "s/^Cpus_allowed_list:.//p" /proc/self/status'
    own = sorted(os.sched_getaffinity(0))

    def numbers(text):
        parts = [part.split("-") for part in text.strip().split(",")]
        return [number for part in parts for number in range(int(part[0]), int(part[-1]) + 1)]
    for hosts in (2, len(own) + 1):
        done = cluster.run("--hosts", str(hosts), "--split-processors", "--launcher", "none", "--", "sh", "-c",
                           f"for host in $(seq 0 {hosts - 1}); do {cluster.tool} exec h$host {allowed}; done; {allowed}")
        *sets, first = [numbers(line) for line in done.stdout.splitlines()]
        expect(first == sets[0], done)
        if hosts <= len(own):
            expect(sorted(sum(sets, [])) == own, done, own)
        else:
            expect(all(len(each) == 1 for each in sets) and set(sum(sets, [])) == set(own), done, own)
    for launcher in ("mpirun", "hydra"):
        done = cluster.run("--split-processors", "--launcher", launcher, "-n", "2", "--", "sh", "-c", allowed)
        if done.returncode == 125:
            expect("apt-get install" in done.stderr, done)
        elif len(own) > 1 and not has_hydra_died(launcher, done):
            expect(sorted(sum(map(numbers, done.stdout.splitlines()), [])) == own, done, own)
    done = cluster.run("--launcher", "none", "--", "sh", "-c", f"{cluster.tool} exec h1 {allowed}")
    expect(numbers(done.stdout) == own, done, own)
    cluster.nothing_is_left()


# Reads all bytes and confirms the end.
SINK = """
import socket
server = socket.create_server(("", 5000))
while True:
    link, _ = server.accept()
    while link.recv(1 << 16):
        pass
    link.sendall(b"x")
"""
# Sends bytes and prints the time in seconds.
SOURCE = """
import socket, sys, time
link = socket.create_connection((sys.argv[1], 5000), timeout=20)
begin = time.monotonic()
link.sendall(bytes(int(sys.argv[2])))
link.shutdown(socket.SHUT_WR)
link.recv(1)
print(time.monotonic() - begin)
"""


def a_rail_has_the_requested_rate(cluster):
    """Bounds are one-sided: a busy machine gives no upper bound for an unshaped rail."""
    process = cluster.start("--rails", "2", "--rate", "16mbit", "--launcher", "none", "--", sys.executable, "-c", SINK)
    for rail in range(2):
        limit = time.monotonic() + 20
        while cluster.order("exec", "h1", sys.executable, "-c", SOURCE, f"10.{100 + rail}.0.1", "1").returncode != 0:
            expect(time.monotonic() < limit, "nobody takes the bytes")
        seconds = float(cluster.must("exec", "h1", sys.executable, "-c", SOURCE, f"10.{100 + rail}.0.1", str(2 << 20)))
        expect(seconds > 0.8, "2 MiB at 2 MB/s after a burst of 256 KiB", rail, seconds)
    process.terminate()
    process.wait(timeout=15)
    cluster.nothing_is_left()


def messages_of_mpi_take_the_rails(cluster, launcher, program):
    """All take the rails. None takes the launcher's network, which is no rail and which --rate does not slow down."""
    process = cluster.start("--launcher", "none", "--", "sh", "-c", "sleep 60")
    for _ in range(3):
        before = json.loads(cluster.must("counters"))
        done = cluster.order("exec", "h0", cluster.tool, "launch", "--launcher", launcher, "-n", "2", "--", program)
        after = json.loads(cluster.must("counters"))
        if not has_hydra_died(launcher, done):
            break
    expect(done.returncode == 0, done)
    for host in ("h0", "h1"):
        sent = {name: after[host][name]["tx"] - before[host][name]["tx"] for name in after[host]}
        expect(sent["rail0"] > 4 << 20 and sent["mgmt"] < 1 << 20, host, sent)
    process.terminate()
    process.wait(timeout=15)
    cluster.nothing_is_left()


def a_process_that_dies_is_noticed_on_all_hosts(cluster, program):
    """All other ranks wait for a signal that never comes. Broken by a death that is reported only on its own host, or as the
    death of all ranks of that host. A setting makes the launcher leave the other ranks alone; it keeps running, because one of
    them is on the dead rank's host."""
    ranks = 8
    job = subprocess.Popen([cluster.tool, "run", "--name", cluster.name, "--hosts", "4", "-n", str(ranks), "--", program, "signal",
                            f"{ranks - 1}:300"], env={**cluster.environment, "OMPI_MCA_orte_enable_recovery": "1"}, text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    text = ""
    for line in job.stdout:
        text += line
        if text.count(" ended ") == ranks - 1:
            break
    job.terminate()
    job.communicate()
    died = re.findall(r"rank (\d+) dies \d+ at ([\d.]+)", text)
    lost = re.findall(r"rank (\d+) lost (\d+) at ([\d.]+)", text)
    expect(len(died) == 1 and sorted(int(rank) for rank, _, _ in lost) == list(range(ranks - 1)), text)
    for _, peer, when in lost:
        expect(int(peer) == ranks - 1 and 0 <= float(when) - float(died[0][1]) < 1, lost, died)
    cluster.nothing_is_left()


def a_program_passes_on_two_hosts(cluster, launcher, ranks, program, *words):
    """The program checks its own results. With MPICH 4.0 over UCX, MPI_Finalize does not end in one of several runs, also in
    programs without Sennit: a rank waits for answers of ranks that already wait for the launcher. After such a run, and if hydra
    has died, the program runs again."""
    for _ in range(5):
        try:
            done = cluster.run("--rails", "2", "--launcher", launcher, "-n", ranks, "--", program, *words,
                               timeout=100 if launcher == "hydra" else None)
        except subprocess.TimeoutExpired as late:
            expect((late.stdout or b"").count(b"calls MPI_Finalize\n") == int(ranks), late)
        else:
            if not has_hydra_died(launcher, done):
                expect(done.returncode == 0, done)
                break
        cluster.nothing_is_left()
    else:
        expect(False, "no run has ended")
    cluster.nothing_is_left()


if __name__ == "__main__":
    sys.exit(cluster_test.main(*sys.argv[1:], cases=globals()))
