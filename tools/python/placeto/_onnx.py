"""What needs libplaceto-onnx: models, JSON, engines, stages."""

from __future__ import annotations

import contextlib
import ctypes
import os
from ctypes import byref
from typing import (TYPE_CHECKING, Any, Callable, Iterator, Mapping, Optional, Sequence, TypedDict,
                    Union)

from . import _native
from ._graph import Graph, Topology
from ._handles import (Limits, PathLike, _call, _defaulted, _Handle, _limits, _list_of,
                       _with_fields, _worded)
from ._placing import Placement, Policy, Rules

if TYPE_CHECKING:
    from typing_extensions import Unpack


_STAGES = {"recorded": _native.PLACETO_ONNX_STAGES_RECORDED,
           "fewest": _native.PLACETO_ONNX_STAGES_FEWEST,
           "overlap": _native.PLACETO_ONNX_STAGES_OVERLAP,
           "crossings": _native.PLACETO_ONNX_STAGES_CROSSINGS}


class ImportOptions(TypedDict, total=False):
    """placeto_onnx_options. {"batch": 1} stands for ["batch=1"]."""

    dims: Union[Mapping[str, int], Sequence[str]]
    values: Union[Mapping[str, object], Sequence[str]]
    shapes: Union[Mapping[str, str], Sequence[str]]
    profiles: Union[Mapping[str, PathLike], Sequence[str]]
    tables: Sequence[PathLike]
    efficiencies: Sequence[PathLike]
    copy_shared: bool
    tear_patterns: bool
    limits: Limits
    on_note: Callable[[str], object]  # hears what a user should know and no error says


class Engine(_Handle):
    """How an engine executes, what its providers can run and what it fuses."""

    _struct = _native.placeto_onnx_engine
    _free = "placeto_onnx_engine_free"

    @classmethod
    def load(cls, path: PathLike) -> Engine:
        """A file, or the name of a description that ships with Placeto: "onnxruntime"."""
        return cls._make("placeto_onnx_engine_load", os.fsencode(path))

    def topology(self, topology: Topology) -> Topology:
        """As the engine runs on it: its execution, its prices of stages where there are none."""
        return Topology._make("placeto_onnx_engine_topology", self._handle, topology)

    def rules(self, graph: Graph, topology: Topology,
              providers: Union[Mapping[str, str], Sequence[str]] = (),
              on_note: Optional[Callable[[str], object]] = None) -> Rules:
        """For place(..., rules=...). Providers: {"gpu": "cuda"}, of a kind or a device."""
        names = _texts(providers, "providers")
        with _notes(on_note) as function:
            return Rules._make("placeto_onnx_engine_rules", self._handle, graph,
                               topology, names, len(names), function, None)


def _texts(given: Any, name: str) -> Any:
    """Texts for C; {"batch": 1} stands for ["batch=1"]."""
    def text(value: object) -> str:
        return str(value).lower() if isinstance(value, bool) else str(value)

    if isinstance(given, (str, bytes)):  # each letter would be one
        raise TypeError(f"{name} is {given!r}, expected a list or a mapping")
    if isinstance(given, Mapping):
        given = [f"{key}={text(value)}" for key, value in given.items()]
    return _list_of(ctypes.c_char_p, map(os.fsencode, given), name)


@contextlib.contextmanager
def _notes(on_note: Optional[Callable[[str], object]]) -> Iterator[Any]:
    """A function for C that keeps notes. They are handed on at the end: what `on_note` raises
    cannot pass through C."""
    texts: list[str] = []
    yield _native.placeto_onnx_note_function(
        lambda _, text: texts.append(text.decode(errors="replace")))
    if on_note is not None:
        for text in texts:
            on_note(text)


@contextlib.contextmanager
def _import_options(fields: ImportOptions) -> Iterator[Any]:
    """placeto_onnx_options; what it points to lives as long as the block."""
    plain: dict[str, Any] = dict(fields)
    options = _defaulted(_native.placeto_onnx_options, "placeto_onnx_default_options")
    for name, count in (("dims", "dim_count"), ("values", "value_count"),
                        ("shapes", "shape_count"), ("profiles", "profile_count"),
                        ("tables", "table_count"), ("efficiencies", "efficiency_count")):
        texts = _texts(plain.pop(name, ()), name)
        setattr(options, name, texts)
        setattr(options, count, len(texts))
    if "limits" in plain:
        options.limits = _limits(plain.pop("limits"))
    with _notes(plain.pop("on_note", None)) as function:
        options.on_note = function
        yield _with_fields(options, plain, ImportOptions)


def load_graph(path: PathLike, **options: Unpack[ImportOptions]) -> Graph:
    """The graph of an ONNX model, or a graph file, JSON or binary. Options are the fields of
    placeto_onnx_options in placeto_onnx.h: dims, profiles, ..., as lists or mappings."""
    with _import_options(options) as struct:
        return Graph._make("placeto_onnx_load_graph", os.fsencode(path), byref(struct))


def load_topology(path: PathLike, limits: Optional[Limits] = None) -> Topology:
    """A topology file, JSON or binary, or a built-in topology by its name."""
    return Topology._make("placeto_onnx_load_topology", os.fsencode(path), _limits(limits))


def default_policy() -> Policy:
    """The policy that `placeto place` uses unless it is told otherwise."""
    return Policy._make("placeto_onnx_default_policy")


def write_stages(model: PathLike, placement: Placement, directory: PathLike, *,
                 stages: Union[int, str] = "recorded",
                 **options: Unpack[ImportOptions]) -> None:
    """One ONNX file per stage and manifest.json in a new directory. `stages` is
    "recorded", "fewest", "overlap" or "crossings", or a constant PLACETO_ONNX_STAGES_... as in
    placeto_onnx.h. Options: those that the model was loaded with."""
    with _import_options(options) as struct:
        _call("placeto_onnx_write_stages", os.fsencode(model), byref(struct), placement,
              _worded(stages, _STAGES, "stages"), os.fsencode(directory))
