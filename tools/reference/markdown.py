"""Writes pages of the manual from the results of headers.py, help.py and knobs.py. Called by tools/make-reference.

Each function returns the text of one page. The first line of a page names its source.
"""
import dataclasses
import os
import re
import textwrap

from reference import fortran
from reference.knobs import KNOB_FILE, KNOB_FILE_EXAMPLE

MADE = "<!-- Made by tools/make-reference from {}: change it there. -->\n"
# Words of a comment that are code: names of the interface, the short suffixes, and names with an underscore.
NAME = re.compile(r"`[^`]*`|<\w+\.h>|\bsennit/\w+\.h\b|\b(?:sennit|SENNIT|MPI)_\w+(?:\(\)|\.h\b)?|(?<!\w)_nbi?\b|"
                  r"(?<![\w.])\w+\.h\b|\*\w+\b|\b[a-z]+_[a-z_]+\b|\{0(?:, 0)?\}|\b[a-z]+\[[^\]\n]+\]")
ERRORS = re.compile(r"(?:^|\s+)(Errors(?: [a-z]+)*:\s)(?=\S)")
MANY_COMMANDS = 4  # with so many subcommands, all share one table of options
# In a large family of functions, links do not lead to these types.
OTHER_TYPES = re.compile(r"_(?:i32|u32|u64|f32)(?:_|$)")


def escaped(text):
    return re.sub(r"([\\*_\[\]<>|])", r"\\\1", text)


def linked(name, places, page):
    """A name in backticks; a link where a page describes it."""
    bare = name.strip("`").removesuffix("()")
    place = places.get(bare)
    if place is None:
        return "`" + name.strip("`") + "`"
    return f"[`{name.strip('`')}`]({'' if place == page else place}#{bare})"


def inline(text, places, page):
    """A paragraph of a comment as Markdown."""
    out, end = [], 0
    for match in NAME.finditer(text):
        out += [escaped(text[end:match.start()]), linked(match.group(), places, page)]
        end = match.end()
    return "".join(out) + escaped(text[end:])


def paragraphs(comment, places, page):
    """A comment as Markdown. Indented lines are a table of their own and stay as they are."""
    blocks, block = [], []
    for line in [*comment.split("\n"), ""]:
        if line:
            block.append(line)
        elif block:
            blocks.append(block)
            block = []
    for block in blocks:
        if all(line.startswith("  ") for line in block):
            yield "```text\n" + "\n".join(line[2:] for line in block) + "\n```"
            continue
        text = "\n".join(line.strip() for line in block)
        errors = ERRORS.search(text)
        if not errors:
            yield inline(text, places, page)
            continue
        if errors.start():
            yield inline(text[:errors.start()], places, page)
        yield f"**{errors[1].strip()}** " + inline(text[errors.end():], places, page)


def first_sentence(comment):
    text = re.sub(r"\s+", " ", comment)
    return re.split(r"(?<=[^.]\.) |: ", text, maxsplit=1)[0].rstrip(".")


def places_of(headers):
    """{name: page that describes it}"""
    return {name: header.name.removesuffix(".h") + ".md" for header in headers for item in header.items
            for name in linkable(item)}


HEADER_LINK = re.compile(r"\[([^\]]*)\]\((?:\.\./)*include/sennit/(?:(\w+)\.h)?\)")


def led_to_pages(text, page, places):
    """The text of a page, with its links to headers replaced by links to the pages of headers, and its links to their folder by
    links to the index. A link whose text is a name of the header leads to its description."""
    def led(match):
        name = match[1].strip("`").removesuffix("()")
        target = f"docs/manual/headers/{match[2]}.md" if match[2] else "docs/manual/reference.md"
        anchor = f"#{name}" if places.get(name) == f"{match[2]}.md" else ""
        return f"[{match[1]}]({os.path.relpath(target, os.path.dirname(page))}{anchor})"
    return HEADER_LINK.sub(led, text)


def linkable(item):
    """The names of an item that links lead to: of a large family not all types."""
    return [name for name in item.names if len(item.names) < 20 or not OTHER_TYPES.search(name)]


def title_of(item):
    """The names of an item's functions, one of the forms of each."""
    names = list(item.signatures) or item.names
    short = []
    for name in names:
        base = re.sub(r"_nbi?$", "", name)
        if base != name and base in names:
            continue
        short.append(name)
    return short if len(short) <= 6 else [short[0], "…", short[-1]]


def header_page(header, places):
    page = header.name.removesuffix(".h") + ".md"
    out = [MADE.format(f"`include/sennit/{header.name}`"), f"# sennit/{header.name}\n"]
    out += [text + "\n" for text in paragraphs(header.comment, places, page)]
    for item in header.items:
        if item.kind == "text":
            out += ["---\n", *[text + "\n" for text in paragraphs(item.comment, places, page)]]
            continue
        anchors = "".join(f'<a id="{name}"></a>' for name in linkable(item))
        if item.comment.startswith("For T, TYPE"):
            title = "Operations on one word of a TYPE" if not any("_inc_" in name for name in item.names) \
                else "Operations on one word of an integer TYPE"
        else:
            title = ", ".join(f"`{name}`" if name != "…" else name for name in title_of(item))
        out += [anchors + "\n", f"## {title}\n", "```c\n" + "\n".join(item.code) + "\n```\n"]
        out += [text + "\n" for text in paragraphs(item.comment, places, page)]
    return "\n".join(out)


def fortran_page(headers):
    out = [MADE.format("the headers and the Fortran modules"), "# Calls in Fortran\n",
           "The pages of the headers describe the calls; [Fortran](fortran.md#the-rules) has the rules for types. "
           "`stat` is `integer(c_int), optional, intent(out)`. If an argument is not declared, the declaration in the last call above "
           "with this argument holds.\n",
           "The headers with `sennit_` in their names have modules of these names; handles may also be integers of the MPI's kind. "
           "All others are in `sennit`.\n"]
    for header in headers:
        lines = fortran.page_signatures(header)
        if lines:
            page = header.name.removesuffix(".h")
            out += [f"## [sennit/{escaped(header.name)}](headers/{page}.md)\n", "```fortran\n" + "\n".join(lines) + "\n```\n"]
    out += ["## Only in Fortran\n", "Described in [Fortran](fortran.md#the-rules).\n",
            "```fortran\n" + "\n".join(fortran.only_in_fortran()) + "\n```\n"]
    return "\n".join(out)


def cell(text):
    return text.replace("|", "\\|").replace("<", "\\<")


def is_help(option):
    return option[0] == "-h,--help"


def plain(names):
    """Names and values of an option with a short range: `N:1-4096` for `N:INT in [1 - 4096]`."""
    return re.sub(r":INT in \[(\d+) - (\d+)\]", r":\1-\2", names)


def options_table(options):
    """Without --help, which every command has; "" if there is no other option."""
    rows = [f"| `{cell(plain(names))}` | {cell(text)} |" for names, text in options if not is_help((names, text))]
    return "\n".join(["| option | |", "|---|---|", *rows]) + "\n" if rows else ""


def section_text(section):
    """Paragraphs unchanged; indented lines or columns are a table or commands, and keep their layout."""
    out = []
    for block in "\n".join(section.lines).split("\n\n"):
        lines = block.split("\n")
        runs = []  # (is it code, lines)
        for line in lines:
            is_code = section.title.startswith("Example") or line.startswith("  ") or "  " in line.strip()
            if not runs or runs[-1][0] != is_code:
                runs.append((is_code, []))
            runs[-1][1].append(line)
        for is_code, part in runs:
            text = textwrap.dedent("\n".join(part)) if is_code else "\n".join(cell(line) for line in part)
            out.append(f"```text\n{text}\n```\n" if is_code else text + "\n")
    return "\n".join(out)


def command_parts(command, depth):
    name = " ".join(command.words)
    summary = cell(command.summary[0].upper() + command.summary[1:]).rstrip(".") + "."
    out = [f"{'#' * depth} {name}\n", summary + "\n",
           f"```sh\n{command.usage}\n```\n", options_table(command.options)]
    return list(filter(None, out))


def owners_text(names, every):
    """The subcommands of `every` that have an option."""
    if len(names) == len(every):
        return "all"
    missing = [name for name in every if name not in names]
    return f"all but {', '.join(missing)}" if len(missing) < len(names) else ", ".join(names)


def without_default(names):
    """(names and values without the default, the default or None)"""
    found = re.fullmatch(r"(.*?)=(\[[^\]]*\]|\S+)(.*)", names)
    return (found[1] + found[3], found[2].strip("[]")) if found else (names, None)


def defaults_text(owners):
    """The defaults that differ between subcommands: the usual default, and the subcommands with another one."""
    if len(owners) < 2:
        return ""
    usual = max(owners, key=lambda default: len(owners[default]))
    others = "; ".join(f"{', '.join(names)} {default}" for default, names in owners.items() if default != usual)
    return f"; default {usual}; {others}"


def shared_options(command):
    """The subcommands as a table, and one table of their options, for commands whose subcommands have the same options."""
    every = [sub.words[-1] for sub in command.commands]
    owners = {}  # {(names without the default, description): {default: subcommands}}
    for sub in command.commands:
        for names, text in filter(lambda option: not is_help(option), sub.options):
            name, default = without_default(names)
            owners.setdefault((name, text), {}).setdefault(default, []).append(sub.words[-1])
    out = ["## Commands\n", "\n".join(["| command | |", "|---|---|", *(
        f"| `{sub.words[-1]}` | {cell(sub.summary)} |" for sub in command.commands)]) + "\n", "## Options\n"]
    # Options with the same name are neighbours: their descriptions differ.
    flags = list(dict.fromkeys(name.split(" ")[0] for name, _ in owners))
    rows, same = [], {}  # {a long list of subcommands: the option that showed it}
    for (name, text), defaults in sorted(owners.items(), key=lambda item: flags.index(item[0][0].split(" ")[0])):
        found = [sub for sub in every if any(sub in subs for subs in defaults.values())]
        default = next(iter(defaults))
        shown = name if len(defaults) > 1 or default is None else next(
            names for sub in command.commands for names, _ in sub.options if without_default(names) == (name, default))
        rows.append(f"| `{cell(plain(shown))}` | {cell(text + defaults_text(defaults))} | {same.get(tuple(found)) or owners_text(found, every)} |")
        if len(found) < len(every) and len(found) > MANY_COMMANDS:
            same.setdefault(tuple(found), f"as `{name.split(' ')[0]}`")
    return out + ["\n".join(["| option | | of |", "|---|---|---|", *rows]) + "\n"]


def command_page(command):
    """A command with its subcommands; their common text and options appear once."""
    out = [MADE.format(f"`{' '.join(command.words)} --help`"), *command_parts(command, 1)]
    for section in command.sections:
        if section.title:
            out.append(f"## {section.title}\n")
        out.append(section_text(section))
    if len(command.commands) >= MANY_COMMANDS and all(section in command.sections for sub in command.commands for section in sub.sections):
        return "\n".join(out + shared_options(command))
    for sub in command.commands:
        out += command_parts(sub, 2)
        for section in sub.sections:
            if section not in command.sections:
                out += [f"**{section.title}**\n"] if section.title else []
                out.append(section_text(section))
    return "\n".join(out)


def top_page(command):
    """`sennit` itself, with links to its commands."""
    rows = [f"| [`{' '.join(sub.words)}`]({sub.words[-1]}.md) | {cell(sub.summary)} |" for sub in command.commands]
    return "\n".join([command_page(dataclasses.replace(command, commands=[])), "## Commands\n", "| command | |", "|---|---|", *rows]) + "\n"


def knobs_page(knobs):
    out = [MADE.format("`src/base/knobs.def`"), "# Knobs\n",
           "A rank reads these settings when it starts: from the environment, else from the file `/etc/sennit.conf`, else the default.\n"
           "`sennit info --knobs` shows each value and its source. Any other name that begins with SENNIT\\_ causes a warning.\n",
           "| name | type | default | |", "|---|---|---|---|"]
    out += [f"| `{name}` | {kind} | {f'`{default}` {unit}'.strip() if default else ''} | {cell(help_text)} |"
            for name, kind, default, unit, help_text in knobs]
    out += ["\n## The settings file\n", "```", *KNOB_FILE_EXAMPLE, "```\n", *(f"- {escaped(sentence)}" for sentence in KNOB_FILE)]
    return "\n".join(out) + "\n"


def reference_page(headers, places):
    """The page that leads to all the others."""
    out = [MADE.format("the headers"), "# Reference\n", "[Commands](commands/sennit.md), [knobs](knobs.md).\n", "## Headers\n",
            "The same calls in Fortran: [signatures](fortran-calls.md).\n",
            "`sennit/sennit.h` includes all headers without `sennit_` in their names, and `sennit/version.h`, which has the version as "
            "numbers.\n", "| header | |", "|---|---|"]
    for header in headers:
        page = header.name.removesuffix(".h") + ".md"
        text = inline(first_sentence(header.comment), {}, page)
        out.append(f"| [`sennit/{header.name}`](headers/{page}) | {text} |")
    out.append("\n## Functions\n")
    for header in headers:
        names = [name for item in header.items for name in linkable(item) if name in item.signatures]
        if names:
            page = f"headers/{places[names[0]]}"
            out.append(f"**{header.name}**: " + ", ".join(f"[`{name}`]({page}#{name})" for name in names) + "\n")
    return "\n".join(out)


def header_pages(headers):
    """{path below docs/manual: text} of the pages made from headers."""
    places = places_of(headers)
    made = {f"headers/{header.name.removesuffix('.h')}.md": header_page(header, places) for header in headers}
    return {**made, "fortran-calls.md": fortran_page(headers), "reference.md": reference_page(headers, places)}


def pages(command, knobs):
    """{path below docs/manual: text} of the pages of commands and knobs."""
    made = {f"commands/{one.words[-1]}.md": command_page(one) for one in command.commands}
    return {**made, f"commands/{command.words[-1]}.md": top_page(command), "knobs.md": knobs_page(knobs)}
