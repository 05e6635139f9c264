#!/usr/bin/env python3
"""Runs a command and then checks that nothing of it is left: no process however it detached itself,
no file in /dev/shm or the folder for temporary files, no socket.

    leftovers.py [--within SECONDS] [--timeout SECONDS] [--mpi] -- COMMAND ARGUMENTS...

Exits with the command's code if nothing is left; else names what is left, ends the processes among it
and exits with 99. A command that takes longer than it may is ended with all its processes: 124. With
--mpi an MPI's launcher takes part, and of files only those named after Sennit count: Open MPI keeps
its own in the folder for temporary files. In Python: `with Leftovers() as job: job.run([...])`, which raises AssertionError.

How processes are found: this process becomes a subreaper, so every orphan below it becomes its child;
and the command gets a mark in its environment that all its descendants inherit. So what other jobs do
at the same time is not taken for this one's: a socket counts only if nobody outside of the job holds it.
"""
import argparse
import ctypes
import os
import signal
import subprocess
import sys
import time

MARK = "LEFTOVERS_MARK"
EXIT_LEFT = 99
EXIT_TOO_LONG = 124
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
    """Living processes whose environment carries the mark (at their start, which is what /proc shows)."""
    wanted = f"{MARK}={mark}".encode()
    return [
        number
        for number in process_numbers()
        if number != os.getpid() and wanted in read(f"/proc/{number}/environ").split(b"\0")
    ]


def children():
    """All children of this process, with orphans adopted as a subreaper; zombies among them too."""
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
    """Unix sockets with a name of Sennit's: name to inode."""
    found = {}
    for line in read("/proc/net/unix").decode(errors="replace").splitlines()[1:]:
        fields = line.split()
        if len(fields) > 7 and "sennit" in fields[7].lower():
            found[fields[7]] = fields[6]
    return found


def inodes_of_others(mark):
    """Socket inodes held by processes that are not the job's: other jobs run at the same time."""
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
    """One job under watch. Use as a context manager; leaving it checks."""

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
        """As subprocess.run with text output captured."""
        options.setdefault("stdin", subprocess.DEVNULL)
        if "input" in options:
            del options["stdin"]
        return subprocess.run(
            command, env=self.environment(env), timeout=timeout, capture_output=True, text=True, **options
        )

    def processes(self):
        """Processes of the job that still live."""
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
        """What is left after at most `within` seconds; empty as soon as nothing is."""
        end = time.monotonic() + within
        while True:
            found = self.left()
            if not found or time.monotonic() > end:
                return found
            time.sleep(0.02)

    def end(self):
        """Ends what is left, so that a failing test does not disturb the next."""
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
            import shutil  # hundreds of tests need it never

            shutil.rmtree(self.folder, ignore_errors=True)

    def __exit__(self, kind, value, traceback):
        found = self.wait_until_clean(self.within) if kind is None else []
        self.end()
        if found:
            raise AssertionError("left behind:\n  " + "\n  ".join(found))


def main():
    parser = argparse.ArgumentParser(description="Run a command, then check that nothing of it is left.")
    parser.add_argument("--within", type=float, default=1.0, help="seconds it may take to go away")
    parser.add_argument("--timeout", type=float, default=600, help="seconds the command may take")
    parser.add_argument("--mpi", action="store_true", help="an MPI takes part, whose own files do not count")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not command:
        parser.error("which command?")
    code = 0
    try:
        with Leftovers(options.within, options.mpi) as job:
            code = job.start(command).wait(options.timeout)
    except subprocess.TimeoutExpired:
        print(f"not over after {options.timeout:g} s: {' '.join(command)}", file=sys.stderr)
        return EXIT_TOO_LONG
    except AssertionError as error:
        print(error, file=sys.stderr)
        return EXIT_LEFT
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())
