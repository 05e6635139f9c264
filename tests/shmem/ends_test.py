#!/usr/bin/env python3
"""When and how PEs end each other: ends_test.py SENNIT PROGRAM LARGE [NODES].

LARGE is the program whose threads have more thread-local memory than the stack that the library requests for its own thread. With
NODES the PEs are on that many made-up nodes, without sockets between nodes.
"""
import os
import re
import subprocess
import sys

SENNIT, PROGRAM, LARGE, *NODES = sys.argv[1:]
COPIED = {"SENNIT_PATHS": "self,cma", "SENNIT_REGISTER": "cma"}

# case, options of run, environment, exit codes, expected output, forbidden output
CASES = [
    ("start", [], {}, {0}, r"^$", None),
    ("start-exit", ["--keep-going"], {}, {7}, r"", r"shmem_finalize"),
    # A PE that fails does not take part in the other's barriers.
    ("start-status", ["--keep-going"], {}, {3}, r"(?s)(?=.*PE 0: shmem_barrier_all: )(?=.*exited with code 3)", None),
    ("start-child", [], {}, {0}, r"shmem_long_p: argument dest: 8 bytes at 0x[0-9a-f]+ are not symmetric", None),
    ("own-memory", [], {}, {0}, r"", None),
    ("reads", ["--keep-going"], {}, {0}, r"", None),
    ("handlers", ["--keep-going"], {}, {5}, r"(?s)the handler of PE \d.*the handler of PE \d", r"shmem_finalize"),
    ("turn", ["--keep-going"], COPIED, {137}, r"PE 0: shmem_long_atomic_inc: .*", r"timeout"),
    # The PE that ended the job is named, although the other one ended earlier.
    ("slow-end", [], {}, {6}, r"^sennit run: rank 1 \(process \d+\) has ended the job with code 6\n$", None),
    ("slow-end", ["--keep-going"], {}, {6}, r"^sennit run: rank 0 \(process \d+\) was ended by rank 1 \(process \d+\), with code 6\n"
     r"sennit run: rank 1 \(process \d+\) exited with code 6\n$", None),
    # Without shmem_finalize: no failure if all PEs end at about the same time; otherwise a failure.
    *[(case, [], {}, {0}, r"^PE 0: warning: the program ended without shmem_finalize\n$", None)
      for case in ("forgets", "forgets-late")],
    ("forgets-second", [], {}, {0}, r"^PE 0: warning: the program ended after 2 calls of shmem_init and 1 of shmem_finalize\n$", None),
    ("forgets-status", [], {}, {8}, r"exited with code 8", r"warning"),
    ("forgets-leaves", [], {}, {1}, r"ended without sennit_finalize, which counts as a failure", r"warning"),
    # The end of PE 1 does not complete the other PE's barrier.
    ("forgets-alone", [], {}, {1}, r"^sennit run: rank 1 \(process \d+\) ended without sennit_finalize, which counts as a failure; [^\n]*\n$", None),
    ("alignment", [], {"SHMEM_SYMMETRIC_SIZE": "64m"}, {0}, r"^$", None),
]

# Cases that depend on timing, and the result of a run with bad timing; other results are not tried again. A PE runs no handlers if
# the other PE ends it before its own call; and a PE that dies between two turns leaves nothing that the other waits for.
TRIES = {"handlers": 10, "turn": 4}
MISSED = {"handlers": lambda code, said: code == 5 and "the handler of PE" in said and "shmem_finalize" not in said,
          "turn": lambda code, said: code == 124}


def main():
    failed = 0
    for case, options, environment, codes, text, not_text in CASES:
        if NODES and environment is COPIED:
            continue
        for _ in range(TRIES.get(case, 1)):
            run = subprocess.run([SENNIT, "run", "-n", "2", "--timeout", "10", *(["--nodes", *NODES] if NODES else []), *options,
                                  LARGE if case == "own-memory" else PROGRAM, case],
                                 env={**os.environ, **environment}, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                 timeout=60, check=False)
            said = run.stdout + run.stderr
            is_right = run.returncode in codes and re.search(text, said) and not (not_text and re.search(not_text, said))
            if is_right or case not in MISSED or not MISSED[case](run.returncode, said):
                break
        if not is_right:
            failed += 1
            print(f"{case} {environment}: exit code {run.returncode}, wanted {codes}; said:\n{said}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
