"""The code that `sennit report` and the pages of docs/results share: texts of numbers, tables, and writing or checking a page."""
import os
import re
import sys

from runs import ROOT


def text_of_us(value):
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def three_digits(value):
    return f"{value:.3f}" if value < 1 else text_of_us(value)


def time_text(nanoseconds):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= size:
            return f"{text_of_us(nanoseconds / size)} {unit}"
    return f"{nanoseconds:.1f} ns" if nanoseconds < 100 else f"{nanoseconds:.0f} ns"


def text_of_bytes(count):
    for unit, size in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size:
            return f"{count // size} {unit}"
    return f"{count} B"


def machine_of(*heads, commands=True):
    """Place, time and method (--realtime is in the command): one text for measurements of one day on one machine."""
    first = heads[0]
    if any((one["machine"], one["date"]) != (first["machine"], first["date"]) for one in heads):
        return "\n\n".join(machine_of(one, commands=commands) for one in heads)
    machine, loads = first["machine"], " and ".join(str(one["load"]) for one in heads)
    lines = "".join(f"\n    {one['command']}" for one in heads) if commands else ""
    return f"{first['date']}: {machine['processor']}, {machine['cores']} processors, {machine['system']}; load {loads}." + (f"\n{lines}" if lines else "")


def table(names, rows):
    """A table of texts."""
    return "\n".join([f"| {' | '.join(names)} |", "|" + "---|" * len(names), *(f"| {' | '.join(row)} |" for row in rows)])


def together(lines, names):
    """Joins lines of a table into one line if their first cells differ only in one of these names, such as those of the MPIs.
    Their cells follow in the order of the names."""
    found = {}
    for first, *cells in lines:
        name = next((name for name in names if name in first), None)
        found.setdefault(first if name is None else first.replace(name, "MPI"), {})[name] = [first, *cells]
    for text, mine in found.items():
        if len(mine) < 2:
            yield from mine.values()
        else:
            columns = zip(*(mine[name][1:] for name in names if name in mine))
            yield [text, *(", ".join(each) for each in columns)]


def span(values, form):
    low, high = form(min(values)), form(max(values))
    return low if low == high else f"{low} to {high}"


def folder_of(*place):
    """The folder that the command names, else that of docs/results."""
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    return words[0] if words else os.path.join(ROOT, "docs", "results", *place)


def machine_once(text):
    """If all sections name the same day and machine, names them once before the first section, and leaves only the load in each."""
    named = re.compile(r"(\d{4}-\d\d-\d\d: [^;\n]+); load (?=\d)")
    found = set(named.findall(text))
    if len(found) != 1 or len(named.findall(text)) < 2 or "\n## " not in text:
        return text
    before, after = text.split("\n## ", 1)
    date, machine = found.pop().split(": ", 1)
    return f"{before}\nMeasured on {date}: {machine}. *Load*: `/proc/loadavg` at the start.\n\n## {named.sub('Load ', after)}"


def write_or_check(path, text, script):
    """Writes the page; with --check in the command compares it instead. Returns the exit status."""
    text = machine_once(text)
    if "--check" in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            if file.read() == text:
                return 0
        print(f"{path} is not what {script} makes of the files beside it; run it without --check")
        return 1
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    print(path)
    return 0
