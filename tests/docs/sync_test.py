#!/usr/bin/env python3
"""Compares the table of SYNC names in docs/design/memory-model.md with the sources.

    tests/docs/sync_test.py PROJECT

A row is | `name` | release side | acquire side | what is ordered |; each side names its functions and their files as
`function()` and `folder/file`. Every SYNC comment below src/ and include/ must stand in a function that its row names on
the right side, every name of the table must occur in the sources, and what a comment says it "pairs with" must exist.
What would break it: a new pair that is not in the table, a function that is renamed, a row whose pair is gone.
"""
import importlib.machinery
import importlib.util
import os
import re
import sys


def load_tidy(project):
    """tools/tidy as a module: it knows how to find comments, functions and the sides of a pair."""
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("tidy", os.path.join(project, "tools", "tidy"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("tidy", loader))
    loader.exec_module(module)
    return module


def rows_of(page):
    with open(page, encoding="utf-8") as file:
        text = file.read().split("\n## All SYNC names", 1)[1].split("\n## ", 1)[0]
    return {match[1]: (match[2], match[3])
            for match in re.finditer(r"^\| `([a-z][a-z0-9-]*)` \| (.*?) \| (.*?) \| .+ \|$", text, re.MULTILINE)}


def check_site(source, line, function, row):
    """What one column of the table, `row`, lacks of this end."""
    file = "/".join(source.path.split("/")[1:])
    if f"`{function}()`" not in row or f"`{file}`" not in row:
        yield f"{source.path}:{line}: {function}() in {file} is not in the table's row on this side: {row}"


def main():
    project = sys.argv[1]
    tidy = load_tidy(project)
    sources = [tidy.Source(project, name) for name in tidy.files_below(project)
               if name.startswith(("src/", "include/"))]
    sources = [source for source in sources if source.is_c]
    defined = {name.split("::")[-1] for source in sources for name, *_ in tidy.functions_of(source.code)}
    rows, wrong, seen = rows_of(os.path.join(project, "docs/design/memory-model.md")), [], set()
    for source in sources:
        for name, line, release, acquire in tidy.sync_sites(source):
            seen.add(name)
            function = tidy.function_at(source.code, line)
            if name not in rows:
                wrong.append(f"{source.path}:{line}: SYNC {name} is not in the table")
                continue
            # A full fence, or code with both near it, may stand on either side.
            sides = [row for row, here in zip(rows[name], (release, acquire)) if here]
            complaints = [list(check_site(source, line, function, row)) for row in sides]
            if not any(complaint == [] for complaint in complaints):
                wrong += [text for complaint in complaints for text in complaint]
            said = " ".join(source.comments[line - 1 : line + 2]).split(f"SYNC {name}:")[1].split(";")[0]
            for partner in re.findall(r"\b(\w+)\(\)", said):
                if partner not in defined:
                    wrong.append(f"{source.path}:{line}: SYNC {name} pairs with {partner}(), which does not exist")
    wrong += [f"docs/design/memory-model.md: {name} occurs nowhere in the sources" for name in sorted(rows.keys() - seen)]
    print("\n".join(wrong) or f"{len(seen)} SYNC names, as in the table")
    return 1 if wrong or not seen else 0


if __name__ == "__main__":
    sys.exit(main())
