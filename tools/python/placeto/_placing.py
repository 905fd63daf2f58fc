"""Placing, and what comes of it."""

from __future__ import annotations

import contextlib
import ctypes
import os
import threading
from ctypes import byref
from typing import (TYPE_CHECKING, Any, Callable, Iterable, Iterator, Mapping, NamedTuple, Optional,
                    Sequence, TypedDict, Union)

from . import _native
from ._graph import Graph, Topology
from ._handles import (Limits, PathLike, _about, _array, _ask, _call, _checked, _content,
                       _defaulted, _Handle, _limits, _list_of, _with_fields, _worded)
from ._native import PLACETO_NONE

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._handles import Bytes, Numbers, Times


Named = Union[int, str]  # a node or a device

_OBJECTIVES = {"latency": _native.PLACETO_LATENCY, "throughput": _native.PLACETO_THROUGHPUT}


class PlaceOptions(TypedDict, total=False):
    """placeto_options. Pins and forbids map nodes to devices, or are pairs of them. Nodes and
    devices are numbers or names; of several nodes of a name, the first is meant."""

    method: str
    seed: int
    budget_evaluations: int
    budget_milliseconds: float
    cancel: Cancel
    passes: int
    objective: Union[int, str]  # "latency" or "throughput"
    memory_headroom: float
    pins: Union[Mapping[Named, Named], Iterable[tuple[Named, Named]]]
    forbids: Union[Mapping[Named, Named], Iterable[tuple[Named, Named]]]
    colocate: Iterable[Sequence[Named]]
    limits: Limits
    deadline_milliseconds: float
    samples: int
    kernels: int
    tolerance: float
    rules: Rules  # what an engine demands, after the rules above


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
        """No placement that obeys the rules it was made with takes less."""
        return _ask("placeto_placement_lower_bound_us", self._handle)

    @property
    def proved(self) -> bool:
        """No placement that obeys those rules is better by more than 1e-9 of the objective."""
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
        """PLACETO_COMPLETE: everything was tried. PLACETO_ENDED_EARLY: a cancellation or the deadline
        ended the placing. PLACETO_NOT_SIMULATED: with no time left to simulate its result, so that
        `times`, memory and stages are not known."""
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
        """The content of a placement file; decode_placement reads it."""
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


def _number(of: Any, value: Any, name: str) -> int:
    """Of a node or a device of that graph or topology; ValueError if it has none of that name."""
    if not isinstance(value, str) or not isinstance(of, (Graph, Topology)):
        return _checked(ctypes.c_uint32, value, name)
    try:
        return of.find(value)
    except KeyError:
        what = "graph" if isinstance(of, Graph) else "topology"
        raise ValueError(f"{name} is {value!r}, expected a name that the {what} has") from None


@contextlib.contextmanager
def _options(graph: Graph, topology: Topology, fields: PlaceOptions) -> Iterator[Any]:
    """placeto_options; what it points to lives as long as the block."""
    plain: dict[str, Any] = dict(fields)
    options = _defaulted(_native.placeto_options, "placeto_default_options")
    cancel, rules = plain.pop("cancel", None), plain.pop("rules", None)
    if cancel is not None:
        options.cancel = _checked(ctypes.POINTER(_native.placeto_cancel), cancel, "cancel")
    if "limits" in plain:
        options.limits = _limits(plain.pop("limits"))
    if "objective" in plain:
        plain["objective"] = _worded(plain["objective"], _OBJECTIVES, "objective")
    for name, count in (("pins", "pin_count"), ("forbids", "forbid_count")):
        pairs = plain.pop(name, {})
        try:
            entries = [(_number(graph, node, f"{name}: node"),
                        _number(topology, device, f"{name}: device"))
                       for node, device in (pairs.items() if isinstance(pairs, Mapping) else pairs)]
        except TypeError as error:
            raise _about(name, pairs, error) from None
        setattr(options, name, (_native.placeto_node_device * len(entries))(*entries))
        setattr(options, count, len(entries))
    colocate = plain.pop("colocate", ())
    try:
        sets = [_list_of(ctypes.c_uint32, nodes if isinstance(nodes, (str, bytes)) else
                         [_number(graph, node, "colocate: node") for node in nodes],
                         "colocate: node") for nodes in colocate]
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
    colocate is a list of lists of nodes, all by number or name. Raises Infeasible if nothing fits.
    Ctrl-C ends it by its Cancel, which is reset then: one that ends placings of other threads, too,
    may not reach them."""
    with _options(graph, topology, options) as struct:
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
    with _options(graph, topology, options) as struct:
        return Placement._make("placeto_score", graph, topology, numbers,
                               len(numbers), byref(struct))


def decode_assignment(content: bytes, graph: Graph, topology: Topology) -> Numbers:
    """The device of every node, from the content of a binary placement file: for score."""
    devices = (ctypes.c_uint32 * len(graph))()
    data = _content(content)
    _call("placeto_assignment_decode", data, len(data), graph, topology, None, devices,
          len(devices))
    return _array("I", devices)


def decode_placement(content: bytes, graph: Graph, topology: Topology,
                     **options: Unpack[PlaceOptions]) -> Placement:
    """That placement with its stages, scored: what place had for it, if nothing else changed."""
    data = _content(content)
    with _options(graph, topology, options) as struct:
        return Placement._make("placeto_placement_decode", data, len(data), graph, topology,
                               byref(struct))


def run_times(graph: Graph, topology: Topology) -> Times:
    """Microseconds of every node on every device, estimated where the graph gives none; negative
    where it cannot run. A matrix where NumPy is installed, else one row after the other."""
    count = len(graph) * len(topology)
    values = (ctypes.c_double * count)()
    _call("placeto_run_times", graph, topology, None, values, count)
    flat = _array("d", values)
    return flat.reshape(len(graph), len(topology)) if hasattr(flat, "reshape") else flat
