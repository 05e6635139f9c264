"""Writes module sennit_types: the constants of the enumerations, and a derived type for each struct."""
import kinds
import lines as layout

# Initial values of components that are not 0, as in the macros SENNIT_..._NULL and _INIT.
INITIAL = {
    ("sennit_gptr", "rank"): "-1_c_int32_t",
    ("sennit_error", "peer"): "-1_c_int",
    ("sennit_signal", "rank"): "-1_c_int32_t",
    ("sennit_box", "counts"): "1_c_size_t",  # of dimensions that are not used
}
# Structs whose first component is their size in bytes.
SIZED = "struct_bytes"
ENDS = {"c_int": 4, "c_size_t": 8, "c_int64_t": 8, "c_int32_t": 4, "c_ptr": 8, "c_funptr": 8}


def component_type(declarations, member):
    if member.is_function:
        return "type(c_funptr)"
    if member.is_pointer:
        return "type(c_ptr)"
    if member.type == "char":
        return "character(kind=c_char)"
    return kinds.scalar(declarations, member.type)


def initial(declarations, struct, member):
    kind = component_type(declarations, member)
    if (struct, member.name) in INITIAL:
        return " = " + INITIAL[struct, member.name]
    if kind == "type(c_funptr)":
        return " = c_null_funptr"
    if kind == "type(c_ptr)":
        return " = c_null_ptr"
    if kind.startswith("character"):
        return " = c_null_char"
    if member.type in declarations.structs:
        return ""  # a struct has initial values of its own
    return " = 0"


def struct_bytes(declarations, members):
    """The size of a struct that has only numbers and addresses. Tests compare it with the size in C."""
    end = widest = 0
    for member in members:
        kind = component_type(declarations, member)
        size = ENDS[kind[kind.index("(") + 1:-1]]
        end = (end + size - 1) // size * size + size * max(member.length, 1)
        widest = max(widest, size)
    return (end + widest - 1) // widest * widest


def derived_type(declarations, name, members):
    lines = [f"  type, bind(C), public :: {name}"]
    for member in members:
        value = initial(declarations, name, member)
        if member.name == SIZED:
            value = f" = {struct_bytes(declarations, members)}"
        length = f"({member.length})" if member.length else ""
        lines.append(f"    {component_type(declarations, member)} :: {member.name}{length}{value}")
    return [*lines, f"  end type {name}", ""]


def write(declarations):
    lines = []
    for name, constants in declarations.constants.items():
        lines.append(f"  ! {name}")
        lines += [f"  integer(c_int), parameter, public :: {constant} = {value}" for constant, value in constants.items()]
        lines.append("")
    for name, members in declarations.structs.items():
        lines += derived_type(declarations, name, members)
    what = ["Types and constants of Sennit, as C has them: the same names, sizes and places of the components.",
            "Components that C leaves to a macro begin with the value of this macro: a gptr points to nothing, options",
            "know their size."]
    return layout.module("sennit_types", what, ["iso_c_binding"], layout.block(lines))
