#!/usr/bin/env python3
"""Run `orders` under a launcher and judge the result.

The exit code of a launcher is not enough: mpiexec.hydra returns 0 for a job in which one rank left without finalizing. So every
rank that reaches its end prints "done", and the script counts these lines. Nothing of the job may be left afterwards: no
process, no file of Sennit's, no socket.

  --expect done           all ranks reach the end, exit code 0
  --expect ended          not all ranks reach the end, and the launcher ends the job well before the timeout
  --expect "ended TEXT"   the same, and a rank prints TEXT before
  --expect "says TEXT"    as done, and every rank prints TEXT
  --expect "fails with N and says TEXT"  all ranks reach the end, but the launcher prints TEXT and exits with N
"""
import argparse
import os
import re
import shlex
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from leftovers import Leftovers  # noqa: E402

LEAVE_SECONDS = 5.0


def end(process: subprocess.Popen) -> bytes:
    """Ends a launcher that timed out, with every process that it started. Returns its output."""
    os.killpg(process.pid, signal.SIGTERM)
    try:
        return process.communicate(timeout=LEAVE_SECONDS)[0]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.communicate()[0]


def run(command: list[str], seconds: float) -> tuple[int | None, str]:
    """Returns the exit code (None: timeout) and the output, with a list of leftovers. No process stays running."""
    text = ""
    code = None
    try:
        with Leftovers(within=LEAVE_SECONDS, mpi=True) as job:
            process = job.start(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, start_new_session=True)
            try:
                output, _ = process.communicate(timeout=seconds)
                code = process.returncode
            except subprocess.TimeoutExpired:
                output = end(process)
            text = output.decode(errors="replace")
    except AssertionError as left:
        text += f"\nrun_orders: {left}\n"
        code = code or 1
    return code, text


def judge(expect: str, ranks: int, code: int | None, text: str) -> str | None:
    """Returns a description of the error, or None."""
    # Launchers may join the lines of two ranks.
    done = len(re.findall("orders-done", text))
    if code is None:
        return "the launcher did not end in time"
    if "run_orders: left behind" in text:
        return "something was left behind"
    if expect.startswith("ended"):
        if "orders: step" in text:
            return "a step failed"
        if expect[len("ended "):] not in text:
            return "no rank said it"
        return "all ranks came to the end" if done == ranks else None
    failure = re.fullmatch("fails with ([0-9]+) and says (.*)", expect)
    if failure:
        if (code, done) != (int(failure[1]), ranks):
            return f"the exit code is {code}, and {done} ranks came to the end"
        return None if failure[2] in text else "the launcher did not say it"
    if code != 0:
        return f"the launcher's exit code is {code}"
    if done != ranks:
        return f"{done} of {ranks} ranks came to the end"
    if expect.startswith("says "):
        said = text.count(expect[len("says "):])
        return None if said >= ranks else f"{said} of {ranks} ranks said it"
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--launcher", required=True, help="the launcher and its flags")
    parser.add_argument("--wrap", default="", help="words in front of the program")
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--expect", default="done")
    parser.add_argument("--timeout", type=float, default=25.0)
    parser.add_argument("program")
    parser.add_argument("steps", nargs="+")
    arguments = parser.parse_args()
    command = [*shlex.split(arguments.launcher), "-n", str(arguments.ranks),
               *shlex.split(arguments.wrap), arguments.program, str(arguments.ranks),
               *arguments.steps]
    code, text = run(command, arguments.timeout)
    wrong = judge(arguments.expect, arguments.ranks, code, text)
    if wrong is None:
        return 0
    print(f"run_orders: {wrong}\n  command: {' '.join(command)}\n  output:\n{text}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
