#!/usr/bin/env python3
"""Writes a test that calls each procedure of the binding with every combination of kinds of its 64-bit numbers:
make_numbers_test.py GENERATOR_FOLDER CC FOLDER INCLUDE...

FOLDER gets numbers_test.f90 and numbers_seen.c. The latter has functions with the names of C, which replace those of the library
and record their arguments. Broken by a combination without a procedure ("There is no specific subroutine"), a number that changes
on its way to C (the sign of a default integer, the order of arguments), or a size that changes on its way back.
"""
import itertools
import os
import re
import sys

sys.dont_write_bytecode = True
GENERATOR, CC, FOLDER = sys.argv[1:4]
sys.path.insert(0, GENERATOR)

import calls  # noqa: E402
import declarations  # noqa: E402

KINDS = {"size_t": ("c_int", "c_size_t"), "int64_t": ("c_int", "c_int64_t"), "uint64_t": ("c_int", "c_int64_t")}
NO_CHOICE = {"alignment"}  # always default integers


def is_called(function):
    """True for functions whose numbers have several kinds; not for atomic operations, whose words choose the procedure."""
    return (calls.is_bound(function) and function.name not in calls.BY_HAND and function.result == "sennit_status"
            and not re.search(r"_[if](32|64)(_nbi?)?$", function.name))


def numbers_of(function):
    """(parameter, value, expected): the value passed, or None and the value returned."""
    found = []
    for index, parameter in enumerate(function.parameters):
        text = index and function.parameters[index - 1].is_pointer and function.parameters[index - 1].type == "char"
        if parameter.type not in KINDS or parameter.name in NO_CHOICE or text or parameter.is_array or parameter.is_const:
            continue
        if not parameter.is_pointer:
            found.append((parameter, (1 if parameter.type == "size_t" else -1) * (11 + index)))
        elif parameter.type == "size_t":
            found.append((parameter, None))
    return found if any(value is not None for _, value in found) else []


def stand_in(function, numbers):
    text = re.sub(r"__attribute__ *\(\(.*?\)\)", "", function.text)
    stores = [f"seen[{index}] = (long long){p.name};" if value is not None else f"*{p.name} = {90 + index}u;"
              for index, (p, value) in enumerate(numbers)]
    unused = [f"(void){p.name};" for p in function.parameters if p not in [number for number, _ in numbers]]
    return "\n".join([text + " {", *(f"    {line}" for line in stores + unused), "    return SENNIT_OK;", "}", ""])


def call(found, function, numbers, kinds, name):
    """A subroutine with variables for all arguments; those that are not numbers keep their initial values."""
    writer = calls.Writer(found, function)
    own = {p.name: kind for (p, _), kind in zip(numbers, kinds)}
    lines = [f"  subroutine {name}()"]
    for dummy in writer.dummies:
        declared = next(line for line in writer.declared if re.search(rf":: {dummy}\b", line))
        kind, array = re.match(rf"(\w+\(.*?\)|logical)(?:,.*)? :: {dummy}(\(.*\))?", declared).groups()
        kind = {"type(*)": "integer(c_int)", "character(*)": "character(8)"}.get(kind, kind)
        kind = f"integer({own[dummy]})" if dummy in own else kind
        lines.append(f"    {kind}, save, target :: {dummy}{'(4)' if array or '..' in declared else ''}")
    lines += [f"    {p.name} = {7 if value is None else value}" for p, value in numbers]
    lines += [f"    call {function.name}({', '.join(writer.dummies)}, stat=status)"]
    sentence = f"{function.name} with {', '.join(own.values())}"
    lines += [f"    call check({p.name} == {90 + index}, '{sentence}: {p.name} comes back')" if value is None else
              f"    call check(seen({index}) == {value}, '{sentence}: {p.name} reaches C')"
              for index, (p, value) in enumerate(numbers)]
    return [*lines, f"  end subroutine {name}", ""]


def boxes():
    """sennit_box_line is an inline function of the headers, so it needs no replacement."""
    lines = ["  subroutine boxes()", "    type(sennit_box) :: box"]
    for kinds in itertools.product(("c_int", "c_int64_t"), repeat=4):
        numbers = [f"{value}_{kind}" for value, kind in zip((11, 12, 13, -14), kinds)]
        lines += [f"    box = sennit_box_line({', '.join(numbers)})",
                  "    call check(box%element_bytes == 11 .and. all(box%counts == [12, 1, 1]), 'the counts of a box')",
                  "    call check(box%remote_strides(1) == 13 .and. box%local_strides(1) == -14, 'the strides of a box')"]
    return [*lines, "  end subroutine boxes", ""]


def main():
    found = declarations.Declarations(CC, sys.argv[4:])
    code, names, bodies = ["#include <sennit/sennit.h>", "", "static long long seen[8];", "long long numbers_seen(int index);",
                           "long long numbers_seen(int index) {", "    long long number = seen[index];", "    seen[index] = 0;  /* so that no call finds that of another */",
            "    return number;", "}", ""], [], []
    for function in found.functions.values():
        numbers = numbers_of(function) if is_called(function) else []
        if numbers:
            code.append(stand_in(function, numbers))
        for kinds in itertools.product(*(KINDS[p.type] for p, _ in numbers)) if numbers else ():
            names.append(f"call_{len(names)}")
            bodies += call(found, function, numbers, kinds, names[-1])
    names.append("boxes")
    bodies += boxes()
    head = ["program numbers_test", "  use iso_c_binding", "  use checks", "  use sennit", "  implicit none", "  interface",
            "    function seen(index) bind(C, name='numbers_seen') result(number)", "      import",
            "      integer(c_int), value :: index", "      integer(c_long_long) :: number", "    end function seen",
            "  end interface", "  integer(c_int) :: status"]
    text = [*head, *(f"  call {name}()" for name in names), "  call end_of_test()", "contains", *bodies, "end program numbers_test"]
    with open(os.path.join(FOLDER, "numbers_seen.c"), "w", encoding="ascii") as file:
        file.write("\n".join(code))
    with open(os.path.join(FOLDER, "numbers_test.f90"), "w", encoding="ascii") as file:
        file.write("\n".join(line.replace(", ", ", &\n      ") if len(line) > 120 else line for line in text) + "\n")


if __name__ == "__main__":
    main()
