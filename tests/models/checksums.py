#!/usr/bin/env python3
"""Prints the checksum of all that the result of a model's check depends on: check.py, and each model without comments, with the
mistakes that its head names. So a comment can be reworded without another check."""
import glob
import hashlib
import os
import re
import sys

import check

FOLDER = os.path.dirname(os.path.abspath(__file__))


def what_spin_reads(text):
    lines = re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL).splitlines()
    return "".join(" ".join(line.split()) + "\n" for line in lines if line.strip())


def content(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if path.endswith(".py"):
        return text
    mistakes = check.mistakes_of(path) if "Mistakes that must be found:" in text else {}
    return f"{mistakes}\n{what_spin_reads(text)}"


for path in [os.path.join(FOLDER, "check.py"), *sorted(glob.glob(os.path.join(FOLDER, "*.pml")))]:
    sys.stdout.write(f"{hashlib.sha256(content(path).encode()).hexdigest()}  {os.path.basename(path)}\n")
