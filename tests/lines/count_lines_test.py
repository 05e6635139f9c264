"""Counts files with known numbers of lines: python3 count_lines_test.py TOOL

Skipped without libclang, which the tool uses to read C and C++.
Broken by comment marks within strings, comments over several lines, lines with code and a comment.
"""
import json
import os
import subprocess
import sys
import tempfile

CASES = {
    "blank.cpp": ("\n   \n\t\n", 0),
    "comments.cpp": ("// one\n/* two\n\n three */\nint x;  // four\n/* five */ int y;\n", 2),
    "strings.cpp": ('const char *a = "// no comment";\nconst char *b = "/*";\nint c;\nconst char *d = "*/ \\" // ";\n', 4),
    "raw.cpp": ('auto text = R"x(first\n\n// third )"\n)x";\n// over\nint e;\n', 5),
    "digits.cpp": ("long n = 1'000'000;  // it's a number\nchar q = '\"';\n// \"\nchar r = '\\'';  /* ' */\n", 3),
    "spliced.cpp": ("// a comment \\\n   that goes on\nint z;\n", 1),
    "macro.h": ("#define F(x) \\\n    /* why */ \\\n    x\n", 2),
    "open.cpp": ("int a;\n/* never closed\nint b;\n", 1),
    "module.py": ('"""Head.\n\nMore.\n"""\nimport os\n\n\ndef f():\n    """Says."""\n    # why\n    return os.name  # here\n', 3),
    "text.py": ('x = """one\n\n# three\n"""\ny = "# no comment"\n', 5),
    "script.sh": ("#!/bin/sh\n# said\n\necho '# text'\n", 1),
    "old.f90": ("! said\nprogram p\n  x = 1 ! here\n\nend program\n", 3),
}


def main():
    tool = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        paths = {name: os.path.join(folder, name) for name in CASES}
        for name, (text, _) in CASES.items():
            with open(paths[name], "w", encoding="utf-8") as file:
                file.write(text)
        run = subprocess.run([sys.executable, tool, "--json", *(f"{name}={path}" for name, path in paths.items()),
                              f"both={paths['comments.cpp']},{paths['strings.cpp']}"], capture_output=True, text=True,
                             check=False)
        if run.returncode == 77:
            print(run.stderr)
            return 77
        found = json.loads(run.stdout)
        expected = {**{name: lines for name, (_, lines) in CASES.items()}, "both": 6}
        wrong = {name: (found.get(name), lines) for name, lines in expected.items() if found.get(name) != lines}
        plain = subprocess.run([sys.executable, tool, paths["spliced.cpp"]], capture_output=True, text=True, check=True)
        missing = subprocess.run([sys.executable, tool, os.path.join(folder, "none.cpp")], capture_output=True, text=True,
                                 check=False)
    if wrong:
        print(f"found and expected: {wrong}", file=sys.stderr)
        return 1
    if plain.stdout.split() != ["1", paths["spliced.cpp"]]:
        print(f"plain output: {plain.stdout}", file=sys.stderr)
        return 1
    if missing.returncode != 2 or "none.cpp" not in missing.stderr:
        print(f"a file that is not there: {missing.returncode} {missing.stderr}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
