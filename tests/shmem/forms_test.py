#!/usr/bin/env python3
"""The tests of both languages use each type-generic macro of C11: forms_test.py GENERIC FORMS...

GENERIC is the header that defines the macros, and FORMS are the sources that both test programs share.
"""
import re
import sys


def main():
    header, *forms = sys.argv[1:]
    with open(header, encoding="utf-8") as file:
        macros = re.findall(r"^#define (shmem_\w+)\(", file.read(), re.M)
    used = ""
    for name in forms:
        with open(name, encoding="utf-8") as file:
            used += file.read()
    unused = [name for name in macros if not re.search(rf"\b{name}\(", used)]
    print(f"{len(macros)} macros")
    if unused:
        print(f"used by no test: {' '.join(unused)}")
    return 1 if unused or len(macros) < 60 else 0


if __name__ == "__main__":
    sys.exit(main())
