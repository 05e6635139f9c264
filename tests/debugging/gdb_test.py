"""Runs the commands of the section gdb of docs/manual/debugging.md.

    gdb_test.py PAGE SENNIT PROGRAM SOURCE
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

PAGE, SENNIT, PROGRAM, SOURCE = sys.argv[1:]
for tool in ("gdb", "pgrep"):
    if not shutil.which(tool):
        print(f"skipped: {tool} is not installed (Debian: gdb, procps)")
        sys.exit(77)

with open(PAGE, encoding="utf-8") as file:
    section = re.search(r"^## gdb\n(.*?)^## ", file.read(), re.MULTILINE | re.DOTALL)[1]
running, starting = re.findall(r"^```sh\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
ranks, interactive, stacks = running.splitlines()
assert interactive == "gdb -p PID", running
with open(SOURCE, encoding="utf-8") as file:
    line = next(number for number, text in enumerate(file, 1) if "sennit_init" in text and "if" in text)


def run(command, folder):
    path = os.path.dirname(SENNIT) + os.pathsep + os.environ["PATH"]
    done = subprocess.run(["sh", "-c", command], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60,
                          check=False, env={**os.environ, "PATH": path})
    return done.stdout + done.stderr


with tempfile.TemporaryDirectory(prefix="sennit-gdb-") as folder:
    # The page's name of the program, made longer: only processes of this test have it.
    name = f"prog{os.getpid()}"
    shutil.copy(PROGRAM, os.path.join(folder, name))
    ranks, stacks, starting = (re.sub(r"\bprog\b(?!\.c)", name, text) for text in (ranks, stacks, starting))
    with subprocess.Popen([SENNIT, "run", "-n", "2", os.path.join(folder, name), "60"]) as job:
        try:
            for _ in range(200):
                found = run(ranks, folder)
                if found.count("SENNIT_RANK=") == 2:
                    break
                time.sleep(0.05)
            assert sorted(re.findall(r"SENNIT_RANK=(\d)", found)) == ["0", "1"], found
            found = run(stacks, folder)
            if "ptrace: " in found:
                print("skipped: gdb may not attach here:", found)
                sys.exit(77)
            assert len(re.findall(r"^#\d+ .*\bmain \(", found, re.MULTILINE)) == 2, found
        finally:
            job.terminate()
    found = run(starting.replace("prog.c:13", f"{os.path.basename(SOURCE)}:{line}").replace("-n 3", "-n 2"), folder)
    assert "Breakpoint 1," in found and re.search(r"^#0 +main \(", found, re.MULTILINE), found
