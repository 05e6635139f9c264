"""Reads the declarations of the headers of include/sennit after the C preprocessor: enumerations, structs and functions.

Called by the writers beside this file. The headers are regular enough for regular expressions: each declaration ends with a
semicolon, types are names, and function pointers occur only in typedefs and structs. Anything else ends the run with a message.
"""
import dataclasses
import re
import subprocess
import sys

MARK = re.compile(r"^# \d+ \"([^\"]*)\"")
FUNCTION = re.compile(r"(?P<result>(?:const )?\w+ ?\*?)\s*\b(?P<name>sennit_\w+)\s*\((?P<parameters>[^()]*)\)\Z")
# const, type, pointer, name, array
PARAMETER = re.compile(r"(const )?(\w+(?: int)?) ?(\*?) ?(\w+)(\[\])?\Z")


@dataclasses.dataclass(frozen=True)
class Parameter:
    """A parameter of a function. An array without bounds is a pointer, too; an array of pointers has the type `pointer`."""
    name: str
    type: str
    is_const: bool
    is_pointer: bool
    is_array: bool


@dataclasses.dataclass(frozen=True)
class Function:
    name: str
    result: str
    parameters: tuple
    text: str  # the declaration, on one line


@dataclasses.dataclass(frozen=True)
class Member:
    """A member of a struct. `length` is the length of an array, or 0."""
    name: str
    type: str
    is_pointer: bool
    is_function: bool
    length: int


class Declarations:
    """All declarations: `functions` by name, `structs` {name: members}, `constants` {enumeration: {name: value}}."""

    def __init__(self, compiler, includes):
        code = preprocessed(compiler, includes)
        self.constants = {name: dict(constants_in(body)) for name, body in bodies(code, "enum")}
        self.structs = {name: members_in(body) for name, body in bodies(code, "struct")}
        code = re.sub(r"typedef (?:struct|enum) \w+ \{.*?\} \w+;", "", code, flags=re.DOTALL)
        code = re.sub(r"static inline .*?\n\}", "", code, flags=re.DOTALL)
        code = re.sub(r"__attribute__ *\(\(\w+\)\)", "", code)
        statements = (" ".join(part.split()) for part in code.split(";"))
        found = [function_in(part) for part in statements if "(" in part and not part.startswith("typedef")]
        self.functions = {function.name: function for function in found}


def preprocessed(compiler, includes):
    """The text of the headers of Sennit, without those that they include from elsewhere."""
    words = [compiler, "-E", "-DSENNIT_ALLOW_UNCHECKED_STATUS", *(f"-I{folder}" for folder in includes), "-x", "c", "-"]
    result = subprocess.run(words, input="#include <sennit/sennit.h>\n", capture_output=True, text=True, timeout=60,
                            check=False)
    if result.returncode != 0:
        sys.exit(f"{' '.join(words)}: {result.stderr}")
    lines, is_ours = [], False
    for line in result.stdout.split("\n"):
        mark = MARK.match(line)
        if mark:
            is_ours = re.search(r"/sennit/\w+\.h$", mark[1]) is not None
        elif is_ours and not line.startswith("#pragma"):
            lines.append(line)
    return "\n".join(lines)


def bodies(code, kind):
    return re.findall(rf"typedef {kind} (sennit_\w+) \{{(.*?)\}} \1;", code, re.DOTALL)


def constants_in(body):
    for part in filter(None, (part.strip() for part in body.split(","))):
        name, value = part.split("=")
        yield name.strip(), int(value)


def members_in(body):
    found = []
    for declaration in filter(None, (" ".join(part.split()) for part in body.split(";"))):
        callback = re.search(r"\(\*(\w+)\)\s*\(", declaration)
        if callback:
            found.append(Member(callback[1], "void", True, True, 0))
            continue
        match = re.match(r"(?:const )?(\w+) ?((?:\* ?(?:const ?)?)*)(.*)\Z", declaration)
        for part in match[3].split(","):
            name, length = re.match(r" ?(\w+)(?:\[(\d+)\])?\Z", part).groups()
            is_callback = match[1] in ("sennit_combine",)
            found.append(Member(name, match[1], bool(match[2]) or is_callback, is_callback, int(length or 0)))
    return found


def function_in(text):
    match = FUNCTION.match(text)
    if not match:
        sys.exit(f"no declaration of a function: {text}")
    parameters = [part.strip() for part in match["parameters"].split(",")]
    if parameters == ["void"]:
        parameters = []
    return Function(match["name"], match["result"].replace(" *", "*").strip(), tuple(map(parameter_in, parameters)), text)


def parameter_in(text):
    match = PARAMETER.match(text)
    if not match:
        sys.exit(f"no parameter: {text}")
    constant, kind, star, name, brackets = match.groups()
    return Parameter(name, "pointer" if star and brackets else kind, bool(constant), bool(star or brackets), bool(brackets))
