#!/usr/bin/env python3
"""`make demo`, shortened: it succeeds, and its output is correct.

    demo_test.py TOOLS/DEMO BIN OUT MPI,MPI,...

Both tables have a row for every subject, with numeric ratios; the files that it reports as written exist; the programs and files
that it suggests exist.
"""
import os
import re
import subprocess
import sys

DEMO, BIN, OUT = sys.argv[1:4]
MPIS = [name for name in sys.argv[4].split(",") if name]
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(DEMO)))  # relative paths in the output start here
TITLES = {"openmpi": "Open MPI", "mpich": "MPICH"}
TIME = r"([\d.]+) (?:ns|us|ms|s)"
PINGPONG_ROW = re.compile(rf"^ *(\d+(?: [KM]i)?)  (\S+) +{TIME} +{TIME} +{TIME} +(\d+) +([\d.]+) +([\d.]+)\b")
HEAT_ROW = re.compile(r"^ *(\d+)  (\S.*?)  +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) x$")


def run():
    command = [sys.executable, DEMO, "--bin", BIN, "--out", OUT, "--steps", "20", "--rounds", "1"]
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=165, check=False)
    assert result.returncode == 0, f"exit status {result.returncode}\n{result.stdout}{result.stderr}"
    return result.stdout


def check_pingpong(text):
    """Every size has Sennit's rows in each job and one row of each MPI; size 0 also has the bare flag. All numbers are above 0."""
    found = {}
    for row in filter(None, map(PINGPONG_ROW.match, text.splitlines())):
        size, subject, *numbers = row.groups()
        assert all(float(number) > 0 for number in numbers), row.group()
        found.setdefault(subject, []).append(size)
    jobs = max(1, len(MPIS))
    wanted = {"sennit-put": jobs, "sennit-pointer": jobs, **{f"{mpi}-sendrecv": 1 for mpi in MPIS}}
    for subject, times in wanted.items():
        assert sorted(found.get(subject, [])) == sorted(["0", "8", "1 Ki", "64 Ki", "1 Mi"] * times), \
            f"{subject}: {found.get(subject)}\n{text}"
    assert found.get("raw-flag") == ["0"] * jobs, text


def check_heat(text):
    """Two numbers of ranks, each with every contender; Sennit's ratio to itself is 1."""
    found = {}
    for row in filter(None, map(HEAT_ROW.match, text.splitlines())):
        ranks, name, computing, *_, both, ratio = row.groups()
        assert float(computing) > 0 and float(both) > 0 and float(ratio) > 0, row.group()
        assert name != "Sennit" or float(ratio) == 1, row.group()
        assert (ranks, name) not in found, f"{row.group()} is there twice"
        found[ranks, name] = ratio
    wanted = {(ranks, name) for ranks in "24" for name in ["Sennit", *(TITLES[mpi] for mpi in MPIS)]}
    assert set(found) == wanted, f"{sorted(found)} instead of {sorted(wanted)}\n{text}"
    assert f"all {len(wanted)} runs are the same to the bit" in text, text


def check_files(text):
    files = re.findall(r"^Written: (.+)$", text, re.MULTILINE)
    assert {os.path.splitext(file)[1] for file in files} == {".vti", ".npy"}, files
    for file in files:
        path = os.path.join(ROOT, file)
        assert os.path.getsize(path) >= 64 ** 3 * 8, f"{path} is too small for the field"


def check_next(text):
    """Each line is a command: paths in it exist, and so do Sennit's programs."""
    _, found, rest = text.partition("== What to try next\n")
    commands = [line.split("  ")[0] for line in re.findall(r"^   (\S.*)$", rest, re.MULTILINE)]
    assert found and len(commands) >= 4, text
    paths = [word for command in commands for word in command.split() if "/" in word]
    for path in paths:
        assert os.path.exists(os.path.join(ROOT, path)), f"{path} is not there"
    names = {os.path.basename(path) for path in paths}
    assert {"temperature.vti", "sennit", "heat3d"} <= names, commands


def main():
    for name in ("temperature.vti", "temperature.npy"):
        if os.path.exists(os.path.join(OUT, name)):
            os.remove(os.path.join(OUT, name))
    text = run()
    pingpong, _, heat = text.partition("== Heat conduction")
    check_pingpong(pingpong)
    check_heat(heat)
    check_files(heat)
    check_next(heat)


if __name__ == "__main__":
    main()
