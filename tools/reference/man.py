"""Writes man pages from the results of headers.py, help.py and knobs.py. Called by tools/make-man.

    pages(headers, command, knobs, version)   {"man3/sennit_put.3": text}

Every command has a page, with its subcommands. Every header has a page. Every comment about functions has a page, named after the
first function; the other functions have pages that only refer to it. The page of a function repeats the comment at the top of its
header, which describes completion, order and errors of all its calls. Columns and indented lines stay as they are, lines that begin
with a dash become a list, other text is filled.
"""
import re

from reference import fortran
from reference.knobs import KNOB_FILE

LONGEST_SUMMARY = 100
MANY = 12  # functions of one comment that are described with their header only
ERRORS = re.compile(r"(?:^|\s+)(Errors(?:\s(?:that|after)\s[^:.]*)?:)\s(?=\S)")
NAME = re.compile(r"\b(?:sennit|SENNIT|MPI)_\w+(?:\(\))?|`[^`\n]+`")


def escaped(text):
    """Text that roff prints unchanged, at any place in a line."""
    text = text.replace("\\", "\\e")
    text = re.sub(r"(?<![A-Za-z0-9])-|-(?=-)", r"\\-", text)  # options and signs; a hyphen stays one
    text = text.replace("'", r"\(aq").replace("`", r"\(ga").replace("^", r"\(ha").replace("~", r"\(ti")
    text = "".join(char if ord(char) < 128 else rf"\[u{ord(char):04X}]" for char in text)
    return re.sub(r"^\.", r"\\&.", text, flags=re.MULTILINE)


def marked(text):
    """A paragraph with the names of the interface in bold, and the names of parameters in italics."""
    out, end = [], 0
    for match in NAME.finditer(text):
        font = "I" if match.group().startswith("`") else "B"
        out += [escaped(text[end:match.start()]), rf"\f{font}{escaped(match.group().strip('`'))}\fP"]
        end = match.end()
    text = "".join(out) + escaped(text[end:])
    return re.sub(r"^\.", r"\\&.", text, flags=re.MULTILINE)


def kept(lines):
    """Lines that are not filled."""
    return [".PP", ".RS 4", ".nf", *(escaped(line) if line else "" for line in lines), ".fi", ".RE"]


def blocks_of(lines):
    """Runs of lines without an empty line between them."""
    block = []
    for line in [*lines, ""]:
        if line.strip():
            block.append(line)
        elif block:
            yield block
            block = []


def items_of(block):
    """A paragraph, and the items of the list after it: lines that begin with a dash, with the indented lines below them."""
    parts = []
    for line in block:
        if not parts or line.startswith("- "):
            parts.append([])
        parts[-1].append(line)
    return parts


def has_columns(block):
    return any(re.search(r"\S {3,}\S", line) for line in block) or all(line.startswith("  ") for line in block)


def filled(text):
    """A comment or a section of the help as lines of roff."""
    out = []
    for block in blocks_of(text.split("\n")):
        if has_columns(block):
            least = min(len(line) - len(line.lstrip()) for line in block)
            out += kept([line[least:] for line in block])
        else:
            for part in items_of(block):
                is_item = part[0].startswith("- ")
                text = "\n".join(line.strip() for line in part).removeprefix("- " if is_item else "")
                out += [r".IP \(bu 2" if is_item else ".PP", *marked(text).split("\n")]
    return out


def first_sentence(comment):
    return re.split(r"(?<=[^.])\. ", re.sub(r"\s+", " ", comment), maxsplit=1)[0]


def one_line(text):
    """A summary for the line that apropos reads."""
    text = re.sub(r"\s+", " ", text.replace("`", "")).strip().rstrip(".").removeprefix("Sennit: ")
    if len(text) > LONGEST_SUMMARY:
        text = re.split(r"[,;:(]", text[:LONGEST_SUMMARY])[0] if re.search(r"[,;:(]", text[:LONGEST_SUMMARY]) else \
            text[:LONGEST_SUMMARY].rsplit(" ", 1)[0]
    text = text.strip()
    return text if re.match(r"[A-Z][A-Z]", text) else text[:1].lower() + text[1:]


class Page:
    def __init__(self, name, section, version, names, summary):
        self.path = f"man{section}/{name}.{section}"
        self.lines = [r'.\" Made by tools/make-man: change the text in the header or in the help instead.',
                      f'.TH {escaped(name)} {section} "" "Sennit {version}" "Sennit"',
                      ".nh",  # a name must stay searchable as one word
                      ".SH NAME", rf"{escaped(', '.join(names))} \- {escaped(one_line(summary))}"]

    def section(self, title, lines):
        if lines:
            if lines[0] == ".PP":  # a heading begins a paragraph by itself
                lines = lines[1:]
            self.lines += [f".SH {escaped(title)}", *lines]

    def text(self):
        return "\n".join(self.lines) + "\n"


def see_also(*pages):
    named = sorted(set(pages), key=lambda page: (page[1], page[0]))
    return [", ".join(rf"\fB{escaped(name)}\fP({section})" for name, section in named)]


def option_lines(options):
    lines = []
    for names, description in options:
        lines += [".TP", rf"\fB{escaped(names)}\fP", escaped(description) if description else r"\&"]
    return lines


def command_page(command, version, others):
    name = "-".join(command.words)
    page = Page(name, 1, version, [name], command.summary)
    page.section("SYNOPSIS", [rf"\fB{escaped(command.usage)}\fP"])
    page.section("DESCRIPTION", [line for part in command.sections if not part.title
                                 for line in filled("\n".join(part.lines))] or [escaped(command.summary) + "."])
    page.section("OPTIONS", option_lines(command.options))
    for below in command.commands:
        is_page = len(command.words) == 1  # `sennit run` has its own page, `sennit bench put` has not
        lines = [escaped(below.summary[:1].upper() + below.summary[1:]) + "."]
        lines += [rf"See \fB{escaped('-'.join(below.words))}\fP(1)."] if is_page else \
            [".PP", rf"\fB{escaped(below.usage)}\fP", *option_lines(below.options)]
        if below is command.commands[0]:
            page.lines.append(".SH COMMANDS")
        page.lines += [f".SS {escaped(' '.join(below.words))}", *lines]
    for part in command.sections:
        if part.title:
            page.section(part.title.upper(), filled("\n".join(part.lines)))
    page.section("SEE ALSO", see_also(*((other, 1) for other in others if other != name), ("sennit-openshmem", 1), ("sennit-knobs", 7)))
    return page


def code_lines(code):
    lines = "\n".join(code).split("\n")
    return [".nf", *(rf"\fB{escaped(line)}\fP" if line else "" for line in lines), ".fi"]


def header_name(header):
    """The page of a header: sennit_rma for rma.h."""
    stem = header.name.removesuffix(".h")
    return stem if stem.startswith("sennit_") else "sennit_" + stem


def header_page(header, version):
    page = Page(header_name(header), 3, version, [header_name(header)], first_sentence(header.comment))
    page.section("SYNOPSIS", code_lines([f"#include <sennit/{header.name}>"]))
    page.section("DESCRIPTION", filled(header.comment))
    page.lines.append(".SH DECLARATIONS")
    for item in header.items:
        if item.code:
            page.lines += [".PP", *code_lines(item.code)]
        if item.comment:
            page.lines += [".RS 4", *filled(item.comment), ".RE"]
    page.section("SEE ALSO", see_also(("sennit", 1), ("sennit_error", 3), ("sennit-knobs", 7)))
    return page


def split_outside(text, separator):
    """Splits at the separators that are not in parentheses."""
    parts, start = [], 0
    for match in re.finditer(separator, text):
        before = text[:match.start()]
        if before.count("(") == before.count(")"):
            parts.append(text[start:match.start()])
            start = match.end()
    return [*parts, text[start:]]


def meanings_of(headers):
    """{name: meaning} of the statuses, from the comments in error.h."""
    code = "\n".join(line for header in headers if header.name == "error.h" for item in header.items for line in item.code)
    return dict(re.findall(r"\bSENNIT_ERR_(\w+) = \d+, +/\* (.*?) \*/", code))


def error_lines(text, meanings):
    """`NAME (when), NAME, those of ...` as a list of the names, with the other text about errors; unchanged if it is no such
    list."""
    sentence, *rest = split_outside(re.sub(r"\s+", " ", text).strip().rstrip("."), r"\. (?=[A-Z])")
    found = [re.fullmatch(r"([A-Z_]{2,})(?: \((.*)\))?|((?:those|theirs|the operation|what).*)", part)
             for part in split_outside(sentence, r", (?:and )?| and (?=[A-Z_]{2})")]
    if not all(found):
        return filled(text)
    lines = []
    for match in found:
        if match[3]:
            lines += [".PP", *filled(match[3][:1].upper() + match[3][1:] + ".")[1:]]
        else:
            lines += [".TP", rf"\fBSENNIT_ERR_{match[1]}\fP", *filled(match[2] or meanings.get(match[1], match[1]))[1:]]
    return lines + (filled(". ".join(rest) + ".") if rest else [])


def split_errors(comment):
    """The text before the errors, and [(heading, list)] of each paragraph of errors; no list if other text follows the errors."""
    first = ERRORS.search(comment)
    if not first:
        return comment, []
    paragraphs = [ERRORS.match(part) and (ERRORS.match(part)[1], part[ERRORS.match(part).end():])
                  for part in re.split(r"\n\n", comment[first.start(1):])]
    return (comment[:first.start()], paragraphs) if all(paragraphs) else (comment, [])


def error_section(paragraphs, meanings):
    lines = []
    for heading, text in paragraphs:
        lines += ([] if heading == "Errors:" else [".PP", *marked(heading).split("\n")]) + error_lines(text, meanings)
    return lines


def returned(item):
    types = {signature.split(" sennit_")[0] for signature in item.signatures.values()}
    if types != {"sennit_status"}:
        return []
    return [r"\fBSENNIT_OK\fP. Anything else is an error: nothing was written to outputs, unless this page says",
            r"otherwise, and \fBsennit_last_error\fP(3) has the details. The compiler warns where the status is not used. Errors that",
            r"every call may return are listed in \fBsennit_error\fP(3) alone."]


def function_page(header, item, version, meanings):
    names = list(item.signatures)
    comment = item.comment or item.inherited or header.comment
    page = Page(names[0], 3, version, names, first_sentence(comment))
    page.section("SYNOPSIS", code_lines([f"#include <sennit/{header.name}>", "", *item.code]))
    in_fortran = fortran.signatures(header, item)
    if in_fortran:
        page.section("FORTRAN", code_lines([f"use {fortran.module_of(header)}  ! integer(c_int), optional, intent(out) :: stat", "",
                                            *in_fortran]))
    description, errors = split_errors(comment)
    page.section("DESCRIPTION", filled(description))
    page.section("RETURN VALUE", returned(item))
    page.section("ERRORS", error_section(errors, meanings))
    if comment != header.comment:
        page.section(f"THE HEADER {header.name}", filled(header.comment))
    page.section("SEE ALSO", [rf"\fB{header_name(header)}\fP(3) has all declarations of the header.",
                              r"\fBsennit_error\fP(3) has the list of errors."])
    return page


def knobs_page(knobs, version):
    page = Page("sennit-knobs", 7, version, ["sennit-knobs"], "settings that Sennit reads from the environment")
    page.section("DESCRIPTION", filled("A rank reads these settings when it starts: from the environment, else from the file "
                                       "/etc/sennit.conf, else the default. sennit info --knobs shows each value and its source. "
                                       "Any other name that begins with SENNIT_ causes a warning."))
    lines = []
    for name, kind, default, unit, text in knobs:
        facts = f"{kind}, in {unit}" if unit else kind
        lines += [".TP", rf"\fB{name}\fP", escaped(f"{text[:1].upper()}{text[1:]}."), ".br",
                  escaped(f"({facts}; default {default or 'empty'})")]
    page.section("ENVIRONMENT", lines)
    page.section("FILES", [".TP", r"\fB/etc/sennit.conf\fP", *(escaped(sentence) for sentence in KNOB_FILE)])
    page.section("SEE ALSO", see_also(("sennit", 1), ("sennit-info", 1), ("sennit-run", 1)))
    return page


def openshmem_page(version):
    """The wrappers have no page under their own names, because other OpenSHMEM libraries use these."""
    page = Page("sennit-openshmem", 1, version, ["sennit-openshmem", "oshcc", "oshrun"], "compile and run OpenSHMEM programs")
    page.section("SYNOPSIS", [rf"\fBoshcc\fP [\fB{escaped('-show')}\fP] [OPTIONS OF cc] FILE...", ".br",
                              rf"\fBoshrun {escaped('-np')}\fP N [OPTIONS OF sennit run] PROGRAM [ARGUMENTS]"])
    page.section("DESCRIPTION", filled(
        "oshcc and oshc++ (also oshcxx, oshCC) call cc and c++ with the headers and the library of OpenSHMEM 1.6 on Sennit. oshrun "
        "starts N PEs of a program and takes all options of sennit run. They are in libexec/sennit/openshmem of the installation, "
        "because other libraries have programs of these names: put that folder first in PATH."))
    lines = []
    for name, text in (("-show", "prints the command of oshcc and does not run it; anywhere among the options; also -showme"),
                       ("-showme:compile, -showme:link", "prints the options that oshcc adds when it compiles, or links"),
                       ("-showme:command, -showme:incdirs, -showme:libdirs, -showme:libs, -showme:version, -showme:help",
                        "prints this part, as Open MPI's wrappers do")):
        lines += [".TP", rf"\fB{escaped(name)}\fP", escaped(text)]
    page.section("OPTIONS", lines)
    page.section("EXAMPLES", kept(["export PATH=/usr/libexec/sennit/openshmem:$PATH", "oshcc -O2 ring.c -o ring", "oshrun -np 4 ./ring",
                                   "oshrun -np 4 -x SHMEM_SYMMETRIC_SIZE=1G --tag ./ring"])[1:])
    lines = []
    for name, text in (("OSHCC_CC, OSHCXX_CXX", "other compilers than cc and c++"),
                       ("SHMEM_SYMMETRIC_SIZE", "the symmetric heap of each PE, such as 20m or 1.5G; default 256 MiB"),
                       ("SENNIT_TIMEOUT", "limits each wait, in seconds; the PE says what it waits for, and the job ends")):
        lines += [".TP", rf"\fB{escaped(name)}\fP", escaped(text)]
    page.section("ENVIRONMENT", lines)
    page.section("SEE ALSO", see_also(("sennit-run", 1), ("sennit-trace", 1), ("sennit-knobs", 7)))
    return page


def pages(headers, command, knobs, version):
    commands = ["sennit", *("-".join(below.words) for below in command.commands)]
    made, meanings = [knobs_page(knobs, version), openshmem_page(version)], meanings_of(headers)
    made += [command_page(one, version, commands) for one in (command, *command.commands)]
    texts, aliases = {}, {}
    for header in headers:
        made.append(header_page(header, version))
        for item in header.items:
            names = list(item.signatures)
            if len(names) > MANY:
                aliases.update({name: header_name(header) for name in names})
            elif names:
                made.append(function_page(header, item, version, meanings))
                aliases.update({name: names[0] for name in names[1:]})
    texts.update({page.path: page.text() for page in made})
    for name, target in aliases.items():
        texts.setdefault(f"man3/{name}.3", f".so man3/{target}.3\n")
    return texts
