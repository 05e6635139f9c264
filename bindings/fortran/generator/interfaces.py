"""Writes module sennit_c: an interface for each function of C, for the other modules. Programs use module sennit."""
import kinds
import lines as layout

# Arguments that may be NULL in C and are not buffers: (function, parameter). In Fortran they are optional.
OPTIONAL = {
    ("sennit_init", "options"),
    ("sennit_team_grid", "periodic"),
    ("sennit_team_grid_shape", "dims"),
    ("sennit_team_grid_shape", "periodic"),
    ("sennit_scatterv", "source"),
    ("sennit_scatterv_nb", "source"),
    ("sennit_gatherv", "destination"),
    ("sennit_gatherv_nb", "destination"),
    ("sennit_alltoallv", "source"),
    ("sennit_alltoallv_nb", "source"),
    *((f"sennit_{way}_{shape}{ending}", "notice") for way in ("put", "get") for shape in ("notify_strided", "notify_indexed")
      for ending in ("", "_nb")),
    *((f"sennit_plan_{way}_{shape}", "notice") for way in ("put", "get") for shape in ("strided", "indexed")),
}
CALLBACKS = {"sennit_log_function", "sennit_combine", "sennit_condition"}


def is_address(parameter):
    """Whether the argument is passed as an address, and not as a variable of its type."""
    return parameter.is_pointer and (parameter.type in ("void", "char")
                                     or parameter.type == "size_t" and parameter.is_array and parameter.is_const)


def declaration(declarations, function, parameter):
    name = parameter.name
    if parameter.type in CALLBACKS:
        return f"type(c_funptr), value :: {name}"
    if is_address(parameter):
        return f"type(c_ptr), value :: {name}"
    if parameter.type == "pointer":
        return f"type(c_ptr), intent(inout) :: {name}(*)"
    kind = kinds.scalar(declarations, parameter.type)
    if not parameter.is_pointer:
        return f"{kind}, value :: {name}"
    intent = "in" if parameter.is_const else "inout"
    optional = ", optional" if (function.name, name) in OPTIONAL else ""
    return f"{kind}, intent({intent}){optional} :: {name}{'(*)' if parameter.is_array else ''}"


def result(declarations, function):
    if function.result.endswith("*"):
        return "type(c_ptr)"
    return kinds.scalar(declarations, function.result)


def interface(declarations, function):
    names = ", ".join(parameter.name for parameter in function.parameters)
    return [
        f"    function c_{function.name}({names}) bind(C, name=\"{function.name}\") result(c_result)",
        "      import",
        *(f"      {declaration(declarations, function, parameter)}" for parameter in function.parameters),
        f"      {result(declarations, function)} :: c_result",
        f"    end function c_{function.name}",
    ]


def write(declarations, functions):
    lines = ["  interface"]
    for function in functions:
        lines += interface(declarations, function)
    lines.append("  end interface")
    lines += [f"  public :: c_{function.name}" for function in functions]
    return layout.module("sennit_c", ["The functions of Sennit as C has them, for the other modules of this binding."],
                       ["iso_c_binding", "sennit_types"], layout.block(lines))
