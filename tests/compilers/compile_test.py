#!/usr/bin/env python3
"""Compiles every source except the tests with other compilers; any warning fails.

    compile_test.py CMAKE SOURCES WORK [--suite SUITE] COMPILER...

Checks only syntax and types (-fsyntax-only), in a third of a build's time: this finds a missing include, an unknown attribute and
most warnings. With --suite the compilers come from another Debian release, in a root folder under WORK that debootstrap creates;
this needs root and a mirror. Exits with 77 if a compiler is not available. Without this test, users would find a source that
includes too little, or code that a newer compiler warns about.
"""

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SKIPPED = 77
# The packages with headers that these sources include.
PACKAGES = ["libhwloc-dev", "libfmt-dev", "libcli11-dev", "nlohmann-json3-dev", "libfabric-dev", "libfftw3-dev", "libhdf5-dev",
            "libopenblas-dev"]
SETTINGS = {"CMAKE_BUILD_TYPE": "Release", "CMAKE_EXPORT_COMPILE_COMMANDS": "ON", "CMAKE_DISABLE_FIND_PACKAGE_OpenMP": "ON",
            "SENNIT_WERROR": "ON", "SENNIT_SHORT_BUILD": "OFF", "SENNIT_BUILD_TESTS": "OFF", "SENNIT_FORTRAN": "OFF",
            "SENNIT_OPENMPI": "OFF", "SENNIT_MPICH": "OFF", "SENNIT_PMIX": "OFF"}


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def run(command, **options):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, **options)


def compile_commands(cmake, sources, tree):
    """Returns [folder, source, words of the command behind the compiler] for each source."""
    settings = [f"-D{name}={value}" for name, value in SETTINGS.items()]
    made = run([cmake, "-S", sources, "-B", tree, *settings])
    if made.returncode:
        sys.exit(f"cannot configure:\n{made.stdout}{made.stderr}")
    commands = []
    for entry in json.loads((tree / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        source = entry["file"]
        while not words[0].startswith("-"):  # a compiler launcher precedes the compiler
            words.pop(0)
        output = words.index("-o")
        del words[output:output + 2]
        commands.append((entry["directory"], source, words))
    return commands


def root_of(suite, compilers, work):
    """Returns a root folder with the compilers of that release, created at the first call."""
    root = work / suite
    ready = root / "ready"
    wanted = " ".join([*compilers, *PACKAGES])
    if ready.exists() and ready.read_text() == wanted:
        return root
    if os.geteuid() != 0:
        skip("only root can make a root folder of another release")
    if not shutil.which("debootstrap"):
        skip("debootstrap is not installed")
    shutil.rmtree(root, ignore_errors=True)
    log = work / f"{suite}.log"
    names = [name.replace("clang++", "clang") for name in compilers]
    install = ["chroot", root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y", "--no-install-recommends"]
    for command in (["debootstrap", "--variant=minbase", suite, root], [*install, *names, *PACKAGES]):
        with log.open("a") as out:
            if subprocess.run(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, check=False).returncode:
                skip(f"a root folder of {suite} cannot be made here (no mirror?): {log}")
    ready.write_text(wanted)
    return root


def enter(root, folders):
    """Starts this script again with the sources mounted in the root folder; the mounts end with the process."""
    for folder in folders:
        Path(f"{root}{folder}").mkdir(parents=True, exist_ok=True)
    mounts = "".join(f"mount --bind {shlex.quote(str(folder))} {shlex.quote(f'{root}{folder}')} && " for folder in folders)
    os.execvp("unshare", ["unshare", "-m", "sh", "-c", f'{mounts}exec "$@"', "sh", sys.executable, *sys.argv, "--root", root])


def complaints(compiler, command, root):
    folder, source, words = command
    program = compiler
    if source.endswith(".c"):
        program = compiler.replace("clang++", "clang").replace("g++", "gcc")
    line = [program, *words, "-fsyntax-only"]
    if root:
        line = ["chroot", root, "sh", "-c", f"cd {shlex.quote(folder)} && exec {shlex.join(line)}"]
    done = run(line, cwd=folder)
    return f"{source}: exit code {done.returncode}\n{done.stdout}{done.stderr}" if done.returncode else ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cmake")
    parser.add_argument("sources", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--suite")
    parser.add_argument("--root", help="set by the script itself")
    parser.add_argument("compilers", nargs="+")
    arguments = parser.parse_args()
    if arguments.suite and not arguments.root:
        root = root_of(arguments.suite, arguments.compilers, arguments.work)
        enter(root, [arguments.sources, arguments.work])
    missing = [name for name in arguments.compilers if not arguments.root and not shutil.which(name)]
    if missing:
        skip(f"not installed: {' '.join(missing)}")
    commands = compile_commands(arguments.cmake, arguments.sources, arguments.work / f"tree-{arguments.suite or 'here'}")
    failed = 0
    for compiler in arguments.compilers:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            found = [text for text in pool.map(lambda command: complaints(compiler, command, arguments.root), commands) if text]
        print(f"{compiler}: {len(commands)} sources, {len(found)} with complaints")
        print("\n".join(found))
        failed += len(found)
    return 1 if failed or not commands else 0


if __name__ == "__main__":
    sys.exit(main())
