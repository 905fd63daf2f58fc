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

from . import _native
from ._graph import (Device, DeviceFields, Graph, GraphBuilder, Link, LinkFields, Node, RuleFields,
                     Topology, TopologyBuilder, TopologyRules)
from ._handles import Error, Infeasible, Limits, OutOfRange, _ask
from ._native import (PLACETO_BAD_INPUT, PLACETO_COMPLETE, PLACETO_CONTENTION_EGRESS,
                      PLACETO_CONTENTION_NONE, PLACETO_DISPATCH_FIFO, PLACETO_DISPATCH_PRIORITY,
                      PLACETO_ENDED_EARLY, PLACETO_EXECUTION_PARALLEL, PLACETO_EXECUTION_SERIAL,
                      PLACETO_EXECUTION_STAGED,
                      PLACETO_INFEASIBLE, PLACETO_INVALID_ARGUMENT, PLACETO_IO,
                      PLACETO_KERNELS_AUTO, PLACETO_KERNELS_ONEDNN, PLACETO_KERNELS_PORTABLE,
                      PLACETO_LATENCY, PLACETO_NONE, PLACETO_NOT_FOUND, PLACETO_NOT_SIMULATED,
                      PLACETO_ONNX_STAGES_CROSSINGS, PLACETO_ONNX_STAGES_FEWEST,
                      PLACETO_ONNX_STAGES_OVERLAP, PLACETO_ONNX_STAGES_RECORDED,
                      PLACETO_OUT_OF_MEMORY, PLACETO_STOPPED, PLACETO_THROUGHPUT,
                      PLACETO_TRANSFER_BROADCAST, PLACETO_TRANSFER_UNICAST)
from ._onnx import (Engine, ImportOptions, default_policy, load_graph, load_topology, write_stages)
from ._placing import (Cancel, Candidate, PlaceOptions, Placement, Policy, Reason, Rules,
                       decode_assignment, decode_placement, place, run_times, score)

__all__ = ["Cancel", "Candidate", "Device", "DeviceFields", "Engine", "Error", "Graph",
           "GraphBuilder", "ImportOptions", "Infeasible", "Limits", "Link", "LinkFields", "Node",
           "OutOfRange", "PlaceOptions", "Placement", "Policy", "Reason", "RuleFields", "Rules", "Topology",
           "TopologyBuilder", "TopologyRules", "decode_assignment", "decode_placement",
           "default_policy", "load_graph", "load_topology", "place", "run_times", "score",
           "version", "write_stages",
           "PLACETO_BAD_INPUT", "PLACETO_COMPLETE", "PLACETO_CONTENTION_EGRESS",
           "PLACETO_CONTENTION_NONE", "PLACETO_DISPATCH_FIFO", "PLACETO_DISPATCH_PRIORITY",
           "PLACETO_ENDED_EARLY", "PLACETO_EXECUTION_PARALLEL",
           "PLACETO_EXECUTION_SERIAL", "PLACETO_EXECUTION_STAGED",
           "PLACETO_INFEASIBLE", "PLACETO_INVALID_ARGUMENT", "PLACETO_IO",
           "PLACETO_KERNELS_AUTO", "PLACETO_KERNELS_ONEDNN", "PLACETO_KERNELS_PORTABLE",
           "PLACETO_LATENCY", "PLACETO_NONE", "PLACETO_NOT_FOUND", "PLACETO_NOT_SIMULATED",
           "PLACETO_ONNX_STAGES_CROSSINGS", "PLACETO_ONNX_STAGES_FEWEST",
           "PLACETO_ONNX_STAGES_OVERLAP", "PLACETO_ONNX_STAGES_RECORDED", "PLACETO_OUT_OF_MEMORY",
           "PLACETO_STOPPED", "PLACETO_THROUGHPUT", "PLACETO_TRANSFER_BROADCAST",
           "PLACETO_TRANSFER_UNICAST"]

# The version of the headers that the package was made from, which is the project's.
__version__ = ".".join(map(str, (_native.PLACETO_VERSION_MAJOR, _native.PLACETO_VERSION_MINOR,
                                 _native.PLACETO_VERSION_PATCH)))


def version() -> str:
    """The library's version, "0.1.0"."""
    return _ask("placeto_version_text").decode()
