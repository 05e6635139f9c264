#!/usr/bin/env python3
"""Runs one case of the launcher's tests: launcher_test.py SENNIT RANK_PROGRAM FILE.CASE

A case is a function of cases_FILE.py that takes a Launcher and fails by an exception. After each case
no process or file of its jobs may be left (tests/support/leftovers.py).
"""
import importlib
import os
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "support"))
from leftovers import Leftovers  # noqa: E402

SKIPPED = 77


class Launcher:
    """The tools of a case: the launcher, the rank program, and the watch for leftovers."""

    def __init__(self, sennit, rank_program, watch):
        self.sennit = sennit
        self.rank_program = rank_program
        self.watch = watch

    def command(self, ranks, *words, options=()):
        return [self.sennit, "run", "-n", str(ranks), *options, *map(str, words)]

    def run(self, ranks, *words, options=(), **more):
        """Runs a job to its end; the result has returncode, stdout, stderr and seconds."""
        start = time.monotonic()
        result = self.watch.run(self.command(ranks, *words, options=options), **more)
        result.seconds = time.monotonic() - start
        return result

    def shell(self, ranks, script, options=(), **more):
        return self.run(ranks, "sh", "-c", script, options=options, **more)

    def start(self, ranks, *words, options=(), **more):
        """Starts a job and returns its Popen, with pipes for its output."""
        more.setdefault("stdout", subprocess.PIPE)
        more.setdefault("stderr", subprocess.PIPE)
        more.setdefault("stdin", subprocess.DEVNULL)
        return self.watch.start(self.command(ranks, *words, options=options), text=True, **more)

    def start_and_wait_for(self, lines, ranks, *words, options=(), **more):
        """Starts a job and returns after that many lines of standard output."""
        job = self.start(ranks, *words, options=options, **more)
        for _ in range(lines):
            assert job.stdout.readline(), "the job ended before its ranks were up: " + job.stderr.read()
        return job


def end_of(job, within=20):
    """Waits for a started job; returns exit code (negative: killed by that signal), output, messages."""
    output, messages = job.communicate(timeout=within)
    return job.returncode, output, messages


def equal(found, wanted, note=""):
    assert found == wanted, f"{note}\n found: {found!r}\nwanted: {wanted!r}"


def contains(text, part):
    assert part in text, f"{part!r} is not in {text!r}"


def skip(reason):
    print("skipped:", reason)
    sys.exit(SKIPPED)


def main():
    # The cases test these signals; the parent of this process may have set them to be ignored.
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGTSTP):
        signal.signal(number, signal.SIG_DFL)
    # A sanitizer in the launcher uses these signals, so ranks would not get them back as ignored.
    for number in (signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGSEGV, signal.SIGABRT):
        signal.signal(number, signal.SIG_DFL)
    sennit, rank_program, name = sys.argv[1:]
    file, _, case = name.partition(".")
    function = getattr(importlib.import_module(f"cases_{file}"), case)
    with Leftovers() as watch:
        function(Launcher(sennit, rank_program, watch))


if __name__ == "__main__":
    # Cases import this file as a module: both names must mean the same module.
    sys.modules["launcher_test"] = sys.modules["__main__"]
    sys.path.insert(0, HERE)
    main()
