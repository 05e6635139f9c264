#!/usr/bin/env python3
"""The Fortran signatures in the reference match the module: signatures_test.py SOURCE_FOLDER MADE_CALLS.

MADE_CALLS is the generated sennit_calls.f90, in the same folder as sennit_pointers.f90. Broken by a signature with another name,
argument or order than the procedure, and by a page of Fortran calls that lacks those of a header.
"""
import os
import re
import sys
import unittest

SOURCE, MADE = sys.argv[1:3]
sys.path.insert(0, os.path.join(SOURCE, "tools"))
sys.dont_write_bytecode = True
from reference import fortran, headers, markdown  # noqa: E402

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
        pointers = heads_in(os.path.join(os.path.dirname(MADE), "sennit_pointers.f90"))
        made["sennit_pointer"] = next(dummies for name, dummies in pointers.items() if re.fullmatch(r"pointer_real_(8|c_double)_1_gptr_long", name))
        for header in headers.read_headers(os.path.join(SOURCE, "include", "sennit")):
            if header.name.startswith("sennit_"):
                continue
            lines = "\n".join(line for item in header.items for line in fortran.signatures(header, item))
            for match in HEAD.finditer(lines):
                name, dummies = match[1], re.findall(r"\w+", match[2])
                procedures = [made[one] for one in made if re.fullmatch(rf"{name}(_int|_long|_size)*", one)]
                procedures += [by_hand[one] for one in by_hand if re.fullmatch(rf"(sennit_)?{name.removeprefix('sennit_')}(_int|_long|_size)*", one)]
                self.assertIn(dummies, procedures, name)
                count += 1
        self.assertGreater(count, 200)

    def test_the_page_has_the_procedures_that_c_does_not_have(self):
        made = heads_in(os.path.join(os.path.dirname(MADE), "sennit_pointers.f90"))
        by_hand = heads_in(os.path.join(SOURCE, "bindings", "fortran", "sennit_more.f90"))
        procedures = {**by_hand, "sennit_bytes": made["bytes_integer_1"], "sennit_channel_ends_of": by_hand["channel_ends_of_size"],
                      "sennit_string": heads_in(os.path.join(SOURCE, "bindings", "fortran", "sennit_text.f90"))["string_at"]}
        text = "\n".join(fortran.only_in_fortran())
        shown = {match[1]: re.findall(r"\w+", match[2]) for match in HEAD.finditer(text)}
        self.assertEqual(len(shown), 7)
        for name, dummies in shown.items():
            self.assertEqual(dummies, procedures[name], name)
        self.assertIn(text, markdown.header_pages(headers.read_headers(os.path.join(SOURCE, "include", "sennit")))["fortran-calls.md"])

    def test_each_call_of_the_modules_for_mpi_has_the_signature_with_handles(self):
        folder = os.path.join(SOURCE, "bindings", "fortran", "mpi")
        procedures = {"sennit_mpi": {"sennit_init_mpi": "init_with_handle"},
                      "sennit_mpi_plan": {"sennit_message_plan_create": "create_with_handle", "sennit_message_plan_use": "use_handle",
                                          "sennit_message_plan_twin": "twin_size", "sennit_message_plan_commit": "commit_long",
                                          "sennit_message_plan_wait": "wait_long"},
                      "sennit_zcom": {"ZCom_init": "open_with_handle", "ZCom_cleanup": "close_with_handle"}}
        count = 0
        for header in headers.read_headers(os.path.join(SOURCE, "include", "sennit")):
            module = header.name.removesuffix(".h")
            if module not in procedures:
                self.assertFalse(module.startswith("sennit_") and any(fortran.signatures(header, item) for item in header.items), module)
                continue
            text = "\n".join(line for item in header.items for line in fortran.signatures(header, item))
            shown = {match[1]: re.findall(r"\w+", match[2]) for match in HEAD.finditer(text)}
            self.assertEqual(set(shown), {name.removesuffix("_c") for item in header.items for name in item.signatures})
            heads = {}
            for name in (f"{module}.f90", f"{module}_calls.f90"):
                heads.update(heads_in(os.path.join(folder, name)) if os.path.exists(os.path.join(folder, name)) else {})
            for name, dummies in shown.items():
                own = procedures[module].get(name) or next(one for one in (name.replace("sennit_plan_", "") + "_with_handles", name) if one in heads)
                self.assertEqual(dummies, heads[own], name)
                count += 1
        self.assertEqual(count, 1 + 16 + 6)

    def test_the_page_has_them(self):
        read_headers = headers.read_headers(os.path.join(SOURCE, "include", "sennit"))
        text = markdown.header_pages(read_headers)["fortran-calls.md"]
        for header in read_headers:
            self.assertIn("\n".join(fortran.page_signatures(header)), text)
        for call in ("sennit_put(destination, source, bytes, stat)\n  type(sennit_gptr), intent(in) :: destination\n",
                     "sennit_pointer(place, array, shape, lower, stat)\n  type(sennit_gptr), intent(in) :: place",
                     "sennit_init_mpi(comm, options, stat)\n  type(MPI_Comm), intent(in) :: comm\n",
                     "sennit_message_plan_wait(plan, timeout_ns, stat)\n", "ZCom_cleanup(ids, num_targets, comm, err)\n"):
            self.assertIn(f"subroutine {call}", text)

    def test_a_dummy_is_declared_where_its_declaration_changes(self):
        """A call shows a declaration unless the previous call with that dummy has the same one."""
        for header in headers.read_headers(os.path.join(SOURCE, "include", "sennit")):
            functions = {name: c for item in header.items for name, c in item.signatures.items()}
            known, head, declared = {}, None, {}
            for line in [*fortran.page_signatures(header), "subroutine end()"]:
                match = HEAD.match(line)
                if not match:
                    kind, dummies = line.split(" :: ")
                    declared.update(dict.fromkeys(re.split(r", (?![^(]*\))", dummies.split("  !")[0]), kind))
                    continue
                known.update(declared)
                if head in functions:
                    for kind, dummy in fortran.declarations_of(header, head, functions[head])[1]:
                        self.assertEqual(known[dummy], kind, f"{head}: {dummy}")
                head, declared = match[1], {}


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
