"""The Fortran signatures of C functions, in module sennit or a module for MPI.

    signatures(header, item)   lines; [] if Fortran has no such calls
    page_signatures(header)    the same for all calls of a header
    only_in_fortran()          the same for procedures without a C counterpart
Called by markdown.py and man.py. Signatures follow the rules of bindings/fortran/generator/calls.py, which makes the
module; those of procedures written by hand are read from their source.
"""
import functools
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "bindings", "fortran", "generator"))
import calls  # noqa: E402
import declarations  # noqa: E402
import pointers  # noqa: E402

BY_HAND = os.path.join(ROOT, "bindings", "fortran", "sennit_more.f90")
OF_MPI = os.path.join(ROOT, "bindings", "fortran", "mpi")
INCLUDE = os.path.join(ROOT, "include", "sennit")
MANY = 12  # a table with more functions shows those of 64 bits only
STAT = "integer(c_int), optional, intent(out) :: stat"


class Known:
    """The types of the headers, by name; the rules need nothing else."""

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
    """The procedure of a generic name with the kinds of C."""
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


@functools.cache
def of_module(module):
    """{name: signature} of a module for MPI: for a generic name the procedure with the handles of mpi_f08 and the kinds of C."""
    text = ""
    for name in (f"{module}.f90", f"{module}_calls.f90"):
        if os.path.exists(os.path.join(OF_MPI, name)):
            with open(os.path.join(OF_MPI, name), encoding="utf-8") as file:
                text += re.sub(r" *&\n *", " ", file.read())
    generic = {name: next(one for one in re.split(r",\s*", specifics) if not one.endswith("_int")) for name, specifics in
               re.findall(r"^  interface (\w+)\n    (?:module )?procedure (?::: )?(.*)$", text, re.MULTILINE)}
    bodies = {name: (head, lines.split("\n")) for head, name, lines in
              re.findall(r"^  ((?:subroutine|function) (\w+)\(.*)\n((?:    .*\n)*)", text, re.MULTILINE)}
    names = {name for line in re.findall(r"^  public :: (.*)$", text, re.MULTILINE) for name in re.split(r",\s*", line)}
    return {name: of_procedure(name, *bodies[generic.get(name, name)]) for name in names if generic.get(name, name) in bodies}


def of_procedure(name, head, lines):
    """The head with the name that programs use, and a declaration for each dummy in the lines."""
    head = re.sub(r" \w+\(", f" {name}(", head, count=1)
    dummies = re.findall(r"\w+", re.search(r"\((.*?)\)", head)[1]) + re.findall(r"result\((\w+)\)", head)
    declared = {}
    for kind, variables in (line.strip().split(" :: ", 1) for line in lines if " :: " in line):
        for variable in re.split(r", (?![^(]*\))", variables):
            declared[variable.split("(")[0]] = "  " + shown(f"{kind} :: {variable}".replace("(mpi_kind)", ""))
    return [head, *(declared[dummy] for dummy in dummies)]


def of_pointer():
    """sennit_pointer for one type, rank and kind of shape."""
    _, lines = pointers.procedure("real:c_double", 1, pointers.SOURCES[0], pointers.SHAPES[1])
    notes = {"place": "or type(c_ptr), value", "array": "any intrinsic type and kind, rank 0 to 7",
             "shape": "or integer(c_int); a scalar has no shape and no lower"}
    head, *declared = of_procedure("sennit_pointer", lines[0].strip(), lines[1:])
    names = [re.search(r":: (\w+)", line)[1] for line in declared]
    return [head, *(f"{line}  ! {notes[name]}" if name in notes else line for name, line in zip(names, declared))]


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


def module_of(header):
    """The module that has the calls of a header."""
    return header.name.removesuffix(".h") if header.name.startswith("sennit_") else "sennit"


def declarations_of(header, name, c):
    """The head, and [(kind, dummy)] of its declarations without `stat`; "" and [] if Fortran has no such call."""
    procedures = of_module(module_of(header)) if header.name.startswith("sennit_") else None
    head, *declared = (signature(c) if procedures is None else procedures.get(name.removesuffix("_c"))) or [""]
    lines = [line.split(" :: ") for line in declared if line.strip() != STAT]
    return head, [(kind, dummy) for kind, dummies in lines for dummy in re.split(r", (?![^(]*\))", dummies)]


def shown_functions(item):
    """For a table only the functions of 64 bits; puts before gets, because these differ most."""
    functions = item.signatures.items()
    if len(functions) > MANY:
        functions = [(name, c) for name, c in functions if re.search(r"_i64(_|$)", name)]
    return sorted(functions, key=lambda function: "_get" in function[0])


def joined(header, functions):
    """Signatures one after another, dummies of one kind on one line. A dummy is not declared again if its kind is the same as
    before."""
    lines, last = [], {}
    for name, c in functions:
        head, declared = declarations_of(header, name, c)
        kinds = {}  # text before `::`: the dummies of that kind
        for kind, dummy in declared:
            if last.get(dummy) != kind:
                kinds.setdefault(kind, []).append(dummy)
            last[dummy] = kind
        lines += [*filter(None, [head]), *(f"{kind} :: {', '.join(names)}" for kind, names in kinds.items())]
        if name == "sennit_ptr":
            lines += [line for line in of_pointer() if line.strip() != STAT]
    return lines


def signatures(header, item):
    """The signatures of an item. The headers for MPI have their own modules, with the header's name."""
    return joined(header, shown_functions(item))


def page_signatures(header):
    """The signatures of a header: calls with the same declarations together."""
    return joined(header, sorted((function for item in header.items for function in shown_functions(item)),
                                 key=lambda function: ("_get" in function[0], function[0].endswith(("_nb", "_nbi")))))


def only_in_fortran():
    names = ("sennit_region_check", "sennit_vbuffer_of", "sennit_channel_ends_of", "sennit_channel_ahead", "sennit_last_error_text")
    array = "(..)  ! any intrinsic type and kind; derived types: c_sizeof or storage_size"
    _, (_, size, *_) = pointers.size_of("real:c_double")
    lines = ["function sennit_bytes(array) result(bytes)", size.replace("(..)", array)[2:], "  integer(c_size_t) :: bytes"]
    for name in names:
        lines += [line for line in by_hand(name) if line.strip() != STAT]
    return [*lines, "function sennit_string(address) result(text)",
            "  type(c_ptr), value :: address  ! or character(kind=c_char), intent(in) :: letters(:)", "  character(:), allocatable :: text"]
