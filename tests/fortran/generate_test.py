#!/usr/bin/env python3
"""Tests of bindings/fortran/generate.py with small headers: generate_test.py GENERATOR CC.

Broken by a new header that is not bound automatically, or a declaration that fits no rule and is skipped silently.
"""
import os
import subprocess
import sys
import tempfile
import unittest

GENERATOR, CC = sys.argv[1:3]
HEADER = """#include <stddef.h>
#include <stdint.h>
typedef enum sennit_status { SENNIT_OK = 0 } sennit_status;
typedef enum sennit_color { SENNIT_RED = 1, SENNIT_BLUE = 2 } sennit_color;
typedef struct sennit_brush {
    uint32_t handle;
    const int *const *rows;
    double weights[2], width;
} sennit_brush;
typedef struct sennit_request { uint64_t handle; } sennit_request;
"""


class GenerateTest(unittest.TestCase):
    def made(self, declarations):
        """Exit status, messages, and the modules as one text without line breaks."""
        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(os.path.join(folder, "sennit"))
            with open(os.path.join(folder, "sennit", "sennit.h"), "w", encoding="utf-8") as file:
                file.write(HEADER + declarations)
            result = subprocess.run([sys.executable, GENERATOR, folder, "--compiler", CC, "--include", folder],
                                    capture_output=True, text=True, timeout=60, check=False)
            text = ""
            for name in sorted(os.listdir(folder)):
                if name.endswith(".f90"):
                    with open(os.path.join(folder, name), encoding="ascii") as file:
                        lines = file.read()
                    self.assertLess(max(len(line) for line in lines.splitlines()), 133)
                    text += " ".join(lines.replace("&\n", "").split()) + "\n"
            return result.returncode, result.stderr, text

    def test_a_new_call_is_bound(self):
        status, said, text = self.made("sennit_status sennit_paint(sennit_brush brush, const void *canvas, size_t bytes, int *done);\n")
        self.assertEqual(status, 0, said)
        for part in ("interface sennit_paint module procedure sennit_paint_int, sennit_paint_size end interface",
                     "subroutine sennit_paint_int(brush, canvas, bytes, done, stat) type(sennit_brush), intent(in) :: brush",
                     "logical, intent(inout) :: done", "public :: sennit_paint",
                     "type(*), dimension(*), intent(in), target :: canvas",
                     "parameter, public :: SENNIT_BLUE = 2",
                     "integer(c_int32_t) :: handle = 0 type(c_ptr) :: rows = c_null_ptr real(c_double) :: weights(2) = 0 "
                     "real(c_double) :: width = 0"):
            self.assertIn(part, text)

    def test_a_call_that_goes_on_refuses_copies(self):
        status, said, text = self.made("sennit_status sennit_paint_nb(void *canvas, sennit_request *request);\n")
        self.assertEqual(status, 0, said)
        self.assertIn("type(*), dimension(..), intent(inout), target, asynchronous :: canvas", text)
        self.assertIn("if (rank(canvas) > 0) then if (.not. is_contiguous(canvas)) c_is_whole = c_is_whole .and. "
                      "size(canvas) <= 1 end if if (.not. c_is_whole) then c_name = c_loc(c_operation) c_status = sennit_refuse(c_name) "
                      "else c_status = c_sennit_paint_nb(", text)

    def test_a_size_below_0_is_refused(self):
        status, said, text = self.made("sennit_status sennit_paint(void *canvas, size_t bytes);\n")
        self.assertEqual(status, 0, said)
        self.assertIn("if (bytes < 0) then c_name = c_loc(c_operation) "
                      "c_status = sennit_refuse_size(c_name, 'bytes', int(bytes, c_int64_t)) else c_status = c_sennit_paint(", text)

    def test_memory_that_c_stores_is_not_a_copy_and_as_long_as_said(self):
        status, said, text = self.made("sennit_status sennit_plan_put_all(const void *canvas, size_t bytes);\n"
                                       "sennit_status sennit_plan_put_strided(const void *canvas, const sennit_brush *brush);\n")
        self.assertEqual(status, 0, said)
        self.assertEqual(text.count("type(*), dimension(..), intent(in), target, asynchronous :: canvas"), 3)
        self.assertIn("c_room = sennit_room(canvas)", text)
        self.assertIn("else if (c_room >= 0 .and. bytes > c_room) then c_name = c_loc(c_operation) "
                      "c_status = sennit_refuse_room(c_name, int(bytes, c_int64_t), c_room) else c_status = c_sennit_plan_put_all(",
                      text)

    def test_what_fits_no_rule_is_not_left_out_silently(self):
        for declaration, message in (("sennit_status sennit_name(const char *name);", "a text that C keeps is written by hand: name"),
                                     ("sennit_status sennit_each(int (*call)(void));", "no declaration of a function"),
                                     ("sennit_status sennit_deep(int **rows);", "no parameter: int **rows"),
                                     ("sennit_status sennit_odd(struct thing *thing);", "no parameter: struct thing *thing")):
            with self.subTest(declaration=declaration):
                status, said, _ = self.made(declaration + "\n")
                self.assertNotEqual(status, 0)
                self.assertIn(message, said)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
