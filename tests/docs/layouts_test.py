#!/usr/bin/env python3
"""Compares docs/design/layouts.md with the structs themselves, in both directions.

    tests/docs/layouts_test.py PAGE PROGRAM

PROGRAM prints the structs (layout.hpp). The page has, in a block of code, a line `Name: N bytes` for each, followed by rows that
begin with offset, size and the field's name. The page must have every struct and field with its numbers, and no others; the rows
must cover the struct without a gap: a row `zero` is an unused part. A line `Name: N bytes, M used` says that the rest of the struct
is unused. Broken by a field that moves, grows, is added or removed without a change of the page.
"""
import re
import subprocess
import sys

UNNAMED = ("zero", "padding")


def structs_of(program):
    found, current = {}, None
    for line in subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines():
        kind, name, *numbers = line.split()
        if kind == "struct":
            current = found[name] = {"bytes": int(numbers[0]), "fields": {}}
        else:
            current["fields"][name] = tuple(map(int, numbers))
    return found


def tables_of(page):
    """{struct: {"bytes": N, "used": M, "rows": [(offset, size, name)]}}"""
    found, current = {}, None
    with open(page, encoding="utf-8") as file:
        for line in file:
            heading = re.match(r"(\w+): (\d+) bytes(?:, (\d+) used)?$", line)
            row = re.match(r" {2,11}(\d+) +(\d+)  (\w+)(?:  |$)", line)  # continued notes are indented further
            if heading:
                current = found[heading[1]] = {"bytes": int(heading[2]), "used": int(heading[3] or heading[2]), "rows": []}
            elif line.startswith("```"):
                current = None
            elif row and current is not None:
                current["rows"].append((int(row[1]), int(row[2]), row[3]))
    return found


def differences(name, struct, table):
    if table["bytes"] != struct["bytes"]:
        yield f"{name}: the page says {table['bytes']} bytes, it has {struct['bytes']}"
    position, named = 0, {}
    for offset, size, field in table["rows"]:
        if offset != position:
            yield f"{name}.{field}: the row begins at {offset}, the one before ends at {position}"
        position = offset + size
        if field not in UNNAMED:
            named[field] = (offset, size)
    if position != table["used"]:
        yield f"{name}: the rows end at {position}"
    for field, place in struct["fields"].items():
        if field not in UNNAMED and named.get(field) != place and not (field == "unused" and field not in named):
            yield f"{name}.{field}: at offset {place[0]}, {place[1]} bytes; the page says {named.get(field)}"
    for field in named.keys() - struct["fields"].keys():
        yield f"{name}.{field}: on the page only"


def main():
    structs, tables = structs_of(sys.argv[2]), tables_of(sys.argv[1])
    wrong = [f"{name}: not on the page" for name in structs.keys() - tables.keys()]
    wrong += [f"{name}: on the page only" for name in tables.keys() - structs.keys()]
    for name in structs.keys() & tables.keys():
        wrong += differences(name, structs[name], tables[name])
    print("\n".join(sorted(wrong)) or f"{len(structs)} structs, as on the page")
    return 1 if wrong or not structs else 0


if __name__ == "__main__":
    sys.exit(main())
