"""Reads the help texts of the command `sennit`, the only source of its reference.

Called by tools/make-reference and tools/make-man.

    read_commands(sennit)   Command: the program, with all subcommands
"""
import re
import subprocess
from dataclasses import dataclass, field

TEXT_COLUMN = 30  # where the description of an option begins
LONGEST_TITLE = 30


@dataclass
class Section:
    """Text below the options. Without a title, indented lines are commands or a table."""
    title: str
    lines: list


@dataclass
class Command:
    words: list        # ["sennit", "bench", "put"]
    summary: str
    usage: str
    options: list      # [(names and values, description)]; text without names comes first
    sections: list
    commands: list = field(default_factory=list)


def help_of(sennit, words):
    return subprocess.run([sennit, *words, "--help"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=20, check=True).stdout


def rows_of(lines):
    """[(left, right)] of a list in two columns; a description may begin on the next line."""
    rows = []
    for line in lines:
        left, right = line[:TEXT_COLUMN], line[TEXT_COLUMN:]
        if line.startswith(" " * TEXT_COLUMN):
            rows[-1] = (rows[-1][0], (rows[-1][1] + " " + right.strip()).strip())
        elif left.endswith(" ") or not right:
            rows.append((left.strip(), right.strip()))
        else:  # the names are longer than the column
            rows.append((line.strip(), ""))
    return rows


def sections_of(lines):
    """The sections below the options: a short line at the margin with indented lines directly below it is a title."""
    sections = []
    for index, line in enumerate(lines):
        following = lines[index + 1] if index + 1 < len(lines) else ""
        is_at_margin = bool(line) and not line.startswith(" ")
        if is_at_margin and following.startswith("  ") and len(line) <= LONGEST_TITLE:
            sections.append(Section(line, []))
        elif is_at_margin and (not sections or sections[-1].title):
            sections.append(Section("", [line]))
        elif sections:  # lines of a titled section lose their common indentation
            sections[-1].lines.append(line[2:] if sections[-1].title else line)
    for section in sections:
        while section.lines and not section.lines[-1]:
            section.lines.pop()
    return [section for section in sections if section.lines]


def read_command(sennit, words):
    lines = help_of(sennit, words).rstrip("\n").split("\n")
    usage = next(line for line in lines if line.startswith("Usage: "))
    blocks = {}  # title: its lines
    position = lines.index(usage) + 1
    while position < len(lines):
        title = re.fullmatch(r"(Positionals|Options|Subcommands):", lines[position])
        if title:
            end = lines.index("", position) if "" in lines[position:] else len(lines)
            blocks[title[1]] = lines[position + 1:end]
            position = end
        elif lines[position]:
            break
        position += 1
    command = Command(["sennit", *words], lines[0].strip() or lines[1].strip(), usage.removeprefix("Usage: "),
                      rows_of(blocks.get("Positionals", []) + blocks.get("Options", [])), sections_of(lines[position:]))
    for name, _ in rows_of(blocks.get("Subcommands", [])):
        command.commands.append(read_command(sennit, [*words, name]))
    return command


def read_commands(sennit):
    return read_command(sennit, [])
