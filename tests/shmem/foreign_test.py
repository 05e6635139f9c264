#!/usr/bin/env python3
"""Messages about programs that are linked to another OpenSHMEM library: foreign_test.py SENNIT FOREIGN BOTH OTHER_FIRST.

FOREIGN is linked to liboshmem.so, BOTH to Sennit and then to liboshmem.so, OTHER_FIRST in the other order. Broken by N jobs of one PE that nobody notices, a
Sennit program that is refused, and a crash without its reason.
"""
import subprocess
import sys

SENNIT, FOREIGN, BOTH, OTHER_FIRST = sys.argv[1:]
CURE = "compile it with the oshcc of Sennit, or start it with its own oshrun"
LINKED = f"sennit run: {FOREIGN} is linked to another OpenSHMEM library (liboshmem.so) and not to Sennit: " \
         f"each rank would be a job of one PE; {CURE}"
RUNS = "runs a program of another OpenSHMEM library (liboshmem.so), and none of its 2 ranks has called sennit_init: " \
       f"each was a job of one rank; {CURE}"
SECOND = "linked to Sennit and to another OpenSHMEM library (liboshmem.so), and none of its 2 ranks has called Sennit: each was a job of " \
         "one rank; link it to Sennit only, or to Sennit first\n"
TOO = "shmem_init: the program is linked to another OpenSHMEM library too, which may get some of its calls: "

# command, exit code, standard output, expected message
CASES = {
    "a foreign program is not started": (["-n", "2", FOREIGN], 2, "", LINKED),
    "one rank of it is a job of one PE": (["-n", "1", FOREIGN], 0, "1 PEs\n", ""),
    "behind a shell it is seen while it runs": (["-n", "2", "sh", "-c", f"{FOREIGN} 1000 && true"], 2, "1 PEs\n" * 2, RUNS),
    "it is seen if the shell starts it late": (["-n", "2", "sh", "-c", f"sleep 1.8; {FOREIGN} 1000 && true"], 2, "1 PEs\n" * 2, RUNS),
    "a failure is kept and explained": (["-n", "2", "--keep-going", "sh", "-c", f"{FOREIGN} 1000; exit 3"], 3, "1 PEs\n" * 2, RUNS),
    "a shell without it is left alone": (["-n", "2", "sh", "-c", "sleep 0.3; echo 1"], 0, "1\n" * 2, ""),
    "with both libraries it runs on the first": (["-n", "2", BOTH], 0, "2 PEs\n" * 2, TOO),
    "with both libraries, the other first": (["-n", "2", OTHER_FIRST], 2, "1 PEs\n" * 2, f"sennit run: {OTHER_FIRST} is {SECOND}"),
    "the same behind a shell": (["-n", "2", "sh", "-c", f"{OTHER_FIRST} 1000 && true"], 2, "1 PEs\n" * 2, f"sh runs a program {SECOND}"),
}

for name, (words, code, output, said) in CASES.items():
    result = subprocess.run([SENNIT, "run", *words], capture_output=True, text=True, timeout=60, check=False)
    found = (result.returncode, result.stdout, result.stderr)
    assert result.returncode == code and result.stdout == output, f"{name}: {found}"
    assert result.stderr.count(said) == 1 if said else not result.stderr, f"{name}: {found}"
