"""Writes module sennit_pointers: sennit_pointer, which makes an array pointer to memory, and sennit_bytes, the size of a variable
or array.

sennit_pointer exists for each type, kind and rank up to 7, for a global pointer or a plain address, and for a shape in default or
64-bit integers. Rank 0 is a scalar and has no shape.
"""
import lines as layout

# The kinds of the installed sources: those that every compiler of Fortran 2018 with C's types has.
PORTABLE = ("integer:c_int8_t", "integer:c_int16_t", "integer:c_int32_t", "integer:c_int64_t", "real:c_float", "real:c_double",
            "complex:c_float", "complex:c_double", "logical:c_bool", "logical:kind(.true.)", "character:c_char")
RANKS = range(0, 8)
SOURCES = (("gptr", "type(sennit_gptr), intent(in)"), ("address", "type(c_ptr), value"))
SHAPES = (("int", "c_int"), ("long", "c_int64_t"))


def type_of(kind):
    name, value = kind.split(":")
    return f"character(kind={value})" if name == "character" else f"{name}({value})"


def label(kind):
    return "".join(letter if letter.isalnum() else "_" for letter in kind).strip("_")


def procedure(kind, rank, source, shape):
    """The name and the lines of one procedure."""
    name = f"pointer_{label(kind)}_{rank}_{source[0]}" + (f"_{shape[0]}" if shape else "")
    place = f"({', '.join(':' * rank)})" if rank else ""
    dummies = ["place", "array", *(["shape", "lower"] if rank else []), "stat"]
    lines = [f"  subroutine {name}({', '.join(dummies)})", f"    {source[1]} :: place",
             f"    {type_of(kind)}, pointer, intent(inout) :: array{place}"]
    if rank:
        lines += [f"    integer({shape[1]}), intent(in) :: shape(:)",
                  f"    integer({shape[1]}), optional, intent(in) :: lower(:)",
                  f"    {type_of(kind)}, pointer, contiguous :: found{place}"]
    extents = "int(shape, c_int64_t)" if rank else "[integer(c_int64_t) ::]"
    lines += ["    integer(c_int), optional, intent(out) :: stat", "    type(c_ptr) :: address", "    integer :: bounds",
              f"    bounds = {rank}", *(["    if (present(lower)) bounds = size(lower)"] if rank else []),
              f"    address = sennit_address_of(place, {extents}, [{rank}, bounds], storage_size(array, kind=c_int64_t) / 8, stat)",
              "    if (.not. c_associated(address)) return"]
    if not rank:
        lines.append("    call c_f_pointer(address, array)")
    else:
        bounds = ", ".join(f"lower({i}):" for i in range(1, rank + 1))
        lines += ["    call c_f_pointer(address, found, shape)", "    if (present(lower)) then",
                  f"      array({bounds}) => found", "    else", "      array => found", "    end if"]
    return name, [*lines, f"  end subroutine {name}", ""]


def size_of(kind):
    """sennit_bytes for one kind and any rank. Not class(*) for all kinds: in gfortran 12 a text of any length then has one byte."""
    name = f"bytes_{label(kind)}"
    declared = type_of(kind).replace("(kind=", "(len=*, kind=") if kind.startswith("character") else type_of(kind)
    return name, [f"  pure function {name}(array) result(bytes)", f"    {declared}, intent(in) :: array(..)",
                  "    integer(c_size_t) :: bytes",
                  "    bytes = size(array, kind=c_size_t) * (storage_size(array, kind=c_size_t) / 8)",
                  f"  end function {name}", ""]


def write(given):
    names, bodies, sizes = [], [], []
    for kind in given:
        name, lines = size_of(kind)
        sizes.append(name)
        bodies += lines
        for rank in RANKS:
            for source in SOURCES:
                for shape in SHAPES if rank else (None,):
                    name, lines = procedure(kind, rank, source, shape)
                    names.append(name)
                    bodies += lines
    lines = ["  interface sennit_pointer", *(f"    module procedure {name}" for name in names),
             "  end interface sennit_pointer", "  public :: sennit_pointer", "  interface sennit_bytes",
             *(f"    module procedure {name}" for name in sizes), "  end interface sennit_bytes", "  public :: sennit_bytes", "", "contains", ""]
    what = ["sennit_pointer: array pointers to memory of Sennit, for every kind that this compiler has and rank 0 to 7;",
            "sennit_bytes: how many bytes a variable or array has."]
    return layout.module("sennit_pointers", what, ["iso_c_binding", "sennit_types", "sennit_c", "sennit_text"],
                       layout.block([*lines, *bodies]))
