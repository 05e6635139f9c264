#!/usr/bin/env python3
"""Compares docs/design/overview.md with the tree: folders, headers, subcommands, layers and pages.

    tests/docs/overview_test.py PROJECT

The block under "Folders" must name each folder of src/, src/transport/ and apps/, each public header and each subcommand of
`sennit`, and no other folder; the layers and the table below it must be those of tools/tidy; "Pages" must link to each page of
docs/design/. Broken by a new folder, command or page that the overview does not mention.
"""
import os
import re
import sys

sys.dont_write_bytecode = True
from sync_test import load_tidy

BLOCK_FOLDER = re.compile(r"^  (\w+)/ ", re.MULTILINE)


def folders_of(*parts):
    path = os.path.join(*parts)
    return sorted(name for name in os.listdir(path) if os.path.isdir(os.path.join(path, name)) and name != "__pycache__")


def entry(block, name):
    """The text after a folder of the first column, with its continuation lines."""
    found = re.search(rf"^ *{re.escape(name)} +(.*(?:\n {{20}}.*)*)", block, re.MULTILINE)
    return found[1] if found else ""


def missing(what, names, text, form="{}"):
    return [f"{what} {name} is not named" for name in names
            if not re.search(rf"(?<![\w/-]){re.escape(form.format(name))}(?![\w-])", text)]


def check_folders(project, block):
    src = folders_of(project, "src")
    named = BLOCK_FOLDER.findall(block)
    wrong = [f"folder src/{name} is not named" for name in src if name not in named]
    wrong += [f"src/{name} is no folder" for name in named if name not in src]
    wrong += missing("transport", folders_of(project, "src", "transport"), entry(block, "transport/"), "{}/")
    wrong += missing("application", folders_of(project, "apps"), entry(block, "apps/"), "{}/")
    headers = [name[:-2] for name in os.listdir(os.path.join(project, "include", "sennit"))]
    wrong += missing("header", headers, entry(block, "include/sennit/"))
    with open(os.path.join(project, "cli", "commands.hpp"), encoding="utf-8") as file:
        commands = re.findall(r"\badd_(\w+)_command\(", file.read())
    return wrong + missing("subcommand", commands, entry(block, "cli/"))


def check_layers(tidy, text):
    wrong = [] if f"`{' → '.join(tidy.LAYERS)}`" in text else ["the layers are not those of tools/tidy"]
    rows = {row[1]: set(re.findall(r"`(\w+)`", row[2])) for row in re.finditer(r"^\| `(\w+)` \|(.*)\|$", text, re.MULTILINE)}
    for folder in sorted(tidy.ON_OP.keys() | rows.keys()):
        if rows.get(folder) != set(tidy.ON_OP.get(folder, ["no such folder"])):
            wrong.append(f"the row of {folder} is not that of ON_OP in tools/tidy: {rows.get(folder)}")
    return wrong


def main():
    project = sys.argv[1]
    design = os.path.join(project, "docs", "design")
    with open(os.path.join(design, "overview.md"), encoding="utf-8") as file:
        text = file.read()
    folders = text.split("\n## Folders\n", 1)[1].split("\n## ", 1)[0]
    pages = text.split("\n## Pages\n", 1)[1]
    found = [name for name in os.listdir(design) if name.endswith(".md") and name != "overview.md"]
    found += [f"decisions/{name}" for name in os.listdir(os.path.join(design, "decisions"))]
    wrong = check_folders(project, folders.split("```")[1])
    wrong += check_layers(load_tidy(project), folders)
    wrong += [f"page {name} is not named" for name in sorted(found) if f"]({name})" not in pages]
    print("\n".join(f"docs/design/overview.md: {line}" for line in wrong) or f"{len(found)} pages and all folders are named")
    return 1 if wrong or not found else 0


if __name__ == "__main__":
    sys.exit(main())
