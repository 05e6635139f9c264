#!/usr/bin/env python3
"""The messages of oshrun use the words of OpenSHMEM: oshrun_test.py OSHRUN ERRORS WAITS, the programs from errors.c and waits.c.

Broken by a message that mentions ranks, `sennit run` or sennit_finalize.
"""
import re
import subprocess
import sys

OSHRUN, ERRORS, WAITS = sys.argv[1:]

# words, exit code, all output
CASES = [
    (["-np", "2", ERRORS, "exit-7"], 7, r"oshrun: PE 1 \(process \d+\) (exited with code 7; ending the other PE|has ended the job with code 7)\n"),
    (["-np", "3", WAITS, "barrier_all", "leave"], 1,
     r"oshrun: PE 2 \(process \d+\) ended without shmem_finalize, which counts as a failure; ending the other 2 PEs\n"),
    (["-np", "2", "--keep-going", ERRORS, "no-such-pe"], 1,
     r"PE 1: shmem_long_p: argument pe: there is no PE 77\n(oshrun: PE \d \(process \d+\) (exited with code 1|was ended by PE 1).*\n)+"),
    (["-np", "2", "--timeout", "0.3", "/bin/sleep", "30"], 124,
     r"oshrun: the job has run for the 0.3 s that --timeout allows; ending its 2 PEs\n"),
    ([ERRORS], 2, r"oshrun: how many PEs\? -n N, before the program\n"),
    (["-np", "2", "--mca", "btl", "self", ERRORS], 2, r'oshrun: there is no option "--mca": it sets a parameter of Open MPI.*; oshrun --help lists the options\n'),
    (["-np", "2", "-host", "node.elsewhere", ERRORS], 2, r"oshrun: -host node.elsewhere: PEs start on this machine only; .*\n"),
    (["-np", "2", "--env", "=1", ERRORS], 2, r'oshrun: --env must be NAME=VALUE or NAME, not "=1"\n'),
    (["-np", "2", "--timeout", "x", ERRORS], 2, r"oshrun: --timeout: .*; oshrun --help lists the options\n"),
    (["-np", "2", "-quiet", "-host", "localhost", ERRORS], 0, ""),
    (["--version"], 0, r"sennit .*\n"),
    # A word within a path stays.
    (["-np", "1", "/no/rank/here/rank"], 127, r".*/no/rank/here/rank.*\n"),
]

for words, code, said in CASES:
    result = subprocess.run([OSHRUN, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == code and re.fullmatch(said, result.stdout + result.stderr), f"{words}: {result}"
