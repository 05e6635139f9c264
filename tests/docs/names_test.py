#!/usr/bin/env python3
"""Checks that names in the documents exist: links, files, functions, tests, knobs, make targets, subcommands; and that the files
and functions named by the models exist.

    tests/docs/names_test.py PROJECT

Reads every Markdown page except those of docs/design/decisions/, which describe experiments. Broken by a renamed function, a moved
file, an announced page that does not exist.
"""
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
import links  # noqa: E402

SOURCES = (".c", ".h", ".cpp", ".hpp", ".def", ".py", ".pml", ".f90")
# Functions of other libraries and programs that the pages mention.
FOREIGN = {"main", "mmap", "memmove", "memcpy", "fork", "malloc", "poll", "usleep", "MPI_Init", "MPI_Finalize",
           "MPI_Abort", "dlopen", "getenv", "exec", "setpgid", "tcsetpgrp", "waitpid", "prctl", "signalfd", "_exit"}
FOREIGN_FILES = {"first.c", "pmix.h", "mpi.h", "sennit/version.h", "fortran-calls.md"}


def project_files(project):
    out = subprocess.run(["git", "-C", project, "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True,
                         check=False)
    if out.returncode == 0:
        return out.stdout.split("\n")
    return [os.path.relpath(os.path.join(folder, name), project)
            for folder, folders, names in os.walk(project) if "build" not in folder.split(os.sep)[1:] for name in names]


class Names:
    """The names that the project defines."""

    def __init__(self, project):
        self.project = project
        self.files = [name for name in project_files(project) if name]
        text = []
        for name in self.files:
            if name.endswith(SOURCES) or name.startswith(("tools/", ".ci/")):
                with open(os.path.join(project, name), encoding="utf-8", errors="replace") as file:
                    text.append(file.read())
        self.sources = "\n".join(text)
        for name in ("SennitOptional.cmake", "SennitOptions.cmake"):  # options of the build
            with open(os.path.join(project, "cmake", name), encoding="utf-8") as file:
                self.sources += file.read()
        lists = [name for name in self.files if name.startswith("tests/") and name.endswith("CMakeLists.txt")]
        self.tests = self.sources
        for name in lists:
            with open(os.path.join(project, name), encoding="utf-8") as file:
                self.tests += file.read()
        self.functions = set(re.findall(r"(~?\w+)\s*\(", self.sources))
        with open(os.path.join(project, "Makefile"), encoding="utf-8") as file:
            self.targets = set(re.findall(r"^([a-z-]+):", file.read(), re.MULTILINE))

    def has_file(self, name):
        name = name.rstrip("/")
        return any(file == name or file.endswith("/" + name) or file.startswith(name + "/") or
                   f"/{name}/" in file for file in self.files)

    def has_function(self, name):
        return name in FOREIGN or name in self.functions


def wrong_in(page, names):
    with open(os.path.join(names.project, page), encoding="utf-8") as file:
        text = file.read()
    path = os.path.join(names.project, page)
    yield from filter(None, (links.fault(path, *link) for link in links.links_in(path)))
    for token in re.findall(r"`([^`\n]+)`", text):
        # A file with an ending, or a folder of the tree; not files of the build or the system.
        if re.fullmatch(r"[\w.-]+(/[\w.-]+)*\.(c|h|cpp|hpp|py|pml|md|def|cmake|map)", token) or \
                re.fullmatch(r"(src|tests|tools|docs|examples|include|cli|bench|apps|cmake)(/[\w.-]+)*/?", token):
            if not names.has_file(token) and token not in FOREIGN_FILES and "NAME" not in token:
                yield f"file {token}"
        function = re.fullmatch(r"(?:\w+(?:::|\.))*([~\w]+)\(\)", token)
        if function and not names.has_function(function[1]):
            yield f"function {token}"
        public = re.match(r"(sennit_[a-z_]+)\b(?!\.)", token)
        if public and "*" not in token and public[1] not in names.sources:
            yield f"name {public[1]}"
        # A sentence in snake case is the name of a test.
        if re.fullmatch(r"[a-z0-9]+(_[a-z0-9]+){4,}", token) and not token.startswith("sennit_") and \
                not re.search(rf"\b{token}\b", names.tests):
            yield f"test {token}"
        knob = re.fullmatch(r"(SENNIT_[A-Z_]+)(=.*)?", token)
        if knob and knob[1] not in names.sources:
            yield f"name {knob[1]}"
    for target in re.findall(r"(?:^\s*|`)make ([a-z-]+)", text, re.MULTILINE):
        if target not in names.targets:
            yield f"make {target}"


def wrong_in_model(model, names):
    """The head comment of a model names the code that it models: (FILE: function(), ...)."""
    with open(os.path.join(names.project, model), encoding="utf-8") as file:
        head = file.read().split("*/", 1)[0]
    for path in re.findall(r"\bsrc/[\w./]+\.(?:cpp|hpp|c|h)\b", head):
        if path not in names.files:
            yield f"file {path}"
    for path, functions in re.findall(r"\((src/[\w./]+):([^:)]*(?:\(\)[^:)]*)+)\)", head):
        if path not in names.files:
            continue
        with open(os.path.join(names.project, path), encoding="utf-8") as file:
            text = file.read()
        for function in re.findall(r"(\w+)\(\)", functions):
            if not re.search(rf"\b{function}\(", text):
                yield f"{path}: {function}()"


def main():
    names = Names(sys.argv[1])
    pages = [name for name in names.files if name.endswith(".md") and "/decisions/" not in name]
    wrong = [f"{page}: {what} does not exist" for page in sorted(pages) for what in wrong_in(page, names)]
    models = [name for name in names.files if name.endswith(".pml")]
    wrong += [f"{model}: {what} does not exist" for model in sorted(models) for what in wrong_in_model(model, names)]
    print("\n".join(wrong) or f"{len(pages)} pages and {len(models)} models name nothing that is missing")
    return 1 if wrong or not pages or not models else 0


if __name__ == "__main__":
    sys.exit(main())
