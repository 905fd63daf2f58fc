"""Tests of the package: python3 -m unittest, where it can be imported."""

import os
import pathlib
import tempfile
import unittest

import placeto
from placeto import _native

try:
    import numpy
    HAVE_NUMPY = True
except ImportError:
    HAVE_NUMPY = False

MODEL = os.environ.get("PLACETO_TEST_MODEL")


def diamond():
    """Two branches that gain by being apart."""
    builder = placeto.GraphBuilder("diamond")
    first = builder.add("first", "In", cost_us=[10], outputs=[1000])
    branches = [builder.add(f"branch{i}", "Conv", cost_us=[500], outputs=[1000],
                            resident_bytes=5_000_000) for i in range(2)]
    last = builder.add("last", "Add", cost_us=[10])
    for branch in branches:
        builder.connect(first, branch)
        builder.connect(branch, last)
    return builder.build()


def pair(memory_bytes=0):
    builder = placeto.TopologyBuilder("pair", bandwidth_bytes_per_us=1000.0)
    for name in ("gpu:0", "gpu:1"):
        builder.add(name, "gpu", memory_bytes=memory_bytes)
    return builder.build()


class Package(unittest.TestCase):
    def test_branches_are_placed_apart(self):
        graph, topology = diamond(), pair()
        placement = placeto.place(graph, topology, budget_evaluations=100)
        devices = placement.devices
        self.assertEqual(len(devices), len(graph))
        self.assertNotEqual(devices[graph.find("branch0")], devices[graph.find("branch1")])
        self.assertLess(placement.makespan_us, 600)
        self.assertGreaterEqual(placement.makespan_us, placement.lower_bound_us)
        self.assertEqual(sum(c.won for c in placement.candidates), 1)
        start, finish = placement.times()
        self.assertAlmostEqual(max(finish), placement.makespan_us)
        self.assertEqual(min(start), 0)
        self.assertGreaterEqual(sum(placement.peak_memory), 10_000_000)

    def test_rules_hold(self):
        graph, topology = diamond(), pair()
        pinned = placeto.place(graph, topology, pins={0: 1}, colocate=[[1, 2]])
        self.assertEqual(pinned.devices[0], 1)
        self.assertEqual(pinned.devices[1], pinned.devices[2])
        self.assertIsInstance(pinned.explain(1), placeto.Reason)

    def test_a_placement_of_ones_own_is_scored(self):
        self.assertEqual(placeto.score(diamond(), pair(), [0, 0, 0, 0]).makespan_us, 1020)

    def test_what_does_not_fit_is_infeasible_and_says_why(self):
        with self.assertRaises(placeto.Infeasible) as raised:
            placeto.place(diamond(), pair(memory_bytes=1000))
        self.assertIn("gpu:0", str(raised.exception))

    def test_bad_input_raises_with_a_message(self):
        with self.assertRaises(placeto.Error) as raised:
            placeto.Graph.from_bytes(b"no graph")
        self.assertEqual(raised.exception.status, _native.PLACETO_BAD_INPUT)
        with self.assertRaises(placeto.Error):
            placeto.Topology.load("/no/such/file")
        with self.assertRaises(TypeError):
            placeto.place(diamond(), pair(), no_such_option=1)
        with self.assertRaises(KeyError):
            diamond().find("nobody")

    def test_graphs_and_topologies_survive_their_bytes(self):
        graph = placeto.Graph.from_bytes(diamond().to_bytes())
        self.assertEqual((graph.name, len(graph), graph.edge_count), ("diamond", 4, 4))
        topology = placeto.Topology.from_bytes(pair().to_bytes())
        self.assertEqual(topology.device_names, ["gpu:0", "gpu:1"])

    def test_graphs_and_topologies_say_what_they_were_made_of(self):
        graph, topology = diamond(), pair(memory_bytes=7)
        node = graph.node(1)
        self.assertEqual((node.name, node.op, node.cost_us, node.outputs, node.resident_bytes),
                         ("branch0", "Conv", [500.0], [1000], 5_000_000))
        self.assertEqual((graph.kinds, node.allowed_kinds, node.colocate), ([], [], ""))
        sources, outputs, targets = graph.edges()
        self.assertEqual([list(sources), list(targets)], [[0, 1, 0, 2], [1, 3, 2, 3]])
        self.assertEqual(list(outputs), [0] * 4)
        self.assertEqual((topology.device(1).name, topology.device(1).memory_bytes), ("gpu:1", 7))
        times = placeto.run_times(graph, topology)
        self.assertEqual(sum(sum(row) for row in times) if HAVE_NUMPY else sum(times), 2040)

    @unittest.skipUnless(HAVE_NUMPY, "NumPy is not installed")
    def test_lists_are_numpy_arrays(self):
        graph, topology = diamond(), pair()
        placement = placeto.place(graph, topology)
        self.assertIsInstance(placement.devices, numpy.ndarray)
        self.assertEqual(placement.devices.dtype, numpy.uint32)
        self.assertEqual(placement.peak_memory.dtype, numpy.uint64)
        self.assertEqual(placeto.run_times(graph, topology).shape, (4, 2))
        again = placeto.score(graph, topology, placement.devices)
        self.assertEqual(again.makespan_us, placement.makespan_us)

    @unittest.skipUnless(MODEL, "no model is named in PLACETO_TEST_MODEL")
    def test_a_model_becomes_a_placement_and_stages(self):
        with self.assertRaises(placeto.Error) as raised:
            placeto.load_graph(MODEL)
        self.assertIn("batch", str(raised.exception))
        graph = placeto.load_graph(MODEL, dims={"batch": 1})
        self.assertEqual(len(graph), 30)
        topology = placeto.load_topology("edge-cpu-gpu-npu")
        policy = placeto.default_policy()
        self.assertEqual(policy.architecture, "pairwise")
        placement = placeto.place(graph, topology, policy, budget_evaluations=100)
        with tempfile.TemporaryDirectory() as folder:
            stages = pathlib.Path(folder, "stages")
            placeto.write_stages(MODEL, placement, stages, dims=["batch=1"])
            self.assertTrue((stages / "manifest.json").exists())
            self.assertGreater(len(list(stages.glob("stage_*.onnx"))), 1)
        with self.assertRaises(placeto.Error):
            placeto.load_topology("no-such-machine")

    def test_fields_are_where_the_library_has_them(self):
        options = placeto._defaulted(_native.placeto_options, "placeto_default_options")
        self.assertEqual((options.seed, options.passes, options.grouping), (1, 4, 0))
        limits = placeto._defaulted(_native.placeto_limits, "placeto_default_limits")
        self.assertEqual((limits.max_devices, limits.max_run_entries), (1024, 256_000_000))


if __name__ == "__main__":
    unittest.main()
