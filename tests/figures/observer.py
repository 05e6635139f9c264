#!/usr/bin/env python3
"""What it costs that calls can be traced and counted: instructions of a call, and nanoseconds.

    tests/figures/observer.py --figures build/release/tests/observer_figures [--before LIBRARY_FOLDER]
                              [--page docs/design/trace.md] [--calls N]

Instructions are counted by valgrind in two runs of different length, whose difference leaves the start out. --before
names a folder with a libsennit.so of another commit, for a column of its own. With --check it fails if a put, a get or a
fetch_add of an unobserved rank takes more instructions than usual, by more than --slack. Exit code 77: there is no valgrind.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

CALLS = ("put", "get", "fetch_add", "put_nb_and_wait", "flush", "barrier", "lock")
# With the loop around it and the call through a pointer. What stands on the direct way decides; see trace.md.
# What they take in a release that gcc 12 has built.
USUAL = {"put": 45, "get": 45, "fetch_add": 52}
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


def nanoseconds_of(program, call, own):
    result = subprocess.run([program, call, "20000"], capture_output=True, text=True, env=own, check=True, timeout=120)
    return float(result.stdout.split()[0])


def table(columns, rows):
    lines = ["| call | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--figures", required=True)
    parser.add_argument("--before")
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
        if options.before:
            ways.insert(0, ("before", environment(folder, options.before)))
        counts, times = [], []
        for call in CALLS:
            found = [instructions_of(options.figures, call, own, options.calls) for _, own in ways]
            counts.append([f"`{call}`", *[f"{count:.0f}" for count in found]])
            times.append([f"`{call}`", *[f"{nanoseconds_of(options.figures, call, own):.1f} ns" for _, own in ways]])
            unset = found[1 if options.before else 0]
            if options.check and unset > USUAL.get(call, 1e9) + options.slack + 0.5:
                print(f"a {call} of an unobserved rank takes {unset:.1f} instructions and not {USUAL[call]}")
                return 1
    names = [name if name == "before" else f"`{name}`" if "=" in name else name for name, _ in ways]
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
