"""Lines of Fortran: indented, broken where they are longer than the standard allows."""

WIDTH = 118  # 132 is the limit of the standard


def wrapped(line, indent=0):
    """The line, in several with the mark of continuation where it is too long."""
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
    """The first lines of every file that is written here."""
    return [f"! {line}" for line in what] + ["!", "! Made from the headers by bindings/fortran/generate.py."]


def module(name, what, uses, body):
    """A whole module; nothing in it is public unless its body says so."""
    lines = [*head(what), f"module {name}", *(f"  use {use}" for use in uses), "  implicit none", "  private", ""]
    return "\n".join(lines) + "\n" + body.rstrip("\n") + f"\nend module {name}\n"
