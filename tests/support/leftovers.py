"""Checks that a job left nothing: no process, however it detached itself, no file in /dev/shm or the folder for temporary
files, no socket. `with Leftovers() as job: job.run([...])` raises AssertionError if something is left. With mpi=True the
job may use an MPI's launcher, and only files with Sennit's name count: Open MPI leaves its own in the folder.
leftovers.cpp does the same for a command.

How processes are found: this process becomes a subreaper, so every orphan below it becomes its child;
and the command gets a mark in its environment that all its descendants inherit. Leftovers of other jobs
are not blamed on this one: a socket counts only if no process outside of the job holds it.
"""
import ctypes
import os
import signal
import subprocess
import time

MARK = "LEFTOVERS_MARK"
PR_SET_CHILD_SUBREAPER = 36


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def process_numbers():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def marked_processes(mark):
    """Living processes with the mark in their environment (at their start, which is what /proc shows)."""
    wanted = f"{MARK}={mark}".encode()
    return [
        number
        for number in process_numbers()
        if number != os.getpid() and wanted in read(f"/proc/{number}/environ").split(b"\0")
    ]


def children():
    """All children of this process, including adopted orphans and zombies."""
    me = str(os.getpid()).encode()
    found = []
    for number in process_numbers():
        fields = read(f"/proc/{number}/stat").rpartition(b")")[2].split()
        if len(fields) > 1 and fields[1] == me:
            found.append(number)
    return found


def describe(number):
    command = read(f"/proc/{number}/cmdline").replace(b"\0", b" ").decode(errors="replace").strip()
    return f"process {number}: {command or 'zombie'}"


def shared_memory():
    try:
        return {name for name in os.listdir("/dev/shm") if "sennit" in name.lower()}
    except OSError:
        return set()


def sockets():
    """Unix sockets that have Sennit in their name: name to inode."""
    found = {}
    for line in read("/proc/net/unix").decode(errors="replace").splitlines()[1:]:
        fields = line.split()
        if len(fields) > 7 and "sennit" in fields[7].lower():
            found[fields[7]] = fields[6]
    return found


def inodes_of_others(mark):
    """Inodes of sockets held by processes outside of the job: other jobs run at the same time."""
    held = set()
    mine = set(marked_processes(mark))
    for number in process_numbers():
        if number in mine:
            continue
        try:
            for name in os.listdir(f"/proc/{number}/fd"):
                target = os.readlink(f"/proc/{number}/fd/{name}")
                if target.startswith("socket:["):
                    held.add(target[8:-1])
        except OSError:
            continue
    return held


class Leftovers:
    """A watched job. Use as a context manager; its exit runs the check."""

    def __init__(self, within=1.0, mpi=False):
        self.within = within
        self.mpi = mpi
        self.mark = os.urandom(16).hex()
        self.folder = None

    def __enter__(self):
        libc = ctypes.CDLL(None, use_errno=True)
        assert libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
        self.folder = os.path.join(os.environ.get("TMPDIR") or "/tmp", f"watch-{self.mark}")
        os.mkdir(self.folder, 0o700)
        self.before_children = set(children())
        self.before_memory = shared_memory()
        self.before_sockets = set(sockets())
        return self

    def environment(self, extra=None):
        return {**os.environ, MARK: self.mark, "TMPDIR": self.folder, **(extra or {})}

    def start(self, command, env=None, **options):
        return subprocess.Popen(command, env=self.environment(env), **options)

    def run(self, command, env=None, timeout=60, **options):
        """Like subprocess.run, with text output captured."""
        options.setdefault("stdin", subprocess.DEVNULL)
        if "input" in options:
            del options["stdin"]
        return subprocess.run(
            command, env=self.environment(env), timeout=timeout, capture_output=True, text=True, **options
        )

    def processes(self):
        """Living processes of the job."""
        for number in set(children()) - self.before_children:
            try:
                os.waitpid(number, os.WNOHANG)
            except ChildProcessError:
                pass
        return sorted(set(marked_processes(self.mark)) | (set(children()) - self.before_children))

    def left(self):
        found = [describe(number) for number in self.processes()]
        found += [f"/dev/shm/{name}" for name in shared_memory() - self.before_memory]
        found += [os.path.join(where, name)
                  for where, folders, files in os.walk(self.folder) for name in folders + files
                  if not self.mpi or "sennit" in name.lower()]
        new = {name: inode for name, inode in sockets().items() if name not in self.before_sockets}
        if new:
            others = inodes_of_others(self.mark)
            found += [f"socket {name}" for name, inode in new.items() if inode not in others]
        return found

    def wait_until_clean(self, within):
        """The leftovers after at most `within` seconds; empty as soon as there are none."""
        end = time.monotonic() + within
        while True:
            found = self.left()
            if not found or time.monotonic() > end:
                return found
            time.sleep(0.02)

    def end(self):
        """Ends all leftovers, so that a failing test does not disturb the next one."""
        left = self.processes()
        for number in left:
            try:
                os.kill(number, signal.SIGKILL)
            except OSError:
                pass
        if left:
            time.sleep(0.05)
            self.processes()
        try:
            os.rmdir(self.folder)
        except OSError:
            import shutil  # hundreds of tests never need it

            shutil.rmtree(self.folder, ignore_errors=True)

    def __exit__(self, kind, value, traceback):
        found = self.wait_until_clean(self.within) if kind is None else []
        self.end()
        if found:
            raise AssertionError("left behind:\n  " + "\n  ".join(found))
