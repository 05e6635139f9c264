"""Writes module sennit_calls: for each function of C a procedure of the same name, with the same arguments in the same order.

Differences from C, in the order of this file:
  stat          the status is the last argument, which is optional; without it an error ends the program with a message
  numbers       a number of 64 bits (size, timeout, epoch) is of that kind or a default integer. A generic name stands for the
                procedures of all combinations. Arrays of sizes have the kind of C, which may read them after the return of the call
  buffers       any type, kind and rank, passed by address. If C uses the buffer after the return, or if strides count from its
                first byte, it is passed by descriptor, and a buffer that is not contiguous is refused instead of copied
  sizes         a size below 0 is refused: it is usually an overflow of a product of default integers. If C stores the address for
                later, a size larger than the array is also refused
  yes or no     logical
  text          character strings; the size of an output string is its length
  atomics       a generic name for all types, besides the names with the type; Fortran has no unsigned types
Functions that return a value and no status are functions in Fortran.
"""
import itertools
import re

import interfaces
import kinds
import lines as layout

# Written by hand in sennit_more.f90.
BY_HAND = {"sennit_init", "sennit_wait_any", "sennit_error_report", "sennit_last_error", "sennit_log_set",
           "sennit_bootstrap_describe", "sennit_wait_until", "sennit_trace_note"}
UNSIGNED = re.compile(r"_u(32|64)(_|$)")
TYPED = re.compile(r"(sennit_atomic_\w+?)_([if](?:32|64))((?:_nbi?)?)$")
LOGICAL_RESULTS = {"sennit_initialized", "sennit_path_built"}
LOGICAL_OUTPUTS = {"done", "acquired", "can"}
INOUT_STRUCTS = {"sennit_request"}
# Types of numbers that programs often have as default integers. Each number has a form of the procedure with default integers and
# a form with the kind of C. Values: the suffix of the second form, and the kind of C.
WIDE = {"size_t": ("size", "c_size_t"), "int64_t": ("long", "c_int64_t"), "uint64_t": ("long", "c_int64_t")}
SMALL_SIZES = {"alignment"}  # always default integers, so that programs can write 0
MEMORY_IS_KEPT = re.compile(r"sennit_register$|sennit_plan_(put|get)(_|$)")


def is_bound(function):
    return not UNSIGNED.search(function.name)


def is_asynchronous(function):
    return function.name.endswith(("_nb", "_nbi")) or bool(MEMORY_IS_KEPT.match(function.name))


def takes_descriptors(function):
    return is_asynchronous(function) or has_strides(function)


def has_strides(function):
    return "_strided" in function.name or "_indexed" in function.name


class Writer:
    """The text of one procedure. `number_kinds`: the kinds of the numbers that have a choice."""

    def __init__(self, declarations, function, suffix="", number_kinds=()):
        self.declarations = declarations
        self.function = function
        self.name = function.name + suffix
        self.kinds = dict(number_kinds)
        self.dummies = []     # names
        self.declared = []    # lines: dummies
        self.local = []       # lines: variables of the procedure
        self.arguments = []   # arguments of the call of C
        self.before = []      # lines
        self.after = []       # lines
        self.whole = []       # names of buffers that must be contiguous
        self.sizes = []       # names of sizes that must not be negative
        self.room = ""        # name of the array that must not be shorter than `bytes`
        self.is_collective = any(p.type == "sennit_team" for p in function.parameters)
        skip = False
        for parameter in function.parameters:
            if skip:
                skip = False
            else:
                skip = self.add(parameter)

    def dummy(self, name, line):
        self.dummies.append(name)
        self.declared.append(line)

    def add(self, parameter):
        """Adds a parameter. Returns True if this also handled the next parameter."""
        name, kind = parameter.name, parameter.type
        if parameter.is_pointer and kind == "char":
            return self.add_text(parameter)
        if parameter.is_pointer and kind == "void":
            self.add_buffer(parameter)
        elif kind == "size_t":
            self.add_size(parameter)
        elif self.kinds.get(name) == "c_int":
            self.dummy(name, f"integer(c_int), value :: {name}")
            self.arguments.append(f"int({name}, {WIDE[kind][1]})")
        elif parameter.is_pointer and kind == "int" and name in LOGICAL_OUTPUTS:
            self.dummy(name, f"logical, intent(inout) :: {name}")
            self.add_changed(name, "integer(c_int)", f"{name} = c_{name} /= 0")
        else:
            self.add_plain(parameter)
        return False

    def add_text(self, parameter):
        name = parameter.name
        if parameter.is_const:
            raise SystemExit(f"{self.function.name}: a text that C keeps is written by hand: {name}")
        self.dummy(name, f"character(*), intent(inout) :: {name}")
        self.local.append(f"character(kind=c_char), target :: c_{name}(len({name}) + 1)")
        self.before.append(f"c_{name}(1) = c_null_char")
        self.arguments += [f"c_loc(c_{name})", f"size(c_{name}, kind=c_size_t)"]
        self.after.append(f"if (c_status == SENNIT_OK) {name} = sennit_string(c_{name})")
        return True

    def add_buffer(self, parameter):
        name = parameter.name
        intent = "in" if parameter.is_const else "inout"
        if takes_descriptors(self.function):
            later = ", asynchronous" if is_asynchronous(self.function) else ""
            self.dummy(name, f"type(*), dimension(..), intent({intent}), target{later} :: {name}")
            self.whole.append(name)
            if MEMORY_IS_KEPT.match(self.function.name) and not has_strides(self.function):
                self.room = name
        else:
            # Any type, kind and rank, passed by address. The standard has this only for arrays; the directives allow scalars.
            self.dummy(name, f"type(*), dimension(*), intent({intent}), target :: {name}")
            self.declared.append(f"!GCC$ attributes no_arg_check :: {name}")
            self.declared.append(f"!DIR$ ignore_tkr {name}")
        self.arguments.append(f"sennit_place(c_loc({name}))" if self.is_collective else f"c_loc({name})")

    def add_size(self, parameter):
        name = parameter.name
        kind = "c_int" if name in SMALL_SIZES else self.kinds.get(name, "c_size_t")
        if not parameter.is_pointer:
            self.dummy(name, f"integer({kind}), value :: {name}")
            self.sizes.append(name)
            self.arguments.append(name if kind == "c_size_t" else f"int({name}, c_size_t)")
        elif parameter.is_array and is_asynchronous(self.function):
            self.dummy(name, f"integer(c_size_t), intent(in), target, asynchronous :: {name}(:)")
            self.whole.append(name)
            self.arguments.append(f"c_loc({name})")
        elif parameter.is_array:
            self.dummy(name, f"integer(c_size_t), intent(in), target :: {name}(*)")
            self.arguments.append(f"c_loc({name})")
        else:
            self.dummy(name, f"integer({kind}), intent(inout) :: {name}")
            self.add_changed(name, "integer(c_size_t)", f"{name} = int(c_{name}, {kind})")

    def add_changed(self, name, kind, assignment):
        """An output that has another form in C. It is assigned only if C has written it."""
        self.local.append(f"{kind} :: c_{name}")
        self.before.append(f"c_{name} = -1")
        self.arguments.append(f"c_{name}")
        self.after.append(f"if (c_{name} /= -1) {assignment}")

    def add_plain(self, parameter):
        line = interfaces.declaration(self.declarations, self.function, parameter)
        if not parameter.is_pointer and parameter.type in self.declarations.structs:
            line = f"type({parameter.type}), intent(in) :: {parameter.name}"
        if (is_asynchronous(self.function) and parameter.is_pointer and not parameter.is_const
                and parameter.type not in INOUT_STRUCTS):
            line = line.replace(" :: ", ", target, asynchronous :: ")
        self.dummy(parameter.name, line)
        self.arguments.append(parameter.name)

    def subroutine(self):
        call = f"c_{self.function.name}({', '.join(self.arguments)})"
        lines = [
            f"  subroutine {self.name}({', '.join([*self.dummies, 'stat'])})",
            *(f"    {line}" for line in self.declared),
            "    integer(c_int), optional, intent(out) :: stat",
            *(f"    {line}" for line in self.local),
            "    integer(c_int) :: c_status",
        ]
        if self.whole or self.sizes:
            length = len(self.function.name) + 1
            lines += [f"    character(kind=c_char, len={length}), save, target :: c_operation = &",
                      f"        c_char_'{self.function.name}' // c_null_char", "    type(c_ptr) :: c_name"]
        if self.room:
            lines += ["    integer(c_size_t) :: c_room"]
        if self.whole:
            lines += ["    logical :: c_is_whole", "    c_is_whole = .true."]
        if self.room:
            lines += [f"    c_room = sennit_room({self.room})"]
        lines += [f"    {line}" for line in self.before]
        for name in self.whole:  # tested in this order, because most buffers are one element or contiguous
            lines += [f"    if (rank({name}) > 0) then",
                      f"      if (.not. is_contiguous({name})) c_is_whole = c_is_whole .and. size({name}) <= 1", "    end if"]
        lines += self.refusals(call)
        lines += [f"    {line}" for line in self.after]
        return [*lines, "    if (present(stat)) then", "      stat = c_status", "    else if (c_status /= SENNIT_OK) then",
                "      call sennit_stop()", "    end if", f"  end subroutine {self.name}", ""]

    def refusals(self, call):
        """The call of C, after the checks that refuse arguments without the call."""
        refused = [(f"{name} < 0", f"sennit_refuse_size(c_name, '{name}', int({name}, c_int64_t))") for name in self.sizes]
        if self.whole:
            why = "sennit_refuse_box" if has_strides(self.function) else "sennit_refuse"
            refused.append((".not. c_is_whole", f"{why}(c_name)"))
        if self.room:
            refused.append(("c_room >= 0 .and. bytes > c_room", "sennit_refuse_room(c_name, int(bytes, c_int64_t), c_room)"))
        if not refused:
            return [f"    c_status = {call}"]
        lines = []
        for number, (wrong, status) in enumerate(refused):
            # c_loc() must not be the argument: gfortran 12 would pass the length of its text as that of the next argument.
            lines += [f"    {'else ' if number else ''}if ({wrong}) then", "      c_name = c_loc(c_operation)",
                      f"      c_status = {status}"]
        return [*lines, "    else", f"      c_status = {call}", "    end if"]

    def as_function(self):
        call = f"c_{self.function.name}({', '.join(self.arguments)})"
        kind, value = interfaces.result(self.declarations, self.function), call
        if self.function.result == "const char*":
            kind, value = "character(:), allocatable", f"sennit_string({call})"
        elif self.function.name in LOGICAL_RESULTS:
            kind, value = "logical", f"{call} /= 0"
        return [f"  function {self.name}({', '.join(self.dummies)}) result(c_result)",
                *(f"    {line}" for line in self.declared), f"    {kind} :: c_result",
                f"    c_result = {value}", f"  end function {self.name}", ""]


def numbers(function):
    """Parameters that may be of several kinds: numbers of 64 bits by value, except the size of a text, which Fortran knows; and
    sizes that are outputs."""
    texts = {index + 1 for index, p in enumerate(function.parameters) if p.is_pointer and p.type == "char"}
    wide = [p for index, p in enumerate(function.parameters)
            if p.type in WIDE and p.name not in SMALL_SIZES and index not in texts]
    if TYPED.match(function.name) or all(p.is_pointer for p in wide):
        return []
    return [p for p in wide if not p.is_pointer or p.type == "size_t" and not p.is_array]


def variants(function):
    """(suffix, kinds by name) for each combination; none if no number has a choice."""
    choices = [[(p.name, ("int", "c_int")), (p.name, WIDE[p.type])] for p in numbers(function)]
    for chosen in itertools.product(*choices) if choices else ():
        yield "".join(f"_{suffix}" for _, (suffix, _) in chosen), {name: kind for name, (_, kind) in chosen}


BOX = ("element_bytes", "count", "remote_stride", "local_stride")


def boxes():
    """(names, lines) of sennit_box_line for each combination of kinds. The form with the kinds of C is in sennit_more.f90."""
    names, lines = [], []
    for kinds_of_one in itertools.product(("int", "long"), repeat=len(BOX)):
        if "int" in kinds_of_one:
            names.append("box_line_" + "_".join(kinds_of_one))
            lines += [f"  elemental function {names[-1]}({', '.join(BOX)}) result(box)",
                      *(f"    integer({'c_int' if kind == 'int' else 'c_int64_t'}), intent(in) :: {name}"
                        for name, kind in zip(BOX, kinds_of_one)),
                      "    type(sennit_box) :: box", "    box%element_bytes = element_bytes", "    box%counts(1) = count",
                      "    box%remote_strides(1) = remote_stride", "    box%local_strides(1) = local_stride",
                      f"  end function {names[-1]}", ""]
    return names, lines


def write(declarations):
    functions = [function for function in declarations.functions.values() if is_bound(function)]
    names, generics, bodies = [], {}, []
    for function in functions:
        if function.name in BY_HAND:
            continue
        bodies += [f"  ! {line}" for line in cut(function.text)]
        if function.result != "sennit_status":
            bodies += Writer(declarations, function).as_function()
            names.append(function.name)
        elif numbers(function):
            for suffix, number_kinds in variants(function):
                bodies += Writer(declarations, function, suffix, number_kinds).subroutine()
                generics.setdefault(function.name, []).append(function.name + suffix)
        else:
            bodies += Writer(declarations, function).subroutine()
            names.append(function.name)
            typed = TYPED.match(function.name)
            if typed and not typed[1].endswith("_inc") or typed and typed[1].endswith("fetch_inc"):
                generics.setdefault(typed[1] + typed[3], []).append(function.name)
    if "sennit_box" in declarations.structs:
        generics["sennit_box_line"], of_boxes = boxes()
        bodies += of_boxes
    lines = []
    for name, specifics in generics.items():
        lines += [f"  interface {name}", f"    module procedure {', '.join(specifics)}", f"  end interface {name}"]
    lines += [f"  public :: {name}" for name in sorted({*names, *generics})]
    what = ["The calls of Sennit: names and arguments are those of C, and the headers say what each does; then stat.",
            "See docs/manual/fortran.md."]
    body = layout.block([*lines, "", "contains", "", *bodies])
    return functions, layout.module("sennit_calls", what,
                                  ["iso_c_binding", "sennit_types", "sennit_c", "sennit_text"], body)


def cut(line):
    """Cuts a declaration of C into pieces that fit into a comment."""
    pieces = []
    while len(line) > layout.WIDTH - 8:
        end = line.rfind(" ", 0, layout.WIDTH - 8)
        pieces.append(line[:end])
        line = "    " + line[end + 1:]
    return [*pieces, line]
