"""Formats lines of Fortran: indents them, and breaks lines that are longer than the standard allows."""

WIDTH = 118  # 132 is the limit of the standard


def wrapped(line, indent=0):
    """The line; if it is too long, several lines with continuation marks."""
    parts, margin = [], " " * indent
    while len(margin + line) > WIDTH:
        cut = max(line.rfind(mark, 0, WIDTH - len(margin)) + len(mark) for mark in (", ", " .or. "))
        if cut <= 6:
            break
        parts.append(margin + line[:cut].rstrip() + " &")
        line, margin = line[cut:], " " * (indent + 4)
    return "\n".join([*parts, margin + line])


def block(lines, indent=0):
    return "\n".join(wrapped(line, indent) if line else "" for line in lines)


def head(what):
    """The first lines of every generated file."""
    return [f"! {line}" for line in what] + ["!", "! Made from the headers by bindings/fortran/generate.py."]


def module(name, what, uses, body):
    """A whole module, private by default."""
    lines = [*head(what), f"module {name}", *(f"  use {use}" for use in uses), "  implicit none", "  private", ""]
    return "\n".join(lines) + "\n" + body.rstrip("\n") + f"\nend module {name}\n"
