"""What is placed, and where: graphs, topologies and what makes them."""

from __future__ import annotations

import ctypes
from ctypes import byref
from typing import TYPE_CHECKING, NamedTuple, Optional, Sequence, TypedDict

from . import _native
from ._handles import (Limits, _array, _ask, _call, _Coded, _defaulted, _Handle, _limits, _list_of,
                       _look_up, _short, _with_fields)
from ._native import PLACETO_NONE

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._handles import Numbers


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
    fused: bool


class Graph(_Coded):
    """What is placed: nodes and the tensors between them."""

    _struct = _native.placeto_graph
    _free = "placeto_graph_free"

    def __len__(self) -> int:
        return _ask("placeto_graph_node_count", self._handle)

    def __repr__(self) -> str:
        return f"<Graph {_short(self.name)}: {len(self)} nodes, {self.edge_count} edges>"

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
        _look_up("placeto_graph_node", self._handle, node, byref(value))
        return Node(value.name.decode(), value.op.decode(), value.cost_us[:value.cost_count],
                    value.outputs[:value.output_count], value.resident_bytes,
                    value.workspace_bytes, value.flops, value.bytes_accessed,
                    value.colocate.decode(),
                    [value.allowed_kinds[i].decode() for i in range(value.allowed_kind_count)],
                    value.launches, value.domain.decode(), value.opset,
                    [value.input_types[i].decode() for i in range(value.input_type_count)],
                    bool(value.fused))

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
            opset: int = 0, input_types: Sequence[str] = (), fused: bool = False) -> int:
        """The number of the new node. Costs: one for each kind, or one for every device. Domain,
        opset and input types (as ONNX names them: "float", "int64") are what engines go by.
        Where the run time of a fused node is estimated, it is 0."""
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
            "input_type_count": len(types), "fused": int(fused)})
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


class Topology(_Coded):
    """Where it is placed: devices and the links between them."""

    _struct = _native.placeto_topology
    _free = "placeto_topology_free"

    def __len__(self) -> int:
        return _ask("placeto_topology_device_count", self._handle)

    def __repr__(self) -> str:
        return f"<Topology {_short(self.name)}: {_short(self.device_names)}>"

    @property
    def device_names(self) -> list[str]:
        """In the order of their indices."""
        return [_ask("placeto_topology_device_name", self._handle, device).decode()
                for device in range(len(self))]

    def device(self, device: int) -> Device:
        """What the device was given."""
        value = _native.placeto_device(struct_size=ctypes.sizeof(_native.placeto_device))
        _look_up("placeto_topology_device", self._handle, device, byref(value))
        return Device(value.name.decode(), value.kind.decode(), value.memory_bytes,
                      value.peak_flops, value.memory_bandwidth, value.slowdown, value.stage_us,
                      value.cut_us, value.cut_bytes_per_us)

    def link(self, source: int, target: int) -> Link:
        """From one device to another; the default one if they have none of their own."""
        value = _native.placeto_link(struct_size=ctypes.sizeof(_native.placeto_link))
        _look_up("placeto_topology_link", self._handle, source, target, byref(value))
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
