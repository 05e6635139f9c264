#!/usr/bin/env python3
"""Measures figures 4 and 5 of the paper on UNR, and the other figures of the page of results: bench/unr/measure.py [--only FILE ...] [FOLDER]

Runs `sennit bench` of build/bin, on a node and between hosts of tools/cluster, and writes its lines of JSON to FOLDER
(docs/results/unr), a file for each entry of RUNS. The first line of a file has commands, machine and date. Takes ten minutes on an
idle machine; page.py makes the page from the files. It does not write libraries.jsonl, whose libraries are not part of this
repository.
"""
import argparse
import json
import os
import shlex
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "study"))
from runs import ROOT, head_of, write_lines  # noqa: E402  pylint: disable=wrong-import-position

HOSTS = "--cluster tools/cluster"
SIZES = "--bytes 8,64,512,4K,8K,16K,32K,64K,256K,1M,4M --seconds 0.5"
RUNS = {
    # Sometimes MPICH's mpiexec does not end: then the command is repeated.
    "notify-hosts.jsonl": [f"notify {HOSTS} --mpi openmpi {SIZES}", f"notify {HOSTS} --mpi mpich {SIZES}"],
    "notify-node.jsonl": [f"notify --mpi all {SIZES}"],
    "rails.jsonl": [f"rails {HOSTS} --mpi openmpi -n 2 --rate 400mbit --bytes 256K,1M,4M,16M",
                    f"rails {HOSTS} --mpi openmpi -n 2 --rate 400mbit,133mbit --bytes 4M,16M"],
    "shared.jsonl": [f"rails {HOSTS} --mpi openmpi -n 4 --rate 400mbit --bytes {bytes}" for bytes in ("256K,1M", "4M")],
    "plan.jsonl": [f"plan {HOSTS} --mpi openmpi,mpich --bytes 8,64,256,1K"],
    "progress.jsonl": [f"progress {HOSTS} --mpi openmpi"],
}


def lines_of(command):
    words = [os.path.join(ROOT, "build", "bin", "sennit"), "bench", *shlex.split(command), "--json", "--timeout", "200"]
    for _ in range(2):
        run = subprocess.run(words, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=False)
        if run.returncode == 0:
            return [json.loads(line) for line in run.stdout.splitlines()]
    sys.exit(f"{' '.join(words)}: exit code {run.returncode}")


def rows_of(commands):
    yield {**head_of("", "", False), "commands": [f"build/bin/sennit bench {command}" for command in commands]}
    for number, command in enumerate(commands):
        for line in lines_of(command):
            yield {**line, "command": number}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--only", action="append", choices=RUNS, help="measure this file alone; may be given again")
    parser.add_argument("folder", nargs="?", default=os.path.join(ROOT, "docs", "results", "unr"))
    arguments = parser.parse_args()
    for name in arguments.only or RUNS:
        write_lines(os.path.join(arguments.folder, name), rows_of(RUNS[name]))
        print(name)


if __name__ == "__main__":
    main()
