#!/usr/bin/env python3
"""Compares the SYNC names in docs/design/memory-model.md with the sources.

    tests/docs/sync_test.py PROJECT

The page's section "All SYNC names" has items "- `name`, `name`: what is ordered". Each SYNC name below src/ and include/ must be in
that list once, each name of the list must occur in the sources, and the other side of a "pairs with" comment must exist. tools/tidy
checks that each name has a release and an acquire. Broken by a new pair that is not on the page, a renamed function, an item whose
pair was removed.
"""
import importlib.machinery
import importlib.util
import os
import re
import sys

PAGE = "docs/design/memory-model.md"


def load_tidy(project):
    """tools/tidy as a module: it knows how to find comments, functions and the sides of a pair."""
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("tidy", os.path.join(project, "tools", "tidy"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("tidy", loader))
    loader.exec_module(module)
    return module


def names_on(page):
    with open(page, encoding="utf-8") as file:
        text = file.read().split("\n## All SYNC names", 1)[1].split("\n## ", 1)[0]
    items = re.findall(r"^- ((?:`[a-z][a-z0-9-]*`,? ?)+): ", text.replace("\n  ", " "), re.MULTILINE)
    return [name for item in items for name in re.findall(r"`([^`]+)`", item)]


def main():
    project = sys.argv[1]
    tidy = load_tidy(project)
    sources = [tidy.Source(project, name) for name in tidy.files_below(project)
               if name.startswith(("src/", "include/"))]
    sources = [source for source in sources if source.is_c]
    defined = {name.split("::")[-1] for source in sources for name, *_ in tidy.functions_of(source.code)}
    named, wrong, seen = names_on(os.path.join(project, PAGE)), [], set()
    for source in sources:
        for name, line, _, _ in tidy.sync_sites(source):
            if name not in named and name not in seen:
                wrong.append(f"{source.path}:{line}: SYNC {name} is not on the page")
            seen.add(name)
            said = " ".join(source.comments[line - 1 : line + 2]).split(f"SYNC {name}:")[1].split(";")[0]
            for partner in re.findall(r"\b(\w+)\(\)", said):
                if partner not in defined:
                    wrong.append(f"{source.path}:{line}: SYNC {name} pairs with {partner}(), which does not exist")
    wrong += [f"{PAGE}: {name} occurs nowhere in the sources" for name in sorted(set(named) - seen)]
    wrong += [f"{PAGE}: {name} is there twice" for name in sorted(set(named)) if named.count(name) > 1]
    print("\n".join(wrong) or f"{len(seen)} SYNC names, as on the page")
    return 1 if wrong or not seen else 0


if __name__ == "__main__":
    sys.exit(main())
