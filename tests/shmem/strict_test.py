#!/usr/bin/env python3
"""The headers under strict compilers, without the pragma that hides their warnings: strict_test.py CC CXX INCLUDE TESTS."""
import os
import shutil
import subprocess
import sys
import tempfile

CC, CXX, INCLUDE, TESTS = sys.argv[1:]
PRAGMA = "#pragma GCC system_header\n"
STRICT = ("-Wall", "-Wextra", "-Werror", "-pedantic-errors", "-fsyntax-only")

failed = 0
with tempfile.TemporaryDirectory() as folder:
    copy = os.path.join(folder, "include")
    shutil.copytree(INCLUDE, copy)
    hidden = 0
    for place, _, names in os.walk(copy):
        for name in names:
            with open(os.path.join(place, name), "r+", encoding="utf-8") as file:
                text = file.read()
                hidden += PRAGMA in text
                file.seek(0)
                file.truncate()
                file.write(text.replace(PRAGMA, ""))
    assert hidden > 0, "no header has the pragma: this test is not needed"
    for compiler, standard, source in ((CC, "c99", "headers_test.c"), (CC, "c11", "headers_test.c"), (CXX, "gnu++11", "headers_cxx_test.cpp")):
        done = subprocess.run([compiler, f"-std={standard}", *STRICT, f"-I{copy}", os.path.join(TESTS, source)],
                              capture_output=True, text=True, timeout=60, check=False)
        if done.returncode != 0:
            failed = 1
            print(done.stderr)
sys.exit(failed)
