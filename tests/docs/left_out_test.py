#!/usr/bin/env python3
"""Compares CONTRIBUTING's table of tests that asan and tsan leave out with CMake's list of tests.

    tests/docs/left_out_test.py CONTRIBUTING.md LEFT_OUT [--all-parts]

LEFT_OUT is CMake's list of the tests with NOT_UNDER: `name sanitizer...` in each line. A row of the table is
| patterns | under | because |: patterns in backticks with `*` for any text, and under: asan, tsan or both. Every test of
LEFT_OUT must match a row with its sanitizers; with --all-parts, for a build without missing parts (such as an MPI), every
pattern must match a test.
Broken by a left-out test without a row, or a row whose tests run again.
"""
import fnmatch
import re
import sys

UNDER = {"asan": {"address"}, "tsan": {"thread"}, "both": {"address", "thread"}}
HEAD = "| left out | under | because |\n|---|---|---|\n"


def rows_of(page):
    """(patterns, sanitizers) of each row of the table."""
    with open(page, encoding="utf-8") as file:
        table = file.read().split(HEAD, 1)[1].split("\n\n", 1)[0]
    for line in table.splitlines():
        names, under, _ = [cell.strip() for cell in line.strip("|").split("|")]
        yield re.findall(r"`([^`]+)`", names), UNDER[under]


def meets(name, patterns):
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)


def main():
    page, file = sys.argv[1:3]
    with open(file, encoding="utf-8") as lines:
        tests = {words[0]: set(words[1:]) & UNDER["both"] for words in map(str.split, lines)}
    rows, wrong = list(rows_of(page)), []
    for name, sanitizers in tests.items():
        found = [under for patterns, under in rows if meets(name, patterns)]
        if not found:
            wrong.append(f"{name} is left out under {' and '.join(sorted(sanitizers))}, and no row says so")
        elif sanitizers not in found:
            wrong.append(f"{name} is left out under {' and '.join(sorted(sanitizers))}, and its row names others")
    if "--all-parts" in sys.argv:
        wrong += [f"`{pattern}` matches no test that is left out"
                  for patterns, _ in rows for pattern in patterns if not any(meets(name, [pattern]) for name in tests)]
    print("\n".join(f"{page}: {text}" for text in wrong) or f"{len(tests)} tests are left out, as {len(rows)} rows say")
    return 1 if wrong or not tests else 0


if __name__ == "__main__":
    sys.exit(main())
