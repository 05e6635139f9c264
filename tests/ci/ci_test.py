#!/usr/bin/env python3
"""Runs `.ci/run` in a folder of its own, with a Makefile whose targets stand in for the real ones.

    tests/ci/ci_test.py PROJECT CASE

What would break a case: a limit that passes in silence, a failed test that the limit hides, a cut run that is called a
failed one, or processes that outlive it.
"""
import os
import shutil
import subprocess
import sys
import tempfile

QUICK = "quick release: 3 passed, 0 failed, 0 skipped"
QUICK_BAD = "quick release: 2 passed, 1 failed, 0 skipped"
REST = "rest release: 5 passed, 0 failed, 0 skipped"


def run(project, quick, rest, limit_s=30):
    """Exit code and lines of a run whose two targets execute these shell commands."""
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, ".ci"))
        shutil.copy(os.path.join(project, ".ci", "run"), os.path.join(folder, ".ci", "run"))
        with open(os.path.join(folder, "Makefile"), "w", encoding="utf-8") as file:
            file.write(f"test:\n\t@{quick}\n\ntest-rest:\n\t@{rest}\n")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
        done = subprocess.run([os.path.join(folder, ".ci", "run")], capture_output=True, text=True, timeout=50,
                              env={**environment, "CI_LIMIT_S": str(limit_s)}, check=False)
    return done.returncode, done.stdout.splitlines()


def says(lines, text):
    return any(text in line for line in lines)


def expect(truth, lines):
    if not truth:
        raise AssertionError("not as expected:\n  " + "\n  ".join(lines))


def all_that_ran_is_counted(project):
    code, lines = run(project, f"echo '{QUICK}'", f"echo '{REST}'")
    expect(code == 0 and lines[-1] == "8 passed, 0 failed" and not says(lines, "stopped itself"), lines)


def a_failed_test_fails_the_run(project):
    code, lines = run(project, f"echo '{QUICK_BAD}'; exit 1", f"echo '{REST}'")
    expect(code != 0 and lines[-1] == "7 passed, 1 failed" and not says(lines, "stopped itself"), lines)


def the_limit_in_the_rest_is_said_and_passes(project):
    code, lines = run(project, f"echo '{QUICK}'", f"echo '{REST}'; sleep 40", 3)
    expect(code == 0 and lines[-1] == "8 passed, 0 failed", lines)
    expect(says(lines, "stopped itself: the limit of one run is 3 s") and says(lines, "make test has passed"), lines)


def the_limit_after_a_failed_test_is_said_too(project):
    code, lines = run(project, f"echo '{QUICK_BAD}'; exit 1", "echo '      Start  7: slow.one'; sleep 40", 3)
    expect(code != 0 and lines[-1] == "2 passed, 1 failed", lines)
    expect(says(lines, "stopped itself: the limit of one run is 3 s") and says(lines, "had not finished: slow.one"), lines)
    expect(says(lines, "make test has failed") and not says(lines, "make test has passed"), lines)


def the_limit_in_make_test_fails_the_run(project):
    code, lines = run(project, "sleep 40", f"echo '{REST}'", 2)
    expect(code in (124, 137) and lines[-1] == "0 passed, 1 failed" and not says(lines, "rest release"), lines)
    expect(says(lines, "stopped itself") and not says(lines, "make test has"), lines)


def nothing_of_a_run_that_was_cut_stays_alive(project):
    # In a session of its own, so that the signal to the process group of make misses it.
    code, lines = run(project, "setsid sh -c 'echo started $$$$; exec sleep 45 > /dev/null 2>&1' & sleep 45", "true", 2)
    started = [int(line.split()[1]) for line in lines if line.startswith("started ")]
    expect(code != 0 and len(started) == 1, lines)
    expect(not os.path.exists(f"/proc/{started[0]}") or
           open(f"/proc/{started[0]}/stat", encoding="utf-8").read().rpartition(")")[2].split()[0] == "Z", lines)


if __name__ == "__main__":
    globals()[sys.argv[2]](sys.argv[1])
