"""Counts lines and calls of C and C++ sources with libclang; the method is in docs/manual/productivity.md.

    lines_of_code(path, text)        number of lines with code, without those of included files
    count(files, flags)              Counts of one program, without debug prints and code that the preprocessor removes

Called by tools/count-lines and tools/productivity. NoParser names the missing package; NotParsed has the compiler's message.
"""
import ctypes
import functools
import os
import sys
from collections import Counter, namedtuple
from dataclasses import dataclass, field

from . import categories

# A module of Debian in plain Python: any Python can use it.
sys.path.append("/usr/lib/python3/dist-packages")
try:
    from clang import cindex
except ImportError:
    cindex = None

C_ENDINGS = (".c",)
HEADER_ENDINGS = (".h", ".hpp", ".hh", ".hxx", ".def")
ENDINGS = (*C_ENDINGS, ".cc", ".cpp", ".cxx", *HEADER_ENDINGS)
PRINTS = ("printf", "vprintf", "puts", "putchar", "perror")
PRINTS_TO = ("fprintf", "vfprintf", "fputs", "fputc", "putc", "fflush")  # if they name stdout or stderr
PRINTS_CXX = ("print", "println", "vprint")                              # of fmt and std
STREAMS = ("cout", "cerr", "clog")

Token = namedtuple("Token", "begin first_line last_line text")  # begin: offset in the file, in bytes


class NoParser(Exception):
    """libclang cannot be used."""


class NotParsed(Exception):
    """A source has errors, so calls may be missing."""


@dataclass
class Counts:
    lines: int = 0
    calls: Counter = field(default_factory=Counter)    # of the four categories, by plain name
    unknown: Counter = field(default_factory=Counter)  # with a library's prefix, but in no category

    def total(self):
        return sum(self.calls.values())

    def of(self, kind):
        return sum(number for name, number in self.calls.items() if categories.category(name)[1] == kind)


@functools.lru_cache(maxsize=None)
def index():
    """The index of libclang, made once."""
    if cindex is None:
        raise NoParser("libclang for Python is not installed (Debian: python3-clang)")
    try:
        return cindex.Index.create()
    except cindex.LibclangError as problem:
        raise NoParser(f"libclang cannot be loaded: {problem}") from problem


def has_calls(cursor):
    return any(part.kind == cindex.CursorKind.CALL_EXPR for part in cursor.walk_preorder())


def without_wrappers(cursor):
    """The expression inside conversions and the ends of temporary objects, which libclang shows as one child."""
    kinds = (cindex.CursorKind.UNEXPOSED_EXPR, cindex.CursorKind.PAREN_EXPR, cindex.CursorKind.CSTYLE_CAST_EXPR)
    while cursor.kind in kinds:
        parts = [part for part in cursor.get_children() if part.kind != cindex.CursorKind.TYPE_REF]
        if len(parts) != 1:
            break
        cursor = parts[0]
    return cursor


def namespace_of(cursor):
    """The outermost namespace of a declaration, "" if it has none."""
    found, outer = "", cursor.semantic_parent
    while outer is not None and outer.kind != cindex.CursorKind.TRANSLATION_UNIT:
        found, outer = outer.spelling, outer.semantic_parent
    return found


def is_print_call(call):
    """Whether a call, or a << that depends on the type of a template, prints to standard output or standard error."""
    first = next((part for part in call.walk_preorder() if part.kind == cindex.CursorKind.DECL_REF_EXPR), None)
    called = None if first is None else first.referenced
    if called is None:
        return False
    if call.kind == cindex.CursorKind.BINARY_OPERATOR or call.spelling == "operator<<":
        return first.spelling in STREAMS and namespace_of(called) == "std"
    if first.spelling in PRINTS_CXX:
        return namespace_of(called) in ("fmt", "std")
    if first.spelling in PRINTS_TO:
        return any(part.spelling in ("stdout", "stderr") for part in call.walk_preorder())
    return first.spelling in PRINTS and namespace_of(called) in ("", "std")


def is_print(statement):
    """Whether a statement only prints for a person: calls of print functions, also several in braces or under an `if` or
    `for` whose head calls nothing."""
    kind = cindex.CursorKind
    statement = without_wrappers(statement)
    parts = list(statement.get_children())
    if statement.kind in (kind.CALL_EXPR, kind.BINARY_OPERATOR):
        return is_print_call(statement)
    if statement.kind == kind.COMPOUND_STMT:
        return bool(parts) and all(map(is_print, parts))
    if statement.kind == kind.DO_STMT:  # macros put it around several statements
        return is_print(parts[0]) and not has_calls(parts[-1])
    if statement.kind == kind.IF_STMT:
        return len(parts) > 1 and not has_calls(parts[0]) and all(map(is_print, parts[1:]))
    if statement.kind == kind.FOR_STMT:
        return bool(parts) and not any(map(has_calls, parts[:-1])) and is_print(parts[-1])
    return False


class Unit:
    """One file as the compiler sees it."""

    def __init__(self, path, flags, text=None):
        parser, unsaved = index(), None if text is None else [(path, text)]
        record = cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD  # without it inactive() finds nothing
        try:
            self.unit = parser.parse(path, args=flags, unsaved_files=unsaved, options=record)
        except cindex.TranslationUnitLoadError as problem:
            raise NotParsed(f"{path}: cannot be parsed; are the flags for another language?") from problem
        self.file = self.unit.get_file(path)

    def tokens(self, size):
        """The tokens of the whole file, without comments; also those that the preprocessor leaves out."""
        ends = [cindex.SourceLocation.from_offset(self.unit, self.file, offset) for offset in (0, size)]
        found = []
        for token in self.unit.get_tokens(extent=cindex.SourceRange.from_locations(*ends)):
            if token.kind != cindex.TokenKind.COMMENT:
                extent = token.extent
                begin, end = extent.start, extent.end
                found.append(Token(begin.offset, begin.line, end.line, token.spelling))
        return found

    def errors(self):
        return [problem for problem in self.unit.diagnostics if problem.severity >= cindex.Diagnostic.Error]

    def here(self, place):
        return place.file is not None and place.file.name == self.file.name

    def inactive(self):
        """[(begin, end)] of the code that the preprocessor leaves out, with the directives around it; the module has no
        call for it."""
        class Ranges(ctypes.Structure):
            _fields_ = [("count", ctypes.c_uint), ("ranges", ctypes.POINTER(cindex.SourceRange))]
        library = cindex.conf.lib
        library.clang_getSkippedRanges.argtypes = [cindex.TranslationUnit, cindex.File]
        library.clang_getSkippedRanges.restype = ctypes.POINTER(Ranges)
        library.clang_disposeSourceRangeList.argtypes = [ctypes.POINTER(Ranges)]
        found = library.clang_getSkippedRanges(self.unit, self.file)
        spans = [(found.contents.ranges[i].start.offset, found.contents.ranges[i].end.offset)
                 for i in range(found.contents.count)]
        library.clang_disposeSourceRangeList(found)
        return spans

    def parts(self):
        """The declarations of the file itself with everything in them, except prints: (cursors, extents of prints)."""
        cursors, prints = [], []
        waiting = [(part, None) for part in self.unit.cursor.get_children() if self.here(part.location)]
        while waiting:
            cursor, outer = waiting.pop()
            if outer is not None and outer.kind.is_statement() and is_print(cursor):
                # All parts of a macro begin where its name stands, and its line may have other code: such a print is kept.
                if cursor.extent.start.offset != outer.extent.start.offset:
                    prints.append((cursor.extent.start.offset, cursor.extent.end.offset))
                continue
            cursors.append(cursor)
            waiting.extend((part, cursor) for part in cursor.get_children())
        return cursors, prints

    def is_library_call(self, cursor):
        """Whether it may be a library call: no constructor or member, and no function that this file declares itself."""
        if cursor.kind != cindex.CursorKind.CALL_EXPR:
            return False
        called = cursor.referenced
        return called is None or called.kind == cindex.CursorKind.FUNCTION_DECL and not self.here(called.location)


def name_of(call):
    """The name of the called function. If C11 selects it by the type of an argument, the first possible one."""
    callee = None if call.spelling else next(call.get_children(), None)
    if callee is None:
        return call.spelling
    callee = without_wrappers(callee)
    kind = cindex.CursorKind
    if callee.kind == kind.GENERIC_SELECTION_EXPR:
        named = (part.spelling for part in callee.walk_preorder() if part.kind == kind.DECL_REF_EXPR)
        return next(filter(categories.category, named), "")
    if callee.kind == kind.DECL_REF_EXPR:  # in a template nothing is selected yet, and the name is only in the text
        return next((token.spelling for token in reversed(list(callee.get_tokens()))), "")
    return ""


def lines_of(tokens):
    return len({line for token in tokens for line in range(token.first_line, token.last_line + 1)})


def tokens_outside(tokens, spans):
    """The tokens that begin in no span, without a semicolon that ends a span."""
    waiting = sorted(spans, reverse=True)
    kept, until, dropped = [], 0, False
    for token in tokens:
        while waiting and waiting[-1][0] <= token.begin:
            until = max(until, waiting.pop()[1])
        dropped = token.begin < until or (dropped and token.text == ";")
        if not dropped:
            kept.append(token)
    return kept


def lines_of_code(path, text):
    """Number of lines that have more than blanks and comments."""
    # Parsed as C++, because only C++ has all forms of strings. No include is followed, so their content does not matter.
    return lines_of(Unit(path, ["-x", "c++", "-std=c++20", "-w"], text).tokens(len(text.encode())))


def language_of(path, files):
    """The language of a file; a header has that of the sources beside it."""
    sources = [file for file in files if file.endswith(ENDINGS) and not file.endswith(HEADER_ENDINGS)]
    named = sources if path.endswith(HEADER_ENDINGS) else [path]
    return "c" if named and all(file.endswith(C_ENDINGS) for file in named) else "c++"


def count(files, flags):
    """Counts of the files of one program together."""
    found = Counts()
    for path in files:
        size, language = os.path.getsize(path), language_of(path, files)
        unit = Unit(path, ["-x", language, *(["-std=c++20"] if language == "c++" else []), "-w", *flags])
        if unit.errors():
            raise NotParsed("\n".join(str(problem) for problem in unit.errors()[:5]))
        cursors, prints = unit.parts()
        found.lines += lines_of(tokens_outside(unit.tokens(size), prints + unit.inactive()))
        for name in map(name_of, filter(unit.is_library_call, cursors)):
            kind = categories.category(name)
            if kind is not None and kind[1] != categories.LEFT_OUT:
                (found.unknown if kind[1] == categories.UNKNOWN else found.calls)[categories.plain(name)] += 1
    return found
