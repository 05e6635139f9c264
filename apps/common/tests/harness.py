"""The code that the tests of programs share: a register of tests by name. ctest calls one test at a time.

    import harness
    @harness.test
    def something_holds(arguments): harness.need(..., "what came instead")
    sys.exit(harness.main())       # python3 FILE TEST --bin FOLDER [--built NAME,NAME] [--ranks 1,2]
"""
import argparse
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "bench", "study"))
import runs  # noqa: E402  pylint: disable=wrong-import-position

TESTS = {}
SKIPPED = 77
RUN_LIMIT_S = 60


def test(function):
    TESTS[function.__name__] = function
    return function


class Failed(Exception):
    """The expected and the actual result."""


class Skipped(Exception):
    """The part that is missing on this machine."""


def need(condition, text):
    if not condition:
        raise Failed(text)


def need_all(arguments, found):
    """Fails if a program that CMake expects is not among those that the test has found, so that no test leaves one out."""
    missing = {name for name in getattr(arguments, "expects", "").split(",") if name} - set(found)
    need(not missing, f"not in {arguments.bin}, or without a launcher: {', '.join(sorted(missing))}")


def execute(words, environment=None):
    """Runs a program that may fail, but must end in time."""
    try:
        return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                              timeout=RUN_LIMIT_S, env={**runs.ENVIRONMENT, **(environment or {})})
    except subprocess.TimeoutExpired:
        raise Failed(f"{' '.join(words)}: still running after {RUN_LIMIT_S} s") from None


def need_what_was_built(arguments):
    """A study uses the programs that it finds and leaves out the rest; a test that did so would not notice a missing program."""
    for program in filter(None, arguments.built.split(",")):
        need(os.path.exists(os.path.join(arguments.bin, program)), f"{program} is not in {arguments.bin}, where CMake builds it")
    for mpi in filter(None, arguments.launchers.split(",")):
        need(runs.launcher_of(mpi) is not None, f"the launcher of {mpi} was found at configuration, and is not in PATH")


def main():
    """The exit status of the test that the command line names."""
    parser = argparse.ArgumentParser()
    parser.add_argument("test", choices=sorted(TESTS))
    parser.add_argument("--bin", required=True, help="folder of the programs")
    parser.add_argument("--built", default="", help="programs that must be there: NAME,NAME...")
    parser.add_argument("--launchers", default="", help="MPIs whose launcher must be there")
    parser.add_argument("--expects", default="", help="programs that a test must find there")
    parser.add_argument("--ranks", default="2", help="numbers of ranks, for the tests that use them")
    parser.add_argument("--threads", type=int, default=1, help="most threads that a rank can have, for the tests with threads")
    parser.add_argument("--cluster", help="the tool tools/cluster, for the tests between hosts")
    arguments = parser.parse_args()
    arguments.realtime = False
    try:
        need_what_was_built(arguments)
        TESTS[arguments.test](arguments)
    except Failed as failure:
        print(f"{arguments.test}: {failure}", file=sys.stderr)
        return 1
    except Skipped as reason:
        print(f"skipped: {reason}")
        return SKIPPED
    return 0
