"""The Fortran signature of a function of C, as module sennit has it.

    signatures(header, item)   lines, [] where Fortran has no such calls
Called by markdown.py and man.py. The rules are those by which the module itself is made (bindings/fortran/generator/calls.py); what is
written by hand is read from its source.
"""
import functools
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "bindings", "fortran", "generator"))
import calls  # noqa: E402
import declarations  # noqa: E402

BY_HAND = os.path.join(ROOT, "bindings", "fortran", "sennit_more.f90")
INCLUDE = os.path.join(ROOT, "include", "sennit")
MANY = 12  # functions of a table, of which those of 64 bits stand for all
STAT = "integer(c_int), optional, intent(out) :: stat"


class Known:
    """The types of the headers, by name; all that the rules ask for."""

    def __init__(self):
        text = ""
        for name in sorted(os.listdir(INCLUDE)):
            if name.endswith(".h"):
                with open(os.path.join(INCLUDE, name), encoding="utf-8") as file:
                    text += file.read()
        self.constants = dict.fromkeys(re.findall(r"typedef enum (?:SENNIT_CHECKED )?(sennit_\w+)", text))
        self.structs = dict.fromkeys(re.findall(r"typedef struct (sennit_\w+)", text))


known = functools.cache(Known)


@functools.cache
def by_hand(name):
    """Of a generic name the procedure with the kinds of C."""
    with open(BY_HAND, encoding="utf-8") as file:
        text = file.read()
    names = "|".join(f"{name.removeprefix('sennit_')}_{kinds}" for kinds in ("size_long", "long", "size"))
    found = re.search(rf"^  ((?:elemental )?(?:subroutine|function) (?:{name}|{names})\(.*?)^  end ", text, re.DOTALL | re.MULTILINE)
    if not found:
        return []
    head, *lines = found[1].split("\n")
    head = re.sub(rf"\b(?:{names})\(", f"{name}(", head)
    dummies = re.findall(r"\w+", re.search(r"\((.*?)\)", head)[1]) + re.findall(r"result\((\w+)\)", head)
    declared = re.compile(r":: *(?:\w+, )*(?:" + "|".join(dummies) + r")\b")
    return [head, *(f"  {shown(line.strip())}" for line in lines if declared.search(line))]


def shown(line):
    """A declaration as a caller needs it."""
    line = re.sub(r"type\(\*\), dimension\(\S+\), (intent\(\w+\), )?target(, asynchronous)? :: (\w+)",
                  lambda m: f"type(*), dimension(..), {m[1] or ''}{'asynchronous ' if m[2] else ''}:: {m[3]}", line)
    line = re.sub(r", ?(intent\(\w+\)) ?(asynchronous)? ::", r", \1, \2 ::", line) if "asynchronous ::" in line else line
    line = line.replace(",  ::", " ::").replace(", ::", " ::").replace(", target", "")
    return line


def signature(c):
    match = declarations.FUNCTION.match(c.rstrip(";").strip())
    if not match:
        return []
    function = declarations.function_in(c.rstrip(";").strip())
    if not calls.is_bound(function):
        return []
    own = by_hand(function.name)
    if own:
        return own
    if any(p.type not in known().structs and p.type.startswith(("sennit_", "MPI_")) and p.type not in known().constants
           for p in function.parameters):
        return []
    kinds = [(p.name, calls.WIDE[p.type][1]) for p in calls.numbers(function)]
    writer = calls.Writer(known(), function, "", kinds)
    declared = [shown(line) for line in writer.declared if not line.startswith("!")]
    if function.result == "sennit_status":
        return [f"subroutine {function.name}({', '.join([*writer.dummies, 'stat'])})", *(f"  {line}" for line in declared)]
    text = writer.as_function()
    head = text[0].strip().replace("c_result", "value")
    last = next(line.strip() for line in text if line.strip().endswith(":: c_result")).replace("c_result", "value")
    return [head, *(f"  {line}" for line in [*declared, last])]


def signatures(header, item):
    """Those of an item, one behind the other, without `stat`, dummies of one kind on one line; a dummy that is declared as in the call
    above is not declared again. The headers for MPI have modules of their own, which their pages name."""
    if header.name.startswith("sennit_"):
        return []
    functions = item.signatures.items()
    if len(functions) > MANY:
        functions = [(name, c) for name, c in functions if re.search(r"_i64(_|$)", name)]
    lines, last = [], {}
    for _, c in sorted(functions, key=lambda function: "_get" in function[0]):  # puts and gets differ most
        head, *declared = signature(c) or [""]
        kinds = {}  # what stands before `::`: the dummies of that kind
        for kind, name in (line.split(" :: ") for line in declared if line.strip() != STAT):
            if last.get(name) != kind:
                kinds.setdefault(kind, []).append(name)
            last[name] = kind
        lines += [*filter(None, [head]), *(f"{kind} :: {', '.join(names)}" for kind, names in kinds.items())]
    return lines
