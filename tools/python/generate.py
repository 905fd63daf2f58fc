"""Writes ctypes declarations of what C headers declare, so that they cannot differ from them.

    generate.py placeto.h [placeto_onnx.h] _native.py

Understands what those headers use: structs of plain fields, arrays of numbers, opaque structs, enums,
callbacks, functions. Anything else is an error, with the declaration.
"""

import re
import sys

NUMBERS = {
    "int32_t": "c_int32", "uint32_t": "c_uint32", "uint64_t": "c_uint64", "uint8_t": "c_uint8",
    "size_t": "c_size_t", "double": "c_double", "float": "c_float", "char": "c_char",
    "placeto_status": "c_int32",
}


class Header:
    """The declarations of a header, in their order."""

    def __init__(self, text):
        text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
        self.constants = {
            name: int(value.rstrip("u"), 0)
            for name, value in re.findall(r"#define (PLACETO_\w+) (0x[0-9a-f]+u?|\d+) *\n", text)
        }
        text = re.sub(r"^ *#.*$", " ", text.replace("\\\n", " "), flags=re.M)
        text = text.replace('extern "C" {', " ")
        text = re.sub(r"\bPLACETO_(API|NOEXCEPT)\b", " ", text)
        text = re.sub(r"\s+", " ", text)
        self.structs, self.callbacks, self.functions, self.opaque = {}, {}, {}, set()
        for declaration in split(text):
            self.add(declaration)

    def add(self, text):
        """Sorts one declaration, without its semicolon, into what it declares."""
        if found := re.fullmatch(r"enum \{(.*)\}", text):
            for entry in filter(None, (e.strip() for e in found[1].split(","))):
                name, value = entry.split("=")
                self.constants[name.strip()] = int(value, 0)
        elif found := re.fullmatch(r"typedef struct (\w+) \{(.*)\} \1", text):
            fields = (field.strip() for field in found[2].split(";"))
            self.structs[found[1]] = [self.variable(field) for field in fields if field]
        elif found := re.fullmatch(r"typedef struct (\w+) \1", text):
            self.opaque.add(found[1])
        elif found := re.fullmatch(r"typedef (.+) \( ?\*(\w+) ?\) ?\((.*)\)", text):
            self.callbacks[found[2]] = (self.type_of(found[1]), self.parameters(found[3]))
        elif found := re.fullmatch(r"typedef int32_t placeto_status", text):
            pass
        elif found := re.fullmatch(r"(.+?[ *])(placeto_\w+) ?\((.*)\)", text):
            self.functions[found[2]] = (self.type_of(found[1]), self.parameters(found[3]))
        else:
            raise SystemExit(f"generate.py: cannot read the declaration '{text}'")

    def parameters(self, text):
        if text.strip() == "void":
            return []
        return [self.variable(parameter.strip()) for parameter in text.split(",")]

    def variable(self, text):
        """Name and type of a field or parameter."""
        found = re.fullmatch(r"(.+?)(\w+)(\[(\d+)\])?", text)
        kind = self.type_of(found[1])
        if found[4] is None:
            return found[2], kind
        return found[2], f"{kind} * {found[4]}"

    def type_of(self, text):
        """A C type in the words of ctypes."""
        stars = text.count("*")
        name = text.replace("const", " ").replace("*", " ").strip()
        if name == "void":
            return "c_void_p" if stars == 1 else "POINTER(c_void_p)" if stars == 2 else "None"
        if name in self.callbacks:
            return name
        if name == "char" and stars > 0:
            return "c_char_p" if stars == 1 else "POINTER(c_char_p)"
        kind = NUMBERS.get(name, name if name in {*self.structs, *self.opaque} else None)
        if kind is None:
            raise SystemExit(f"generate.py: unknown type '{text}'")
        for _ in range(stars):
            kind = f"POINTER({kind})"
        return kind


def split(text):
    """At semicolons outside braces, and at the braces' end of an `extern "C"`."""
    depth, start = 0, 0
    for at, character in enumerate(text):
        if character == "{":
            depth += 1
        elif character == "}" and depth == 0:
            start = at + 1
        elif character == "}":
            depth -= 1
        elif character == ";" and depth == 0:
            yield text[start:at].strip()
            start = at + 1
    if text[start:].strip():
        raise SystemExit(f"generate.py: left over: '{text[start:].strip()}'")


def python_of(header):
    """The module's text."""
    lines = [
        '"""Made by generate.py from the headers: do not edit."""',
        "import ctypes",
        "from ctypes import (CFUNCTYPE, POINTER, c_char, c_char_p, c_double, c_float, c_int32,",
        "                    c_size_t, c_uint8, c_uint32, c_uint64, c_void_p)",
        "",
    ]
    lines += [f"{name} = {value}" for name, value in header.constants.items()]
    for name in sorted(header.opaque):
        lines += ["", "", f"class {name}(ctypes.Structure):", '    """Owned by the library."""']
    lines += ["", "", "# Pointers to them: what takes one takes no other.", "HANDLES = frozenset(["]
    lines += [f"    POINTER({name})," for name in sorted(header.opaque)]
    lines.append("])")
    declared = set()

    def declare_callback(name):
        result, parameters = header.callbacks[name]
        types = ", ".join([result] + [kind for _, kind in parameters])
        lines.extend(["", f"{name} = CFUNCTYPE({types})"])
        declared.add(name)

    for struct, fields in header.structs.items():
        for _, kind in fields:
            if kind in header.callbacks and kind not in declared:
                declare_callback(kind)
        lines += ["", "", f"class {struct}(ctypes.Structure):", "    _fields_ = ["]
        lines += [f'        ("{name}", {kind}),' for name, kind in fields]
        lines.append("    ]")
    lines += ["", "", "# What messages call the arguments.", "PARAMETERS = {"]
    for name, (_, parameters) in header.functions.items():
        names = "".join(f"'{parameter}', " for parameter, _ in parameters)
        lines.append(f"    '{name}': ({names}),")
    lines.append("}")
    for declare, is_onnx in (("declare", False), ("declare_onnx", True)):
        lines += ["", "", f"def {declare}(library):",
                  '    """Tells ctypes what the functions take and return."""']
        for name, (result, parameters) in header.functions.items():
            if name.startswith("placeto_onnx_") != is_onnx:
                continue
            types = ", ".join(kind for _, kind in parameters)
            lines.append(f"    library.{name}.restype = {result}")
            lines.append(f"    library.{name}.argtypes = [{types}]")
    return "\n".join(lines) + "\n"


def main(arguments):
    if len(arguments) < 3:
        raise SystemExit(__doc__)
    headers = []
    for name in arguments[1:-1]:
        with open(name, encoding="utf-8") as file:
            headers.append(file.read())
    text = python_of(Header("\n".join(headers)))
    with open(arguments[-1], "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main(sys.argv)
