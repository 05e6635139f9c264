"""Reads the table of settings, src/base/knobs.def. Called by tools/make-reference and tools/make-man."""
import os
import re
import sys


# The settings file, for the manual and the man page.
KNOB_FILE_EXAMPLE = ["# settings of this machine", "SENNIT_PEER_TIMEOUT=30", "SENNIT_PATHS self,mapped,fabric"]
KNOB_FILE = [
    "Each rank reads the file of its own host.",
    "A line is a name and a value, separated by = or blanks; empty lines and lines that begin with # are skipped.",
    "If a name has several lines, the last one is used. A variable of the environment that is not empty overrides the file.",
    "A name that is no knob causes a warning, which names the file and the line.",
    "A line of another form, or a value of the wrong type, ends sennit_init with SENNIT_ERR_ARG; the error names the file and the line.",
    "If there is no /etc/sennit.conf, nothing is read.",
    "SENNIT_CONFIG names another file, which must exist; SENNIT_CONFIG=none reads none.",
]



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
