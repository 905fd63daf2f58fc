"""Device placement for neural networks: Python over libplaceto.

    import placeto

    graph = placeto.load_graph("net.onnx", dims={"batch": 1})   # or a graph file, JSON or binary
    topology = placeto.load_topology("cpu+gpu")                 # a file, or a built-in one
    placement = placeto.place(graph, topology, placeto.default_policy(), budget_evaluations=1000)
    print(placement.makespan_us, placement.devices[graph.find("conv1")])

load_graph, load_topology, default_policy, write_stages, engines and JSON need libplaceto-onnx;
Graph.load and Topology.load read binary files without it.

Lists per node or device are NumPy arrays where NumPy is installed, else array.array. What fails
raises placeto.Error, whose `status` says why and whose text says where; an integer that C could not
hold, ValueError.
"""

from __future__ import annotations

import array
import contextlib
import ctypes
import ctypes.util
import functools
import operator
import os
import pathlib
import reprlib
import threading
from ctypes import byref
from typing import (TYPE_CHECKING, Any, Callable, Iterable, Iterator, Mapping, NamedTuple, NoReturn,
                    Optional, Sequence, TypedDict, TypeVar, Union)

from . import _native
from ._native import (PLACETO_BAD_INPUT, PLACETO_CONTENTION_EGRESS, PLACETO_CONTENTION_NONE,
                      PLACETO_DISPATCH_FIFO, PLACETO_DISPATCH_PRIORITY,
                      PLACETO_EXECUTION_PARALLEL, PLACETO_EXECUTION_SERIAL,
                      PLACETO_EXECUTION_STAGED, PLACETO_GROUPING_AUTO, PLACETO_GROUPING_NONE,
                      PLACETO_INFEASIBLE, PLACETO_INVALID_ARGUMENT, PLACETO_IO,
                      PLACETO_KERNELS_AUTO, PLACETO_KERNELS_ONEDNN, PLACETO_KERNELS_PORTABLE,
                      PLACETO_LATENCY, PLACETO_NONE, PLACETO_NOT_FOUND, PLACETO_ONNX_STAGES_FEWEST,
                      PLACETO_ONNX_STAGES_OVERLAP, PLACETO_ONNX_STAGES_RECORDED,
                      PLACETO_OUT_OF_MEMORY, PLACETO_STOPPED, PLACETO_THROUGHPUT,
                      PLACETO_TRANSFER_BROADCAST, PLACETO_TRANSFER_UNICAST)

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray
    from typing_extensions import Unpack

    # NumPy's where it is installed.
    Numbers = Union[NDArray[numpy.uint32], array.array[int]]
    Bytes = Union[NDArray[numpy.uint64], array.array[int]]
    Times = Union[NDArray[numpy.float64], array.array[float]]

__all__ = ["Cancel", "Candidate", "Device", "DeviceFields", "Engine", "Error", "Graph",
           "GraphBuilder", "ImportOptions", "Infeasible", "Limits", "Link", "LinkFields", "Node",
           "PlaceOptions", "Placement", "Policy", "Reason", "RuleFields", "Rules", "Topology",
           "TopologyBuilder", "TopologyRules", "decode_assignment", "default_policy", "load_graph",
           "load_topology", "place", "run_times", "score", "version", "write_stages",
           "PLACETO_BAD_INPUT", "PLACETO_CONTENTION_EGRESS", "PLACETO_CONTENTION_NONE",
           "PLACETO_DISPATCH_FIFO", "PLACETO_DISPATCH_PRIORITY", "PLACETO_EXECUTION_PARALLEL",
           "PLACETO_EXECUTION_SERIAL", "PLACETO_EXECUTION_STAGED", "PLACETO_GROUPING_AUTO",
           "PLACETO_GROUPING_NONE", "PLACETO_INFEASIBLE", "PLACETO_INVALID_ARGUMENT", "PLACETO_IO",
           "PLACETO_KERNELS_AUTO", "PLACETO_KERNELS_ONEDNN", "PLACETO_KERNELS_PORTABLE",
           "PLACETO_LATENCY", "PLACETO_NONE", "PLACETO_NOT_FOUND", "PLACETO_ONNX_STAGES_FEWEST",
           "PLACETO_ONNX_STAGES_OVERLAP", "PLACETO_ONNX_STAGES_RECORDED", "PLACETO_OUT_OF_MEMORY",
           "PLACETO_STOPPED", "PLACETO_THROUGHPUT", "PLACETO_TRANSFER_BROADCAST",
           "PLACETO_TRANSFER_UNICAST"]

# The version of the headers that the package was made from, which is the project's.
__version__ = ".".join(map(str, (_native.PLACETO_VERSION_MAJOR, _native.PLACETO_VERSION_MINOR,
                                 _native.PLACETO_VERSION_PATCH)))

PathLike = Union[str, "os.PathLike[str]"]
_AnyHandle = TypeVar("_AnyHandle", bound="_Handle")


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


class RuleFields(TypedDict, total=False):
    """placeto_topology_rules."""

    op_gap_us: float
    contention: int
    transfer: int
    execution: int
    dispatch: int
    bandwidth_bytes_per_us: float
    latency_us: float
    gap_us: float


class DeviceFields(TypedDict, total=False):
    """placeto_device."""

    memory_bytes: int
    peak_flops: float
    memory_bandwidth: float
    slowdown: float
    stage_us: float
    cut_us: float
    cut_bytes_per_us: float


class LinkFields(TypedDict, total=False):
    """placeto_link."""

    bandwidth_bytes_per_us: float
    latency_us: float
    gap_us: float
    channel: str


class PlaceOptions(TypedDict, total=False):
    """placeto_options. Pins and forbids map nodes to devices, or are pairs of them."""

    method: str
    seed: int
    budget_evaluations: int
    budget_milliseconds: float
    cancel: Cancel
    passes: int
    objective: int
    memory_headroom: float
    pins: Union[Mapping[int, int], Iterable[tuple[int, int]]]
    forbids: Union[Mapping[int, int], Iterable[tuple[int, int]]]
    colocate: Iterable[Sequence[int]]
    limits: Limits
    deadline_milliseconds: float
    samples: int
    kernels: int
    grouping: int
    tolerance: float
    rules: Rules  # what an engine demands, after the rules above


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

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message or _library.placeto_status_text(status).decode())
        self.status = status

    def __reduce__(self) -> tuple[Any, ...]:  # worker processes hand errors over
        return type(self), (self.status, str(self))


class Infeasible(Error):
    """No placement fits; the text names the memory that lacks."""


def version() -> str:
    """The library's version, "0.1.0"."""
    return _ask("placeto_version_text").decode()


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


class Node(NamedTuple):
    """A node as it was given. Costs: one for each kind of the graph, or one for every device. Domain
    "", opset 0, no input types: not known."""

    name: str
    op: str
    cost_us: list[float]
    outputs: list[int]
    resident_bytes: int
    workspace_bytes: int
    flops: int
    bytes_accessed: int
    colocate: str
    allowed_kinds: list[str]
    launches: int
    domain: str
    opset: int
    input_types: list[str]


class Graph(_Handle):
    """What is placed: nodes and the tensors between them."""

    _struct = _native.placeto_graph
    _free = "placeto_graph_free"

    @classmethod
    def load(cls, path: PathLike, limits: Optional[Limits] = None) -> Graph:
        """The graph in a binary file."""
        return cls._make("placeto_graph_load_file", os.fsencode(path), _limits(limits))

    @classmethod
    def from_bytes(cls, content: bytes, limits: Optional[Limits] = None) -> Graph:
        """A binary file's bytes."""
        data = _content(content)
        return cls._make("placeto_graph_load_memory", data, len(data), _limits(limits))

    def to_bytes(self) -> bytes:
        """A binary file of it."""
        return self._encode("placeto_graph_encode")

    def __len__(self) -> int:
        return _ask("placeto_graph_node_count", self._handle)

    def __repr__(self) -> str:
        return f"<Graph {_short(self.name)}: {len(self)} nodes, {self.edge_count} edges>"

    @property
    def name(self) -> str:
        """Empty if it has none."""
        return _ask("placeto_graph_name", self._handle).decode()

    @property
    def edge_count(self) -> int:
        """Edges, control edges among them."""
        return _ask("placeto_graph_edge_count", self._handle)

    def node_name(self, node: int) -> str:
        """Empty if it has none."""
        return _ask("placeto_graph_node_name", self._handle, node).decode()

    @property
    def kinds(self) -> list[str]:
        """What the entries of cost_us refer to; none: one entry, any device."""
        return [_ask("placeto_graph_kind", self._handle, kind).decode()
                for kind in range(_ask("placeto_graph_kind_count", self._handle))]

    def node(self, node: int) -> Node:
        """What the node was given."""
        value = _native.placeto_node(struct_size=ctypes.sizeof(_native.placeto_node))
        _call("placeto_graph_node", self._handle, node, byref(value))
        return Node(value.name.decode(), value.op.decode(), value.cost_us[:value.cost_count],
                    value.outputs[:value.output_count], value.resident_bytes,
                    value.workspace_bytes, value.flops, value.bytes_accessed,
                    value.colocate.decode(),
                    [value.allowed_kinds[i].decode() for i in range(value.allowed_kind_count)],
                    value.launches, value.domain.decode(), value.opset,
                    [value.input_types[i].decode() for i in range(value.input_type_count)])

    def edges(self) -> tuple[Numbers, Numbers, Numbers]:
        """Source, output and target of every edge."""
        count = self.edge_count
        lists = [(ctypes.c_uint32 * count)() for _ in range(3)]
        _call("placeto_graph_edges", self._handle, *lists, count)
        return _array("I", lists[0]), _array("I", lists[1]), _array("I", lists[2])

    def find(self, name: str) -> int:
        """The first node of that name; KeyError if there is none."""
        node = _ask("placeto_graph_find_node", self._handle, name)
        if node == PLACETO_NONE:
            raise KeyError(name)
        return node


class GraphBuilder(_Handle):
    """Makes a graph node by node."""

    _struct = _native.placeto_graph_builder
    _free = "placeto_graph_builder_free"

    def __init__(self, name: str = "", kinds: Sequence[str] = ()) -> None:
        super().__init__(self._new("placeto_graph_builder_create", name))
        if kinds:
            names = _list_of(ctypes.c_char_p, kinds, "kinds")
            _call("placeto_graph_builder_set_kinds", self._handle, names, len(kinds))

    def add(self, name: str, op: str = "", *, cost_us: Sequence[float] = (),
            outputs: Sequence[int] = (), resident_bytes: int = 0, workspace_bytes: int = 0,
            flops: int = 0, bytes_accessed: int = 0, colocate: Optional[str] = None,
            allowed_kinds: Sequence[str] = (), launches: int = 0, domain: str = "",
            opset: int = 0, input_types: Sequence[str] = ()) -> int:
        """The number of the new node. Costs: one for each kind, or one for every device. Domain,
        opset and input types (as ONNX names them: "float", "int64") are what engines go by."""
        costs = _list_of(ctypes.c_double, cost_us, "cost_us")
        sizes = _list_of(ctypes.c_uint64, outputs, "outputs")
        kinds = _list_of(ctypes.c_char_p, allowed_kinds, "allowed_kinds")
        types = _list_of(ctypes.c_char_p, input_types, "input_types")
        node = _with_fields(_defaulted(_native.placeto_node, "placeto_default_node"), {
            "name": name, "op": op, "cost_us": costs, "cost_count": len(costs), "outputs": sizes,
            "output_count": len(sizes), "resident_bytes": resident_bytes,
            "workspace_bytes": workspace_bytes, "flops": flops, "bytes_accessed": bytes_accessed,
            "colocate": colocate, "allowed_kinds": kinds, "allowed_kind_count": len(kinds),
            "launches": launches, "domain": domain, "opset": opset, "input_types": types,
            "input_type_count": len(types)})
        index = ctypes.c_uint32()
        _call("placeto_graph_builder_add_node", self._handle, byref(node), byref(index))
        return index.value

    def connect(self, source: int, target: int, output: Optional[int] = 0) -> None:
        """`target` reads that output of `source`; None: it only waits for it."""
        number = _native.PLACETO_CONTROL_EDGE if output is None else output
        _call("placeto_graph_builder_add_edge", self._handle, source, number, target)

    def build(self, limits: Optional[Limits] = None) -> Graph:
        """The graph so far; raises Error where something is wrong with it."""
        return Graph._make("placeto_graph_builder_build", self._handle, _limits(limits))


class Device(NamedTuple):
    """A device as it was given. memory_bytes 0: unlimited. The last three are prices of staged
    execution."""

    name: str
    kind: str
    memory_bytes: int
    peak_flops: float
    memory_bandwidth: float
    slowdown: float
    stage_us: float
    cut_us: float
    cut_bytes_per_us: float


class Link(NamedTuple):
    """A link one way. Those with the same channel share a queue; "": that of the source."""

    source: str
    target: str
    bandwidth_bytes_per_us: float
    latency_us: float
    gap_us: float
    channel: str


class TopologyRules(NamedTuple):
    """What the cost model takes to hold there, in the constants of placeto.h."""

    op_gap_us: float
    contention: int
    transfer: int
    execution: int
    dispatch: int
    bandwidth_bytes_per_us: float
    latency_us: float
    gap_us: float


class Topology(_Handle):
    """Where it is placed: devices and the links between them."""

    _struct = _native.placeto_topology
    _free = "placeto_topology_free"

    @classmethod
    def load(cls, path: PathLike, limits: Optional[Limits] = None) -> Topology:
        """The topology in a binary file."""
        return cls._make("placeto_topology_load_file", os.fsencode(path), _limits(limits))

    @classmethod
    def from_bytes(cls, content: bytes, limits: Optional[Limits] = None) -> Topology:
        """A binary file's bytes."""
        data = _content(content)
        return cls._make("placeto_topology_load_memory", data, len(data), _limits(limits))

    def to_bytes(self) -> bytes:
        """A binary file of it."""
        return self._encode("placeto_topology_encode")

    def __len__(self) -> int:
        return _ask("placeto_topology_device_count", self._handle)

    def __repr__(self) -> str:
        return f"<Topology {_short(self.name)}: {_short(self.device_names)}>"

    @property
    def name(self) -> str:
        """Empty if it has none."""
        return _ask("placeto_topology_name", self._handle).decode()

    @property
    def device_names(self) -> list[str]:
        """In the order of their indices."""
        return [_ask("placeto_topology_device_name", self._handle, device).decode()
                for device in range(len(self))]

    def device(self, device: int) -> Device:
        """What the device was given."""
        value = _native.placeto_device(struct_size=ctypes.sizeof(_native.placeto_device))
        _call("placeto_topology_device", self._handle, device, byref(value))
        return Device(value.name.decode(), value.kind.decode(), value.memory_bytes,
                      value.peak_flops, value.memory_bandwidth, value.slowdown, value.stage_us,
                      value.cut_us, value.cut_bytes_per_us)

    def link(self, source: int, target: int) -> Link:
        """From one device to another; the default one if they have none of their own."""
        value = _native.placeto_link(struct_size=ctypes.sizeof(_native.placeto_link))
        _call("placeto_topology_link", self._handle, source, target, byref(value))
        return Link(getattr(value, "from").decode(), value.to.decode(),
                    value.bandwidth_bytes_per_us, value.latency_us, value.gap_us,
                    (value.channel or b"").decode())

    @property
    def rules(self) -> TopologyRules:
        """How it executes, and its default link."""
        value = _native.placeto_topology_rules(
            struct_size=ctypes.sizeof(_native.placeto_topology_rules))
        _call("placeto_topology_get_rules", self._handle, byref(value))
        return TopologyRules(*(getattr(value, field) for field in TopologyRules._fields))

    def find(self, name: str) -> int:
        """The device of that name; KeyError if there is none."""
        device = _ask("placeto_topology_find_device", self._handle, name)
        if device == PLACETO_NONE:
            raise KeyError(name)
        return device


class TopologyBuilder(_Handle):
    """Makes a topology. Fields that are not given have the defaults of placeto.h."""

    _struct = _native.placeto_topology_builder
    _free = "placeto_topology_builder_free"

    def __init__(self, name: str = "", **rules: Unpack[RuleFields]) -> None:
        super().__init__(self._new("placeto_topology_builder_create", name))
        value = _with_fields(_defaulted(_native.placeto_topology_rules,
                                        "placeto_default_topology_rules"), rules, RuleFields)
        _call("placeto_topology_builder_set_rules", self._handle, byref(value))

    def add(self, name: str, kind: str, **fields: Unpack[DeviceFields]) -> int:
        """The number of the new device."""
        device = _with_fields(_defaulted(_native.placeto_device, "placeto_default_device"),
                              {"name": name, "kind": kind, **fields})
        index = ctypes.c_uint32()
        _call("placeto_topology_builder_add_device", self._handle, byref(device), byref(index))
        return index.value

    def connect(self, source: str, target: str, **fields: Unpack[LinkFields]) -> None:
        """A link one way."""
        link = _with_fields(_defaulted(_native.placeto_link, "placeto_default_link"),
                            {"from": source, "to": target, **fields})
        _call("placeto_topology_builder_add_link", self._handle, byref(link))

    def build(self, limits: Optional[Limits] = None) -> Topology:
        """The topology so far; raises Error where something is wrong with it."""
        return Topology._make("placeto_topology_builder_build", self._handle, _limits(limits))


class Policy(_Handle):
    """A trained network."""

    _struct = _native.placeto_policy
    _free = "placeto_policy_free"

    @classmethod
    def load(cls, path: PathLike) -> Policy:
        """The policy in a file."""
        return cls._make("placeto_policy_load_file", os.fsencode(path),
                         _native.PLACETO_FILE_READ, None)

    @classmethod
    def from_bytes(cls, content: bytes) -> Policy:
        """A policy file's bytes."""
        data = _content(content)
        return cls._make("placeto_policy_load_memory", data, len(data),
                         _native.PLACETO_BYTES_COPY, None)

    def __repr__(self) -> str:
        return f"<Policy {self.architecture}: sha256 {self.sha256[:12]}...>"

    @property
    def architecture(self) -> str:
        """Either "pairwise" or "placeto"."""
        return _ask("placeto_policy_architecture", self._handle).decode()

    @property
    def sha256(self) -> str:
        """The SHA-256 of the file without it, 64 hexadecimal digits."""
        digest = (ctypes.c_uint8 * 32)()
        _call("placeto_policy_sha256", self._handle, digest)
        return bytes(digest).hex()


class Candidate(NamedTuple):
    """What one method found."""

    method: str
    makespan_us: float
    objective_us: float
    feasible: bool
    won: bool


class Reason(NamedTuple):
    """Why a node is where it is. second_device is None if no other may run it."""

    device: int
    group_nodes: int
    second_device: Optional[int]
    cost_us: float
    second_cost_us: float
    second_feasible: bool
    allowed_devices: int


class Placement(_Handle):
    """A device for every node, and what the cost model predicts of it."""

    _struct = _native.placeto_placement
    _free = "placeto_placement_free"

    def __len__(self) -> int:
        return _ask("placeto_placement_node_count", self._handle)

    def __repr__(self) -> str:
        fits = "" if self.feasible else ", does not fit"
        return f"<Placement by {self.method}: {len(self)} nodes, {self.makespan_us:.6g} us{fits}>"

    def _list(self, function: str, kind: Any, code: str, count: int) -> Any:
        values = (kind * count)()
        _call(function, self._handle, values, count)
        return _array(code, values)

    @property
    def _device_count(self) -> int:
        return _ask("placeto_placement_device_count", self._handle)

    @property
    def devices(self) -> Numbers:
        """The device of every node."""
        return self._list("placeto_placement_assignment", ctypes.c_uint32, "I", len(self))

    @property
    def makespan_us(self) -> float:
        """When the last node finishes, as predicted."""
        return _ask("placeto_placement_makespan_us", self._handle)

    @property
    def bottleneck_us(self) -> float:
        """The largest busy time of a device or channel in a run."""
        return _ask("placeto_placement_bottleneck_us", self._handle)

    @property
    def lower_bound_us(self) -> float:
        """No placement takes less."""
        return _ask("placeto_placement_lower_bound_us", self._handle)

    @property
    def proved(self) -> bool:
        """No placement is better, by the objective."""
        return _ask("placeto_placement_proved", self._handle) != 0

    @property
    def replicas_us(self) -> float:
        """Placed for throughput: time per run if every device has a copy; 0: unknown."""
        return _ask("placeto_placement_replicas_us", self._handle)

    @property
    def sequential_us(self) -> float:
        """Placed for throughput: time per run, one at a time, if less than the bottleneck; else 0."""
        return _ask("placeto_placement_sequential_us", self._handle)

    @property
    def method(self) -> str:
        """What found it: "iterate", "policy", "search", ..."""
        return _ask("placeto_placement_method", self._handle).decode()

    @property
    def note(self) -> str:
        """What the placing had to say; empty if nothing."""
        return _ask("placeto_placement_note", self._handle).decode()

    @property
    def feasible(self) -> bool:
        """Whether it fits the memory of all devices."""
        return _ask("placeto_placement_feasible", self._handle) != 0

    @property
    def place_time_us(self) -> float:
        """Wall time that placing took; 0 after score."""
        return _ask("placeto_placement_place_time_us", self._handle)

    @property
    def stopped(self) -> int:
        """0: everything was tried. placeto_placement_stopped in placeto.h has the others."""
        return _ask("placeto_placement_stopped", self._handle)

    @property
    def stages(self) -> Numbers:
        """Under staged execution the stage of every node, else none."""
        return self._list("placeto_placement_stages", ctypes.c_uint32, "I",
                          len(self) if self._stage_count else 0)

    @property
    def stage_order(self) -> Numbers:
        """Every stage once, as they may run."""
        return self._list("placeto_placement_stage_order", ctypes.c_uint32, "I", self._stage_count)

    @property
    def _stage_count(self) -> int:
        return _ask("placeto_placement_stage_count", self._handle)

    def times(self) -> tuple[Times, Times]:
        """When each node starts, and finishes, in microseconds."""
        start, finish = (ctypes.c_double * len(self))(), (ctypes.c_double * len(self))()
        _call("placeto_placement_times", self._handle, start, finish, len(self))
        return _array("d", start), _array("d", finish)

    @property
    def peak_memory(self) -> Bytes:
        """Bytes, for each device."""
        return self._list("placeto_placement_peak_memory", ctypes.c_uint64, "Q",
                          self._device_count)

    @property
    def shortfall(self) -> Bytes:
        """By how many bytes that exceeds what the device has, for each device."""
        return self._list("placeto_placement_shortfall", ctypes.c_uint64, "Q", self._device_count)

    @property
    def candidates(self) -> list[Candidate]:
        """What each method found."""
        rows = []
        for index in range(_ask("placeto_placement_candidate_count", self._handle)):
            row = _native.placeto_candidate(struct_size=ctypes.sizeof(_native.placeto_candidate))
            _call("placeto_placement_candidate", self._handle, index, byref(row))
            rows.append(Candidate(row.method.decode(), row.makespan_us, row.objective_us,
                                  row.feasible != 0, row.won != 0))
        return rows

    def explain(self, node: int) -> Reason:
        """One thread at a time."""
        reason = _native.placeto_reason(struct_size=ctypes.sizeof(_native.placeto_reason))
        _call("placeto_placement_explain", self._handle, node, byref(reason))
        second = None if reason.second_device == PLACETO_NONE else reason.second_device
        return Reason(reason.device, reason.group_nodes, second, reason.cost_us,
                      reason.second_cost_us, reason.second_feasible != 0, reason.allowed_devices)

    def to_bytes(self) -> bytes:
        """The content of a placement file; decode_assignment reads it."""
        return self._encode("placeto_placement_encode")

    def to_json(self) -> str:
        """The content of a placement file in JSON."""
        return self._encode("placeto_onnx_placement_json").decode()


class Cancel(_Handle):
    """Ends a placing from another thread: place(..., cancel=...) returns the best so far."""

    _struct = _native.placeto_cancel
    _free = "placeto_cancel_free"

    def __init__(self) -> None:
        super().__init__(self._new("placeto_cancel_create"))

    def request(self) -> None:
        """Ends the placings that have it, soon; any thread may."""
        _ask("placeto_cancel_request", self._handle)

    def reset(self) -> None:
        """Makes it usable again."""
        _ask("placeto_cancel_reset", self._handle)


class Rules(_Handle):
    """What an engine demands of placements of one graph on one topology."""

    _struct = _native.placeto_onnx_rules
    _free = "placeto_onnx_rules_free"


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


def _add_rules(rules: Any, options: Any) -> None:
    """Behind the entries that are there, in lists that go with the options: those that C would
    make go with the rules, which outlive many placings."""
    added = _defaulted(_native.placeto_options, "placeto_default_options")
    added.tolerance = options.tolerance
    _call("placeto_onnx_rules_add", rules, byref(added))
    options.tolerance = added.tolerance
    for name, count, kind in (("forbids", "forbid_count", _native.placeto_node_device),
                              ("colocate", "colocate_count", _native.placeto_node_list)):
        own, more = getattr(options, count), getattr(added, count)
        entries, size = (kind * (own + more))(), ctypes.sizeof(kind)
        ctypes.memmove(entries, getattr(options, name), own * size)
        ctypes.memmove(byref(entries, own * size), getattr(added, name), more * size)
        setattr(options, name, entries)
        setattr(options, count, own + more)


@contextlib.contextmanager
def _options(fields: PlaceOptions) -> Iterator[Any]:
    """placeto_options; what it points to lives as long as the block."""
    plain: dict[str, Any] = dict(fields)
    options = _defaulted(_native.placeto_options, "placeto_default_options")
    cancel, rules = plain.pop("cancel", None), plain.pop("rules", None)
    if cancel is not None:
        options.cancel = _checked(ctypes.POINTER(_native.placeto_cancel), cancel, "cancel")
    if "limits" in plain:
        options.limits = _limits(plain.pop("limits"))
    number = ctypes.c_uint32
    for name, count in (("pins", "pin_count"), ("forbids", "forbid_count")):
        pairs = plain.pop(name, {})
        try:
            entries = [(_checked(number, node, f"{name}: node"),
                        _checked(number, device, f"{name}: device"))
                       for node, device in (pairs.items() if isinstance(pairs, Mapping) else pairs)]
        except TypeError as error:
            raise _about(name, pairs, error) from None
        setattr(options, name, (_native.placeto_node_device * len(entries))(*entries))
        setattr(options, count, len(entries))
    colocate = plain.pop("colocate", ())
    try:
        sets = [_list_of(number, nodes, "colocate: node") for nodes in colocate]
    except TypeError as error:
        raise _about("colocate", colocate, error) from None
    lists = ((nodes, len(nodes)) for nodes in sets)
    options.colocate = (_native.placeto_node_list * len(sets))(*lists)
    options.colocate_count = len(sets)
    _with_fields(options, plain, PlaceOptions)
    if rules is not None:
        _add_rules(rules, options)
    yield options
    del cancel, rules, sets  # alive until here


def _attended(call: Callable[[], Any], cancel: Cancel) -> Any:
    """What `call` returns. Python hears Ctrl-C in its main thread, and not inside C: there another
    thread makes the call, and what interrupts the wait for it ends it."""
    if threading.current_thread() is not threading.main_thread():
        return call()
    outcome: list[Any] = []
    begun = threading.RLock()  # by the thread that calls, or by the one that gives up before it
    done = threading.Event()

    def run() -> None:
        if not begun.acquire(blocking=False):
            return
        try:
            outcome.append(call())
        except BaseException as error:
            outcome.append(error)
        done.set()

    starts = True
    try:
        try:
            threading.Thread(target=run, name="placeto.place").start()
        except RuntimeError:  # there is none to be had, in an isolated subinterpreter for instance
            starts = not begun.acquire(blocking=False)
            if starts:
                raise
        if starts:
            done.wait()
    except BaseException:
        waits = True
        while waits:  # C reads what callers hold until it returns, however often it is interrupted
            with contextlib.suppress(BaseException):
                cancel.request()
                waits = not begun.acquire(blocking=False) and not done.wait()
        cancel.reset()
        raise
    if not starts:
        return call()
    if isinstance(outcome[0], BaseException):
        raise outcome[0]
    return outcome[0]


def place(graph: Graph, topology: Topology, policy: Optional[Policy] = None,
          **options: Unpack[PlaceOptions]) -> Placement:
    """The best placement found. Options are the fields of placeto_options in placeto.h:
    budget_evaluations, memory_headroom, objective, ...; pins and forbids map nodes to devices,
    colocate is a list of lists of nodes. Raises Infeasible if nothing fits. Ctrl-C ends it by its
    Cancel, which is reset then: one that ends placings of other threads, too, may not reach them."""
    with _options(options) as struct:
        cancel = options.get("cancel") or Cancel()
        struct.cancel = cancel._handle
        kept = cancel, options  # as long as the thread that calls

        def call(_kept: object = kept) -> Placement:
            return Placement._make("placeto_place", graph, topology, policy, byref(struct))

        return _attended(call, cancel)


def score(graph: Graph, topology: Topology, devices: Iterable[int],
          **options: Unpack[PlaceOptions]) -> Placement:
    """What the cost model predicts of a placement of yours: a device for every node."""
    numbers = _list_of(ctypes.c_uint32, devices, "devices")
    with _options(options) as struct:
        return Placement._make("placeto_score", graph, topology, numbers,
                               len(numbers), byref(struct))


def decode_assignment(content: bytes, graph: Graph, topology: Topology) -> Numbers:
    """The device of every node, from the content of a binary placement file: for score."""
    devices = (ctypes.c_uint32 * len(graph))()
    data = _content(content)
    _call("placeto_assignment_decode", data, len(data), graph, topology, None, devices,
          len(devices))
    return _array("I", devices)


def run_times(graph: Graph, topology: Topology) -> Times:
    """Microseconds of every node on every device, estimated where the graph gives none; negative
    where it cannot run. A matrix where NumPy is installed, else one row after the other."""
    count = len(graph) * len(topology)
    values = (ctypes.c_double * count)()
    _call("placeto_run_times", graph, topology, None, values, count)
    flat = _array("d", values)
    return flat.reshape(len(graph), len(topology)) if hasattr(flat, "reshape") else flat


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
                 stages: int = PLACETO_ONNX_STAGES_RECORDED,
                 **options: Unpack[ImportOptions]) -> None:
    """One ONNX file per stage and manifest.json in a new directory. Options: those that the model
    was loaded with."""
    with _import_options(options) as struct:
        _call("placeto_onnx_write_stages", os.fsencode(model), byref(struct), placement,
              stages, os.fsencode(directory))
