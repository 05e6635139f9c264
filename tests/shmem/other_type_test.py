#!/usr/bin/env python3
"""What the compiler says of a type-generic form whose pointer leads to a type that it has not: other_type_test.py COMPILER INCLUDE.

Would break: an error that names only machinery of the header.
"""
import subprocess
import sys

COMPILER, INCLUDE = sys.argv[1:]
HEAD = "#include <shmem.h>\nstatic _Bool words[2];\nstatic void *place;\nstatic long count;\nint main(void) {\n"
WRONG = ("shmem_p(words, 1, 0);", "shmem_put(SHMEM_CTX_DEFAULT, words, words, 1, 0);", "shmem_atomic_add(place, 1, 0);",
         "shmem_sum_reduce(SHMEM_TEAM_WORLD, words, words, 1);", "count = shmem_g(place, 0);")


def compiled(line):
    done = subprocess.run([COMPILER, "-std=c11", f"-I{INCLUDE}", "-fsyntax-only", "-x", "c", "-"], input=f"{HEAD}{line}\n}}\n",
                          capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stderr


code, said = compiled("shmem_p(&count, 1, 0);")
assert code == 0, said
for line in WRONG:
    code, said = compiled(line)
    assert code != 0 and "sennit_shmem_has_no_form_for_this_type" in said.split("error:", 1)[1].split("\n")[0], f"{line}\n{said}"
