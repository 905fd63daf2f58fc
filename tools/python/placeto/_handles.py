"""The library, opened, and what every object of it is: a handle, checked arguments, errors."""

from __future__ import annotations

import array
import ctypes
import ctypes.util
import functools
import operator
import os
import pathlib
import reprlib
from ctypes import byref
from typing import (TYPE_CHECKING, Any, Iterable, Mapping, NoReturn, Optional, TypedDict, TypeVar,
                    Union)

from . import _native

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    # NumPy's where it is installed.
    Numbers = Union[NDArray[numpy.uint32], array.array[int]]
    Bytes = Union[NDArray[numpy.uint64], array.array[int]]
    Times = Union[NDArray[numpy.float64], array.array[float]]

PathLike = Union[str, "os.PathLike[str]"]
_AnyHandle = TypeVar("_AnyHandle", bound="_Handle")
_AnyCoded = TypeVar("_AnyCoded", bound="_Coded")


class Limits(TypedDict, total=False):
    """The fields of placeto_limits in placeto.h; so it is with the other kinds of options."""

    max_nodes: int
    max_edges: int
    max_outputs: int
    max_kinds: int
    max_devices: int
    max_links: int
    max_name_bytes: int
    max_file_bytes: int
    max_run_entries: int


def _find(variable: str, name: str) -> Optional[str]:
    """The library that the variable names, else the one in the package, else an installed one."""
    inside = pathlib.Path(__file__).with_name(f"lib{name}.so")
    return os.environ.get(variable) or (
        str(inside) if inside.exists() else ctypes.util.find_library(name))


def _check_version(path: str, number: int) -> None:
    built = (_native.PLACETO_VERSION_MAJOR, _native.PLACETO_VERSION_MINOR)
    found = (number // 1_000_000, number // 1000 % 1000)
    if found != built:
        raise ImportError(f"{path} is version {found[0]}.{found[1]}, expected {built[0]}.{built[1]}")


def _open() -> ctypes.CDLL:
    path = _find("PLACETO_LIBRARY", "placeto")
    if path is None:
        raise ImportError("libplaceto was not found: install it, or name it in PLACETO_LIBRARY")
    library = ctypes.CDLL(path)
    _native.declare(library)
    _check_version(path, library.placeto_version())
    return library


@functools.lru_cache(maxsize=None)
def _onnx() -> ctypes.CDLL:
    """Opened by the first that needs it."""
    path = _find("PLACETO_ONNX_LIBRARY", "placeto-onnx")
    if path is None:
        raise ImportError(
            "libplaceto-onnx was not found: install it, or name it in PLACETO_ONNX_LIBRARY")
    library = ctypes.CDLL(path)
    _native.declare_onnx(library)
    _check_version(path, library.placeto_onnx_version())
    return library


_library = _open()


class Error(Exception):
    """What the library could not do. `status` is one of PLACETO_INVALID_ARGUMENT, ..."""

    __module__ = "placeto"  # as users know it, in tracebacks and other processes

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message or _library.placeto_status_text(status).decode())
        self.status = status

    @property
    def status_text(self) -> str:
        """What the status says, in words: "bad input"."""
        return _library.placeto_status_text(self.status).decode()

    def __reduce__(self) -> tuple[Any, ...]:  # worker processes hand errors over
        return type(self), (self.status, str(self))


class Infeasible(Error):
    """No placement fits; the text names the memory that lacks."""

    __module__ = "placeto"


class OutOfRange(Error, IndexError):
    """There is no node or device of that index."""

    __module__ = "placeto"


_RANGES = {kind: (0, 2 ** (8 * ctypes.sizeof(kind)) - 1)
           for kind in (ctypes.c_uint8, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_size_t)}
_RANGES[ctypes.c_int32] = (-2 ** 31, 2 ** 31 - 1)


def _checked(kind: Any, value: Any, name: str) -> Any:
    """What goes to C as `kind`: ctypes would take the lowest bits of any integer, and -1 for a
    budget would have no end; and C would read a text up to its first NUL, or from the address that
    an integer is."""
    if kind is ctypes.c_char_p and value is not None:
        if not isinstance(value, (str, bytes)):
            raise TypeError(f"{name} is {value!r}, expected a text")
        text = value.encode() if isinstance(value, str) else value
        if b"\0" in text:
            raise ValueError(f"{name} is {value!r}, expected a text without NUL")
        return text
    if kind in _native.HANDLES:
        handle = value._handle if isinstance(value, _Handle) else value
        if handle is None or isinstance(handle, kind):
            return handle
        raise TypeError(f"{name} is {value!r}, expected a {kind._type_.__name__}")
    if kind not in _RANGES:
        return value
    low, high = _RANGES[kind]
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r}, expected an integer") from None
    if not low <= number <= high:
        raise ValueError(f"{name} is {number}, expected an integer from {low} to {high}")
    return number


def _worded(value: Any, words: Mapping[str, int], name: str) -> Any:
    """The number that a word stands for; numbers as they are."""
    if not isinstance(value, str):
        return value
    if value not in words:
        raise ValueError(f"{name} is {value!r}, expected one of {', '.join(words)}")
    return words[value]


def _about(name: str, value: Any, error: TypeError) -> TypeError:
    """What Python and ctypes say of a value, with its name."""
    return error if str(error).startswith(name) else TypeError(f"{name} is {_short(value)}: {error}")


def _content(value: Any) -> bytes:
    """What has a buffer, as bytes. C would read a text as its characters' numbers."""
    try:
        return value if isinstance(value, bytes) else bytes(memoryview(value))
    except TypeError:
        raise TypeError(f"content is {_short(value)}, expected bytes") from None


def _list_of(kind: Any, values: Iterable[Any], name: str) -> Any:
    """An array of C."""
    if isinstance(values, (str, bytes)):  # each letter would be one
        raise TypeError(f"{name} is {values!r}, expected a list")
    try:
        checked = [_checked(kind, value, name) for value in values]
        return (kind * len(checked))(*checked)
    except TypeError as error:
        raise _about(name, values, error) from None


def _function(name: str) -> Any:
    return getattr(_onnx() if name.startswith("placeto_onnx_") else _library, name)


def _ask(name: str, *arguments: Any) -> Any:
    """What the function returns. Nothing else calls C with what users give."""
    function = _function(name)
    return function(*map(_checked, function.argtypes, arguments, _native.PARAMETERS[name]))


def _call(name: str, *arguments: Any) -> None:
    error = _native.placeto_error()
    status = _ask(name, *arguments, byref(error))
    if status == _native.PLACETO_INFEASIBLE:
        raise Infeasible(status, error.message.decode(errors="replace"))
    if status != _native.PLACETO_OK:
        raise Error(status, error.message.decode(errors="replace"))


def _look_up(name: str, *arguments: Any) -> None:
    """The same of functions that refuse nothing but an index."""
    try:
        _call(name, *arguments)
    except Error as error:
        if error.status != _native.PLACETO_INVALID_ARGUMENT:
            raise
        raise OutOfRange(error.status, str(error)) from None


def _defaulted(kind: Any, function: str) -> Any:
    value = kind()
    if _ask(function, byref(value), ctypes.sizeof(value)) != _native.PLACETO_OK:
        raise Error(_native.PLACETO_INVALID_ARGUMENT, f"{function}: another version's library")
    return value


def _array(code: str, values: Any) -> Any:
    """What ctypes holds, as an array of its own."""
    flat = array.array(code, values)
    try:
        import numpy
    except ImportError:
        return flat
    return numpy.frombuffer(flat, dtype=flat.typecode) if flat else numpy.zeros(0, flat.typecode)


def _with_fields(struct: Any, values: Mapping[str, Any], known: Optional[type] = None) -> Any:
    """The struct with those fields set, all of which have to be among `known`."""
    kinds = {name: kind for name, kind in struct._fields_ if name != "struct_size"}
    for name, value in values.items():
        if name not in (kinds if known is None else known.__annotations__):
            raise TypeError(f"{type(struct).__name__} has no field '{name}'")
        try:
            setattr(struct, name, _checked(kinds[name], value, name))
        except TypeError as error:
            raise _about(name, value, error) from None
    return struct


def _limits(values: Optional[Mapping[str, int]]) -> Any:
    if values is None:
        return None
    if not isinstance(values, Mapping):
        raise TypeError(f"limits is {_short(values)}, expected names and numbers")
    return ctypes.pointer(_with_fields(
        _defaulted(_native.placeto_limits, "placeto_default_limits"), values))


# For a name or a list of them, which may have any length.
_short = reprlib.repr


class _Handle:
    """Owns an object of the library, of that struct."""

    _struct: Any = None
    _free = ""

    def __init__(self, handle: Any) -> None:
        self._handle = handle
        self._release = _function(self._free)  # kept: at the interpreter's end modules are empty

    def __del__(self) -> None:
        handle, self._handle = getattr(self, "_handle", None), None
        if handle is not None:
            self._release(handle)

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"a {type(self).__name__} cannot be copied: it owns what it stands for")

    @classmethod
    def _new(cls, function: str, *arguments: Any) -> Any:
        handle = ctypes.POINTER(cls._struct)()
        _call(function, *arguments, byref(handle))
        return handle

    @classmethod
    def _make(cls: type[_AnyHandle], function: str, *arguments: Any) -> _AnyHandle:
        return cls(cls._new(function, *arguments))

    def _encode(self, function: str) -> bytes:
        size = ctypes.c_size_t()
        _call(function, self._handle, None, 0, byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        _call(function, self._handle, buffer, size.value, byref(size))
        return buffer.raw


class _Coded(_Handle):
    """What has a binary file and a name: a graph or a topology."""

    @classmethod
    def _function(cls, what: str) -> str:
        return f"{cls._struct.__name__}_{what}"

    @classmethod
    def load(cls: type[_AnyCoded], path: PathLike, limits: Optional[Limits] = None) -> _AnyCoded:
        """What a binary file holds."""
        return cls._make(cls._function("load_file"), os.fsencode(path), _limits(limits))

    @classmethod
    def from_bytes(cls: type[_AnyCoded], content: bytes,
                   limits: Optional[Limits] = None) -> _AnyCoded:
        """What a binary file's bytes hold."""
        data = _content(content)
        return cls._make(cls._function("load_memory"), data, len(data), _limits(limits))

    def to_bytes(self) -> bytes:
        """A binary file of it."""
        return self._encode(self._function("encode"))

    @property
    def name(self) -> str:
        """Empty if it has none."""
        return _ask(self._function("name"), self._handle).decode()
