"""Reads the table of settings, src/base/knobs.def: one row for each, said once. Called by tools/make-reference."""
import os
import re
import sys


def read_knobs(root):
    """[(name, type, default, unit, help)], in the order of the table."""
    with open(os.path.join(root, "src", "base", "knobs.def"), encoding="utf-8") as file:
        text = re.sub(r"^//.*\n", "", file.read(), flags=re.MULTILINE)
    string = r'((?:"(?:[^"\\]|\\.)*"\s*)+)'
    found = re.findall(rf"KNOB\(\w+,\s*{string},\s*(\w+),\s*{string},\s*{string},\s*{string}\)", text)
    if len(found) != len(re.findall(r"KNOB\(", text)):
        sys.exit("knobs: src/base/knobs.def has a line that is not understood")
    return [tuple("".join(re.findall(r'"((?:[^"\\]|\\.)*)"', part)) if '"' in part else part for part in row)
            for row in found]
