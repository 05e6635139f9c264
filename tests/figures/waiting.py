#!/usr/bin/env python3
"""Prints the figures of docs/design/waiting.md: the cost of each way to wait, and the delay until a death is noticed.

    tests/figures/waiting.py --figures PROGRAM --death PROGRAM --sennit PROGRAM [--rounds N] [--deaths N]
                             [--page FILE]

Prints the table of that page, or with --page writes it there, between the two comments that mark its place. As a test it
runs with few rounds and checks that every figure is present; the values are not tested, since machines differ.
"""
import argparse
import os
import platform
import statistics
import subprocess
import sys

BEGIN, END = "<!-- figures: tests/figures/waiting.py -->", "<!-- end of figures -->"
ROWS = {
    "yield-alone": "`sched_yield`, nobody else on the core",
    "look-for-death": "a check whether a peer's process has ended (`poll` of its pidfd)",
    "store": "a store",
    "store-and-doorbell": "a store and `ring_doorbell()`, nobody asleep",
    "poll-two-cores": "poll to poll, two cores",
    "yield-two-cores": "yield to yield, two cores",
    "sleep-two-cores": "sleep to sleep (futex), two cores",
    "yield-one-core": "yield to yield, one core",
    "sleep-one-core": "sleep to sleep (futex), one core",
    "death": "from SIGKILL of a rank until another one's barrier returns PEER_LOST",
}


def run(command, **keywords):
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
                            check=False, **keywords)
    return result.returncode, result.stdout, result.stderr


def processor():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    except OSError:
        names = []
    return f"{names[0] if names else platform.machine()}, {len(os.sched_getaffinity(0))} processors"


def figures(program, rounds):
    """{name: (median, p5, p95)} in nanoseconds."""
    code, out, err = run([program, str(rounds)])
    if code != 0:
        sys.exit(f"{program}: exit status {code}\n{err}")
    return {name: tuple(map(float, numbers)) for name, *numbers in map(str.split, out.splitlines())}


def deaths(arguments):
    """Nanoseconds from each death until it was noticed."""
    seen = []
    for number in range(arguments.deaths):
        command = [arguments.sennit, "run", "-n", "2", "--keep-going", arguments.death, str(30 + number * 7 % 40)]
        _, out, err = run(command)  # the exit status is the killed rank's
        if not out.strip().isdigit():
            sys.exit(f"{' '.join(command)}: no figure\n{out}{err}")
        seen.append(int(out))
    return sorted(seen)


def shown(ns):
    return f"{ns:.1f} ns" if ns < 1000 else f"{ns / 1000:.1f} µs" if ns < 1e6 else f"{ns / 1e6:.1f} ms"


def write_to(page, lines):
    with open(page, encoding="utf-8") as file:
        before, rest = file.read().split(BEGIN + "\n", 1)
    after = rest.split(END, 1)[1]
    with open(page, "w", encoding="utf-8") as file:
        file.write("\n".join([before + BEGIN, *lines, END + after]))


def main():
    parser = argparse.ArgumentParser(description="The figures of docs/design/waiting.md.")
    for name in ("figures", "death", "sennit"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--rounds", type=int, default=101)
    parser.add_argument("--deaths", type=int, default=15)
    parser.add_argument("--page")
    arguments = parser.parse_args()
    found = figures(arguments.figures, arguments.rounds)
    expected = {name for name in ROWS if len(os.sched_getaffinity(0)) > 1 or "two-cores" not in name}
    missing = expected - found.keys() - {"death"}
    if missing or any(value <= 0 for value, _, _ in found.values()):
        sys.exit(f"missing or not positive: {missing or found}")
    late = deaths(arguments)
    found["death"] = (statistics.median(late), late[len(late) // 20], late[-1 - len(late) // 20])
    lines = [f"Measured on {processor()}.", "", "| what | median | p95 |", "|---|---|---|"]
    lines += [f"| {text} | {' | '.join(map(shown, found[name][::2]))} |" for name, text in ROWS.items() if name in found]
    if arguments.page:
        write_to(arguments.page, lines)
    else:
        print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
