"""Tests of tools/tidy: a tree that keeps the rules gives no findings, and each planted fault is found.

Every test writes the good tree, changes one thing, and expects exactly one finding, at that place and by that rule:
a rule that stops working, or that also reports other places, fails its test.

Files of src/ and include/ are listed here without their license line: run() inserts it, and the line numbers in the tests
do not count it.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

TIDY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "tidy")

GOOD = {
    ".clang-format": "BasedOnStyle: Google\nIndentWidth: 4\nColumnLimit: 100\nAllowShortFunctionsOnASingleLine: Inline\n",
    "include/sennit/rma.h": """/* Put and get. */
#ifndef SENNIT_RMA_H
#define SENNIT_RMA_H

#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif

int sennit_put(void *to, const void *from, size_t bytes);

#ifdef __cplusplus
}
#endif

#endif
""",
    "src/CMakeLists.txt": "target_sources(sennit_core PRIVATE base/words.cpp)\n",
    "src/base/words.cpp": """// Words that two ranks share; called by op/.
#include "base/words.hpp"

#if defined(__x86_64__)
int lines = 2;
#endif

void publish(Word &word) {
    // SYNC word-set: pairs with acquire in read(); payload before word.
    word.value.store(1, std::memory_order_release);
}

int read(const Word &word) {
    // SYNC word-set: pairs with release in publish().
    return word.value.load(std::memory_order_acquire);
}
""",
    "src/base/words.hpp": """// The word itself.
#pragma once

#include <atomic>

struct Word {
    std::atomic<int> value{0};
};

inline int peek(const Word &word) {
    // relaxed: a hint for the log, nothing is read after it.
    return word.value.load(std::memory_order_relaxed);
}

inline void set_alone(Word &word) {
    // seq_cst: store before the load of the other side's word.
    word.value.store(2, std::memory_order_seq_cst);
}
""",
    "src/op/CMakeLists.txt": "target_sources(sennit_core PRIVATE put.cpp)\n",
    "src/op/put.cpp": """// Put: called by api/, calls base/.
#include <sennit/rma.h>

#include "base/words.hpp"

int put(int a, int b, int c, int d, int e, int f) {
    return a + b + c + d + e + f;
}
""",
    "src/team/CMakeLists.txt": "target_sources(sennit_core PRIVATE knock.cpp)\n",
    "src/team/knock.cpp": """// Who asks for a full fence.
#include "base/words.hpp"

void knock(Word &word) {
    set_alone(word);
}
""",
    "src/runtime/CMakeLists.txt": "",
    "src/base/knobs.def": "// The settings.\n" + 'KNOB(a, "SENNIT_A", 1)\n' * 40,
    "src/signal/CMakeLists.txt": "target_sources(sennit_core PRIVATE signal.cpp)\n",
    "src/signal/signal.cpp": '// Signals, on top of op/.\n#include "base/words.hpp"\n',
    "cli/main.cpp": '// The command line.\n#include <sennit/rma.h>\n\nint main() {\n    return 0;\n}\n',
    "docs/design/memory-model.md": """# Memory model

| function | fence | called in |
|---|---|---|
| `set_alone()` | a store | `knock()` in `team/knock.cpp` |
""",
    "docs/use.md": "Programs go to `build/bin`; a home is $HOME/sennit.\n",
}


def is_licensed(path):
    return path.startswith(("src/", "include/"))


def with_license(path, text):
    """The file's text as run() writes it."""
    line = "SPDX-License-Identifier: BSD-3-Clause"
    begin, end = ("# ", "") if path.endswith(".txt") else ("/* ", " */") if path.startswith("include/") else ("// ", "")
    return f"{begin}{line}{end}\n{text}" if is_licensed(path) else text


def run(tree, *options, licensed=True, **environment):
    root = tempfile.mkdtemp(prefix="tidy-test-")
    try:
        for path, text in tree.items():
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(with_license(path, text) if licensed else text)
        result = subprocess.run([sys.executable, TIDY, *options, root], capture_output=True, text=True,
                                timeout=60, check=False, env={**os.environ, **environment})
        return result.returncode, result.stdout.splitlines(), result.stderr
    finally:
        shutil.rmtree(root)


def changed(path, old, new):
    """The good file at `path` with its first `old` replaced."""
    assert old in GOOD[path], f"{old!r} is not in {path}"
    return GOOD[path].replace(old, new, 1)


class TidyTest(unittest.TestCase):
    maxDiff = None

    def assert_finds(self, path, line, rule, text, options=("--no-format",)):
        """Expects one finding, at this line and by this rule, if the file at `path` contains `text`."""
        code, lines, errors = run({**GOOD, path: text}, *options)
        self.assertEqual(errors, "")
        self.assertEqual([":".join(row.split(":")[:3]) for row in lines[:-1]], [f"{path}:{line + is_licensed(path)}: {rule}"], lines)
        self.assertEqual(code, 1)

    def assert_finds_nothing(self, path, text):
        code, lines, errors = run({**GOOD, path: text}, "--no-format")
        self.assertEqual((code, len(lines), errors), (0, 1, ""), lines)

    def test_a_good_tree_gives_nothing(self):
        code, lines, errors = run(GOOD)
        self.assertEqual(errors, "")
        self.assertEqual(lines[-1], f"tidy: {len(GOOD) - 1} files, 0 findings", lines)
        self.assertEqual(code, 0)

    def test_findings_are_ordered_by_file_and_line(self):
        code, lines, _ = run({**GOOD, "src/op/put.cpp": "// Put.\nvolatile int b;\nvolatile int c;\n",
                              "cli/main.cpp": "// Main.\nvolatile int a;\n"}, "--no-format")
        self.assertEqual([row.split(": ")[0] for row in lines[:-1]],
                         ["cli/main.cpp:2", "src/op/put.cpp:3", "src/op/put.cpp:4"])
        self.assertEqual(code, 1)

    # include

    def test_an_include_that_points_back_is_found(self):
        self.assert_finds("src/base/words.hpp", 4, "include",
                          changed("src/base/words.hpp", "#include <atomic>", '#include "op/put.hpp"\n#include <atomic>'))

    def test_an_include_of_a_transport_by_what_stands_on_op_is_found(self):
        self.assert_finds("src/signal/signal.cpp", 2, "include",
                          changed("src/signal/signal.cpp", "base/words.hpp", "transport/transport.hpp"))

    def test_an_include_of_a_higher_neighbour_on_op_is_found(self):
        self.assert_finds("src/signal/signal.cpp", 2, "include",
                          changed("src/signal/signal.cpp", "base/words.hpp", "plan/plan.hpp"))

    def test_a_library_header_in_angle_brackets_is_found(self):
        self.assert_finds("src/op/put.cpp", 4, "include",
                          changed("src/op/put.cpp", '"base/words.hpp"', "<base/words.hpp>"))

    def test_a_library_header_used_by_the_command_line_is_found(self):
        self.assert_finds("cli/main.cpp", 2, "include",
                          changed("cli/main.cpp", "<sennit/rma.h>", '"op/put.hpp"'))

    def test_a_private_header_in_a_public_one_is_found(self):
        self.assert_finds("include/sennit/rma.h", 5, "include",
                          changed("include/sennit/rma.h", "<stddef.h>", '"base/words.hpp"'))

    def test_an_include_in_a_comment_is_none(self):
        self.assert_finds_nothing("src/base/words.hpp", GOOD["src/base/words.hpp"] + '/*\n#include "op/put.hpp"\n*/\n')

    # sync

    def test_a_sync_name_that_occurs_once_is_found(self):
        self.assert_finds("src/base/words.cpp", 4, "sync",
                          "// Words.\nvoid publish(Word &word) {\n    int one = 1;\n    // SYNC word-set: pairs with acquire.\n"
                          "    word.value.store(one, std::memory_order_release);\n}\n")

    def test_a_sync_name_without_an_acquire_side_is_found(self):
        self.assert_finds("src/base/words.cpp", 9, "sync",
                          changed("src/base/words.cpp", "std::memory_order_acquire", "std::memory_order_release"))

    def test_a_sync_name_without_a_release_side_is_found(self):
        self.assert_finds("src/base/words.cpp", 9, "sync",
                          changed("src/base/words.cpp", "std::memory_order_release", "std::memory_order_acquire"))

    def test_a_sync_comment_without_an_access_is_found(self):
        self.assert_finds("src/base/words.cpp", 18, "sync", GOOD["src/base/words.cpp"] +
                          "int other() {\n    // SYNC word-set: somehow.\n    return 0;\n}\n")

    def test_a_release_without_a_sync_comment_is_found(self):
        self.assert_finds("src/base/words.cpp", 18, "sync", GOOD["src/base/words.cpp"] +
                          "void other(Word &word) {\n    word.value.store(1, std::memory_order_release);\n}\n")

    def test_a_fence_on_both_sides_is_a_pair(self):
        self.assert_finds_nothing("src/base/words.cpp", "// Words.\nvoid a() {\n    // SYNC sleep: pairs with fence in b().\n"
                                  "    store_load_fence();\n}\nvoid b() {\n    // SYNC sleep: pairs with fence in a().\n"
                                  "    store_load_fence();\n}\n")

    def test_an_access_behind_a_call_counts_by_what_the_comment_says(self):
        self.assert_finds_nothing("src/base/words.cpp",
                                  changed("src/base/words.cpp", "return word.value.load(std::memory_order_acquire)",
                                          "return load_word(word)"))

    # order

    def test_relaxed_without_a_reason_is_found(self):
        self.assert_finds("src/base/words.hpp", 12, "order",
                          changed("src/base/words.hpp", "    // relaxed: a hint for the log, nothing is read after it.\n", "\n"))

    def test_one_reason_holds_for_a_block_and_not_behind_it(self):
        load = "word.value.load(std::memory_order_relaxed);"
        far = "    int a = 0;\n" * 4  # a reason for one access reaches two lines
        reason = "    // All relaxed: under the lock.\n"

        def function(body):
            return f"// The word.\nvoid f(Word &word) {{\n{body}}}\n"

        self.assert_finds_nothing("src/op/put.cpp", function(f"{reason}{far}    {load}\n{far}    if (a) {{\n{far}        {load}\n    }}\n"))
        # Before the comment, after its block, and in the next function.
        self.assert_finds("src/op/put.cpp", 7, "order", function(f"{far}    {load}\n{far}{reason}{far}"))
        self.assert_finds("src/op/put.cpp", 9, "order", function(f"    if (a) {{\n{reason}{far}    }} else {load}\n"))
        self.assert_finds("src/op/put.cpp", 15, "order", function(f"    {{\n{reason}    }}\n{far}{{\n{far}    {load}\n    }}\n"))
        self.assert_finds("src/op/put.cpp", 9, "order", function(reason + far) + f"void g(Word &word) {{ {load} }}\n")
        # Another word for the same thing, and a comment after code.
        self.assert_finds("src/op/put.cpp", 8, "order", function(f"    // relaxed: under the lock.\n{far}    {load}\n"))
        self.assert_finds("src/op/put.cpp", 8, "order", function(f"    int b = 0;  // All relaxed: no.\n{far}    {load}\n"))

    def test_one_reason_above_a_function_holds_for_it_alone(self):
        body = "{\n" + "    int a = 0;\n" * 4 + "    word.value.load(std::memory_order_relaxed);\n}\n"
        good = "// The word.\n\n// Looks at it. All relaxed: a hint.\n// Slow.\nvoid f(Word &word) " + body
        self.assert_finds_nothing("src/op/put.cpp", good)
        self.assert_finds("src/op/put.cpp", 17, "order", good + "void g(Word &word) " + body)
        self.assert_finds("src/op/put.cpp", 11, "order", good.replace("Slow.\n", "Slow.\n\n"))

    def test_a_reason_that_is_elsewhere_is_found(self):
        reason = "relaxed: a hint for the log, nothing is read after it."
        for other in ("relaxed: as above.", "as above", "relaxed twice: of this thread, as in publish()."):
            with self.subTest(reason=other):
                self.assert_finds("src/base/words.hpp", 12, "order", changed("src/base/words.hpp", (
                    f"    // {reason}\n    return word.value.load(std::memory_order_relaxed);"), (
                    f"    int a = 0;\n    return word.value.load(std::memory_order_relaxed);  // {other}")))
        self.assert_finds("src/base/words.cpp", 14, "order",
                          changed("src/base/words.cpp", "pairs with release in publish()", "as in publish()"))

    def test_seq_cst_without_a_reason_is_found(self):
        self.assert_finds("src/base/words.hpp", 17, "order",
                          changed("src/base/words.hpp", "    // seq_cst: store before the load of the other side's word.\n", "\n"))

    def test_an_access_that_names_no_order_is_found(self):
        self.assert_finds("src/base/words.hpp", 12, "order",
                          changed("src/base/words.hpp", "load(std::memory_order_relaxed)", "load()"))

    # fence

    def test_seq_cst_outside_of_base_is_found(self):
        self.assert_finds("src/team/knock.cpp", 6, "fence",
                          changed("src/team/knock.cpp", "set_alone(word);",
                                  "set_alone(word);  // seq_cst: here too.\n    std::atomic_thread_fence(std::memory_order_seq_cst);"))

    def test_a_function_with_a_fence_that_has_no_row_is_found(self):
        self.assert_finds("src/base/words.hpp", 21, "fence",
                          GOOD["src/base/words.hpp"] + "\ninline void set_too(Word &word) {\n"
                          "    word.value.store(3, std::memory_order_seq_cst);  // seq_cst: as above.\n}\n")

    def test_a_caller_that_the_row_lacks_is_found(self):
        self.assert_finds("src/team/knock.cpp", 8, "fence",
                          GOOD["src/team/knock.cpp"] + "\nvoid ring(Word &word) { set_alone(word); }\n")

    def test_a_caller_that_is_gone_is_found_in_the_row(self):
        self.assert_finds("docs/design/memory-model.md", 5, "fence",
                          changed("docs/design/memory-model.md", "`knock()`", "`knock()` in `team/knock.cpp`; `nobody()`"))

    # name

    def test_a_type_of_two_folders_is_found(self):
        self.assert_finds("src/op/put.cpp", 2, "name", "// Put.\nstruct Word {\n    int value;\n};\n")
        self.assert_finds("src/op/put.cpp", 2, "name", "// Put.\nusing Word = int;\n")
        self.assert_finds("src/op/put.cpp", 2, "name", "// Put.\nenum class Word : char { first, last };\n")
        self.assert_finds("src/base/words_near/word.hpp", 3, "name", "// Near.\n#pragma once\nstruct Word {};\n")
        self.assert_finds_nothing("src/op/put.cpp", "// Put.\nstruct Word;\nstruct Put {\n    struct Word {\n    };\n};\n")

    def test_a_parameter_called_it_is_found_but_not_of_a_lambda(self):
        self.assert_finds("src/op/put.cpp", 2, "name", "// Put.\nint put(const Word &it);\n")
        self.assert_finds_nothing("src/op/put.cpp", "// Put.\nauto put = [](const Word &it) { return it; };\n")

    # size

    def test_a_file_of_601_lines_is_found(self):
        self.assert_finds("cli/main.cpp", 601, "size", "// Main.\n" + "int a;\n" * 600)
        self.assert_finds_nothing("cli/main.cpp", "// Main.\n" + "int a;\n" * 599)

    def test_a_function_of_73_lines_is_found(self):
        def body(lines):
            return "// Put.\nstruct Op {\n    int put(int a) {\n" + "        if (a) { a = 1; }\n" * (lines - 2) + "    }\n};\n"
        self.assert_finds("src/op/put.cpp", 3, "size", body(73))
        self.assert_finds_nothing("src/op/put.cpp", body(72))

    def test_a_long_function_after_a_table_and_a_lambda_is_found(self):
        before = "// Put.\nstatic const int table[] = {1, 2};\nauto f = [](int a) {\n    return a;\n};\n"
        self.assert_finds("src/op/put.cpp", 6, "size", before + 'extern "C" int put(void) {\n' + "\n" * 80 + "}\n")

    def test_a_long_python_function_is_found(self):
        self.assert_finds("tools/long.py", 2, "size", '"""Long."""\ndef long():\n' + "    pass\n" * 72)

    def test_seven_parameters_are_found(self):
        self.assert_finds("src/op/put.cpp", 6, "size", changed("src/op/put.cpp", "int a, ", "int z, std::pair<int, int> a, "))

    # volatile, braces, if, license, head, listed, knobs

    def test_volatile_is_found_but_not_on_asm(self):
        self.assert_finds("src/op/put.cpp", 2, "volatile", "// Put.\nvolatile int a;\n")
        self.assert_finds_nothing("src/op/put.cpp", '// Put, nothing volatile.\nvoid f() { asm volatile("" ::: "memory"); }\n')

    def test_a_loop_over_braces_without_its_header_is_found(self):
        loop = "void f() {\n    for (const int value : {1, 2}) g(value);\n}\n"
        self.assert_finds("src/op/put.cpp", 3, "braces", "// Put.\n" + loop)
        self.assert_finds_nothing("src/op/put.cpp", "// Put.\n#include <initializer_list>\n" + loop)

    def test_conditional_compilation_outside_base_is_found(self):
        self.assert_finds("src/op/put.cpp", 2, "if", "// Put.\n#ifdef NDEBUG\n#endif\n")

    def test_a_guard_that_is_not_the_first_directive_is_found(self):
        self.assert_finds("include/sennit/rma.h", 2, "if", "/* Put. */\n#ifndef SENNIT_H\n#define OTHER_H\n#endif\n")

    def test_a_file_without_its_license_is_found(self):
        tree = {path: with_license(path, text) for path, text in GOOD.items()}
        for path, text in tree.items():
            if not is_licensed(path):
                continue
            for wrong in (GOOD[path], text.replace("BSD-3-Clause", "MIT"), "\n" + text):
                with self.subTest(path=path, wrong=wrong[:60]):
                    _, lines, _ = run({**tree, path: wrong}, "--no-format", licensed=False)
                    self.assertTrue(any(line.startswith(f"{path}:1: license: ") for line in lines), lines)
        self.assertEqual(run(tree, "--no-format", licensed=False)[0], 0)

    def test_a_file_without_a_head_is_found(self):
        self.assert_finds("src/op/put.cpp", 1, "head", "int a;\n")

    def test_a_source_whose_header_is_beside_it_needs_no_head(self):
        bare = GOOD["src/base/words.cpp"].split("\n", 1)[1]
        self.assert_finds_nothing("src/base/words.cpp", bare)
        self.assert_finds("src/base/words.hpp", 1, "head", GOOD["src/base/words.hpp"].split("\n", 1)[1])

    def test_a_head_that_points_to_a_header_is_found(self):
        bare = GOOD["src/base/words.cpp"].split("\n", 1)[1]
        for head in ("// The words; see words.hpp.", "/* See base/words.h. */"):
            with self.subTest(head=head):
                self.assert_finds("src/base/words.cpp", 1, "head", head + "\n" + bare)

    def test_a_source_that_no_list_names_is_found(self):
        # Line 0: the finding is on the first line, which is the license line.
        self.assert_finds("src/op/output.cpp", 0, "listed", "// Is no put.cpp.\n")
        self.assert_finds("src/op/CMakeLists.txt".replace("CMakeLists.txt", "ut.cpp"), 0, "listed", "// Nor is this.\n")

    def test_the_forty_first_knob_is_found(self):
        self.assert_finds("src/base/knobs.def", 42, "knobs", GOOD["src/base/knobs.def"] + 'KNOB(b, "SENNIT_B", 1)\n')

    # mark, path

    def test_each_unfinished_mark_is_found_in_code_and_text(self):
        for mark in ("TODO", "FIXME", "XXX", "HACK", "not implemented", "placeholder"):
            with self.subTest(mark=mark):
                self.assert_finds("docs/use.md", 2, "mark", f"Use.\nIs {mark}: later.\n")
                self.assert_finds("src/op/put.cpp", 2, "mark", f"// Put.\n// {mark}\n")
        self.assert_finds_nothing("docs/use.md", "mkstemp(nameXXXXXX)\n")

    def test_a_path_of_one_machine_is_found(self):
        for path in ("/home/ann/sennit", "/root/sennit", "/Users/ann"):
            with self.subTest(path=path):
                self.assert_finds("docs/use.md", 1, "path", f"See {path}.\n")

    # format

    @unittest.skipUnless(shutil.which("clang-format"), "clang-format is not installed")
    def test_a_badly_formatted_file_is_found(self):
        code, lines, _ = run({**GOOD, "cli/main.cpp": "// Main.\nint   main( ){return 0;}\n"})
        if "not checked" in lines[0]:
            self.skipTest(lines[0])
        self.assertEqual([row.split(": clang")[0] for row in lines[:-1]], ["cli/main.cpp:2: format"])
        self.assertEqual(code, 1)

    def test_without_clang_format_a_line_says_so_and_the_rest_is_checked(self):
        code, lines, errors = run({**GOOD, "cli/main.cpp": "// Main.\nvolatile int a;\n"}, PATH="/nowhere")
        self.assertIn("clang-format is not installed", lines[0])
        self.assertIn("cli/main.cpp:2: volatile", lines[1])
        self.assertEqual((code, errors), (1, ""))


if __name__ == "__main__":
    unittest.main()
