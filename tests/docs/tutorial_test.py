#!/usr/bin/env python3
"""Runs the programs of the tutorial with four ranks and compares what they print with the page.

    tests/docs/tutorial_test.py PAGE SOURCES SENNIT PROGRAMS

SOURCES is the folder of the steps, PROGRAMS that of the built ones. In PAGE `<!-- output: NAME -->` stands before a block
of text: what `sennit run -n 4 NAME` prints, in any order of lines. Every step has one. What would break it: a program
that prints something else, a step without its output, an output without its step.
"""
import os
import re
import subprocess
import sys


def printed_by(sennit, program):
    result = subprocess.run([sennit, "run", "-n", "4", "--timeout", "30", program], stdin=subprocess.DEVNULL,
                            capture_output=True, text=True, timeout=45, check=False)
    if result.returncode != 0 or result.stderr:
        return [f"exit status {result.returncode}: {result.stderr}"]
    return sorted(result.stdout.splitlines())


def main():
    page, sources, sennit, programs = sys.argv[1:]
    with open(page, encoding="utf-8") as file:
        outputs = dict(re.findall(r"<!-- output: (\w+) -->\n```text\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL))
    steps = {name.removesuffix(".c") for name in os.listdir(sources) if name.endswith(".c")}
    wrong = [f"{name}: the page has no output of it" for name in sorted(steps - outputs.keys())]
    wrong += [f"{name}: there is no such step" for name in sorted(outputs.keys() - steps)]
    for name in sorted(steps & outputs.keys()):
        printed = printed_by(sennit, os.path.join(programs, name))
        if printed != sorted(outputs[name].splitlines()):
            wrong.append("\n    ".join([f"{name} printed", *printed]))
    print("\n".join(wrong) or f"{len(steps)} steps print what the page says")
    return 1 if wrong or not steps else 0


if __name__ == "__main__":
    sys.exit(main())
