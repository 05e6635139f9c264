#!/usr/bin/env python3
"""How PEs end each other, and are not ended: ends_test.py SENNIT PROGRAM LARGE [NODES].

LARGE is the program with threads that have more of their own than the library's thread asks for. With NODES the PEs are on
so many made-up nodes, where no socket leads from one to the other.
"""
import os
import re
import subprocess
import sys

SENNIT, PROGRAM, LARGE, *NODES = sys.argv[1:]
COPIED = {"SENNIT_PATHS": "self,cma", "SENNIT_REGISTER": "cma"}

# case, options of run, environment, exit codes, what is said, what is not
CASES = [
    ("start", [], {}, {0}, r"^$", None),
    ("start-exit", ["--keep-going"], {}, {7}, r"", r"shmem_finalize"),
    ("start-child", [], {}, {0}, r"shmem_long_p: argument dest: 8 bytes at 0x[0-9a-f]+ are not symmetric", None),
    ("own-memory", [], {}, {0}, r"", None),
    ("reads", ["--keep-going"], {}, {0}, r"", None),
    ("handlers", ["--keep-going"], {}, {5}, r"(?s)the handler of PE \d.*the handler of PE \d", r"shmem_finalize"),
    ("turn", ["--keep-going"], COPIED, {137}, r"PE 0: shmem_long_atomic_inc: .*", r"timeout"),
    # The one that ends all is named, although the other one is gone before.
    ("slow-end", [], {}, {6}, r"^sennit run: rank 1 \(process \d+\) has ended the job with code 6\n$", None),
    ("slow-end", ["--keep-going"], {}, {6}, r"^sennit run: rank 0 \(process \d+\) was ended by rank 1 \(process \d+\), with code 6\n"
     r"sennit run: rank 1 \(process \d+\) exited with code 6\n$", None),
    # Without shmem_finalize: all PEs at about the same time, and what is a failure.
    *[(case, [], {}, {0}, r"^PE 0: warning: the program ended without shmem_finalize\n$", None)
      for case in ("forgets", "forgets-late")],
    ("forgets-second", [], {}, {0}, r"^PE 0: warning: the program ended after 2 calls of shmem_init and 1 of shmem_finalize\n$", None),
    ("forgets-status", [], {}, {8}, r"exited with code 8", r"warning"),
    ("forgets-leaves", [], {}, {1}, r"ended without sennit_finalize, which counts as a failure", r"warning"),
    # Its end is no part of the others' barrier.
    ("forgets-alone", [], {}, {1}, r"^sennit run: rank 1 \(process \d+\) ended without sennit_finalize, which counts as a failure; [^\n]*\n$", None),
    ("alignment", [], {"SHMEM_SYMMETRIC_SIZE": "64m"}, {0}, r"^$", None),
]

# What hangs on the moment, and how a run looks that did not meet it; no other result is tried again. A PE that has not
# come to its own call yet when the other's reaches it runs no handlers; and one that dies between two turns leaves nothing
# that the other waits for.
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
