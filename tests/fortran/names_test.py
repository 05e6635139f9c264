#!/usr/bin/env python3
"""Compares module sennit, as the Fortran compiler sees it, with C: names_test.py PROJECT COMPILER FLAGS...

    names        every function of tests/abi/lists.md and every inline function, macro and constant of the headers has its name
                 in the module, except those below, with the reasons; the exceptions are absent
    layout       size and offsets of the components of every derived type, and the value of every constant, are those of
                 tests/abi/lists.md (which tests/abi compares with the headers)
    calls        every procedure of the module is called by a test or an example
    zcom         module sennit_zcom has the calls of sennit_zcom.h, with the arguments in the same order, in both of its sources
    mpi_plan     module sennit_mpi_plan has the calls of sennit_mpi_plan.h
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest

PROJECT, COMPILER, FLAGS = sys.argv[1], sys.argv[2], sys.argv[3:]
# Names that the module does not have, and why.
ABSENT = {
    r"sennit_atomic_\w*_u(32|64)\w*": "Fortran has no unsigned types: the calls of signed ones do the same to the bits",
    r"SENNIT_\w+_H": "guards of headers",
    r"SENNIT_(HOT_CALL|CHECKED|ATOMIC_\w+)": "machinery of the headers",
    r"SENNIT_OPTIONS_INIT": "type(sennit_options) begins with these values",
    r"SENNIT_IN_PLACE": "is the variable sennit_in_place, since it cannot be a parameter",
    r"SENNIT_VERSION_\w+": "of the version compiled against: sennit_version() tells that of the library",
}
# Names that only the module has.
MORE = ("sennit_pointer", "sennit_bytes", "sennit_string", "sennit_in_place", "sennit_last_error_text", "sennit_vbuffer_of",
        "sennit_channel_ends_of", "sennit_combine", "sennit_region_check",
        "sennit_log_function")


def read(*path):
    with open(os.path.join(PROJECT, *path), encoding="utf-8") as file:
        return file.read()


def part_of_page(mark):
    return re.search(rf"<!-- {mark}: tools/abi -->\n.*?\n.*?\n(.*?)<!-- end of {mark} -->", read("tests", "abi", "lists.md"), re.DOTALL)[1]


def functions_of_c():
    return set(re.findall(r"\bsennit_\w+", "".join(row.split("|")[2] for row in part_of_page("functions").splitlines())))


def text_of_headers():
    """The text of all headers that sennit.h includes."""
    names = set(re.findall(r"#include <(sennit/\w+\.h)>", read("include", "sennit", "sennit.h"))) - {"sennit/version.h"}
    return "".join(read("include", *name.split("/")) for name in sorted(names))


def names_of_headers():
    """The names of macros and inline functions."""
    text = text_of_headers()
    return (set(re.findall(r"^#define (SENNIT_\w+)", text, re.MULTILINE))
            | set(re.findall(r"^static inline [\w ]+ \*?(sennit_\w+)\(", text, re.MULTILINE)))


def is_absent(name):
    return any(re.fullmatch(pattern, name) for pattern in ABSENT)


def rows(mark):
    return [[cell.strip(" `") for cell in row.strip("|").split("|")] for row in part_of_page(mark).splitlines()]


class NamesTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="sennit-names-")
        self.addCleanup(subprocess.run, ["rm", "-r", self.folder], check=True)

    def compile(self, lines, *more):
        source = os.path.join(self.folder, "program.f90")
        with open(source, "w", encoding="ascii") as file:
            file.write("\n".join(lines) + "\n")
        return subprocess.run([COMPILER, "-std=f2018", source, *FLAGS, *(more or ["-fsyntax-only"])], capture_output=True, text=True,
                              cwd=self.folder, timeout=120, check=False)

    def names_that_are_missing(self, names):
        result = self.compile(["program names", *(f"use sennit, only: {name}" for name in sorted(names)), "end program names"])
        found = set(re.findall(r"[‘'](\w+)[’'] referenced at .* not found", result.stderr))
        if result.returncode != 0 and not found:
            self.fail(result.stderr[:2000])
        return {name for name in names if name.lower() in found}

    def test_every_name_of_c_is_in_the_module(self):
        constants = {word.split()[0] for row in rows("constants") for word in row[1].split(", ")}
        structs = {row[0] for row in rows("structs")}
        names = functions_of_c() | names_of_headers() | constants | structs | set(MORE)
        self.assertGreater(len(names), 350)
        self.assertEqual(self.names_that_are_missing({name for name in names if not is_absent(name)}), set())

    def test_what_is_said_to_be_absent_is_not_there(self):
        names = {name for name in functions_of_c() | names_of_headers() if is_absent(name)} - {"SENNIT_IN_PLACE"}
        self.assertEqual(self.names_that_are_missing(names), names)

    def test_machinery_of_the_binding_is_not_shown(self):
        names = {"c_sennit_put", "sennit_put_int", "sennit_stop", "sennit_place", "sennit_refuse"}
        self.assertEqual(self.names_that_are_missing(names), names)

    def run_program(self, lines):
        program = os.path.join(self.folder, "program")
        result = self.compile(lines, "-o", program)
        self.assertEqual(result.returncode, 0, result.stderr[:2000])
        return subprocess.run([program], capture_output=True, text=True, timeout=20, check=True).stdout.splitlines()

    def test_derived_types_have_the_layout_of_c(self):
        declared, printed, expected = [], [], []
        for index, (name, size, members) in enumerate(rows("structs")):
            value = f"v{index}"
            declared.append(f"type({name}), target :: {value}")
            places = [member.split() for member in members.split(", ")]
            texts = []
            for member, _ in places:
                element = f"{member}(1)" if has_length(name, member) else member
                texts.append(f"'{member} ', at(c_loc({value}%{element})) - at(c_loc({value}))")
            printed.append(f"print '(*(g0))', '{name} ', c_sizeof({value}), &\n  ': ', " + ", ', ', &\n  ".join(texts))
            expected.append(f"{name} {size}: {members}")
        lines = ["program layout", "use iso_c_binding", "use sennit", "implicit none", *declared, *printed, "contains",
                 "function at(address)", "type(c_ptr), value :: address", "integer(c_intptr_t) :: at",
                 "at = transfer(address, at)", "end function at", "end program layout"]
        self.assertEqual(self.run_program(lines), expected)

    def test_constants_have_the_values_of_c(self):
        expected = [word for row in rows("constants") for word in row[1].split(", ")]
        names = [word.split()[0] for word in expected]
        lines = ["program constants", "use sennit", *(f"print '(*(g0))', '{name} ', {name}" for name in names),
                 "end program constants"]
        self.assertEqual(self.run_program(lines), expected)

    def test_macros_have_the_values_of_c(self):
        text = text_of_headers()
        numbers = dict(re.findall(r"#define (SENNIT_\w+)\s+\\?\s*\(?(0x[0-9a-f]+|-?\d+)u?\)?", text))
        self.assertGreaterEqual(len(numbers), 5)
        lines = ["program macros", "use sennit", *(f"print '(*(g0))', '{name} ', {name}" for name in numbers),
                 "print '(g0)', SENNIT_FOREVER, SENNIT_TEAM_WORLD%handle, SENNIT_TEAM_NODE%handle, SENNIT_GPTR_NULL%rank",
                 "end program macros"]
        expected = [f"{name} {int(value, 0)}" for name, value in numbers.items()]
        self.assertEqual(self.run_program(lines), [*expected, str(2**63 - 1), "1", "2", "-1"])

    def test_every_procedure_is_called_by_a_test_or_an_example(self):
        text = ""
        for folder in ("tests/fortran", "examples/fortran"):
            for place, _, files in os.walk(os.path.join(PROJECT, folder)):
                text += "".join(read(place, name) for name in files if name.endswith((".f90", ".inc")))
        called = set(re.findall(r"\b(sennit_\w+) *\(", text)) | set(re.findall(r"call (sennit_\w+)", text))
        typed = re.compile(r"(sennit_atomic_\w+?)_[if](?:32|64)(|_nb|_nbi)")
        wanted = {typed.sub(r"\1\2", name) if typed.fullmatch(name) and not re.search(r"_atomic_inc_", name) else name
                  for name in functions_of_c() if not is_absent(name)}
        self.assertGreater(len(wanted), 150)
        self.assertEqual(wanted - called, set())


def calls_of_zcom_in_c():
    """{name without _c: names of the arguments}"""
    text = read("include", "sennit", "sennit_zcom.h")
    return {name: [re.search(r"(\w+)$", one)[1] for one in arguments.split(",")]
            for name, arguments in re.findall(r"^static inline \w+ (ZCom_\w+)_c\((.*?)\) \{", text, re.MULTILINE | re.DOTALL)}


def procedures_of(text):
    return {name: re.split(r",\s*", arguments)
            for name, arguments in re.findall(r"^  (?:subroutine|function) (\w+)\(([^)]*)\)", text, re.MULTILINE)}


class ZComTest(unittest.TestCase):
    FOLDER = ("bindings", "fortran", "mpi")

    def setUp(self):
        self.expected = calls_of_zcom_in_c()
        self.assertEqual(len(self.expected), 6)
        self.calls = procedures_of(read(*self.FOLDER, "sennit_zcom_calls.f90"))

    def compare(self, procedures):
        """`procedures`: (name that programs use, arguments)."""
        procedures = list(procedures)
        self.assertEqual({name for name, _ in procedures}, set(self.expected))
        for name, arguments in procedures:
            self.assertEqual(arguments, self.expected[name], name)

    def test_names_and_order_of_arguments_are_those_of_c(self):
        source = read(*self.FOLDER, "sennit_zcom.f90")
        everything = {**self.calls, **procedures_of(source)}
        generic = dict(re.findall(r"^  interface (\w+)\n    procedure :: (.*)$", source, re.MULTILINE))
        public = re.search(r"^  public :: (.*)$", source, re.MULTILINE)[1].split(", ")
        self.compare((name, everything[one]) for name in public for one in generic.get(name, name).split(", "))

    def test_names_and_order_are_the_same_where_communicators_are_integers(self):
        shown = re.search(r"only: (.*?)\n  implicit", read(*self.FOLDER, "sennit_zcom_integer.f90"), re.DOTALL)[1]
        pairs = [name.split(" => ") for name in re.split(r",[\s&]*", shown)]
        self.compare((pair[0], self.calls[pair[-1]]) for pair in pairs)

    def test_every_call_is_made_by_the_test_and_by_the_example(self):
        for place in (("tests", "fortran", "zcom_test.f90"), ("examples", "fortran", "zcom_pair.f90")):
            called = set(re.findall(r"\b(ZCom_\w+)\(", read(*place)))
            self.assertEqual(called, set(self.expected), place)


def calls_of_plans_in_c():
    """{name: names of the arguments} of the calls of sennit_mpi_plan.h that programs make."""
    text = re.sub(r"/\*.*?\*/", "", read("include", "sennit", "sennit_mpi_plan.h"), flags=re.DOTALL)
    return {name: [re.search(r"(\w+)(?:\[\])?$", one.strip())[1] for one in arguments.split(",")] for name, arguments in
            re.findall(r"^static inline sennit_status (sennit_(?:message_)?plan_\w+)\(\s*([^{;]*?)\);", text, re.MULTILINE | re.DOTALL)}


class MpiPlanTest(unittest.TestCase):
    """Breaks when a C call is missing in Fortran, or has its arguments in another order."""
    FOLDER = ("bindings", "fortran", "mpi")

    def setUp(self):
        self.expected = calls_of_plans_in_c()
        self.assertGreaterEqual(len(self.expected), 13)
        self.calls_text = read(*self.FOLDER, "sennit_mpi_plan_calls.f90")
        self.text = read(*self.FOLDER, "sennit_mpi_plan.f90")

    def generics(self, text):
        return {name: re.split(r",\s*", procedures) for name, procedures in
                re.findall(r"^  interface (\w+)\n    (?:module )?procedure (?::: )?(.*)$", text, re.MULTILINE)}

    def compare(self, name, procedure, procedures):
        arguments = [re.sub(r"[\s&]", "", one) for one in procedures[procedure]]
        self.assertEqual(arguments, [*self.expected[name], "stat"], procedure)

    def test_names_and_order_of_arguments_are_those_of_c(self):
        procedures = procedures_of(self.calls_text + self.text)
        generics = {**self.generics(self.calls_text), **self.generics(self.text)}
        public = set(re.findall(r"\bsennit_(?:message_)?plan_\w+", " ".join(re.findall(r"^  public :: .*$", self.text, re.MULTILINE))))
        self.assertEqual(public, set(self.expected))
        for name in public:
            for procedure in generics.get(name, [name]):
                self.compare(name, procedure, procedures)

    def test_names_and_order_are_the_same_where_handles_are_integers(self):
        shown = re.search(r"only: (.*?)\n  implicit", read(*self.FOLDER, "sennit_mpi_plan_integer.f90"), re.DOTALL)[1]
        pairs = dict((name.split(" => ") * 2)[:2] for name in re.split(r",[\s&]*", shown))
        procedures, generics = procedures_of(self.calls_text), self.generics(self.calls_text)
        self.assertEqual(set(pairs) - {"sennit_message_plan"}, set(self.expected))
        for name in self.expected:
            for procedure in generics.get(pairs[name], [pairs[name]]):
                self.compare(name, procedure, procedures)

    def test_every_call_is_made_by_the_test(self):
        called = set(re.findall(r"\bcall (sennit_(?:message_)?plan_\w+)", read("tests", "fortran", "mpi_plan_test.f90")))
        self.assertEqual(set(self.expected) - called, set())


def has_length(struct, member):
    body = re.search(rf"typedef struct {struct} \{{(.*?)\}} {struct};", text_of_headers(), re.DOTALL)[1]
    return re.search(rf"\b{member}\[\d+\]", body) is not None


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
