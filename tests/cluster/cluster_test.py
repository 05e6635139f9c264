#!/usr/bin/env python3
"""Runs tools/cluster as a user does.

    tests/cluster/cluster_test.py PROJECT CASE [WORD...]

A machine that refuses namespaces skips every case but the first, with the reason. Broken by a process or file that outlives
the tool, a pulled cable that carries data, hosts that share their private state, or data between two hosts that bypasses the
rails.
"""
import json
import os
import pty
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

SKIPPED = 77
# Names of leftovers of Open MPI, hydra, Slurm, Sennit and the tool itself. Other tests have other files at the same time.
OURS = ("cluster", "ompi.h", "slurm", "munge", "hydra")


def expect(truth, *seen):
    if not truth:
        raise AssertionError("not as expected:\n  " + "\n  ".join(str(thing) for thing in seen))


def listing(folder):
    try:
        return {f"{folder}/{name}" for name in os.listdir(folder) if any(word in name for word in OURS)}
    except OSError:
        return set()


def marked(mark):
    """Returns the processes that have inherited the mark."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/environ", "rb") as file:
                if int(name) != os.getpid() and mark.encode() in file.read():
                    found.append(int(name))
        except OSError:
            continue
    return found


def read_event(file, lines, what):
    """Returns the next line of a job with that text as (rank, value, time), and adds all lines read to `lines`."""
    for line in file:
        lines.append(line)
        found = re.search(rf"rank (\d+) {what} (-?\d+) at ([\d.]+)", line)
        if found:
            return int(found.group(1)), int(found.group(2)), float(found.group(3))
    expect(False, f"no line says '{what}'", *lines[-20:])
    return None


class Cluster:
    """The tool with its own name and mark. nothing_is_left() compares the machine's state with the state before."""

    def __init__(self, project):
        self.tool = os.path.join(project, "tools", "cluster")
        self.name = f"test-{os.getpid()}"
        self.mark = f"CLUSTER_TEST={os.getpid()}-{time.time()}"
        key, value = self.mark.split("=")
        self.environment = {**os.environ, key: value}
        self.before = self.machine()

    def machine(self):
        with open("/proc/self/mounts", encoding="utf-8") as file:
            mounts = {line for line in file if "cluster" in line or "nsfs" in line}
        with open("/proc/net/unix", encoding="utf-8", errors="replace") as file:
            sockets = {line.split()[-1] for line in file if self.name in line}
        names = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=False).stdout
        files = listing("/tmp") | listing("/dev/shm") | listing("/run") | listing(os.path.dirname(self.tool))
        return sorted(os.listdir("/sys/class/net")), names, mounts, sockets, files

    def nothing_is_left(self):
        limit = time.monotonic() + 5
        while marked(self.mark) and time.monotonic() < limit:
            time.sleep(0.02)
        expect(marked(self.mark) == [], [open(f"/proc/{process}/cmdline", encoding="utf-8").read()
                                         for process in marked(self.mark)])
        expect(self.machine() == self.before, self.before, self.machine())

    def start(self, *words, **more):
        """Starts `run` with options and a command; returns when host h0 exists."""
        process = subprocess.Popen([self.tool, "run", "--name", self.name, *words], env=self.environment, text=True, **more)
        limit = time.monotonic() + 30
        while self.order("exec", "h0", "true").returncode != 0:
            expect(time.monotonic() < limit and process.poll() is None, "the cluster does not start")
        return process

    def run(self, *words, **more):
        return subprocess.run([self.tool, "run", "--name", self.name, *words], env=self.environment, text=True,
                              capture_output=True, check=False, **more)

    def order(self, order, *words):
        return subprocess.run([self.tool, order, "--name", self.name, *words], env=self.environment, text=True,
                              capture_output=True, check=False)

    def must(self, order, *words):
        done = self.order(order, *words)
        expect(done.returncode == 0, order, words, done.returncode, done.stdout, done.stderr)
        return done.stdout


def missing_namespaces_are_reported_with_a_remedy(cluster):
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "unshare"), "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\necho 'unshare: unshare failed: Operation not permitted' >&2\nexit 1\n")
        os.chmod(file.name, 0o755)
        cluster.environment["PATH"] = f"{folder}:{cluster.environment['PATH']}"
        for words in (["run", "true"], ["check"]):
            done = subprocess.run([cluster.tool, *words], env=cluster.environment, text=True, capture_output=True, check=False)
            expect(done.returncode == 125 and done.stdout == "", done)
            expect("refuses namespaces: unshare: unshare failed: Operation not permitted" in done.stderr, done.stderr)
            expect("as root" in done.stderr and "--privileged" in done.stderr, done.stderr)


def hosts_have_their_own_names_and_folders_and_nothing_is_left(cluster):
    with tempfile.NamedTemporaryFile(dir=os.path.dirname(cluster.tool), prefix="hidden-") as file:
        script = f"""
            set -e
            [ "$(hostname)" = h0 ] && [ -e {file.name} ] && [ ! -e /tmp/cluster-at-h1 ] && : > /dev/shm/cluster-at-h0
            {cluster.tool} exec h1 sh -c 'hostname; : > /tmp/cluster-at-h1; ls /dev/shm; exit 3' && exit 1
            ls /sys/class/net | tr '\\n' ' '; ls /tmp /dev/shm; exit 7"""
        done = cluster.run("--hosts", "3", "--rails", "2", "--launcher", "none", "--", "sh", "-c", script)
    expect(done.returncode == 7 and done.stdout.startswith("h1\nlo mgmt rail0 rail1 /dev/shm:\ncluster-at-h0\n"), done)
    expect("cluster-at-h1" not in done.stdout and done.stderr == "", done)
    done = cluster.run("--launcher", "none", "-n", "2", "--", "true")
    expect(done.returncode == 2 and "-n needs a launcher" in done.stderr, done)
    cluster.nothing_is_left()


def a_killed_tool_leaves_nothing(cluster):
    for number in (signal.SIGKILL, signal.SIGTERM):
        process = cluster.start("--hosts", "2", "--launcher", "none", "--", "sh", "-c", "setsid sleep 60 & sleep 60")
        expect(len(marked(cluster.mark)) >= 5, marked(cluster.mark))
        process.send_signal(number)
        code = process.wait(timeout=15)
        expect(code == (-9 if number == signal.SIGKILL else 143), code)
        cluster.nothing_is_left()


def a_program_that_ignores_signals_is_ended_by_the_second(cluster):
    process = cluster.start("--launcher", "none", "--", "sh", "-c", "trap '' INT TERM; while :; do sleep 1; done")
    process.send_signal(signal.SIGINT)
    time.sleep(0.5)
    expect(process.poll() is None, process.returncode)
    process.send_signal(signal.SIGINT)
    expect(process.wait(timeout=5) == 130, process.returncode)
    cluster.nothing_is_left()


def ctrl_c_reaches_the_program_and_the_hosts_stay(cluster):
    """The program catches Ctrl-C and can still reach the other host."""
    master, slave = pty.openpty()
    script = f"trap 'wait; {cluster.tool} exec h1 hostname; exit 5' INT; echo ready; sleep 1 & wait; exit 1"
    process = subprocess.Popen([cluster.tool, "run", "--launcher", "none", "--", "sh", "-c", script], env=cluster.environment,
                               stdin=slave, stdout=slave, stderr=slave,
                               preexec_fn=lambda: (os.setsid(), os.close(os.open(os.ttyname(slave), os.O_RDWR))))
    text = b""
    while b"ready" not in text:
        text += os.read(master, 1000)
    os.write(master, b"\x03")
    code = process.wait(timeout=15)
    text += os.read(master, 1000)
    expect(code == 130 and b"h1" in text, code, text)
    cluster.nothing_is_left()


# Connects to a server on h0 and prints its answer, or the error.
CLIENT = """
import socket, sys
link = socket.socket()
link.settimeout(0.5)
try:
    link.connect((sys.argv[1], 5000))
    link.sendall(b"x")
    print(link.recv(1).decode(), flush=True)
    if len(sys.argv) > 2:
        link.settimeout(20)
        print("closed" if link.recv(1) == b"" else "more")
except OSError as error:
    print(type(error).__name__)
"""
SERVER = """
import socket
server = socket.create_server(("", 5000), backlog=64)
held = []
while True:
    link, _ = server.accept()
    link.sendall(b"x")
    held.append(link)
"""


def rails_and_hosts_are_cut_and_restored(cluster):
    process = cluster.start("--rails", "2", "--launcher", "none", "--", sys.executable, "-c", SERVER)

    def reached(rail):
        network = 99 if rail == "mgmt" else 100 + int(rail)
        return cluster.must("exec", "h1", sys.executable, "-c", CLIENT, f"10.{network}.0.1").strip()

    def leads(rail):
        """Waits until the rail works: the kernel asks for neighbours again once per second."""
        limit = time.monotonic() + 20
        while reached(rail) != "x":
            expect(time.monotonic() < limit, rail, reached(rail))

    leads("0")
    leads("1")
    for silent in ([], ["--silent"]):
        cluster.must("cut", "rail", *silent, "h1", "0")
        expect(reached("0") != "x", "a rail that was cut still works")
        leads("1")
        carrier = cluster.must("exec", "h1", "cat", "/sys/class/net/rail0/carrier").strip()
        expect(carrier == ("1" if silent else "0"), silent, carrier)
        cluster.must("restore", "rail", "h1", "0")
        leads("0")
    cluster.must("cut", "host", "h1")
    for rail in ("0", "1", "mgmt"):
        expect(reached(rail) != "x", "a host that was cut is reached", rail)
    cluster.must("restore", "host", "h1")
    leads("mgmt")
    leads("1")

    held = subprocess.Popen([cluster.tool, "exec", "--name", cluster.name, "h1", sys.executable, "-c", CLIENT, "10.101.0.1", "hold"],
                            env=cluster.environment, stdout=subprocess.PIPE, text=True)
    expect(held.stdout.readline() == "x\n", "no connection")
    said = cluster.must("break", "h1", "1")
    # Includes connections of earlier clients, which the server has not closed.
    expect(int(said.split()[0]) >= 1, said)
    expect(held.stdout.readline().strip() in ("ConnectionAbortedError", "ConnectionResetError", "closed"), "still connected")
    held.wait(timeout=10)

    for words in (["cut", "rail", "h7", "0"], ["cut", "rail", "h1", "2"], ["kill", "1"], ["exec", "h2", "true"]):
        done = cluster.order(*words)
        expect(done.returncode == 125 and done.stderr.startswith("cluster: there is no "), words, done)
    cluster.must("kill", "h0")
    expect(process.wait(timeout=10) == 137, process.returncode)
    cluster.nothing_is_left()


# Sends each datagram back.
ECHO = """
import socket
ear = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
ear.bind(("", 5001))
while True:
    data, sender = ear.recvfrom(100)
    ear.sendto(data, sender)
"""
# Sends all datagrams at once; prints the numbers that came back, in order of arrival, and the seconds until the last one.
TRIP = """
import json, socket, sys, time
mouth = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
mouth.settimeout(float(sys.argv[3]))
begin, came, last = time.monotonic(), [], 0
for number in range(int(sys.argv[2])):
    mouth.sendto(b"%d" % number, (sys.argv[1], 5001))
try:
    while len(came) < int(sys.argv[2]):
        came.append(int(mouth.recv(100)))
        last = time.monotonic() - begin
except OSError:
    pass
print(json.dumps([came, last]))
"""


def frames_are_kept_lost_and_overtaken(cluster):
    """Bounds are one-sided, because a busy machine may be slow."""
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        print("/dev/net/tun cannot be opened here")
        return SKIPPED
    process = cluster.start("--hosts", "3", "--rails", "2", "--relay", "--launcher", "none", "--", sys.executable, "-c", ECHO)

    def trip(count=1, limit_s=20.0, rail=0):
        words = [sys.executable, "-c", TRIP, f"10.{100 + rail}.0.1", str(count), str(limit_s)]
        return json.loads(cluster.must("exec", "h1", *words))

    limit = time.monotonic() + 20
    while trip(limit_s=0.2)[0] != [0]:
        expect(time.monotonic() < limit, "nothing comes through the relay")
    cluster.must("relay", "h1", "0", "--delay", "200ms")
    came, last = trip()
    expect(came == [0] and last >= 0.4, "each way is delayed", came, last)
    expect(trip(rail=1)[0] == [0], "the other rail")
    cluster.must("relay", "h1", "0", "--loss", "50%", "--seed", "3")
    came, _ = trip(40, 1.0)
    expect(0 < len(came) < 40 and came == sorted(came), "half is lost each way", came)
    cluster.must("relay", "h1", "0", "--late", "50%", "--late-by", "300ms")
    came, last = trip(40)
    expect(sorted(came) == list(range(40)) and came != sorted(came) and last >= 0.3, "some are overtaken, none is lost", came)
    hold_s = 3
    begin = time.monotonic()
    cluster.must("relay", "h1", "0", "--hold", f"{hold_s}s")
    came, last = trip(10)
    expect(came == list(range(10)) and time.monotonic() - begin >= hold_s, "all are held, then go in order", came, last)
    cluster.must("relay", "h1", "0")
    for words in (["cut", "rail"], ["cut", "rail", "--silent"]):
        cluster.must(*words, "h1", "0")
        expect(trip(limit_s=0.3)[0] == [] and trip(rail=1)[0] == [0], words, "is cut")
        carrier = cluster.must("exec", "h1", "cat", "/sys/class/net/rail0/carrier").strip()
        expect(carrier == ("1" if "--silent" in words else "0"), words, carrier)
        cluster.must("restore", "rail", "h1", "0")
        limit = time.monotonic() + 20
        while trip(limit_s=0.2)[0] != [0]:
            expect(time.monotonic() < limit, "the rail is not restored")
    for words in (["h3", "0"], ["h1", "2"], ["h1", "mgmt"]):
        done = cluster.order("relay", *words)
        expect(done.returncode == 125 and done.stderr.startswith("cluster: there is no "), words, done)
    process.terminate()
    process.wait(timeout=15)
    cluster.nothing_is_left()
    return 0


def random_programs_survive_a_bad_network(cluster, seconds, suite, *groups):
    """Frames are lost, reordered and held for up to two seconds, and connections break, while programs reuse memory at once and
    compare every byte. All delays are below the peer timeout, so no rank may be reported lost."""
    seed = random.randrange(1 << 30)
    draw = random.Random(seed)
    shared = tempfile.mkdtemp(dir=os.path.dirname(suite))
    rails = draw.choice("12")  # rail 0 is the bad one
    keeper = cluster.start("--relay", "--rails", rails, "--launcher", "none", "--", "sleep", "600")
    words = [word for group in groups for word in ("--group", group)]
    passed, events, end = 0, 0, time.monotonic() + float(seconds)
    job = None
    try:
        while job or time.monotonic() < end:
            if job is None:
                seed += 1
                job = subprocess.Popen(
                    [cluster.tool, "exec", "--name", cluster.name, "h0", cluster.tool, "launch", "-n", "4", "--", "env",
                     f"TMPDIR={shared}", suite, "--paths", "mapped,fabric", "--quick", "--seed", str(seed), "--limit", "120", *words],
                    env=cluster.environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            host = draw.choice(["h0", "h1"])
            cluster.must(*draw.choice([
                ("relay", host, "0", "--hold", f"{draw.choice([0.05, 0.3, 2])}s"),
                ("relay", host, "0", "--loss", "1%"),
                ("relay", host, "0", "--late", "10%", "--late-by", "5ms"),
                ("break", host, "0")]))
            events += 1
            time.sleep(draw.uniform(0.05, 0.5))
            cluster.must("relay", host, "0")
            time.sleep(draw.uniform(0.05, 1))
            if job.poll() is not None:
                text = job.communicate()[0]
                # Lines of passed tests say nothing, and the rest may be long.
                told = "\n".join(line for line in text.splitlines() if not line.startswith("ok     "))
                expect(job.returncode == 0 and "FAILED" not in text, f"seed {seed}, {events} events", told[-4000:])
                passed += text.count("ok     ")
                job = None
    finally:
        print(f"{rails} rails, {events} events, {passed} tests passed")
        if job:
            job.kill()
        os.rmdir(shared)
        keeper.terminate()
        keeper.wait(timeout=15)
    expect(passed > 0, "no test has ended")
    cluster.nothing_is_left()


def several_clusters_run_at_a_time(cluster):
    first = cluster.start("--launcher", "none", "--", "sleep", "60")
    other = Cluster(os.path.dirname(os.path.dirname(cluster.tool)))
    other.name += "-other"
    second = other.start("--hosts", "3", "--launcher", "none", "--", "sleep", "60")
    again = cluster.run("--launcher", "none", "--", "true")
    expect(again.returncode == 125 and "is running" in again.stderr, again)
    expect(set(json.loads(cluster.must("counters"))) == {"h0", "h1"}, "hosts")
    expect(set(json.loads(other.must("counters"))) == {"h0", "h1", "h2"}, "hosts")
    first.terminate()
    expect(first.wait(timeout=15) == 143, first.returncode)
    expect(other.must("exec", "h2", "hostname") == "h2\n", "the other has ended too")
    second.terminate()
    second.wait(timeout=15)
    cluster.nothing_is_left()


def has_hydra_died(launcher, done):
    """Hydra's mpiexec sometimes dies of a write to a proxy that has just ended: the caller tries again."""
    return launcher == "hydra" and done.returncode == 128 + signal.SIGPIPE


def ranks_of_each_launcher_run_on_the_hosts(cluster, launcher, suite_ring):
    while has_hydra_died(launcher, done := cluster.run("--hosts", "3", "--launcher", launcher, "-n", "5", "--", "hostname")):
        pass
    expect(done.returncode == 0 and sorted(done.stdout.split()) == ["h0", "h0", "h1", "h1", "h2"], done)
    for kind in ("pmix", "pmi2") if launcher == "srun" else ("",):
        cluster.environment["SLURM_MPI_TYPE"] = kind
        done = cluster.run("--hosts", "3", "--launcher", launcher, "-n", "5", "--", suite_ring)
        expect(done.returncode == 0 and done.stdout == "5 ranks in a ring, sum of their numbers 10\n", kind, done)
    while has_hydra_died(launcher, done := cluster.run("--launcher", launcher, "--", "sh", "-c", "exit 3")):
        pass
    expect(done.returncode == 3, done)
    cluster.nothing_is_left()


def data_goes_by_the_rails_and_only_between_hosts(cluster, program):
    """Ranks 0 and 1 are on h0, 2 and 3 on h1: each host sends one of the four puts of 4 MiB to the other."""
    process = cluster.start("--launcher", "none", "--", "sh", "-c", "sleep 60")
    before = json.loads(cluster.must("counters"))
    cluster.must("exec", "h0", cluster.tool, "launch", "-n", "4", "--", program)
    after = json.loads(cluster.must("counters"))
    put = 4 << 20
    for host in ("h0", "h1"):
        sent = {name: after[host][name]["tx"] - before[host][name]["tx"] for name in after[host]}
        rails = sum(sent[name] for name in sent if name != "lo")
        expect(put < rails < 1.5 * put and sent["lo"] < put / 4, host, sent)
    process.terminate()
    process.wait(timeout=15)
    cluster.nothing_is_left()


def an_interface_that_leads_nowhere_is_not_taken(cluster, program):
    """A bridge of containers has one address on all hosts; libfabric prefers its name, docker0. With and without `interface=`."""
    process = cluster.start("--rails", "2", "--launcher", "none", "--", "sh", "-c", "sleep 60")
    for host in ("h0", "h1"):
        cluster.must("exec", host, "sh", "-c", "ip link add name docker0 type veth peer name inside && ip link set inside up &&"
                     "ip addr add 172.17.0.1/16 dev docker0 && ip link set docker0 up")
    for settings, rail in (("fabric", None), ("fabric:interface=rail0", "rail0"), ("fabric:interface=rail1", "rail1")):
        before = json.loads(cluster.must("counters"))["h0"]
        cluster.must("exec", "h0", "env", f"SENNIT_PATHS=self,mapped,{settings}", cluster.tool, "launch", "-n", "2", "--", program)
        after = json.loads(cluster.must("counters"))["h0"]
        sent = {name: after[name]["tx"] - before[name]["tx"] for name in after}
        expect(sum(sent[name] for name in (["rail0", "rail1"] if rail is None else [rail])) > 4 << 20, settings, sent)
        expect(sent["mgmt"] < 1 << 20, "the launcher's network is no rail", settings, sent)
    process.terminate()
    process.wait(timeout=15)
    cluster.nothing_is_left()


def init_yields_the_processor_while_it_waits_for_a_host(cluster, sennit):
    """The other host sends nothing, not even an error, so init waits 10 s. Broken by a rank that polls without pause meanwhile."""
    process = cluster.start("--launcher", "none", "--", "sh", "-c", "sleep 100")
    cluster.must("cut", "rail", "--silent", "h1", "0")
    text = cluster.must("exec", "h0", cluster.tool, "launch", "-n", "2", "--", "sh", "-c", f"{sennit} info --peers; times")
    expect("the peer does not answer by it" in text, text)
    used_s = [60 * int(minutes) + float(seconds) for minutes, seconds in re.findall(r"(\d+)m([\d.]+)s", text)]
    expect(len(used_s) == 8, used_s, text)
    expect(max(used_s) < 3, "processor time of a rank in 10 s:", used_s)
    process.terminate()
    process.wait(timeout=15)
    cluster.nothing_is_left()


def info_peers_explains_the_choice_of_each_rail(cluster, sennit):
    """Broken by a reason reported for the wrong rail, or by the same rail for all peers."""
    process = cluster.start("--rails", "2", "--launcher", "none", "--", "sh", "-c", "sleep 60")
    for host in ("h0", "h1"):
        cluster.must("exec", host, "sh", "-c", "ip link add name docker0 type veth peer name inside && ip link set inside up &&"
                     "ip addr add 172.17.0.1/16 dev docker0 && ip link set docker0 up")
    text = cluster.must("exec", "h0", cluster.tool, "launch", "-n", "4", "--", sennit, "info", "--peers", "--json")
    pairs = json.loads(text)["peers"]["pairs"]
    for pair in pairs:
        rails = {rail["interface"]: rail for rail in pair["rails"]}
        expect({"rail0", "rail1", "docker0"} <= set(rails), pair)
        used = [rail for rail in rails.values() if rail["used"]]
        elsewhere = pair["from"] // 2 != pair["to"] // 2
        expect(len(used) >= 1 if elsewhere else not used, pair)
        expect("docker0" not in [rail["interface"] for rail in used], pair)
        expect("same address" in rails["docker0"]["reason"], pair)
        expect(all(rail["reason"] and rail["provider"] and rail["address"] for rail in rails.values()), pair)
        for rail in used:
            expect(rail["peer_address"] and rail["peer_address"] != rail["address"], pair)
    expect(json.loads(text)["peers"]["warnings"] == [], "all rails have the same frame size", text)
    cluster.must("exec", "h1", "sh", "-c", "for rail in rail0 rail1 mgmt; do ip link set $rail mtu 1300; done")
    text = cluster.must("exec", "h0", cluster.tool, "launch", "-n", "2", "--", sennit, "info", "--peers")
    expect(" of h0 has 1500, " in text and " of h1 has 1300" in text, text)
    process.terminate()
    process.wait(timeout=15)
    cluster.nothing_is_left()


def a_host_with_a_cut_rail_is_lost_in_time(cluster, program):
    """Both ranks wait for a signal that never comes, and report each other's silence. An earlier short cut is not reported."""
    timeout_s = 3
    keeper = cluster.start("--launcher", "none", "--", "sleep", "600")
    job = subprocess.Popen(
        [cluster.tool, "exec", "--name", cluster.name, "h0", cluster.tool, "launch", "-n", "2", "--", "env",
         f"SENNIT_PEER_TIMEOUT={timeout_s}", "SENNIT_PATHS=self,mapped,fabric:interface=rail0", program, "signal"],
        env=cluster.environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    lines = []

    def read(what):
        return read_event(job.stdout, lines, what)

    waits = {read("waits")[0] for _ in range(2)}
    expect(waits == {0, 1}, lines)
    cluster.must("cut", "rail", "--silent", "h1", "0")
    time.sleep(timeout_s / 4)
    cluster.must("restore", "rail", "h1", "0")
    time.sleep(timeout_s / 2)
    begin = time.clock_gettime(time.CLOCK_MONOTONIC)
    cluster.must("cut", "rail", "--silent", "h1", "0")
    cut = time.clock_gettime(time.CLOCK_MONOTONIC)
    for _ in range(2):
        rank, peer, when = read("lost")
        expect(peer == 1 - rank and begin < when < cut + timeout_s + 0.5, rank, peer, begin, cut, when)
    job.communicate()
    keeper.terminate()
    keeper.wait(timeout=15)
    cluster.nothing_is_left()


def puts_go_on_after_the_only_rail_was_cut(cluster, program):
    """The rail is cut several times, each time for less than the timeout."""
    keeper = cluster.start("--launcher", "none", "--", "sleep", "600")
    with tempfile.TemporaryDirectory(dir=os.path.dirname(program)) as folder, open(f"{folder}/log", "w+", encoding="utf-8") as log:
        job = subprocess.Popen(
            [cluster.tool, "exec", "--name", cluster.name, "h0", "env", "SENNIT_PATHS=self,mapped,fabric:interface=rail0", "SENNIT_LOG=info",
             "SENNIT_PEER_TIMEOUT=6", cluster.tool, "launch", "-n", "2", "--", program, str(1 << 16), f"{folder}/stop"],
            env=cluster.environment, text=True, stdout=log, stderr=subprocess.STDOUT)
        time.sleep(2)
        for _ in range(3):
            cluster.must("cut", "rail", "--silent", "h1", "0")
            time.sleep(2)
            cluster.must("restore", "rail", "h1", "0")
            time.sleep(3)
        with open(f"{folder}/stop", "w", encoding="utf-8"):
            pass
        code = job.wait(timeout=30)
        log.seek(0)
        text = log.read()
        expect(code == 0 and "lost" not in text, code, text[-3000:])
    keeper.terminate()
    keeper.wait(timeout=15)
    cluster.nothing_is_left()


def run_suite(cluster, cluster_words, suite, path, groups, *settings):
    # The ranks exchange blocks by files here, and each host has its own /tmp.
    shared = tempfile.mkdtemp(dir=os.path.dirname(suite))
    try:
        words = [word for group in groups for word in ("--group", group)]
        done = cluster.run(*cluster_words, "--", "env", f"TMPDIR={shared}", *settings, suite, "--paths", f"mapped,{path}", "--quick", *words)
        print(done.stdout, done.stderr)
        expect(done.returncode == 0 and "FAILED" not in done.stdout, "a test fails")
        expect(all(f"ok     {group}." in done.stdout for group in groups), "a group did not run")
    finally:
        os.rmdir(shared)
    cluster.nothing_is_left()
    return done.stdout + done.stderr


def groups_of_the_conformance_suite_pass(cluster, launcher, ranks, suite, *groups):
    run_suite(cluster, ("--rails", "2", "--launcher", launcher, "-n", ranks), suite, "fabric", groups)


def the_conformance_suite_passes_on_four_hosts(cluster, provider, ranks, suite, *groups):
    run_suite(cluster, ("--hosts", "4", "--rails", "2", "-n", ranks), suite, f"fabric:provider={provider}", groups)


def a_field_is_the_same_to_the_bit_on_four_hosts(cluster, sennit, heat3d):
    """Rows of cells come from other hosts by gets, and on one machine by load and store."""
    with tempfile.TemporaryDirectory(dir=os.path.dirname(heat3d)) as folder:
        def field_of(start, name):
            done = start(heat3d, "--size", "24,20,16", "--max-steps", "60", "--quiet", "--output", os.path.join(folder, name))
            expect(done.returncode == 0, done.stdout, done.stderr)
            with open(os.path.join(folder, name, "temperature.npy"), "rb") as file:
                return file.read()
        here = field_of(lambda *words: subprocess.run([sennit, "run", "-n", "8", *words], capture_output=True, text=True,
                                                      check=False), "here")
        there = field_of(lambda *words: cluster.run("--hosts", "4", "-n", "8", "--", *words), "there")
        expect(len(here) > 24 * 20 * 16 * 8 and len(set(here)) > 100 and here == there, "the fields differ")
    cluster.nothing_is_left()


def a_pe_ends_pes_of_other_hosts(cluster, launcher, program):
    """OpenSHMEM: one of two computing PEs ends both. Broken by an exit that ends only its host's PEs, and a launcher that waits."""
    for case, code in (("start-exit", 7), ("own-memory", 0)):
        begin = time.monotonic()
        done = cluster.run("--launcher", launcher, "-n", "2", "--", "timeout", "20", program, case)
        # A launcher may report an exit with 0 and without finalize as an error of its own.
        expect(done.returncode == code or (code == 0 and done.returncode != 124), case, done)
        expect(time.monotonic() - begin < 15, case, done)
    cluster.nothing_is_left()


def main(project, case, *words, cases=None):
    cluster = Cluster(project)
    if case != "missing_namespaces_are_reported_with_a_remedy":
        check = subprocess.run([cluster.tool, "check"], capture_output=True, text=True, check=False)
        if check.returncode != 0:
            print(check.stderr)
            return SKIPPED
    return (cases or globals())[case](cluster, *words) or 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
