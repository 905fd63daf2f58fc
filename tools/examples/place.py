#!/usr/bin/env python3
"""Places a graph with nothing but ctypes.

    place.py LIBRARY GRAPH TOPOLOGY [POLICY]

LIBRARY is the shared library, e.g. libplaceto.so.0.1; the others are binary files (`placeto convert`
makes them from JSON). Prints one line per node: its name and its device.
"""

import ctypes
import sys
from ctypes import POINTER, byref, c_char, c_char_p, c_double, c_int32, c_size_t, c_uint32
from ctypes import c_uint64, c_void_p


class Error(ctypes.Structure):
    _fields_ = [("status", c_int32), ("message", c_char * 1020)]


class Options(ctypes.Structure):
    """placeto_options, field by field."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("method", c_char_p),
        ("seed", c_uint64),
        ("budget_evaluations", c_uint64),
        ("budget_milliseconds", c_double),
        ("cancel", c_void_p),
        ("passes", c_uint32),
        ("objective", c_int32),
        ("memory_headroom", c_double),
        ("pins", c_void_p),
        ("pin_count", c_size_t),
        ("forbids", c_void_p),
        ("forbid_count", c_size_t),
        ("colocate", c_void_p),
        ("colocate_count", c_size_t),
        ("limits", c_void_p),
        ("shortfall_bytes", POINTER(c_uint64)),
        ("shortfall_capacity", c_size_t),
        ("deadline_milliseconds", c_double),
        ("samples", c_uint32),
        ("kernels", c_int32),
        ("on_step", c_void_p),
        ("step_context", c_void_p),
        ("reserved", c_int32),
    ]


def open_library(path):
    """Functions that answer something other than an int need their result types declared."""
    library = ctypes.CDLL(path)
    library.placeto_status_text.restype = c_char_p
    library.placeto_version_text.restype = c_char_p
    library.placeto_graph_node_count.restype = c_uint32
    library.placeto_graph_node_count.argtypes = [c_void_p]
    for name in ("graph_node", "topology_device"):
        function = getattr(library, f"placeto_{name}_name")
        function.restype = c_char_p
        function.argtypes = [c_void_p, c_uint32]
    library.placeto_placement_makespan_us.restype = c_double
    library.placeto_placement_makespan_us.argtypes = [c_void_p]
    library.placeto_placement_method.restype = c_char_p
    library.placeto_placement_method.argtypes = [c_void_p]
    library.placeto_policy_load_file.argtypes = [
        c_char_p, c_int32, c_void_p, POINTER(c_void_p), POINTER(Error)]
    for name in ("graph", "topology"):
        getattr(library, f"placeto_{name}_load_file").argtypes = [
            c_char_p, c_void_p, POINTER(c_void_p), POINTER(Error)]
    library.placeto_default_options.argtypes = [POINTER(Options), c_size_t]
    library.placeto_place.argtypes = [
        c_void_p, c_void_p, c_void_p, POINTER(Options), POINTER(c_void_p), POINTER(Error)]
    library.placeto_placement_assignment.argtypes = [
        c_void_p, POINTER(c_uint32), c_size_t, POINTER(Error)]
    for name in ("policy", "graph", "topology", "placement"):
        getattr(library, f"placeto_{name}_free").argtypes = [c_void_p]
    return library


def call(library, function, *arguments):
    """Calls a function whose last parameter is the error; leaves with its message on failure."""
    error = Error()
    status = getattr(library, function)(*arguments, byref(error))
    if status != 0:
        sys.exit(f"{library.placeto_status_text(status).decode()}: {error.message.decode()}")


def main(arguments):
    if len(arguments) not in (4, 5):
        sys.exit(__doc__)
    library = open_library(arguments[1])
    graph, topology, policy, placement = c_void_p(), c_void_p(), c_void_p(), c_void_p()
    call(library, "placeto_graph_load_file", arguments[2].encode(), None, byref(graph))
    call(library, "placeto_topology_load_file", arguments[3].encode(), None, byref(topology))
    if len(arguments) == 5:
        call(library, "placeto_policy_load_file", arguments[4].encode(), 0, None, byref(policy))

    options = Options()
    if library.placeto_default_options(byref(options), ctypes.sizeof(options)) != 0:
        sys.exit(f"this script is not for placeto {library.placeto_version_text().decode()}")
    options.budget_evaluations = 300
    call(library, "placeto_place", graph, topology, policy, byref(options), byref(placement))

    count = library.placeto_graph_node_count(graph)
    devices = (c_uint32 * count)()
    call(library, "placeto_placement_assignment", placement, devices, count)
    method = library.placeto_placement_method(placement).decode()
    print(f"{library.placeto_placement_makespan_us(placement):.1f} us by {method}")
    for node, device in enumerate(devices):
        name = library.placeto_graph_node_name(graph, node).decode()
        print(name, library.placeto_topology_device_name(topology, device).decode())

    for name, handle in (("policy", policy), ("graph", graph), ("topology", topology),
                         ("placement", placement)):
        getattr(library, f"placeto_{name}_free")(handle)


if __name__ == "__main__":
    main(sys.argv)
