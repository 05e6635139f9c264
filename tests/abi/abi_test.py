"""Tests of tools/abi: a small library with a page of its own, and one difference at a time: abi_test.py TOOL.

A difference that the tool does not report makes this test fail. Without this test, a tool that finds nothing would go unnoticed:
the tests that run it on the real library would pass.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOL = sys.argv[1]
CC = os.environ.get("CC", "cc")

HEADER = """#ifndef SENNIT_SENNIT_H
#define SENNIT_SENNIT_H
#include <stddef.h>
typedef enum sennit_color { SENNIT_RED = 1, SENNIT_BLUE = 2 } sennit_color;
/* A comment with a call in it: sennit_not_there(1). */
typedef struct sennit_point {
    int x, y;
    void (*shown)(int times);
    double weights[2];
} sennit_point;
sennit_color sennit_paint(const sennit_point *point);
static inline int sennit_twice(int value) {
    return 2 * value;
}
int sennit_count(void);
#endif
"""

PAGE = "".join(f"<!-- {mark}: tools/abi -->\n<!-- end of {mark} -->\n" for mark in ("functions", "structs", "constants"))
SOURCE = "#include <sennit/sennit.h>\nint sennit_count(void) { return 2; }\n" \
         "sennit_color sennit_paint(const sennit_point *point) { (void)point; return SENNIT_RED; }\n"
MAP = "SENNIT_7 { global: *; };\n"


class AbiTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="abi-test-")
        self.addCleanup(shutil.rmtree, self.folder)
        os.mkdir(self.path("sennit"))
        self.write("sennit/sennit.h", HEADER)
        self.write("page.md", PAGE)
        self.assertEqual(self.tool("page", self.folder, "--write")[1], 0)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def tool(self, *words):
        result = subprocess.run([sys.executable, TOOL, "--page", self.path("page.md"), *words],
                                capture_output=True, text=True, timeout=60, check=False)
        return result.stdout + result.stderr, result.returncode

    def run_words(self, *words):
        subprocess.run(words, check=True, timeout=60)

    def shared(self, source=SOURCE, script=MAP, *more):
        self.write("library.c", source)
        self.write("library.map", script)
        self.run_words(CC, "-shared", "-fPIC", "-I", self.folder, self.path("library.c"), "-o", self.path("library.so"),
                       f"-Wl,--version-script={self.path('library.map')}", "-Wl,-soname,libsennit.so.7", *more)
        return self.tool("shared", self.path("library.so"), "7")

    def archive(self, source):
        self.write("library.cpp", source)
        self.run_words(CC, "-x", "c++", "-c", "-I", self.folder, self.path("library.cpp"), "-o", self.path("library.o"))
        self.run_words("ar", "rc", self.path("library.a"), self.path("library.o"))
        return self.tool("archive", self.path("library.a"))

    def test_the_page_shows_functions_structs_and_constants(self):
        with open(self.path("page.md"), encoding="utf-8") as file:
            text = file.read()
        self.assertIn("| `sennit.h` | sennit_count, sennit_paint |\n", text)
        self.assertIn("| `sennit_point` | 32 | x 0, y 4, shown 8, weights 16 |\n", text)
        self.assertIn("| `sennit_color` | SENNIT_RED 1, SENNIT_BLUE 2 |\n", text)
        self.assertEqual(self.tool("page", self.folder), ("abi: page: 2 functions, as listed\n", 0))

    def test_a_header_that_differs_from_the_page_is_reported(self):
        for old, new, what in (("int sennit_count(void)", "int sennit_counted(void)", "sennit_counted"),
                               ("int x, y;", "long x, y;", "y 8"), ("BLUE = 2", "BLUE = 3", "SENNIT_BLUE 3"),
                               ("double weights[2];", "double weights[3];", "| 40 |")):
            with self.subTest(new=new):
                self.write("sennit/sennit.h", HEADER.replace(old, new))
                said, status = self.tool("page", self.folder)
                self.assertEqual(status, 1)
                self.assertIn(what, said)

    def test_writing_the_page_prints_the_rows_that_change(self):
        self.write("sennit/sennit.h", HEADER.replace("BLUE = 2", "BLUE = 3"))
        row = "tests/abi/lists.md: {}: | `sennit_color` | SENNIT_RED 1, SENNIT_BLUE {} |\n"
        self.assertEqual(self.tool("page", self.folder, "--write"),
                         (row.format("removed", 2) + row.format("added", 3) + "abi: page: 2 functions, as listed\n", 0))
        self.assertEqual(self.tool("page", self.folder, "--write"), ("abi: page: 2 functions, as listed\n", 0))

    def test_a_library_that_shows_what_is_listed_passes(self):
        self.assertEqual(self.shared(), ("abi: shared: 2 functions, as listed\n", 0))

    def test_a_function_that_is_missing_or_too_many_is_reported(self):
        said, status = self.shared(SOURCE.replace("sennit_count(", "sennit_counted("))
        self.assertEqual(status, 1)
        self.assertIn("not shown: sennit_count@@SENNIT_7", said)
        self.assertIn("shown and not listed: sennit_counted@@SENNIT_7", said)

    def test_a_function_of_another_version_is_reported(self):
        said, status = self.shared(SOURCE, "SENNIT_7 { global: sennit_count; local: *; };\n"
                                           "SENNIT_8 { global: sennit_paint; };\n")
        self.assertEqual(status, 1)
        self.assertIn("shown and not listed: sennit_paint@@SENNIT_8", said)

    def test_a_variable_that_is_shown_is_reported(self):
        said, status = self.shared(SOURCE + "int environ_of_mine = 3;\n")
        self.assertEqual(status, 1)
        self.assertIn("shown and not listed: environ_of_mine@@SENNIT_7", said)

    def test_a_library_too_many_is_reported(self):
        said, status = self.shared(SOURCE, MAP, "-Wl,--no-as-needed", "-lresolv")
        self.assertEqual(status, 1)
        self.assertIn("needs libresolv.so.2", said)

    def test_another_soname_is_reported(self):
        said, status = self.shared(SOURCE, MAP, "-Wl,-soname,libsennit.so.8")
        self.assertEqual(status, 1)
        self.assertIn("soname ['libsennit.so.8']", said)

    def test_an_archive_may_have_the_functions_and_its_namespace(self):
        own = f'extern "C" {{\n{SOURCE}}}\nnamespace sennit {{ struct Part {{ virtual ~Part(); int n; }}; Part::~Part() {{}} template <class T> int twice(T t) {{ return 2 * t; }} template int twice(int); }}\n'
        self.assertEqual(self.archive(own), ("abi: archive: 2 functions, as listed\n", 0))
        for foreign, name in (("int helper() { return 1; }\n", "helper()"), ('extern "C" int sennit_extra; int sennit_extra = 1;\n', "sennit_extra"),
                              ("template <class T> T twice(T t) { return t + t; }\ntemplate int twice(int);\n", "twice<int>")):
            with self.subTest(name=name):
                said, status = self.archive(own + foreign)
                self.assertEqual(status, 1)
                self.assertIn("a foreign name: ", said)
                self.assertIn(name, said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
