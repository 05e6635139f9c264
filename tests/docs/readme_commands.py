#!/usr/bin/env python3
"""Runs the commands of README.md after the first program: launchers, an MPI's compiler, an installation.

    tests/docs/readme_commands.py PROJECT BUILD-TREE --bin FOLDER --lib FOLDER --headers FOLDER
        [--openmpi LAUNCHER] [--mpich LAUNCHER]

They run unchanged in a folder that looks like the project's. `mpirun` and `mpicc` are first those of one MPI, then those of the
other; environment variables allow root and few processors for Open MPI. Each run of `first` must print the README's output,
without the tags. Broken by a removed flag, a launcher that no longer starts ranks, a header that an MPI's compiler rejects, a
pkg-config file with wrong paths.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from first_program import blocks_of, link_built, parser_of_built

ALLOWED = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
LIMIT_S = 60


class Folder:
    """The project's folder as a reader of the README sees it, with `first` built."""

    def __init__(self, path, arguments, blocks):
        self.path = path
        self.lines = sorted(re.sub(r"^\[\d+\] ", "", line) for line in blocks["text"].splitlines())
        os.makedirs(os.path.join(path, "mpi"))
        link_built(path, arguments, "examples")
        with open(os.path.join(path, "first.c"), "w", encoding="utf-8") as file:
            file.write(blocks["c"])
        self.run(next(line for line in blocks["sh"].splitlines() if line.startswith("cc ")))

    def run(self, command, environment=None):
        names = {**os.environ, **ALLOWED, **(environment or {})}
        names["PATH"] = os.pathsep.join([os.path.join(self.path, "mpi"), os.path.join(self.path, "build/bin"), names["PATH"]])
        done = subprocess.run(["bash", "-c", command], cwd=self.path, env=names, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT_S, check=False)
        if done.returncode != 0:
            sys.exit(f"{command}\nended with {done.returncode}:\n{done.stdout}")
        return done.stdout

    def run_first(self, command, environment=None):
        said = sorted(line for line in self.run(command, environment).splitlines() if line.startswith("rank "))
        if said != self.lines:
            sys.exit(f"{command}\nprinted {said}, not {self.lines}")

    def take_mpi(self, launcher, compiler):
        """Makes `mpirun` and `mpicc` run these programs; a script calls each launcher by its own name, which launchers need."""
        for name, target in (("mpirun", launcher), ("mpicc", compiler)):
            with open(os.path.join(self.path, "mpi", name), "w", encoding="utf-8") as file:
                file.write(f'#!/bin/sh\nexec "{target}" "$@"\n')
            os.chmod(file.name, 0o755)


def compiler_of(launcher, mpi):
    beside = os.path.dirname(launcher)
    return next((path for path in (f"{beside}/mpicc.{mpi}", f"{beside}/mpicc") if os.path.exists(path)), None)


def run_mpis(folder, lines, launchers):
    """Runs the lines with launchers and compilers, each with the MPI that its comment names; returns the lines that ran."""
    ran = []
    for mpi, launcher in launchers.items():
        folder.take_mpi(launcher, compiler_of(launcher, mpi))
        for line in lines:
            speaks_of = re.search(r"#.*(Open MPI|MPICH)", line)
            if speaks_of and speaks_of[1].replace(" ", "").lower() != mpi:
                continue
            if line.endswith("./mpi_hello"):
                if "4 ranks of MPI" not in folder.run(line):
                    sys.exit(f"{line}\ndid not say that there are 4 ranks")
            elif "./first" in line:
                folder.run_first(line)
            else:
                folder.run(line)
            ran.append(line)
    return ran


def main():
    parser = parser_of_built()
    parser.add_argument("tree")
    for name in ("openmpi", "mpich"):
        parser.add_argument(f"--{name}", default="")
    arguments = parser.parse_args()
    launchers = {mpi: path for mpi, path in (("openmpi", arguments.openmpi), ("mpich", arguments.mpich)) if path}
    readme = os.path.join(arguments.project, "README.md")
    with open(readme, encoding="utf-8") as file:
        rest = file.read().split("<!-- end of first program -->", 1)[1].split("\n## ", 1)[0]
    lines = [line for block in re.findall(r"^```sh\n(.*?)^```$", rest, re.MULTILINE | re.DOTALL) for line in block.splitlines()]
    installed = [line for line in lines if "pkg-config" in line]
    with tempfile.TemporaryDirectory(prefix="sennit-readme-") as path:
        folder = Folder(path, arguments, blocks_of(readme, "c"))
        ran = run_mpis(folder, [line for line in lines if line not in installed], launchers)
        if shutil.which("pkg-config"):
            prefix = os.path.join(path, "prefix")
            folder.run(f'cmake --install "{arguments.tree}" --prefix "{prefix}"')
            places = [f"{prefix}/lib/pkgconfig", f"{prefix}/lib/{os.uname().machine}-linux-gnu/pkgconfig",
                      f"{prefix}/lib64/pkgconfig"]
            for line in installed:
                os.remove(os.path.join(path, "first"))
                folder.run(line, {"PKG_CONFIG_PATH": os.pathsep.join(places)})
                folder.run_first("sennit run -n 4 ./first")
                ran.append(line)
    missing = sorted(set(lines) - set(ran))
    print("\n".join([f"run as the README says: {line}" for line in ran] + [f"not run here: {line}" for line in missing]))
    if missing and len(launchers) == 2 and shutil.which("pkg-config"):
        return 1
    return 77 if missing and not ran else 0


if __name__ == "__main__":
    sys.exit(main())
