#!/usr/bin/env python3
"""Checks that the README fits three screens and that docs/ stays short.

    tests/docs/length_test.py PROJECT

Broken by a section of the README that belongs on a page of docs/, or by a page that repeats another.
"""
import sys
from pathlib import Path

README_LINES = 150  # three screens of 50 lines
DOCS_WORDS = 65500  # without the pages that the build makes


def main():
    project = Path(sys.argv[1])
    lines = len((project / "README.md").read_text(encoding="utf-8").splitlines())
    pages = sorted(project.glob("docs/**/*.md"))
    words = sum(len(page.read_text(encoding="utf-8").split()) for page in pages)
    print(f"README.md: {lines} lines, at most {README_LINES}; docs: {len(pages)} pages, {words} words, at most {DOCS_WORDS}")
    if pages and 0 < lines <= README_LINES and 0 < words <= DOCS_WORDS:
        return 0
    print("shorten what the pages say twice: CONTRIBUTING.md, Rules")
    return 1


if __name__ == "__main__":
    sys.exit(main())
