"""Tests of the man pages: man_test.py SOURCE FOLDER SENNIT.

Broken by a function, command, option or knob without a page; words that roff swallows or that are lost between the comment
and the page; a warning of groff.
"""
import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys
import unittest

SOURCE, FOLDER, SENNIT = sys.argv[1:4]
sys.path.insert(0, os.path.join(SOURCE, "tools"))
sys.dont_write_bytecode = True
from reference import headers, help as command_help, knobs, man  # noqa: E402

GROFF = shutil.which("groff")


def read(name):
    with open(os.path.join(FOLDER, name), encoding="ascii") as file:
        return file.read()


def groff(text, *words):
    """The output of groff, and its warnings."""
    # Wide lines without hyphenation and adjustment keep the words unchanged.
    settings = ".ll 2000\n.nh\n.ad l\n" if words == ("-Tascii",) else ""
    result = subprocess.run([GROFF, "-man", "-ww", "-P-cbou", *words] if words == ("-Tascii",) else
                            [GROFF, "-man", "-ww", *words], input=text.replace(".SH NAME", settings + ".SH NAME", 1),
                            capture_output=True, text=True, timeout=60, check=False, cwd=FOLDER)
    return result.stdout, result.stderr


def words_of(text):
    """The words, without the dashes of a list."""
    return re.sub(r"^- ", "", text.replace("`", ""), flags=re.MULTILINE).split()


def lost(words, page):
    """The first of `words` that `page` lacks after the words before it; None if it has all in this order."""
    position = 0
    for word in words:
        if word not in page[position:]:
            return word
        position = page.index(word, position) + 1
    return None


class ManTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.names = [os.path.relpath(path, FOLDER) for path in sorted(glob.glob(os.path.join(FOLDER, "man?", "*")))]
        cls.headers = headers.read_headers(os.path.join(SOURCE, "include", "sennit"))
        cls.command = command_help.read_commands(SENNIT)

    def need_groff(self):
        if not GROFF:
            self.skipTest("no groff here (apt-get install groff-base)")

    def test_every_function_has_a_page(self):
        with open(os.path.join(SOURCE, "tests", "abi", "lists.md"), encoding="utf-8") as file:
            listed = re.search(r"<!-- functions.*?<!-- end of functions", file.read(), re.DOTALL).group()
        functions = set(re.findall(r"\bsennit_\w+", listed))
        self.assertGreater(len(functions), 200)
        self.assertEqual(sorted(name for name in functions if f"man3/{name}.3" not in self.names), [])

    def test_a_page_that_names_another_names_one_that_is_there_and_speaks_of_it(self):
        count = 0
        for name in self.names:
            target = re.fullmatch(r"\.so (\S+)\n", read(name))
            if target:
                count += 1
                self.assertIn(target[1], self.names)
                function = os.path.basename(name).removesuffix(".3")
                if target[1] != "man3/sennit_atomic.3":  # this page shows a family once
                    self.assertIn(function, read(target[1]).replace("\\-", "-"))
        self.assertGreater(count, 100)

    def test_references_lead_to_pages(self):
        for name in self.names:
            for target, section in re.findall(r"\\fB([\w\\-]+)\\fP\((\d)\)", read(name)):
                page = target.replace("\\-", "-")
                self.assertIn(f"man{section}/{page}.{section}", self.names, name)

    def test_every_command_has_a_page_with_all_its_options(self):
        for command in self.command.commands:
            text = read(f"man1/{'-'.join(command.words)}.1")
            for one in (command, *command.commands):
                for names, _ in one.options:
                    self.assertIn(rf"\fB{man.escaped(names)}\fP", text, names)
                self.assertIn(man.escaped(one.usage), text)

    def test_oshcc_and_oshrun_have_a_page(self):
        text = read("man1/sennit-openshmem.1")
        self.assertRegex(text, r"(?m)^sennit-openshmem, oshcc, oshrun ")
        for word in ("oshcc -O2 ring.c -o ring", "oshrun -np 4 ./ring", "-showme:compile", "SENNIT_TIMEOUT"):
            self.assertIn(man.escaped(word), text)

    def test_every_knob_is_in_the_page_of_knobs(self):
        text = read("man7/sennit-knobs.7")
        for name, *_ in knobs.read_knobs(SOURCE):
            self.assertIn(rf"\fB{name}\fP", text)

    def test_groff_has_nothing_to_say(self):
        self.need_groff()
        pages = [name for name in self.names if not read(name).startswith(".so ")]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            said = pool.map(lambda name: groff(read(name), "-z")[1], pages)
            self.assertEqual([f"{name}: {text}" for name, text in zip(pages, said) if text], [])

    def test_the_summary_is_one_that_apropos_can_read(self):
        for name in self.names:
            text = read(name)
            if not text.startswith(".so "):
                summary = re.search(r"^\.SH NAME\n(.*)\n\.SH ", text, re.MULTILINE)
                self.assertTrue(summary, name)
                own = man.escaped(os.path.basename(name)[:-2])
                self.assertRegex(summary[1], rf"^{re.escape(own)}(?:, \w+)* \\- \S.*[^.]$", name)

    def test_no_word_of_a_header_is_lost(self):
        self.need_groff()
        for header in self.headers:
            page = words_of(groff(read(f"man3/{man.header_name(header)}.3"), "-Tascii")[0])
            for text in (header.comment, *(item.comment for item in header.items), *(
                    "\n".join(item.code) for item in header.items)):
                self.assertIsNone(lost(words_of(text), page), f"{header.name}: {text}")

    # Broken by a page that sends the reader of sennit_put(3) to another page for completion, order and errors.
    def test_the_page_of_a_call_repeats_what_its_header_says_of_all_calls(self):
        self.need_groff()
        for name, phrase in {"sennit_put": "Errors of all calls: RANGE", "sennit_channel_query": "move no data and make no system call",
                             "sennit_broadcast": "After TIMEOUT repeat the same call"}.items():
            page = groff(read(f"man3/{name}.3"), "-Tascii")[0]
            header = next(header for header in self.headers for item in header.items if name in item.signatures)
            self.assertIn(f"THE HEADER {header.name}", page)
            self.assertIn(phrase, page)
            self.assertIsNone(lost(words_of(header.comment), words_of(page)), name)

    # Broken by pages that only C programs can use.
    def test_the_page_of_a_call_has_its_signature_in_fortran(self):
        for name, words in {"sennit_put": "subroutine sennit_put(destination, source, bytes, stat)",
                            "sennit_signal_wait": "subroutine sennit_signal_wait(signal, timeout_ns, stat)",
                            "sennit_rank": "function sennit_rank() result(value)"}.items():
            section = read(f"man3/{name}.3").partition(".SH FORTRAN")[2].partition(".SH DESCRIPTION")[0]
            self.assertIn(words, section, name)

    def test_errors_are_a_list_of_names_and_meanings(self):
        for name, listed in {"sennit_alloc": ["NOMEM", "memory, the"], "sennit_wait": ["TIMEOUT", "the timeout has passed; the wait may be repeated"],
                             "sennit_put_notify": ["RANGE", "the bytes leave the block"]}.items():
            self.assertIn(rf".TP\n\fBSENNIT_ERR_{listed[0]}\fP\n{listed[1]}".replace("\\n", "\n"), read(f"man3/{name}.3"))
        text = "STATE (it runs, or has\nrun), OS, those of sennit_put. Nothing is changed."
        self.assertEqual(man.error_lines(text, {"OS": "refused"}), [
            ".TP", r"\fBSENNIT_ERR_STATE\fP", "it runs, or has run", ".TP", r"\fBSENNIT_ERR_OS\fP", "refused",
            ".PP", r"Those of \fBsennit_put\fP\&.", ".PP", "Nothing is changed."])
        self.assertEqual(man.error_lines("As it is, one.", {}), [".PP", "As it is, one."])
        several = man.split_errors("Moves.\n\nErrors that leave nothing moved: OS.\n\nErrors after\nsome moved: NOMEM.")
        self.assertEqual(several, ("Moves.", [("Errors that leave nothing moved:", "OS."), ("Errors after\nsome moved:", "NOMEM.")]))
        self.assertEqual(man.split_errors("Moves. Errors: OS.\n\nMore."), ("Moves. Errors: OS.\n\nMore.", []))

    def test_lines_that_begin_with_a_dash_are_a_list(self):
        self.assertEqual(man.filled("Before:\n- one\n  more\n- two"),
                         [".PP", "Before:", r".IP \(bu 2", "one", "more", r".IP \(bu 2", "two"])

    def test_no_word_of_the_help_is_lost(self):
        self.need_groff()
        for command in self.command.commands:
            page = words_of(groff(read(f"man1/{'-'.join(command.words)}.1"), "-Tascii")[0])
            for part in command.sections:
                self.assertIsNone(lost(words_of("\n".join(part.lines)), page), part.title)
            for _, text in command.options:
                self.assertIsNone(lost(words_of(text), page), text)

    def test_what_roff_takes_for_a_command_is_printed(self):
        self.need_groff()
        hard = ".PP is a request\n'br too, and a\\nbackslash -x --yes a-b 'quoted' `code` ~ ^ \"x\" ×\n\n  .in a column\n  of  -1"
        text = "\n".join([".TH X 3", ".SH NAME", "x", *man.filled(hard), ""])
        printed, warnings = groff(text, "-Tascii")
        self.assertEqual(warnings, "")
        self.assertIsNone(lost(".PP is a request 'br too, and a\\nbackslash -x --yes a-b 'quoted' code ~ ^ \"x\" x "
                               ".in a column of -1".split(), words_of(printed)), printed)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
