#!/usr/bin/env python3
"""Compares the result of the parser of the headers with the library's functions, and with the generated pages.

    tests/docs/reference_test.py PROJECT NM LIBRARY

Every function that LIBRARY exports must be in a header, with a whole signature, and on the page of that header; a function of a
header that LIBRARY does not export must be inline. Broken by a declaration that the parser does not understand, a function without
a header, a page that leaves out a function.
"""
import os
import re
import subprocess
import sys


def main():
    project, nm, library = sys.argv[1:]
    sys.path.insert(0, os.path.join(project, "tools"))
    sys.dont_write_bytecode = True
    from reference import headers, markdown

    symbols = subprocess.run([nm, "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    exported = {name.split("@")[0] for name in re.findall(r" T (\S+)", symbols)}
    folder = os.path.join(project, "include", "sennit")
    read_headers = headers.read_headers(folder)
    pages = markdown.header_pages(read_headers)
    found = {function.name: function for function in headers.functions(read_headers)}
    wrong = [f"{name}: exported, and in no header" for name in exported - found.keys()]
    for name, function in found.items():
        with open(os.path.join(folder, function.header), encoding="utf-8") as file:
            is_inline = re.search(rf"static inline [\w \n*]*{name}\(", file.read())
        if name not in exported and not is_inline:
            wrong.append(f"{name}: in {function.header}, and not exported")
        if not re.fullmatch(rf"[\w *]*\b{name}\(.*\);", function.signature):
            wrong.append(f"{name}: the signature is {function.signature}")
        shown = pages[f"headers/{function.header.replace('.h', '.md')}"]
        type_named = re.sub(r"_(?:[iu](?:32|64)|f(?:32|64))(?=_|$)", "_TYPE", name)
        if f"{name}(" not in shown and f"{type_named}(" not in shown:
            wrong.append(f"{name}: not on the page of {function.header}")
    print("\n".join(sorted(wrong)) or f"{len(found)} functions, as the library has them")
    return 1 if wrong or len(exported) < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
