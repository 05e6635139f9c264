#!/usr/bin/env python3
"""Runs a test whose ranks use a newer libfabric than the installed one.

    newer_test.py WORK SENNIT PROGRAM COMMAND...

COMMAND is the test. Where it names PROGRAM it gets a script that starts PROGRAM with the newer library: the one in the folder
SENNIT_TEST_LIBFABRIC (environment), else the package of a newer Debian with its dependencies, including C library and loader.
The first call unpacks it under WORK; nothing is installed, and no rights are needed. Exits with 77 where it is not available.
Broken by the name or version of a function that newer libraries lack, by a struct that has grown, or by a provider with
another name or other guarantees.
"""

import fcntl
import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

SKIPPED = 77
SUITE = "trixie"
PACKAGE = "libfabric1"
SOURCE = f"deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian {SUITE} main\n"
OLDEST = (1, 18)  # from here on the provider `net` is `tcp`


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def must(words, log):
    with log.open("a", encoding="utf-8") as out:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=out, stderr=out, check=False,
                              env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})
    if done.returncode:
        skip(f"{PACKAGE} of {SUITE} cannot be had here (no mirror?): {log}")


def unpack(root):
    """The package and its dependencies, as apt finds them for an empty machine."""
    for tool in ("apt-get", "dpkg-deb"):
        if not shutil.which(tool):
            skip(f"{tool} is not here; SENNIT_TEST_LIBFABRIC=FOLDER names a newer libfabric")
    shutil.rmtree(root, ignore_errors=True)
    apt = root / "apt"
    for folder in ("state/lists/partial", "cache/archives/partial"):
        (apt / folder).mkdir(parents=True)
    (apt / "sources.list").write_text(SOURCE)
    (apt / "status").touch()
    settings = {"Dir::Etc::SourceList": apt / "sources.list", "Dir::Etc::SourceParts": "/dev/null", "Dir::State": apt / "state",
                "Dir::State::Status": apt / "status", "Dir::Cache": apt / "cache", "Debug::NoLocking": "true",
                "APT::Install-Recommends": "false", "Acquire::Retries": 3}
    get = ["apt-get", "-q", *(word for name, value in settings.items() for word in ("-o", f"{name}={value}"))]
    log = root / "log"
    must([*get, "update"], log)
    must([*get, "install", "-y", "--download-only", PACKAGE], log)
    for file in (apt / "cache" / "archives").glob("*.deb"):
        must(["dpkg-deb", "-x", file, root], log)
    shutil.rmtree(apt)
    (root / "ready").touch()


def words_before(work):
    """The command words that make a program use the newer library."""
    named = os.environ.pop("SENNIT_TEST_LIBFABRIC", "")
    if named:
        return ["env", f"LD_LIBRARY_PATH={':'.join(filter(None, [named, os.environ.get('LD_LIBRARY_PATH')]))}"]
    root = work / SUITE
    work.mkdir(parents=True, exist_ok=True)
    with (work / "lock").open("w") as lock:  # tests may run at the same time
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (root / "ready").exists():
            unpack(root)
    # The system's C library may be too old for it; the C library of the package's release also serves the system's libraries.
    loader = next(root.glob("usr/lib/*/ld-linux*.so.*"))
    return [str(loader), "--library-path", str(loader.parent)]


def main():
    work, sennit, program, *command = sys.argv[1:]
    before = words_before(Path(work))
    # Check the version: all tests would pass with the installed library too.
    told = subprocess.run([*before, sennit, "info", "--json"], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    version = json.loads(told.stdout).get("network", {}).get("libfabric", "") if told.returncode == 0 else ""
    if not version or tuple(map(int, version.split(".")[:2])) < OLDEST:
        print(f"{shlex.join(before)}: no newer libfabric but {version!r}\n{told.stdout}{told.stderr}")
        return 1
    print(f"libfabric {version}", flush=True)
    script = Path(work) / f"{Path(program).name}-{os.getpid()}"
    script.write_text(f'#!/bin/sh\nexec {shlex.join([*before, program])} "$@"\n')
    script.chmod(0o755)
    try:
        words = [word.replace(program, str(script)) for word in command]
        return subprocess.run(words, stdin=subprocess.DEVNULL, check=False).returncode
    finally:
        script.unlink()


if __name__ == "__main__":
    sys.exit(main())
