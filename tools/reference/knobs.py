"""Reads the table of settings, src/base/knobs.def: one row for each, said once. Called by tools/make-reference."""
import os
import re
import sys


# The file of settings, for the manual and the man page.
KNOB_FILE_EXAMPLE = ["# settings of this machine", "SENNIT_PEER_TIMEOUT=30", "SENNIT_PATHS self,mapped,fabric"]
KNOB_FILE = [
    "Each rank reads the file of its own host.",
    "A line is a name and a value, with = or blanks between them; empty lines and lines that begin with # are skipped.",
    "Of several lines with one name the last counts. A variable of the environment that is not empty has precedence.",
    "A name that is no knob gets a warning with the file and the line.",
    "A line of another form, or a value of the wrong type, ends sennit_init with SENNIT_ERR_ARG and the file and the line.",
    "If there is no /etc/sennit.conf, nothing is read.",
    "SENNIT_CONFIG names another file, which has to exist; SENNIT_CONFIG=none reads none.",
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
