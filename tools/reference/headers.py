"""Reads the public headers: every declaration with the comment above it.

Called by tools/make-reference and tools/make-man. The comments of the headers are the only source of the reference.

    read_headers(include_folder)   [Header], in the order of their names
    read_header(path)              Header
    functions(headers)             [Function]: every function with its comment and its signature, tables expanded

A header has a head comment and items. An item is a comment and the declarations up to the next comment; functions after
types, types after functions, and another struct begin a new item without a comment. A table macro, such as
SENNIT_ATOMIC_INTEGERS(SENNIT_ATOMIC_DECLARE_WORD), is one item: it shows the declarations once with T and TYPE, and names all
functions. Skipped: the license, `#include`, guards, `extern "C"`, the C++ half of an `#ifdef __cplusplus`, SENNIT_HOT_CALL,
SENNIT_CHECKED, bodies, and in sennit_mpi.h, sennit_unr.h and sennit_zcom.h internal names (sennit_mpi_..., sennit_unr_...,
sennit_zcom_...).
"""
import os
import re
import textwrap
from dataclasses import dataclass, field

# Headers for other headers; they declare nothing for programs.
WITHOUT_CONTENT = ("compiler.h", "sennit.h", *(f"sennit_mpi_{part}.h" for part in ("messages", "pieces", "runs", "types", "ways")))
MACHINERY = re.compile(r"sennit_(?:mpi|unr|zcom)_\w+|SENNIT_MPI_\w+")
CODE_COLUMNS = 100


@dataclass
class Item:
    """Declarations described by one comment. kind: functions, types or text (only a comment)."""
    kind: str
    comment: str
    inherited: str = ""  # if it has no comment: that of the item before
    code: list = field(default_factory=list)   # declarations as they are shown, "" between groups
    names: list = field(default_factory=list)  # functions, types and macros that it declares
    signatures: dict = field(default_factory=dict)  # of each function in names, on one line


@dataclass
class Header:
    name: str  # "rma.h"
    comment: str
    items: list


@dataclass
class Function:
    name: str
    signature: str
    comment: str  # "" if the head of the header has the whole description
    header: str


def plain(comment):
    """The text of a comment without stars and slashes; its indentation below the first column stays."""
    lines = comment.strip()[2:-2].split("\n")
    rest = [re.sub(r"^\s*\*? ?", "", line, count=1) if re.match(r"^\s*\*", line) else line.strip() for line in lines[1:]]
    return "\n".join([lines[0].strip(), *(line.rstrip() for line in rest)]).strip()


def one_line(code):
    return re.sub(r"\(\s+", "(", re.sub(r"\s+", " ", code)).strip()


def wrapped(declaration):
    """One line of declaration, wrapped as in the headers."""
    if len(declaration) <= CODE_COLUMNS:
        return declaration
    indent = " " * (declaration.index("(") + 1)
    tied = declaration.replace(" *", "\0*")  # a star stays with its type
    return "\n".join(textwrap.wrap(tied, CODE_COLUMNS, subsequent_indent=indent)).replace("\0", " ")


TOKEN = re.compile(r"(?P<comment>/\*.*?\*/)|(?P<define>#define (?:[^\n]*\\\n)*[^\n]*)|(?P<line>#[^\n]*)|"
                   r"(?P<blank>\n[ \t]*\n)|(?P<space>\s+)|(?P<table>SENNIT_\w+\((?:SENNIT_\w+)\)(?=\n))", re.DOTALL)


def declaration_end(text, start):
    """The place after the `;` or the closing brace that ends the declaration at `start`; a body ends its function."""
    depth, position, is_body = 0, start, False
    while position < len(text):
        char = text[position]
        if text.startswith("/*", position):
            position = text.index("*/", position) + 1
        elif char in "({[":
            is_body = is_body or (char == "{" and depth == 0 and text[start:position].rstrip().endswith(")"))
            depth += 1
        elif char in ")}]":
            depth -= 1
            if char == "}" and depth == 0 and is_body:
                return position + 1
        elif char == ";" and depth == 0:
            return position + 1
        position += 1
    raise ValueError(f"declaration without end: {text[start:start + 60]!r}")


def tokens_of(text):
    """(kind, text) for each part of the header, from its beginning; kind as in TOKEN, or declaration."""
    position = 0
    while position < len(text):
        match = TOKEN.match(text, position)
        if match:
            yield match.lastgroup, match.group()
            position = match.end()
        else:
            end = declaration_end(text, position)
            yield "declaration", text[position:end]
            position = end


def for_c(text):
    """The text without the parts for C++ only, guards, and the braces of extern "C"."""
    text = re.sub(r'#ifdef __cplusplus\n(?:extern "C" \{|\})\n#endif\n', "", text)
    text = re.sub(r"#ifdef __cplusplus\n.*?#else\n(.*?)#endif\n", r"\1", text, flags=re.DOTALL)
    return re.sub(r"\bSENNIT_(?:HOT_CALL|CHECKED)\s+", "", text)


class Macros:
    """The macros of a header that declare functions from tables, and their expansion."""

    def __init__(self):
        self.known = {}

    def learn(self, define):
        """Stores the definition if it has parameters; a table or a template is not shown."""
        match = re.match(r"#define (\w+)\(([^)]*)\)(.*)", define, re.DOTALL)
        if match:
            body = one_line(match[3].replace("\\\n", " "))
            self.known[match[1]] = ([name.strip() for name in match[2].split(",")], body)
        return bool(match)

    def expand(self, name, arguments):
        names, body = self.known[name]
        for parameter, argument in zip(names, arguments):
            body = re.sub(rf"\b{parameter}\b|(?<=_){parameter}(?=_)", argument, re.sub(r"\s*##\s*", "\0", body))
        body = body.replace("\0", "")
        inner = r"\b(" + "|".join(self.known) + r")\(([^()]*)\)"
        return re.sub(inner, lambda m: self.expand(m[1], [word.strip() for word in m[2].split(",")]), body)

    def rows(self, table):
        """[(C type, suffix)] of a table, which passes each row to its macro."""
        return [tuple(word.strip() for word in row.split(","))
                for row in re.findall(r"USE\(([^)]*)\)", self.known[table][1])]


def names_declared(code):
    """Functions, types or macros that a declaration declares."""
    define = re.match(r"#define (\w+)", code)
    if define:
        return [define[1]]
    alias = re.match(r"typedef [^{(]*\(\*(\w+)\)", code)
    if alias:
        return [alias[1]]
    if code.startswith(("typedef", "struct", "enum")):
        return re.findall(r"(\w+);$", code.strip())
    return re.findall(r"\b((?:sennit|unr|UNR|ZCom)_\w+)\s*\(", code)[:1]


class Reader:
    """Goes through the tokens of one header and collects its items."""

    def __init__(self):
        self.macros = Macros()
        self.comment = None  # of the header
        self.items = []
        self.tables = {}     # template macro: its item, and the rows of the tables that use it
        self.is_apart = False

    def add_comment(self, text):
        if "SPDX-License-Identifier" in text:
            return
        if self.comment is None:
            self.comment = plain(text)
        else:
            self.items.append(Item("text", plain(text)))

    def add(self, kind, code, names):
        names = [name for name in names if not MACHINERY.fullmatch(name)]
        is_body = kind == "functions" and any(names[:1] == [name] for item in self.items for name in item.signatures)
        if not names or is_body:  # the function was declared above, with its comment
            return
        item = self.items[-1] if self.items else None
        is_next = item is not None and item.kind != "text" and (
            item.kind != kind or (code.startswith("typedef") and "{" in code and bool(item.code)))
        if item is None or is_next:
            item = Item(kind, "", (item.comment or item.inherited) if item else "")
            self.items.append(item)
        if item.kind == "text":
            item.kind = kind
        if self.is_apart and item.code:
            item.code.append("")
        item.code.append(code)
        item.names += [name for name in names if name not in item.names]
        if kind == "functions":
            item.signatures[names[0]] = one_line(code)

    def add_declaration(self, code):
        names = names_declared(code)
        if code.startswith(("typedef", "struct", "enum")):
            self.add("types", code, names)
            return
        signature = re.sub(r"\bstatic inline\s+", "", code.split("{")[0]).strip().rstrip(";") + ";"
        self.add("functions", signature, names)

    def add_table(self, text):
        """Table(TEMPLATE): shown once, with T and TYPE."""
        table, template = re.match(r"(\w+)\((\w+)\)", text).groups()
        rows = self.macros.rows(table)
        if template not in self.tables:
            item = Item("functions", "")
            for declaration in self.macros.expand(template, ("T", "TYPE")).split(";"):
                if declaration.strip():
                    item.code.append(wrapped(one_line(declaration) + ";"))
            self.tables[template] = (item, [])
            self.items.append(item)
        item, all_rows = self.tables[template]
        all_rows += rows
        for row in rows:
            for declaration in self.macros.expand(template, row).split(";"):
                for name in names_declared(declaration.strip()):
                    item.names.append(name)
                    item.signatures[name] = one_line(declaration) + ";"
        item.comment = "For T, TYPE = " + "; ".join(f"{c_type}, {suffix}" for c_type, suffix in all_rows) + "."

    def read(self, text):
        for kind, token in tokens_of(text):
            if kind == "comment":
                self.add_comment(token)
            elif kind == "define":
                if not self.macros.learn(token) and not re.match(r"#define \w+_H$", token):
                    self.add("types", token, names_declared(token))
            elif kind == "table":
                self.add_table(token)
            elif kind == "declaration":
                self.add_declaration(token)
            if kind not in ("space", "line"):
                self.is_apart = kind == "blank"


def read_header(path):
    with open(path, encoding="utf-8") as file:
        text = for_c(file.read())
    reader = Reader()
    reader.read(text)
    # A comment before no declaration introduces the items after it, unless it described something that is not shown.
    spoke_of_nothing = r"/\*(?:(?!\*/).)*\*/\s*(?:#define SENNIT_\w+\(|static inline \w+ \*?sennit_(?:mpi|unr|zcom)_|" \
                       r"#define SENNIT_MPI_|typedef struct sennit_(?:mpi|unr)_|__attribute__)"
    hidden = {plain(re.match(r"/\*.*?\*/", found.group(), re.DOTALL).group())
              for found in re.finditer(spoke_of_nothing, text, re.DOTALL)}
    items = [item for item in reader.items if item.kind != "text" or item.comment not in hidden]
    return Header(os.path.basename(path).removesuffix(".in"), reader.comment or "", items)


def read_headers(include_folder):
    names = sorted(name for name in os.listdir(include_folder) if name.endswith(".h") and name not in WITHOUT_CONTENT)
    return [read_header(os.path.join(include_folder, name)) for name in names]


def functions(headers):
    return [Function(name, signature, item.comment or item.inherited, header.name)
            for header in headers for item in header.items for name, signature in item.signatures.items()]
