#!/usr/bin/env python3
"""The cost of the ability to trace and count calls: instructions per call, and nanoseconds.

    tests/figures/observer.py --figures build/release/tests/observer_figures [--beside NAME=LIBRARY_FOLDER]
                              [--page docs/design/trace.md] [--calls N]

Valgrind counts the instructions of two runs of different length; their difference excludes the start. --beside names
a folder with another libsennit.so, which gets the column NAME. With --check every call is made once in each way, and
the check fails if a call costs an unobserved rank more than --slack instructions above the usual number. Exit code 77:
there is no valgrind.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

CALLS = ("put", "get", "fetch_add", "put_nb_and_wait", "flush", "barrier", "lock", "put_notify_wait_reset",
         "put_notify_test_reset", "hand_over", "broadcast")
TIMED = ("put", "put_notify_wait_reset", "hand_over")
# Instructions of each call in a release built by gcc 12, with the loop around it and the call through a pointer. trace.md
# explains which code runs on the direct way. A notified put prefetches two lines: five instructions more, and a third less
# time.
USUAL = {"put": 45, "get": 45, "fetch_add": 52, "put_nb_and_wait": 108, "flush": 49, "barrier": 130, "lock": 536,
         "put_notify_wait_reset": 191, "put_notify_test_reset": 204, "hand_over": 152, "broadcast": 204}
MARK = "<!-- figures: tests/figures/observer.py -->"
END = "<!-- end of figures -->"


def environment(folder, library, **knobs):
    own = {**os.environ, **{f"SENNIT_{name}": os.path.join(folder, value) if name != "STATS" else value
                            for name, value in knobs.items()}}
    if library:
        own["LD_LIBRARY_PATH"] = library
    return own


def instructions(program, call, count, own):
    result = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, call, str(count)],
                            capture_output=True, text=True, env=own, check=True, timeout=300)
    return int(re.search(r"Collected : (\d+)", result.stderr)[1])


def instructions_of(program, call, own, calls):
    few, many = instructions(program, call, 10, own), instructions(program, call, 10 + calls, own)
    return (many - few) / (9 * calls)  # nine batches


def nanoseconds_of(program, call, own, calls=20000):
    result = subprocess.run([program, call, str(calls)], capture_output=True, text=True, env=own, check=True, timeout=120)
    return float(result.stdout.split()[0])


def check(options, ways):
    """Makes every call in every way; returns 0 if none costs an unobserved rank more than usual, otherwise 1."""
    for call in CALLS:
        for _, own in ways:
            nanoseconds_of(options.figures, call, own, 1)
    result = 0
    for call, usual in USUAL.items():
        found = instructions_of(options.figures, call, dict(ways)["unset"], options.calls)
        if found > usual + options.slack + 0.5:
            print(f"a {call} of an unobserved rank takes {found:.1f} instructions and not {usual}")
            result = 1
    return result


def table(columns, rows):
    lines = ["| call | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--figures", required=True)
    parser.add_argument("--beside", metavar="NAME=FOLDER")
    parser.add_argument("--page")
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--slack", type=int, default=2)
    options = parser.parse_args()
    if shutil.which("valgrind") is None:
        print("no valgrind here to count instructions with")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        ways = [("unset", environment(folder, None)), ("SENNIT_STATS=1", environment(folder, None, STATS="1")),
                ("SENNIT_TRACE=file", environment(folder, None, TRACE="t.json"))]
        if options.check:
            return check(options, ways)
        if options.beside:
            name, library = options.beside.split("=", 1)
            ways.insert(0, (name, environment(folder, library)))
        counts, times = [], []
        for call in CALLS:
            found = [instructions_of(options.figures, call, own, options.calls) for _, own in ways]
            counts.append([f"`{call}`", *[f"{count:.0f}" for count in found]])
            if call in TIMED:
                times.append([f"`{call}`", *[f"{nanoseconds_of(options.figures, call, own):.1f} ns" for _, own in ways]])
    names = [f"`{name}`" if name.startswith("SENNIT_") else name for name, _ in ways]
    text = f"Instructions:\n\n{table(names, counts)}\n\nTime of one call:\n\n{table(names, times)}\n"
    print(text)
    if options.page:
        with open(options.page, encoding="utf-8") as file:
            before, rest = file.read().split(MARK, 1)
        with open(options.page, "w", encoding="utf-8") as file:
            file.write(f"{before}{MARK}\n{text}{END}{rest.split(END, 1)[1]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
