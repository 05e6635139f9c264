#!/usr/bin/env python3
"""The compiler's error for a wrong call of a type-generic form: other_type_test.py COMPILER INCLUDE.

Broken by an error that names only macros of the header, or that is not at the program's line.
"""
import subprocess
import sys

COMPILER, INCLUDE = sys.argv[1:]
HEAD = "#include <shmem.h>\nstatic _Bool words[2];\nstatic void *place;\nstatic long count;\nint main(void) {\n"
WRONG = ("shmem_p(words, 1, 0);", "shmem_put(SHMEM_CTX_DEFAULT, words, words, 1, 0);", "shmem_atomic_add(place, 1, 0);",
         "shmem_sum_reduce(SHMEM_TEAM_WORLD, words, words, 1);", "count = shmem_g(place, 0);")

MISCOUNTED = ("shmem_p(&count, 1);", "shmem_put(&count, &count, 1);", "shmem_put(SHMEM_CTX_DEFAULT, &count, &count, 1, 0, 0);",
              "count = shmem_g(&count);", "shmem_signal_set(0);")


def compiled(line):
    done = subprocess.run([COMPILER, "-std=c11", f"-I{INCLUDE}", "-fsyntax-only", "-x", "c", "-"], input=f"{HEAD}{line}\n}}\n",
                          capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stderr


code, said = compiled("shmem_p(&count, 1, 0);")
assert code == 0, said
for lines, name in ((WRONG, "sennit_shmem_has_no_form_for_this_type"), (MISCOUNTED, "sennit_shmem_wrong_number_of_arguments")):
    for line in lines:
        code, said = compiled(line)
        first = said[:said.index("error:")].rsplit("\n", 1)[-1] + said.split("error:", 1)[1].split("\n")[0]
        assert code != 0 and name in first, f"{line}\n{said}"
        assert first.startswith("<stdin>:6:") and "in expansion of macro" not in said, f"{line}\n{said}"
# A warning is reported at its place in the program.
code, said = compiled("static int other; shmem_put(&count, &other, 1, 0);")
assert "<stdin>:6:" in said and "incompatible pointer type" in said, said
