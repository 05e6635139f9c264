"""The Fortran types for types of C."""

# Fortran has no unsigned integers: unsigned integers of C become signed ones with the same bits.
SCALARS = {
    "int": "integer(c_int)",
    "unsigned": "integer(c_int)",
    "int32_t": "integer(c_int32_t)",
    "uint32_t": "integer(c_int32_t)",
    "int64_t": "integer(c_int64_t)",
    "uint64_t": "integer(c_int64_t)",
    "size_t": "integer(c_size_t)",
    "float": "real(c_float)",
    "double": "real(c_double)",
}


def scalar(declarations, name):
    """The type of a value: a number, an enumeration or a struct."""
    if name in declarations.constants:
        return "integer(c_int)"
    if name in declarations.structs:
        return f"type({name})"
    return SCALARS[name]
