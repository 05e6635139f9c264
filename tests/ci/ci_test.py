#!/usr/bin/env python3
"""Runs `.ci/run` in its own folder with a Makefile of stand-in targets, and tools/run-tests with stand-ins for tools/build and
ctest.

    tests/ci/ci_test.py PROJECT CASE

Broken by a limit that is reached in silence, a failed test that the limit hides, a cut run that is reported as a failed one, or
processes that outlive the run.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import time

QUICK = "quick release: 3 passed, 0 failed, 0 skipped"
QUICK_BAD = "quick release: 2 passed, 1 failed, 0 skipped"
REST = "rest release: 5 passed, 0 failed, 0 skipped"


def run(project, quick, rest, limit_s=30, **more):
    """Returns the exit code and lines of a run whose two targets execute these shell commands."""
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, ".ci"))
        shutil.copy(os.path.join(project, ".ci", "run"), os.path.join(folder, ".ci", "run"))
        with open(os.path.join(folder, "Makefile"), "w", encoding="utf-8") as file:
            file.write(f"test:\n\t@{quick}\n\ntest-rest:\n\t@{rest}\n")
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
        done = subprocess.run([os.path.join(folder, ".ci", "run")], capture_output=True, text=True, timeout=50,
                              env={**environment, "CI_LIMIT_S": str(limit_s), **more}, check=False)
    return done.returncode, done.stdout.splitlines()


def says(lines, text):
    return any(text in line for line in lines)


def expect(truth, lines):
    if not truth:
        raise AssertionError("not as expected:\n  " + "\n  ".join(lines))


def is_alive(process):
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def all_tests_that_ran_are_counted(project):
    code, lines = run(project, f"echo '{QUICK}'", f"echo '{REST}'")
    expect(code == 0 and lines[-1] == "8 passed, 0 failed" and not says(lines, "stopped itself"), lines)


def a_failed_test_fails_the_run(project):
    code, lines = run(project, f"echo '{QUICK_BAD}'; exit 1", f"echo '{REST}'")
    expect(code != 0 and lines[-1] == "7 passed, 1 failed" and not says(lines, "stopped itself"), lines)


def a_failed_test_is_shown_again_at_the_end(project):
    first = ("echo '== quick tests, preset release'; echo '1/2 Test #4: a.bad ...***Failed 0.10 sec'; echo 'first try'; "
             "echo '    Start 4: a.bad'; echo '    Test #4: a.bad ...***Failed 0.10 sec'; echo 'the reason'; "
             "echo '2/2 Test #5: a.better ...***Failed 0.10 sec'; echo 'a slow machine'; "
             "echo '    Start 5: a.better'; echo '    Test #5: a.better ... Passed 0.10 sec'")
    code, lines = run(project, f"{first}; echo '{QUICK_BAD}'; exit 1", f"echo '{REST}'")
    expect(code != 0 and lines[-3].startswith("ci: failed: a.bad (quick tests, preset release): Failed"), lines)
    expect(lines[-2].strip() == "the reason" and lines[-1] == "7 passed, 1 failed", lines)


def the_limit_in_the_rest_is_reported_and_passes(project):
    code, lines = run(project, f"echo '{QUICK}'", f"echo '{REST}'; sleep 40", 3)
    expect(code == 0 and lines[-1] == "8 passed, 0 failed", lines)
    expect(says(lines, "stopped itself: the limit of one run is 3 s") and says(lines, "make test has passed"), lines)


def the_limit_after_a_failed_test_is_reported_too(project):
    code, lines = run(project, f"echo '{QUICK_BAD}'; exit 1", "echo '      Start  7: slow.one'; sleep 40", 3)
    expect(code != 0 and lines[-1] == "2 passed, 1 failed", lines)
    expect(says(lines, "stopped itself: the limit of one run is 3 s") and says(lines, "had not finished: slow.one"), lines)
    expect(says(lines, "make test has failed") and not says(lines, "make test has passed"), lines)


def the_limit_in_make_test_fails_the_run(project):
    code, lines = run(project, "sleep 40", f"echo '{REST}'", 2)
    expect(code in (124, 137) and lines[-1] == "0 passed, 1 failed" and not says(lines, "rest release"), lines)
    expect(says(lines, "stopped itself") and not says(lines, "make test has"), lines)


def no_process_of_a_cut_run_stays_alive(project):
    # In its own session, so that a signal to make's process group does not reach it.
    code, lines = run(project, "setsid sh -c 'echo started $$$$; exec sleep 45 > /dev/null 2>&1' & sleep 45", "true", 2)
    started = [int(line.split()[1]) for line in lines if line.startswith("started ")]
    expect(code != 0 and len(started) == 1, lines)
    limit = time.monotonic() + 5  # a killed process ends only when it is scheduled
    while is_alive(started[0]) and time.monotonic() < limit:
        time.sleep(0.01)
    expect(not is_alive(started[0]), lines)


def skipped_tests_of_several_hosts_fail_the_run_unless_allowed(project):
    skipped = f"echo ' 7/9 Test  #7: cluster.some_case ...***Skipped   0.10 sec'; echo '{QUICK}'"
    code, lines = run(project, skipped, f"echo '{REST}'", CI_NO_CLUSTER="")
    expect(code == 1 and lines[-1] == "8 passed, 1 failed" and says(lines, "CI_NO_CLUSTER=1"), lines)
    code, lines = run(project, skipped, f"echo '{REST}'", CI_NO_CLUSTER="1")
    expect(code == 0 and lines[-1] == "8 passed, 0 failed" and not says(lines, "CI_NO_CLUSTER"), lines)


def run_tests(project, *words, bad="", **environment):
    """Returns the exit code, the lines, and for each build and ctest: [program, first argument, all arguments, start, end]. The
    build of preset `bad` fails. Programs in `folder` take precedence over the system's."""
    others = environment.pop("folder", "")
    note = 'echo "$0;$1;$*;$start;$(date +%s.%N)" >> "$LOG"'
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "tools"))
        shutil.copy(os.path.join(project, "tools", "run-tests"), os.path.join(folder, "tools", "run-tests"))
        log = os.path.join(folder, "log")
        for name, text in (("tools/build", f'mkdir -p "build/$1"; sleep 0.3; {note}; [ "$1" != "$BAD" ]'),
                           ("ctest", f'echo "1/1 Test #1: a.b ... Passed 0.1 sec"; sleep 0.9; {note}; [ "$CUT" ] || echo "100% tests passed"')):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(f"#!/bin/sh\nstart=$(date +%s.%N)\n{text}\n")
            os.chmod(file.name, 0o755)
        done = subprocess.run([os.path.join(folder, "tools", "run-tests"), *words], capture_output=True, text=True, timeout=50,
                              env={**os.environ, "PATH": f"{folder}:{others}:{os.environ['PATH']}", "LOG": log, "BAD": bad,
                                   **environment}, check=False)
        with open(log, encoding="utf-8") as file:
            calls = [line.strip().split(";") for line in file]
    return done.returncode, done.stdout.splitlines(), calls


def the_next_tree_is_built_while_tests_run_and_a_bad_one_fails_the_run(project):
    code, lines, calls = run_tests(project, "rest", bad="asan")
    expect(code == 1 and lines[-1] == "2 passed, 1 failed" and says(lines, "preset asan does not build"), lines)
    tests = [call for call in calls if call[0].endswith("ctest")]
    ahead = next(call for call in calls if call[0].endswith("build") and call[1] == "asan")
    expect("build/release" in tests[0][2] and float(ahead[3]) < float(tests[0][4]), map(str, calls))
    expect(not any("build/asan" in call[2] for call in tests) and "build/tsan" in tests[-1][2], map(str, calls))


def a_cut_ctest_fails_the_run(project):
    """Broken by tests that do not run and are not reported."""
    code, lines, _ = run_tests(project, "quick", CUT="1")
    expect(code == 1 and lines[-1] == "1 passed, 1 failed" and says(lines, "ended before all tests had run"), lines)


def the_build_for_the_rest_runs_and_ends_with_the_quick_tests(project):
    """Only in CI: a run of the quick tests by hand needs no other build."""
    for is_ci in ("true", "false"):
        with tempfile.TemporaryDirectory() as folder:
            mark = os.path.join(folder, "building")
            with open(os.path.join(folder, "cmake"), "w", encoding="utf-8") as file:
                file.write(f"#!/bin/sh\nsleep 39.25 &\necho $$ $! \"$@\" > {mark}\nwait\n")
            os.chmod(file.name, 0o755)
            start = time.monotonic()
            code, lines, _ = run_tests(project, "quick", folder=folder, CI=is_ci)
            expect(code == 0 and lines[-1] == "1 passed, 0 failed" and time.monotonic() - start < 30, lines)
            expect(os.path.exists(mark) == (is_ci == "true"), os.listdir(folder))
            if os.path.exists(mark):
                with open(mark, encoding="utf-8") as file:
                    first, second, *words = file.read().split()
                left = [number for number in (first, second) if os.path.exists(f"/proc/{number}")]
                expect(words == ["--build", "build/release"] and not left, [*words, *left])


if __name__ == "__main__":
    globals()[sys.argv[2]](sys.argv[1])
