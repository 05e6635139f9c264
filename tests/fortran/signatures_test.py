#!/usr/bin/env python3
"""The Fortran signatures of the reference are those of the module: signatures_test.py SOURCE_FOLDER MADE_CALLS.

MADE_CALLS is sennit_calls.f90 as it was made. Would break: a signature with another name, argument or order than the procedure, and a
page of a header that has none.
"""
import os
import re
import sys
import unittest

SOURCE, MADE = sys.argv[1:3]
sys.path.insert(0, os.path.join(SOURCE, "tools"))
sys.dont_write_bytecode = True
from reference import fortran, headers  # noqa: E402

HEAD = re.compile(r"^\s*(?:elemental |pure )?(?:subroutine|function) (\w+)\(([^)]*)\)", re.MULTILINE)


def heads_in(name):
    with open(name, encoding="utf-8") as file:
        text = re.sub(r"&\n\s*", "", file.read())
    return {match[1]: re.findall(r"\w+", match[2]) for match in HEAD.finditer(text)}


class SignaturesTest(unittest.TestCase):
    def test_each_signature_is_that_of_a_procedure(self):
        made = heads_in(MADE)
        by_hand = heads_in(os.path.join(SOURCE, "bindings", "fortran", "sennit_more.f90"))
        count = 0
        for header in headers.read_headers(os.path.join(SOURCE, "include", "sennit")):
            lines = "\n".join(line for item in header.items for line in fortran.signatures(header, item))
            for match in HEAD.finditer(lines):
                name, dummies = match[1], re.findall(r"\w+", match[2])
                procedures = [made[one] for one in made if re.fullmatch(rf"{name}(_int|_long|_size)*", one)]
                procedures += [by_hand[one] for one in by_hand if re.fullmatch(rf"(sennit_)?{name.removeprefix('sennit_')}(_int|_long|_size)*", one)]
                self.assertIn(dummies, procedures, name)
                count += 1
        self.assertGreater(count, 200)

    def test_the_pages_have_them(self):
        with open(os.path.join(SOURCE, "docs", "manual", "headers", "rma.md"), encoding="utf-8") as file:
            text = file.read()
        self.assertIn("subroutine sennit_put(destination, source, bytes, stat)\n  type(sennit_gptr), intent(in) :: destination\n", text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
