"""Device placement for neural networks: Python over libplaceto.

    import placeto

    graph = placeto.load_graph("net.onnx", dims={"batch": 1})   # or a graph file, JSON or binary
    topology = placeto.load_topology("cpu+gpu")                 # a file, or a built-in one
    placement = placeto.place(graph, topology, placeto.default_policy(), budget_evaluations=1000)
    print(placement.makespan_us, placement.devices[graph.find("conv1")])

load_graph, load_topology and default_policy need libplaceto-onnx; Graph.load and Topology.load read
binary files without it.

Lists per node or device are NumPy arrays where NumPy is installed, else array.array. What fails
raises placeto.Error, whose `status` says why and whose text says where.
"""

from __future__ import annotations

import array
import ctypes
import ctypes.util
import functools
import os
import pathlib
from ctypes import byref
from typing import Any, Mapping, NamedTuple, Optional, Sequence, Union

from . import _native
from ._native import PLACETO_NONE

__all__ = ["Candidate", "Device", "Error", "Graph", "GraphBuilder", "Infeasible", "Node",
           "Placement", "Policy", "Reason", "Topology", "TopologyBuilder", "default_policy",
           "load_graph", "load_topology", "place", "run_times", "score", "version", "write_stages"]

PathLike = Union[str, "os.PathLike[str]"]


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


class Infeasible(Error):
    """No placement fits; the text names the memory that lacks."""


def version() -> str:
    """Of the library, "0.1.0"."""
    return _library.placeto_version_text().decode()


def _call(function: str, *arguments: Any) -> None:
    error = _native.placeto_error()
    library = _onnx() if function.startswith("placeto_onnx_") else _library
    status = getattr(library, function)(*arguments, byref(error))
    if status == _native.PLACETO_INFEASIBLE:
        raise Infeasible(status, error.message.decode(errors="replace"))
    if status != _native.PLACETO_OK:
        raise Error(status, error.message.decode(errors="replace"))


def _defaulted(kind: Any, function: str) -> Any:
    value = kind()
    library = _onnx() if function.startswith("placeto_onnx_") else _library
    if getattr(library, function)(byref(value), ctypes.sizeof(value)) != _native.PLACETO_OK:
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


def _text(value: Optional[str]) -> Optional[bytes]:
    return None if value is None else value.encode()


class _Handle:
    """Owns an object of the library."""

    _free = ""

    def __init__(self, handle: ctypes.c_void_p) -> None:
        self._handle: Optional[ctypes.c_void_p] = handle

    def __del__(self) -> None:
        handle, self._handle = getattr(self, "_handle", None), None
        if handle is not None and _library is not None:
            getattr(_library, self._free)(handle)

    @classmethod
    def _make(cls, function: str, *arguments: Any) -> Any:
        handle = ctypes.c_void_p()
        _call(function, *arguments, byref(handle))
        return cls(handle)

    def _encode(self, function: str) -> bytes:
        size = ctypes.c_size_t()
        _call(function, self._handle, None, 0, byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        _call(function, self._handle, buffer, size.value, byref(size))
        return buffer.raw


class Node(NamedTuple):
    """A node as it was given. Costs: one for each kind of the graph, or one for every device."""

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


class Graph(_Handle):
    """What is placed: nodes and the tensors between them."""

    _free = "placeto_graph_free"

    @classmethod
    def load(cls, path: PathLike) -> Graph:
        return cls._make("placeto_graph_load_file", os.fsencode(path), None)

    @classmethod
    def from_bytes(cls, content: bytes) -> Graph:
        return cls._make("placeto_graph_load_memory", content, len(content), None)

    def to_bytes(self) -> bytes:
        return self._encode("placeto_graph_encode")

    def __len__(self) -> int:
        return _library.placeto_graph_node_count(self._handle)

    @property
    def name(self) -> str:
        return _library.placeto_graph_name(self._handle).decode()

    @property
    def edge_count(self) -> int:
        return _library.placeto_graph_edge_count(self._handle)

    def node_name(self, node: int) -> str:
        return _library.placeto_graph_node_name(self._handle, node).decode()

    @property
    def kinds(self) -> list[str]:
        """What the entries of cost_us refer to; none: one entry, any device."""
        return [_library.placeto_graph_kind(self._handle, kind).decode()
                for kind in range(_library.placeto_graph_kind_count(self._handle))]

    def node(self, node: int) -> Node:
        value = _native.placeto_node(struct_size=ctypes.sizeof(_native.placeto_node))
        _call("placeto_graph_node", self._handle, node, byref(value))
        return Node(value.name.decode(), value.op.decode(), value.cost_us[:value.cost_count],
                    value.outputs[:value.output_count], value.resident_bytes,
                    value.workspace_bytes, value.flops, value.bytes_accessed,
                    value.colocate.decode(),
                    [value.allowed_kinds[i].decode() for i in range(value.allowed_kind_count)],
                    value.launches)

    def edges(self) -> tuple[Any, Any, Any]:
        """Source, output and target of every edge."""
        count = self.edge_count
        lists = [(ctypes.c_uint32 * count)() for _ in range(3)]
        _call("placeto_graph_edges", self._handle, *lists, count)
        return _array("I", lists[0]), _array("I", lists[1]), _array("I", lists[2])

    def find(self, name: str) -> int:
        """The first node of that name; KeyError if there is none."""
        node = _library.placeto_graph_find_node(self._handle, name.encode())
        if node == PLACETO_NONE:
            raise KeyError(name)
        return node


class GraphBuilder:
    """Makes a graph node by node."""

    def __init__(self, name: str = "", kinds: Sequence[str] = ()) -> None:
        self._builder = ctypes.c_void_p()
        _call("placeto_graph_builder_create", name.encode(), byref(self._builder))
        if kinds:
            names = (ctypes.c_char_p * len(kinds))(*(kind.encode() for kind in kinds))
            _call("placeto_graph_builder_set_kinds", self._builder, names, len(kinds))

    def __del__(self) -> None:
        if getattr(self, "_builder", None) and _library is not None:
            _library.placeto_graph_builder_free(self._builder)

    def add(self, name: str, op: str = "", *, cost_us: Sequence[float] = (),
            outputs: Sequence[int] = (), resident_bytes: int = 0, workspace_bytes: int = 0,
            flops: int = 0, bytes_accessed: int = 0, colocate: Optional[str] = None,
            allowed_kinds: Sequence[str] = (), launches: int = 0) -> int:
        """The number of the new node. Costs: one for each kind, or one for every device."""
        node = _defaulted(_native.placeto_node, "placeto_default_node")
        costs = (ctypes.c_double * len(cost_us))(*cost_us)
        sizes = (ctypes.c_uint64 * len(outputs))(*outputs)
        kinds = (ctypes.c_char_p * len(allowed_kinds))(*(k.encode() for k in allowed_kinds))
        node.name, node.op, node.colocate = name.encode(), op.encode(), _text(colocate)
        node.cost_us, node.cost_count = costs, len(costs)
        node.outputs, node.output_count = sizes, len(sizes)
        node.allowed_kinds, node.allowed_kind_count = kinds, len(kinds)
        node.resident_bytes, node.workspace_bytes = resident_bytes, workspace_bytes
        node.flops, node.bytes_accessed, node.launches = flops, bytes_accessed, launches
        index = ctypes.c_uint32()
        _call("placeto_graph_builder_add_node", self._builder, byref(node), byref(index))
        return index.value

    def connect(self, source: int, target: int, output: Optional[int] = 0) -> None:
        """`target` reads that output of `source`; None: it only waits for it."""
        number = _native.PLACETO_CONTROL_EDGE if output is None else output
        _call("placeto_graph_builder_add_edge", self._builder, source, number, target)

    def build(self) -> Graph:
        return Graph._make("placeto_graph_builder_build", self._builder, None)


class Device(NamedTuple):
    """A device as it was given. memory_bytes 0: unlimited."""

    name: str
    kind: str
    memory_bytes: int
    peak_flops: float
    memory_bandwidth: float
    slowdown: float


class Topology(_Handle):
    """Where it is placed: devices and the links between them."""

    _free = "placeto_topology_free"

    @classmethod
    def load(cls, path: PathLike) -> Topology:
        return cls._make("placeto_topology_load_file", os.fsencode(path), None)

    @classmethod
    def from_bytes(cls, content: bytes) -> Topology:
        return cls._make("placeto_topology_load_memory", content, len(content), None)

    def to_bytes(self) -> bytes:
        return self._encode("placeto_topology_encode")

    def __len__(self) -> int:
        return _library.placeto_topology_device_count(self._handle)

    @property
    def name(self) -> str:
        return _library.placeto_topology_name(self._handle).decode()

    @property
    def device_names(self) -> list[str]:
        name = _library.placeto_topology_device_name
        return [name(self._handle, device).decode() for device in range(len(self))]

    def device(self, device: int) -> Device:
        value = _native.placeto_device(struct_size=ctypes.sizeof(_native.placeto_device))
        _call("placeto_topology_device", self._handle, device, byref(value))
        return Device(value.name.decode(), value.kind.decode(), value.memory_bytes,
                      value.peak_flops, value.memory_bandwidth, value.slowdown)

    def find(self, name: str) -> int:
        """The device of that name; KeyError if there is none."""
        device = _library.placeto_topology_find_device(self._handle, name.encode())
        if device == PLACETO_NONE:
            raise KeyError(name)
        return device


class TopologyBuilder:
    """Makes a topology. Fields that are not given have the defaults of placeto.h."""

    def __init__(self, name: str = "", **rules: Any) -> None:
        self._builder = ctypes.c_void_p()
        _call("placeto_topology_builder_create", name.encode(), byref(self._builder))
        value = _with_fields(_defaulted(_native.placeto_topology_rules,
                                        "placeto_default_topology_rules"), rules)
        _call("placeto_topology_builder_set_rules", self._builder, byref(value))

    def __del__(self) -> None:
        if getattr(self, "_builder", None) and _library is not None:
            _library.placeto_topology_builder_free(self._builder)

    def add(self, name: str, kind: str, **fields: Any) -> int:
        """The number of the new device. Fields: memory_bytes, peak_flops, ..."""
        device = _with_fields(_defaulted(_native.placeto_device, "placeto_default_device"),
                              {"name": name, "kind": kind, **fields})
        index = ctypes.c_uint32()
        _call("placeto_topology_builder_add_device", self._builder, byref(device), byref(index))
        return index.value

    def connect(self, source: str, target: str, **fields: Any) -> None:
        """A link one way. Fields: bandwidth_bytes_per_us, latency_us, ..."""
        link = _defaulted(_native.placeto_link, "placeto_default_link")
        setattr(link, "from", source.encode())
        _call("placeto_topology_builder_add_link", self._builder,
              byref(_with_fields(link, {"to": target, **fields})))

    def build(self) -> Topology:
        return Topology._make("placeto_topology_builder_build", self._builder, None)


def _with_fields(struct: Any, values: Mapping[str, Any]) -> Any:
    known = {name for name, *_ in struct._fields_} - {"struct_size"}
    for name, value in values.items():
        if name not in known:
            raise TypeError(f"{type(struct).__name__} has no field '{name}'")
        setattr(struct, name, value.encode() if isinstance(value, str) else value)
    return struct


class Policy(_Handle):
    """A trained network."""

    _free = "placeto_policy_free"

    @classmethod
    def load(cls, path: PathLike) -> Policy:
        return cls._make("placeto_policy_load_file", os.fsencode(path),
                         _native.PLACETO_FILE_READ, None)

    @property
    def architecture(self) -> str:
        return _library.placeto_policy_architecture(self._handle).decode()

    @property
    def sha256(self) -> str:
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


class Placement(_Handle):
    """A device for every node, and what the cost model predicts of it."""

    _free = "placeto_placement_free"

    def __len__(self) -> int:
        return _library.placeto_placement_node_count(self._handle)

    def _list(self, function: str, kind: Any, code: str, count: int) -> Any:
        values = (kind * count)()
        _call(function, self._handle, values, count)
        return _array(code, values)

    @property
    def _device_count(self) -> int:
        return _library.placeto_placement_device_count(self._handle)

    @property
    def devices(self) -> Any:
        """The device of every node."""
        return self._list("placeto_placement_assignment", ctypes.c_uint32, "I", len(self))

    @property
    def makespan_us(self) -> float:
        return _library.placeto_placement_makespan_us(self._handle)

    @property
    def bottleneck_us(self) -> float:
        return _library.placeto_placement_bottleneck_us(self._handle)

    @property
    def lower_bound_us(self) -> float:
        return _library.placeto_placement_lower_bound_us(self._handle)

    @property
    def method(self) -> str:
        return _library.placeto_placement_method(self._handle).decode()

    @property
    def note(self) -> str:
        return _library.placeto_placement_note(self._handle).decode()

    @property
    def feasible(self) -> bool:
        return _library.placeto_placement_feasible(self._handle) != 0

    def times(self) -> tuple[Any, Any]:
        """When each node starts, and finishes, in microseconds."""
        start, finish = (ctypes.c_double * len(self))(), (ctypes.c_double * len(self))()
        _call("placeto_placement_times", self._handle, start, finish, len(self))
        return _array("d", start), _array("d", finish)

    @property
    def peak_memory(self) -> Any:
        """Bytes, for each device."""
        return self._list("placeto_placement_peak_memory", ctypes.c_uint64, "Q",
                          self._device_count)

    @property
    def candidates(self) -> list[Candidate]:
        rows = []
        for index in range(_library.placeto_placement_candidate_count(self._handle)):
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
                      reason.second_cost_us, reason.second_feasible != 0)

    def to_bytes(self) -> bytes:
        """The content of a placement file."""
        return self._encode("placeto_placement_encode")


def _options(fields: Mapping[str, Any]) -> tuple[Any, list[Any]]:
    """placeto_options, and what it points to."""
    plain, kept = dict(fields), []
    for name, count in (("pins", "pin_count"), ("forbids", "forbid_count")):
        pairs = plain.pop(name, {})
        pairs = list(pairs.items() if isinstance(pairs, Mapping) else pairs)
        entries = (_native.placeto_node_device * len(pairs))(*pairs)
        kept.append(entries)
        plain.update({name: entries, count: len(pairs)})
    sets = [(ctypes.c_uint32 * len(nodes))(*nodes) for nodes in plain.pop("colocate", ())]
    lists = (_native.placeto_node_list * len(sets))(*((nodes, len(nodes)) for nodes in sets))
    kept += [sets, lists]
    plain.update({"colocate": lists, "colocate_count": len(sets)})
    options = _defaulted(_native.placeto_options, "placeto_default_options")
    return _with_fields(options, plain), kept


def place(graph: Graph, topology: Topology, policy: Optional[Policy] = None,
          **options: Any) -> Placement:
    """The best placement found. Options are the fields of placeto_options in placeto.h:
    budget_evaluations, memory_headroom, objective, ...; pins and forbids map nodes to devices,
    colocate is a list of lists of nodes. Raises Infeasible if nothing fits."""
    struct, kept = _options(options)
    placement = Placement._make("placeto_place", graph._handle, topology._handle,
                                None if policy is None else policy._handle, byref(struct))
    del kept  # alive until here
    return placement


def score(graph: Graph, topology: Topology, devices: Sequence[int], **options: Any) -> Placement:
    """What the cost model predicts of a placement of yours: a device for every node."""
    struct, kept = _options(options)
    numbers = (ctypes.c_uint32 * len(devices))(*(int(device) for device in devices))
    placement = Placement._make("placeto_score", graph._handle, topology._handle, numbers,
                                len(numbers), byref(struct))
    del kept
    return placement


def run_times(graph: Graph, topology: Topology) -> Any:
    """Microseconds of every node on every device, estimated where the graph gives none; negative
    where it cannot run. A matrix where NumPy is installed, else one row after the other."""
    count = len(graph) * len(topology)
    values = (ctypes.c_double * count)()
    _call("placeto_run_times", graph._handle, topology._handle, None, values, count)
    flat = _array("d", values)
    return flat.reshape(len(graph), len(topology)) if hasattr(flat, "reshape") else flat


def _import_options(fields: Mapping[str, Any]) -> tuple[Any, list[Any]]:
    """placeto_onnx_options, and what it points to."""
    plain, kept = dict(fields), []
    for name, count in (("dims", "dim_count"), ("values", "value_count"),
                        ("shapes", "shape_count"), ("profiles", "profile_count"),
                        ("tables", "table_count"), ("efficiencies", "efficiency_count")):
        given = plain.pop(name, ())
        if isinstance(given, Mapping):  # {"batch": 1} for "batch=1"
            given = [f"{key}={value}" for key, value in given.items()]
        texts = (ctypes.c_char_p * len(given))(*(os.fsencode(text) for text in given))
        kept.append(texts)
        plain.update({name: texts, count: len(texts)})
    options = _defaulted(_native.placeto_onnx_options, "placeto_onnx_default_options")
    return _with_fields(options, plain), kept


def load_graph(path: PathLike, **options: Any) -> Graph:
    """The graph of an ONNX model, or a graph file, JSON or binary. Options are the fields of
    placeto_onnx_options in placeto_onnx.h: dims, profiles, ..., as lists or mappings."""
    struct, kept = _import_options(options)
    graph = Graph._make("placeto_onnx_load_graph", os.fsencode(path), byref(struct))
    del kept  # alive until here
    return graph


def load_topology(path: PathLike) -> Topology:
    """A topology file, JSON or binary, or a built-in topology by its name."""
    return Topology._make("placeto_onnx_load_topology", os.fsencode(path), None)


def default_policy() -> Policy:
    """The policy that `placeto place` uses unless it is told otherwise."""
    return Policy._make("placeto_onnx_default_policy")


def write_stages(model: PathLike, placement: Placement, directory: PathLike, *, stages: int = 0,
                 **options: Any) -> None:
    """One ONNX file per stage and manifest.json in a new directory. Options: those that the model
    was loaded with."""
    struct, kept = _import_options(options)
    _call("placeto_onnx_write_stages", os.fsencode(model), byref(struct), placement._handle, stages,
          os.fsencode(directory))
    del kept
