#!/usr/bin/env python3
"""An error without stat ends the program with its message and an exit code other than 0: stops_test.py PROGRAM SENNIT."""
import subprocess
import sys
import unittest

PROGRAM, *SENNIT = sys.argv[1:]
MISTAKES = {
    "init": "sennit_barrier: SENNIT_ERR_STATE: ",
    "paths": "sennit_init: SENNIT_ERR_ARG: ",
    "range": "sennit_put: SENNIT_ERR_RANGE: 64 bytes ",
    "section": "sennit_put_nb: SENNIT_ERR_ARG: the buffer is not contiguous, and a copy would not last",
    "pointer": "sennit_ptr: SENNIT_ERR_NOT_REGISTERED: ",
}


class StopsTest(unittest.TestCase):
    def test_each_mistake_ends_the_program_with_its_message(self):
        for mistake, message in MISTAKES.items():
            with self.subTest(mistake=mistake):
                result = subprocess.run([PROGRAM, mistake], capture_output=True, text=True, timeout=20, check=False)
                self.assertIn("ERROR STOP " + message, result.stderr)
                self.assertNotEqual(result.returncode, 0)
                self.assertEqual(result.stdout, "")

    def test_stop_without_finalize_is_a_failure_under_the_launcher(self):
        result = subprocess.run([*SENNIT, "run", "-n", "2", PROGRAM, "stop"], capture_output=True, text=True, timeout=20, check=False)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("ended without sennit_finalize", result.stderr)

    def test_no_mistake_no_end(self):
        result = subprocess.run([PROGRAM, "none"], capture_output=True, text=True, timeout=20, check=False)
        self.assertEqual((result.stdout, result.returncode), ("went on\n", 0))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
