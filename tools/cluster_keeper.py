"""Process 1 of a cluster's namespaces, started by tools/cluster.

    cluster_keeper.py LIFELINE LISTENER CONFIG      two open descriptors, and the requested cluster as JSON

It makes the hosts and the rails, starts the program, and receives orders on two sockets. It ends when the program has ended or the
other end of LIFELINE is closed; then everything else ends too (docs/design/cluster.md).
"""
import array
import glob
import json
import os
import re
import select
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # leaves no files behind
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cluster_relay  # pylint: disable=wrong-import-position

EXIT_REFUSED = 125  # the cluster could not be made, or an order to it failed; otherwise the program's own code
FOLDER = "/run/sennit-cluster"  # inside the cluster only
LINKS_S = 20  # links must come up within this time
CONTROL = f"{FOLDER}/control"
AGENT = f"{FOLDER}/agent"
PRIVATE = ("/tmp", "/dev/shm")  # each host has its own
MANAGEMENT = "mgmt"  # the launchers' own network: it stays when a rail is cut
LAUNCHERS = {"mpirun": ("mpirun.openmpi", "mpirun"), "hydra": ("mpiexec.hydra",), "srun": ("srun",), "none": ()}


class Refused(Exception):
    """An error that the user sees as one line."""


def fail(message):
    raise Refused(message)


def output_of(words, text=None):
    """The output of a short command. If it fails, raises Refused with the text of the command."""
    done = subprocess.run(words, input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        fail(f"{shlex.join(words)[:200]}: {(done.stderr or done.stdout).strip() or 'failed'}")
    return done.stdout


def spawned(process):
    """Its process number. From here on only reap() waits for it; destroying the object does not."""
    process.returncode = 0
    return process.pid


def address(network, host):
    """The address of a host on a rail, or on the management network."""
    return f"10.{99 if network == MANAGEMENT else 100 + int(network)}.0.{host + 1}"


def device(network):
    """The interface inside a host."""
    return MANAGEMENT if network == MANAGEMENT else f"rail{network}"


def port(network, host):
    """The end of the cable at the switch."""
    return f"h{host}{'m' if network == MANAGEMENT else f'r{network}'}"


def launcher_program(launcher):
    names = LAUNCHERS[launcher]
    for name in names:
        found = shutil.which(name)
        if found:
            return found
    if names:
        package = {"mpirun": "openmpi-bin", "hydra": "mpich", "srun": "slurmctld slurmd slurm-client munge"}[launcher]
        fail(f"the launcher {names[0]} is missing: apt-get install {package}")
    return None


def shares(ranks, hosts):
    """The number of ranks on each host, as even as possible; hosts without ranks are left out."""
    return [(f"h{host}", ranks // hosts + (host < ranks % hosts)) for host in range(min(hosts, ranks))]


def launch_words(config, launcher, ranks, program, command):
    """The command that starts the ranks; it runs on h0."""
    if launcher == "none":
        return command
    hosts = ",".join(f"{host}:{count}" for host, count in shares(ranks, config["hosts"]))
    if launcher == "mpirun":
        # Without --bind-to none each host would bind its ranks to the same first cores.
        return [program, "--bind-to", "none", "--host", hosts, "-n", str(ranks), "--mca", "plm_rsh_agent", AGENT,
                "--mca", "oob_tcp_if_include", MANAGEMENT, *command]
    if launcher == "hydra":
        return [program, "-launcher", "ssh", "-launcher-exec", AGENT, "-hosts", hosts, "-iface", MANAGEMENT,
                "-n", str(ranks), *command]
    return [program, f"--mpi={os.environ.get('SLURM_MPI_TYPE', 'pmix')}", "-N", str(min(config["hosts"], ranks)),
            "-n", str(ranks), "--distribution=block", *command]


# Makes one host: its name, its /tmp and /dev/shm with the folders that must stay visible, and its view of the network in /sys.
HOST = r"""
set -e
name=$1 folder=$2
shift 2
hostname "$name"
mount --bind "$folder/hosts" /etc/hosts 2>/dev/null || :
mount -t tmpfs -o mode=1777 sennit-cluster /dev/shm
mount -t tmpfs -o mode=1777 sennit-cluster /tmp
for kept; do
    from=$folder/kept$kept
    if [ -d "$from" ]; then mkdir -p "$kept"; else mkdir -p "${kept%/*}"; : > "$kept"; fi
    mount --rbind "$from" "$kept"
done
mkdir -p "$folder/sys/$name"
if mount -t sysfs sennit-cluster "$folder/sys/$name" 2>/dev/null; then
    mount --rbind /sys/fs/cgroup "$folder/sys/$name/fs/cgroup" 2>/dev/null || :
    mount --move "$folder/sys/$name" /sys
fi
ip link set lo up
[ ! -e /proc/sys/net/ipv6 ] || echo 1 > /proc/sys/net/ipv6/conf/default/disable_ipv6
# BBR, the default of some kernels, underestimates connections that pause, and then delays their data by up to 100 ms.
echo reno > /proc/sys/net/ipv4/tcp_congestion_control || :
echo ready
exec sleep infinity
"""

# The command that mpirun and hydra call instead of ssh: options, the host, and words for its shell.
AGENT_SCRIPT = f"""#!/bin/sh
while [ "${{1#-}}" != "$1" ]; do shift; done
host=$1 dir=$PWD
shift
read -r pid processors < {FOLDER}/pids/$host || exit 255
exec taskset -c "$processors" nsenter --target "$pid" --net --uts --ipc --mount -- sh -c 'cd "$1"; shift; eval "$*"' sh "$dir" "$@"
"""


class Keeper:
    """Process 1 of the cluster."""

    def __init__(self, lifeline, listener, config):
        self.lifeline, self.config = lifeline, config
        self.networks = [str(rail) for rail in range(config["rails"])] + [MANAGEMENT]
        self.relayed = self.networks[:-1] if config["relay"] else []
        self.relay = None  # orders to it
        self.relay_process = None
        self.holders = []
        self.listeners = [listener]
        self.jobs = {}  # process number -> link that gets its exit code, or None for the program
        self.links = {}  # link -> process number
        self.slurm_runs = False
        self.has_ended = None

    def write(self, name, text, mode=0o644):
        path = os.path.join(FOLDER, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)

    def make_folder(self):
        """The cluster's own /run, shared by its hosts, with the visible parts of folders that hosts hide."""
        kept = self.config["kept"]
        files = {path: os.open(path, os.O_PATH) for path in kept}
        output_of(["mount", "-t", "tmpfs", "-o", "mode=755", "sennit-cluster", "/run"])
        for path, file in files.items():
            for place in ([path] if path.startswith("/run/") else [f"{FOLDER}/kept{path}"]):
                if os.path.isdir(f"/proc/self/fd/{file}"):
                    os.makedirs(place, exist_ok=True)
                else:
                    os.makedirs(os.path.dirname(place), exist_ok=True)
                    open(place, "w", encoding="utf-8").close()
                output_of(["mount", "--rbind", f"/proc/{os.getpid()}/fd/{file}", place])
            os.close(file)
        names = "".join(f"{address(MANAGEMENT, host)} h{host}\n" for host in range(self.config["hosts"]))
        self.write("hosts", f"127.0.0.1 localhost\n{names}")
        self.write("config", json.dumps(self.config))
        self.write("agent", AGENT_SCRIPT, 0o755)
        inside = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        inside.bind(CONTROL)
        os.chmod(CONTROL, 0o600)
        inside.listen(16)
        self.listeners.append(inside)

    def make_hosts(self):
        kept = [path for path in self.config["kept"] if not path.startswith("/run/")]
        starting = []
        for host in range(self.config["hosts"]):
            starting.append(subprocess.Popen(
                ["unshare", "--net", "--uts", "--ipc", "--mount", "sh", "-c", HOST, "sh", f"h{host}", FOLDER, *kept],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                start_new_session=True))  # Ctrl-C is for the program
        for host, holder in enumerate(starting):
            if holder.stdout.readline() != "ready\n":
                fail(f"host h{host} could not be made: {holder.stderr.read().strip()}")
            self.holders.append(spawned(holder))
            self.write(f"pids/h{host}", f"{holder.pid} {self.processors(host)}\n")

    def processors(self, host):
        """The processors that a host may use, in the form of taskset."""
        own = sorted(os.sched_getaffinity(0))
        if self.config["split"]:
            hosts = self.config["hosts"]
            own = own[host * len(own) // hosts:(host + 1) * len(own) // hosts] or [own[host % len(own)]]
        return ",".join(map(str, own))

    def make_rails(self):
        # The switches only carry frames; IPv6 would send its own.
        for path in glob.glob("/proc/sys/net/ipv6/conf/default/disable_ipv6"):
            with open(path, "w", encoding="utf-8") as file:
                file.write("1")
        lines = []
        for network in self.networks:
            if network in self.relayed:
                continue
            lines += [f"link add {device(network)} type bridge", f"link set {device(network)} up"]
            for host, holder in enumerate(self.holders):
                end = port(network, host)
                lines += [f"link add {end} type veth peer name {device(network)} netns {holder}",
                          f"link set {end} master {device(network)} up"]
        output_of(["ip", "-batch", "-"], "\n".join(lines))
        if self.relayed:
            self.start_relay()
        for host in range(len(self.holders)):
            lines = []
            for network in self.networks:
                # No other address is in the management network's prefix, so libfabric does not take it for a network that the hosts
                # share.
                prefix = 32 if network == MANAGEMENT else 24
                lines += [f"address add {address(network, host)}/{prefix} dev {device(network)}",
                          f"link set {device(network)} up"]
            lines += [f"route add {address(MANAGEMENT, -1)}/24 dev {MANAGEMENT} src {address(MANAGEMENT, host)}"]
            output_of(self.at(host, "ip", "-batch", "-"), "\n".join(lines))
        rates = (self.config["rate"] or "").split(",")
        for rail, network in enumerate(self.networks[:-1] if rates[0] else []):
            for host in range(len(self.holders)):
                shape = ["root", "tbf", "rate", rates[min(rail, len(rates) - 1)], "burst", "256kb", "latency", "50ms"]
                if network not in self.relayed:
                    output_of(["tc", "qdisc", "add", "dev", port(network, host), *shape])
                output_of(self.at(host, "tc", "qdisc", "add", "dev", device(network), *shape))
        self.wait_for_links()

    def wait_for_links(self):
        """The kernel notices only after a while that a link is up. Until then libraries take its interface for one without a
        cable: UCX of MPICH reports "Destination is unreachable"."""
        limit = time.monotonic() + LINKS_S
        for host in range(len(self.holders)):
            for network in self.networks:
                while not re.search(r" state (UP|UNKNOWN) ",
                                    output_of(self.at(host, "ip", "-oneline", "link", "show", "dev", device(network)))):
                    if time.monotonic() > limit:
                        fail(f"the link {device(network)} of h{host} does not come up within {LINKS_S} s")
                    time.sleep(0.02)

    def start_relay(self):
        """A separate process instead of the switches: it sends frames on time whatever the keeper does."""
        ports, lines = {}, []
        for network in self.relayed:
            ports[network] = {}
            for host, holder in enumerate(self.holders):
                try:
                    ports[network][f"h{host}"] = cluster_relay.open_tap(port(network, host))
                except OSError as problem:
                    fail(f"a relay needs TAP devices: /dev/net/tun: {problem.strerror}")
                lines.append(f"link set {port(network, host)} netns {holder} name {device(network)}")
        output_of(["ip", "-batch", "-"], "\n".join(lines))
        self.relay, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        files = [file for hosts in ports.values() for file in hosts.values()] + [theirs.fileno()]
        self.relay_process = spawned(subprocess.Popen(
            [sys.executable, "-I", "-S", cluster_relay.__file__, str(theirs.fileno()), json.dumps(ports)],
            pass_fds=files, stdin=subprocess.DEVNULL, start_new_session=True))
        theirs.close()
        for hosts in ports.values():
            for file in hosts.values():
                os.close(file)

    def tell_relay(self, host, networks, settings):
        self.relay.send(json.dumps({"ports": [[network, f"h{host}"] for network in networks], **settings}).encode())
        if not self.relay.recv(1):
            fail("the relay has ended")

    def at(self, host, *words):
        """The words that run a command on a host."""
        return ["taskset", "-c", self.processors(host), "nsenter", "--target", str(self.holders[host]), "--net", "--uts", "--ipc", "--mount", "--", *words]

    def start(self, host, command, folder, files=None, terminal=False):
        """Starts a command on a host; returns its process number. It leads a process group unless it is the program."""
        script = 'cd "$1" && shift && exec "$@"'
        words = self.at(host, "sh", "-c", script, "sh", folder, *command)
        if terminal:
            words = ["setsid", "--ctty", *words]
        streams = dict(zip(("stdin", "stdout", "stderr"), files)) if files else {}
        return spawned(subprocess.Popen(words, start_new_session=bool(files) and not terminal, **streams))

    def start_program(self):
        config = self.config
        if config["launcher"] == "srun":
            self.start_slurm()
            os.environ["SLURM_CONF"] = f"{FOLDER}/slurm/slurm.conf"
        words = launch_words(config, config["launcher"], config["ranks"], config["program"], config["command"])
        self.program = self.start(0, words, os.getcwd())
        self.jobs[self.program] = None

    # Orders, each with its name.

    def host_of(self, fields):
        match = re.fullmatch(r"h(\d+)", fields["host"])
        if not match or int(match.group(1)) >= len(self.holders):
            fail(f"there is no host {fields['host']}; there are h0 to h{len(self.holders) - 1}")
        return int(match.group(1))

    def cables_of(self, fields):
        """The switch's ends that an order refers to."""
        host = self.host_of(fields)
        if fields.get("what") == "host":
            return host, self.networks
        if fields["rail"] not in self.networks:
            fail(f"there is no rail {fields['rail']}; there are {' '.join(self.networks)}")
        return host, [fields["rail"]]

    def set_cables(self, fields, settings, words_of):
        """Passes the settings to the relay; without a relay, runs `ip link set` with these words for each switch's end."""
        host, networks = self.cables_of(fields)
        relayed = [network for network in networks if network in self.relayed]
        if relayed:
            self.tell_relay(host, relayed, settings)
        for network in networks:
            if network not in self.relayed:
                output_of(["ip", "link", "set", port(network, host), *words_of(network)])
        return {}

    def do_cut(self, fields):
        """Pulls the cable; with `silent` the switch drops the frames and the link stays up."""
        if fields.get("silent"):
            return self.set_cables(fields, {"silent": True}, lambda _network: ["nomaster"])
        return self.set_cables(fields, {"up": False}, lambda _network: ["down"])

    def do_restore(self, fields):
        return self.set_cables(fields, {"silent": False, "up": True}, lambda network: ["master", device(network), "up"])

    def do_relay(self, fields):
        """Sets how frames of a host on a rail are treated from now on."""
        host, networks = self.cables_of(fields)
        if networks[0] not in self.relayed:
            fail(f"there is no relay at rail {networks[0]}; start the cluster with --relay")
        self.tell_relay(host, networks, fields["settings"])
        return {}

    def do_break(self, fields):
        """Ends the TCP connections of a host on a rail, as a reset by the peer would."""
        host, networks = self.cables_of(fields)
        text = output_of(self.at(host, "ss", "-K", "-H", "-t", "src", address(networks[0], host)))
        return {"text": f"{len(text.splitlines())} connections"}

    def do_kill(self, fields):
        """Kills every process of a host except its holder."""
        holder = self.holders[self.host_of(fields)]
        space = os.readlink(f"/proc/{holder}/ns/net")
        count = 0
        for name in os.listdir("/proc"):
            if not name.isdigit() or int(name) in (1, holder):
                continue
            try:
                if os.readlink(f"/proc/{name}/ns/net") == space:
                    os.kill(int(name), signal.SIGKILL)
                    count += 1
            except OSError:
                continue
        return {"text": f"{count} processes"}

    def do_counters(self, _fields):
        counters = {}
        for host in range(len(self.holders)):
            links = json.loads(output_of(self.at(host, "ip", "-json", "-statistics", "link")))
            counters[f"h{host}"] = {
                link["ifname"]: {"rx": link["stats64"]["rx"]["bytes"], "tx": link["stats64"]["tx"]["bytes"]}
                for link in links}
        return {"counters": counters}

    def do_slurm(self, _fields):
        self.start_slurm()
        return {}

    def start_slurm(self):
        """One munged, one slurmctld on h0, one slurmd on each host, all with files in the cluster's /run."""
        if self.slurm_runs:
            return
        if self.config["mapped"]:
            fail("srun needs root: in a user namespace slurmd may not change its groups; mpirun and hydra work")
        for program in ("munged", "slurmctld", "slurmd"):
            if shutil.which(program) is None:
                fail(f"{program} is missing: apt-get install slurmctld slurmd slurm-client munge")
        hosts = range(len(self.holders))
        folder = f"{FOLDER}/slurm"
        lines = [f"NodeName=h{host} NodeAddr={address(MANAGEMENT, host)} CPUs=64 State=UNKNOWN" for host in hosts]
        self.write("slurm/slurm.conf", SLURM.format(folder=folder, address=address(MANAGEMENT, 0), last=len(hosts) - 1)
                   + "\n".join(lines) + "\n")
        self.write("slurm/key", os.urandom(512).hex(), 0o400)
        for name in ("state", *(f"spool-h{host}" for host in hosts)):
            os.makedirs(f"{folder}/{name}")
        output_of(["munged", "--force", f"--socket={folder}/munge", f"--key-file={folder}/key",
                   f"--pid-file={folder}/munge.pid", f"--seed-file={folder}/seed", f"--log-file={folder}/munge.log"])
        os.environ["SLURM_CONF"] = f"{folder}/slurm.conf"
        output_of(self.at(0, "slurmctld", "-c"))
        for host in hosts:
            output_of(self.at(host, "slurmd", "-N", f"h{host}"))
        limit = time.monotonic() + 30
        while output_of(self.at(0, "sinfo", "-h", "-t", "idle", "-o", "%D")).strip() != str(len(hosts)):
            if time.monotonic() > limit:
                fail("the hosts did not report to Slurm within 30 s")
            time.sleep(0.2)
        self.slurm_runs = True

    # The loop.

    def take_order(self, link):
        text, files = b"", []
        try:
            text, files, _, _ = socket.recv_fds(link, 1 << 20, 3)
            # An order ends with its line; 1 MiB is far above the longest one.
            while text and not text.endswith(b"\n"):
                part = link.recv(1 << 20)
                text = text + part if part else b""
            if not text:
                link.close()
                return
            fields = json.loads(text)
            if fields["do"] == "exec":
                process = self.start(self.host_of(fields), fields["command"], fields["folder"], files or None,
                                     fields.get("terminal", False))
                self.jobs[process] = link
                self.links[link] = process
                return
            known = {name[3:]: getattr(self, name) for name in dir(self) if name.startswith("do_")}
            if fields["do"] not in known:
                fail(f"there is no order {fields['do']}")
            answer = known[fields["do"]](fields)
        except (Refused, OSError, KeyError, ValueError) as problem:
            answer = {"error": str(problem)}
        finally:
            for file in files:
                os.close(file)
        self.answer(link, answer)

    def answer(self, link, answer):
        try:
            link.sendall(json.dumps(answer).encode() + b"\n")
        except OSError:
            pass
        link.close()

    def accept(self, listener):
        link, _ = listener.accept()
        user = array.array("i", link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1]
        # The caller's user number as seen in this user namespace.
        if user != os.getuid():
            link.close()
            return
        link.settimeout(10)
        self.take_order(link)

    def reap(self):
        """Reaps all ended processes: orphans become children of process 1."""
        while True:
            try:
                process, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if process == 0:
                return
            code = os.waitstatus_to_exitcode(status)
            code = code if code >= 0 else 128 - code
            if process == self.relay_process:
                fail("the relay has ended")
            if process in self.holders:
                fail(f"the holder of host h{self.holders.index(process)} has ended")
            if process not in self.jobs:
                continue
            link = self.jobs.pop(process)
            if link is None:
                self.has_ended = code
            else:
                self.links.pop(link, None)
                self.answer(link, {"code": code})

    def hung_up(self, link):
        """The caller of a command has gone: ends the command too."""
        process = self.links.pop(link)
        self.jobs.pop(process, None)
        link.close()
        try:
            os.killpg(process, signal.SIGKILL)
        except OSError:
            pass

    def loop(self):
        """Until the program has ended (returns its code), or the tool has."""
        wake_read, wake_write = socket.socketpair()
        wake_write.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake_write.fileno(), warn_on_full_buffer=False)
        try:
            return self.serve(wake_read)
        finally:
            signal.set_wakeup_fd(-1)  # children that end later find no closed socket

    def serve(self, wake_read):
        self.reap()
        while self.has_ended is None:
            ready, _, _ = select.select([self.lifeline, wake_read, *self.listeners, *self.links], [], [])
            for source in ready:
                if source is wake_read:
                    wake_read.recv(4096)
                elif source == self.lifeline:
                    asked = os.read(self.lifeline, 1)
                    if not asked:
                        return EXIT_REFUSED
                    os.kill(self.program, asked[0])
                elif source in self.listeners:
                    self.accept(source)
                elif source in self.links:
                    self.hung_up(source)
            self.reap()
        return self.has_ended


SLURM = """ClusterName=sennit
SlurmctldHost=h0({address})
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/linear
SlurmdParameters=config_overrides
SwitchType=switch/none
MpiDefault=pmix
ReturnToService=2
PartitionName=all Nodes=h[0-{last}] Default=YES MaxTime=INFINITE State=UP
"""


def keep(lifeline, listener, config):
    """The keeper's main: returns the program's exit code, or EXIT_REFUSED."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, lambda *_: None)  # the tool decides; children get the default back
    os.set_inheritable(int(lifeline), False)
    accepting = socket.socket(fileno=int(listener))
    accepting.set_inheritable(False)
    config = json.loads(config)
    os.environ["PATH"] = os.environ.get("PATH", "/usr/bin:/bin") + ":/usr/local/sbin:/usr/sbin:/sbin"
    os.environ.pop("TMPDIR", None)  # each host has its own /tmp
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    # Otherwise Open MPI and UCX (MPICH) send half of each long message through the management network, which no --rate limits.
    for name in ("OMPI_MCA_btl_tcp_if_include", "UCX_NET_DEVICES"):
        os.environ.setdefault(name, ",".join(device(rail) for rail in range(config["rails"])))
    keeper = Keeper(int(lifeline), accepting, config)
    keeper.make_folder()
    keeper.make_hosts()
    keeper.make_rails()
    keeper.start_program()
    return keeper.loop()


if __name__ == "__main__":
    try:
        sys.exit(keep(*sys.argv[1:]))
    except Refused as problem:
        print(f"cluster: {problem}", file=sys.stderr, flush=True)
        sys.exit(EXIT_REFUSED)
