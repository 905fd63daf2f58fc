"""Tests of the package: python3 -m unittest, where it can be imported."""

import copy
import importlib.metadata
import json
import os
import pathlib
import pickle
import signal
import tempfile
import threading
import time
import unittest
import unittest.mock

import placeto
from placeto import _handles, _native

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
        self.assertIs(placement.proved, True)
        self.assertEqual(sum(c.won for c in placement.candidates), 1)
        start, finish = placement.times()
        self.assertAlmostEqual(max(finish), placement.makespan_us)
        self.assertEqual(min(start), 0)
        self.assertGreaterEqual(sum(placement.peak_memory), 10_000_000)

    def test_objects_of_another_kind_are_refused_by_name(self):
        graph, topology = diamond(), pair()
        placement = placeto.place(graph, topology)
        wrong = {
            "graph": [lambda: placeto.place(topology, topology),
                      lambda: placeto.place(placement, topology),
                      lambda: placeto.score("net.graph", topology, [0, 0, 0, 0]),
                      lambda: placeto.run_times(topology, graph)],
            "topology": [lambda: placeto.place(graph, graph), lambda: placeto.place(graph, "2xk80"),
                         lambda: placeto.score(graph, placement, [0, 0, 0, 0])],
            "policy": [lambda: placeto.place(graph, topology, graph),
                       lambda: placeto.place(graph, topology, "default")],
            "cancel": [lambda: placeto.place(graph, topology, cancel=graph),
                       lambda: placeto.place(graph, topology, cancel=True)]}
        if MODEL:
            engine = placeto.Engine.load("generic")
            wrong["topology"].append(lambda: engine.topology(graph))
            wrong["graph"].append(lambda: engine.rules(topology, graph))
            wrong["rules"] = [lambda: placeto.place(graph, topology, rules=engine)]
            wrong["placement"] = [lambda: placeto.write_stages(MODEL, graph, "stages")]
        for name, calls in wrong.items():
            for call in calls:
                with self.assertRaisesRegex(TypeError, f"^{name} is "):
                    call()
        with self.assertRaises(placeto.Error):
            placeto.place(None, topology)

    def test_what_owns_an_object_cannot_be_copied(self):
        for value in (diamond(), pair(), placeto.Cancel(), placeto.GraphBuilder()):
            for copied in (copy.copy, copy.deepcopy, pickle.dumps):
                with self.assertRaisesRegex(TypeError, "cannot be copied"):
                    copied(value)

    def test_errors_pass_between_processes(self):
        with self.assertRaises(placeto.Error) as caught:
            placeto.place(diamond(), pair(), objective=7)
        passed = pickle.loads(pickle.dumps(caught.exception))
        self.assertEqual((type(passed), passed.status, str(passed)),
                         (placeto.Error, caught.exception.status, str(caught.exception)))

    def test_all_that_is_public_says_what_it_is(self):
        for name in dir(placeto):
            kind = getattr(placeto, name)
            if not isinstance(kind, type) or kind.__module__ != "placeto":
                continue
            for member, value in vars(kind).items():
                if not member.startswith("_") and (callable(value) or isinstance(value, property)):
                    self.assertTrue(value.__doc__, f"{name}.{member}")

    def test_objects_say_what_they_are(self):
        graph, topology = diamond(), pair()
        self.assertEqual(repr(graph), "<Graph 'diamond': 4 nodes, 4 edges>")
        self.assertEqual(repr(topology), "<Topology 'pair': ['gpu:0', 'gpu:1']>")
        self.assertEqual(repr(placeto.score(graph, pair(1000), [0, 0, 0, 0])),
                         "<Placement by given: 4 nodes, 1020 us, does not fit>")
        self.assertRegex(repr(placeto.place(graph, topology)),
                         r"^<Placement by \w+: 4 nodes, [0-9.]+ us>$")
        long = placeto.GraphBuilder("n" * 1000)
        long.add("a\n")
        self.assertLess(len(repr(long.build())), 80)
        if MODEL:
            self.assertRegex(repr(placeto.default_policy()),
                             r"^<Policy pairwise: sha256 [0-9a-f]{12}\.\.\.>$")

    def test_rules_hold(self):
        graph, topology = diamond(), pair()
        pinned = placeto.place(graph, topology, pins={0: 1}, colocate=[[1, 2]])
        self.assertEqual(pinned.devices[0], 1)
        self.assertEqual(pinned.devices[1], pinned.devices[2])
        self.assertIsInstance(pinned.explain(1), placeto.Reason)

    def test_rules_take_names(self):
        graph, topology = diamond(), pair()
        names = [graph.node(v).name for v in range(len(graph))]
        by_number = placeto.place(graph, topology, pins={0: 1}, forbids=[(3, 0)],
                                  colocate=[[1, 2]], objective=placeto.PLACETO_THROUGHPUT)
        by_name = placeto.place(graph, topology, pins={names[0]: "gpu:1"},
                                forbids=[(names[3], "gpu:0")], colocate=[[names[1], 2]],
                                objective="throughput")
        self.assertEqual(by_name.to_bytes(), by_number.to_bytes())
        for expected, call in (
                ("pins: node is 'x', expected a name that the graph has",
                 lambda: placeto.place(graph, topology, pins={"x": 0})),
                ("forbids: device is 'tpu', expected a name that the topology has",
                 lambda: placeto.place(graph, topology, forbids={0: "tpu"})),
                ("colocate: node is 'x', expected a name that the graph has",
                 lambda: placeto.score(graph, topology, [0] * 4, colocate=[[0, "x"]])),
                ("objective is 'speed', expected one of latency, throughput",
                 lambda: placeto.place(graph, topology, objective="speed"))):
            with self.subTest(expected), self.assertRaises(ValueError) as raised:
                call()
            self.assertEqual(str(raised.exception), expected)
        with self.assertRaisesRegex(TypeError, "^pins: node is 'x', expected an integer"):
            placeto.place(None, topology, pins={"x": 0})

    def test_links_may_come_before_their_devices(self):
        builder = placeto.TopologyBuilder("pair", bandwidth_bytes_per_us=10)
        builder.connect("b", "a", bandwidth_bytes_per_us=5, latency_us=3)
        for name in "ab":
            builder.add(name, "gpu")
        self.assertEqual(builder.build().link(1, 0).latency_us, 3)

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
        self.assertEqual(raised.exception.status_text, "bad input")
        with self.assertRaises(placeto.Error):
            placeto.Topology.load("/no/such/file")
        with self.assertRaises(TypeError):
            placeto.place(diamond(), pair(), no_such_option=1)
        with self.assertRaises(TypeError):  # a pointer: not one of the options of Python
            placeto.place(diamond(), pair(), on_step=1)
        with self.assertRaises(KeyError):
            diamond().find("nobody")

    def test_an_index_out_of_range_raises_what_lists_raise(self):
        for call in (lambda: diamond().node(4), lambda: pair().device(2),
                     lambda: pair().link(0, 2)):
            with self.assertRaises(IndexError) as raised:
                call()
            self.assertIsInstance(raised.exception, placeto.Error)
            self.assertEqual(raised.exception.status, placeto.PLACETO_INVALID_ARGUMENT)

    def test_integers_that_c_cannot_hold_are_refused(self):
        """C would take their lowest bits: a budget of -1 had no end."""
        graph, topology, builder = diamond(), pair(), placeto.GraphBuilder()
        machine = placeto.TopologyBuilder()
        large, huge = 2 ** 32 - 1, 2 ** 64 - 1
        for name, value, largest, call in (
                ("budget_evaluations", -1, huge, lambda v: place(budget_evaluations=v)),
                ("budget_evaluations", 2 ** 64, huge, lambda v: place(budget_evaluations=v)),
                ("seed", -1, huge, lambda v: place(seed=v)),
                ("passes", -1, large, lambda v: place(passes=v)),
                ("samples", 2 ** 32, large, lambda v: place(samples=v)),
                ("objective", 2 ** 31, 2 ** 31 - 1, lambda v: place(objective=v)),
                ("pins: device", -3, large, lambda v: place(pins={0: v})),
                ("pins: node", -3, large, lambda v: place(pins=[(v, 0)])),
                ("forbids: device", -3, large, lambda v: place(forbids={0: v})),
                ("colocate: node", -1, large, lambda v: place(colocate=[[0, v]])),
                ("max_nodes", -1, large, lambda v: place(limits={"max_nodes": v})),
                ("devices", -1, large, lambda v: placeto.score(graph, topology, [0, 0, 0, v])),
                ("node", -1, large, graph.node),
                ("node", -1, large, graph.node_name),
                ("device", 2 ** 32, large, topology.device),
                ("from", -1, large, lambda v: topology.link(v, 0)),
                ("node", -1, large, placeto.place(graph, topology).explain),
                ("outputs", -1, huge, lambda v: builder.add("a", outputs=[v])),
                ("flops", -1, huge, lambda v: builder.add("a", flops=v)),
                ("opset", -1, large, lambda v: builder.add("a", opset=v)),
                ("opset", 2 ** 32, large, lambda v: builder.add("a", opset=v)),
                ("source", -1, large, lambda v: builder.connect(v, 0)),
                ("output", -1, large, lambda v: builder.connect(0, 1, v)),
                ("memory_bytes", -1, huge, lambda v: machine.add("a", "gpu", memory_bytes=v)),
                ("execution", -2 ** 31 - 1, 2 ** 31 - 1,
                 lambda v: placeto.TopologyBuilder(execution=v))):
            def place(**options):
                return placeto.place(graph, topology, **options)

            with self.subTest(name=name, value=value), self.assertRaises(ValueError) as raised:
                call(value)
            smallest = -2 ** 31 if largest == 2 ** 31 - 1 else 0
            self.assertEqual(str(raised.exception), f"{name} is {value}, expected an integer from "
                                                    f"{smallest} to {largest}")
        with self.assertRaises(TypeError) as raised:
            placeto.place(graph, topology, passes=1.5)
        self.assertEqual(str(raised.exception), "passes is 1.5, expected an integer")
        with self.assertRaises(TypeError) as raised:
            placeto.place(graph, topology, tolerance="all")
        self.assertTrue(str(raised.exception).startswith("tolerance is 'all': "))
        with self.assertRaises(ValueError):  # C would stop reading there
            graph.find("first\0")

    def test_what_is_no_text_or_no_list_is_refused_by_name(self):
        """C would read from the address that the integer is, and each letter would be a kind."""
        builder = placeto.GraphBuilder()
        for expected, call in (
                ("name is 5, expected a text", lambda: builder.add(5)),
                ("colocate is 5, expected a text", lambda: builder.add("a", colocate=5)),
                ("allowed_kinds is 1, expected a text",
                 lambda: builder.add("a", allowed_kinds=[1])),
                ("domain is 17, expected a text", lambda: builder.add("a", domain=17)),
                ("input_types is 1, expected a text", lambda: builder.add("a", input_types=[1])),
                ("input_types is 'float', expected a list",
                 lambda: builder.add("a", input_types="float")),
                ("allowed_kinds is 'gpu', expected a list",
                 lambda: builder.add("a", allowed_kinds="gpu")),
                ("kinds is 'gpu', expected a list", lambda: placeto.GraphBuilder(kinds="gpu")),
                ("limits is 5, expected names and numbers",
                 lambda: placeto.Graph.from_bytes(b"", limits=5))):
            with self.subTest(expected), self.assertRaises(TypeError) as raised:
                call()
            self.assertEqual(str(raised.exception), expected)

    def test_what_python_itself_refuses_is_named(self):
        graph, topology = diamond(), pair()
        for name, call in (
                ("cost_us", lambda: placeto.GraphBuilder().add("a", cost_us=["x"])),
                ("outputs", lambda: placeto.GraphBuilder().add("a", outputs=3)),
                ("pins", lambda: placeto.place(graph, topology, pins=None)),
                ("forbids", lambda: placeto.place(graph, topology, forbids=[1])),
                ("colocate", lambda: placeto.place(graph, topology, colocate=[1]))):
            with self.subTest(name), self.assertRaisesRegex(TypeError, f"^{name}\\b.* is "):
                call()

    def test_the_version_is_that_of_the_library(self):
        self.assertEqual(placeto.__version__, placeto.version())
        try:
            self.assertEqual(importlib.metadata.version("placeto"), placeto.__version__)
        except importlib.metadata.PackageNotFoundError:
            pass  # imported from elsewhere

    def test_a_placing_can_be_cancelled(self):
        cancel = placeto.Cancel()
        timer = threading.Timer(0.05, cancel.request)
        timer.start()
        placement = placeto.place(diamond(), pair(), budget_evaluations=10 ** 15,
                                  method="anneal", cancel=cancel)
        timer.join()
        self.assertEqual(placement.stopped, placeto.PLACETO_ENDED_EARLY)
        cancel.reset()
        self.assertEqual(placeto.place(diamond(), pair(), cancel=cancel).stopped,
                         placeto.PLACETO_COMPLETE)

    def test_placements_survive_their_bytes(self):
        graph, topology = diamond(), pair()
        placement = placeto.place(graph, topology)
        devices = placeto.decode_assignment(placement.to_bytes(), graph, topology)
        self.assertEqual(list(devices), list(placement.devices))
        again = placeto.decode_placement(placement.to_bytes(), graph, topology)
        self.assertEqual(again.makespan_us, placement.makespan_us)
        self.assertEqual(again.to_bytes(), placement.to_bytes())
        with self.assertRaisesRegex(placeto.Error, "node"):
            placeto.decode_placement(placement.to_bytes(), graph, topology,
                                     forbids={1: placement.devices[1]})

    def test_links_and_rules_are_what_was_given(self):
        builder = placeto.TopologyBuilder(
            "pair", bandwidth_bytes_per_us=1000.0, execution=placeto.PLACETO_EXECUTION_STAGED)
        for name in ("gpu:0", "gpu:1"):
            builder.add(name, "gpu", stage_us=3.0, cut_us=2.0, cut_bytes_per_us=100.0)
        builder.connect("gpu:0", "gpu:1", bandwidth_bytes_per_us=7.0, channel="bus")
        topology = builder.build()
        self.assertEqual(topology.rules.execution, placeto.PLACETO_EXECUTION_STAGED)
        self.assertEqual(topology.rules.bandwidth_bytes_per_us, 1000)
        self.assertEqual(topology.device(1)[-3:], (3.0, 2.0, 100.0))
        self.assertEqual(topology.link(0, 1), ("gpu:0", "gpu:1", 7.0, 0.0, 0.0, "bus"))
        self.assertEqual(topology.link(1, 0).bandwidth_bytes_per_us, 1000)
        graph = diamond()
        placement = placeto.score(graph, topology, [0, 1, 0, 0])
        stages, order = list(placement.stages), list(placement.stage_order)
        self.assertEqual(len(stages), len(graph))
        self.assertEqual(sorted(order), list(range(max(stages) + 1)))
        parallel = placeto.place(graph, pair())
        self.assertEqual((len(parallel.stages), len(parallel.stage_order)), (0, 0))

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

    def test_nodes_say_of_which_domain_version_and_types_their_operators_are(self):
        builder = placeto.GraphBuilder()
        builder.add("a", "Gelu", domain="com.microsoft", opset=1, input_types=["float", ""],
                    allowed_kinds=["gpu"], fused=True)
        builder.add("b", "Gelu")
        graph = placeto.Graph.from_bytes(builder.build().to_bytes())
        node = graph.node(0)
        self.assertEqual((node.domain, node.opset, node.input_types, node.allowed_kinds),
                         ("com.microsoft", 1, ["float", ""], ["gpu"]))
        node = graph.node(1)
        self.assertEqual((node.domain, node.opset, node.input_types), ("", 0, []))
        self.assertEqual((graph.node(0).fused, node.fused), (True, False))
        builder.add("c", input_types=["float"] * 4097)
        with self.assertRaises(placeto.Error) as raised:
            builder.build()
        self.assertIn("nodes[2] 'c': input_types: 4097 entries, expected at most 4096",
                      str(raised.exception))

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
            for rule in (placeto.PLACETO_ONNX_STAGES_RECORDED, placeto.PLACETO_ONNX_STAGES_FEWEST,
                         placeto.PLACETO_ONNX_STAGES_OVERLAP,
                         placeto.PLACETO_ONNX_STAGES_CROSSINGS):
                by_rule = pathlib.Path(folder, f"rule_{rule}")
                placeto.write_stages(MODEL, placement, by_rule, stages=rule, dims={"batch": 1})
                self.assertTrue((by_rule / "manifest.json").exists())
            fewest = pathlib.Path(folder, "fewest")
            placeto.write_stages(MODEL, placement, fewest, stages="fewest", dims={"batch": 1})
            number = pathlib.Path(folder, f"rule_{placeto.PLACETO_ONNX_STAGES_FEWEST}")
            self.assertEqual((fewest / "manifest.json").read_text(),
                             (number / "manifest.json").read_text())
            with self.assertRaisesRegex(ValueError, "^stages is 'few', expected one of recorded, "):
                placeto.write_stages(MODEL, placement, fewest, stages="few")
        with self.assertRaises(placeto.Error):
            placeto.load_topology("no-such-machine")
        with self.assertRaises(TypeError):
            placeto.load_graph(MODEL, dims="batch=1")

    @unittest.skipUnless(MODEL, "no model is named in PLACETO_TEST_MODEL")
    def test_an_engine_has_its_say(self):
        graph = placeto.load_graph(MODEL, dims={"batch": 1})
        engine = placeto.Engine.load("onnxruntime")
        topology = engine.topology(placeto.load_topology("cpu+gpu"))
        self.assertEqual(topology.rules.execution, placeto.PLACETO_EXECUTION_STAGED)
        self.assertGreater(topology.device(0).stage_us, 0)
        notes = []
        rules = engine.rules(graph, topology, {"gpu": "cuda"}, notes.append)
        self.assertTrue(all(isinstance(note, str) for note in notes))
        placement = placeto.place(graph, topology, rules=rules)
        mine = placeto.place(graph, topology, rules=rules, forbids={0: 1}, colocate=[[0, 1]])
        self.assertEqual(mine.devices[0], mine.devices[1])
        self.assertNotEqual(mine.devices[0], 1)
        self.assertEqual(len(placement.stages), len(graph))
        written = json.loads(placement.to_json())
        self.assertEqual(written["assignment"], list(placement.devices))
        self.assertEqual(written["devices"], topology.device_names)

    @unittest.skipUnless(MODEL, "no model is named in PLACETO_TEST_MODEL")
    def test_what_no_error_says_is_heard(self):
        engine, topology, notes = placeto.Engine.load("onnxruntime"), pair(), []
        rules = engine.rules(diamond(), topology, {"gpu": "cuda"}, notes.append)
        self.assertIsInstance(rules, placeto.Rules)
        self.assertTrue(notes and "In" in notes[0], notes)
        with self.assertRaises(ZeroDivisionError):  # not swallowed on its way through C
            engine.rules(diamond(), topology, {"gpu": "cuda"}, lambda _: 1 / 0)

    def test_content_is_whatever_has_bytes(self):
        graph, topology = diamond(), pair()
        content = graph.to_bytes()
        for same in (bytearray(content), memoryview(content)):
            self.assertEqual(placeto.Graph.from_bytes(same).to_bytes(), content)
        placement = placeto.place(graph, topology)
        devices = placeto.decode_assignment(bytearray(placement.to_bytes()), graph, topology)
        self.assertEqual(list(devices), list(placement.devices))
        for wrong in ("text", None, 5):
            for reader in (placeto.Graph, placeto.Topology, placeto.Policy):
                with self.assertRaisesRegex(TypeError, "content is .*, expected bytes"):
                    reader.from_bytes(wrong)

    def test_an_interrupt_ends_a_placing(self):
        cancel, before = placeto.Cancel(), time.monotonic()
        for given in ({}, {"cancel": cancel}):
            timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
            timer.start()
            with self.assertRaises(KeyboardInterrupt):
                placeto.place(diamond(), pair(), method="anneal", budget_milliseconds=30_000.0,
                              **given)
            timer.join()
        self.assertLess(time.monotonic() - before, 30)
        again = placeto.place(diamond(), pair(), cancel=cancel)  # it is usable again
        self.assertEqual(again.stopped, placeto.PLACETO_COMPLETE)

    def test_a_second_interrupt_waits_for_the_first(self):
        """What C reads would be freed while it does; whatever the handler raises."""
        make, running, interrupts = placeto.Placement._make, [], []

        def watched(*arguments):
            running.append(True)
            try:
                return make(*arguments)
            finally:
                time.sleep(0.02)  # as if C took so long to hear it
                running.clear()

        def press():
            while running:
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.0001)

        self.addCleanup(signal.signal, signal.SIGINT, signal.getsignal(signal.SIGINT))
        for raised in (KeyboardInterrupt, RuntimeError):

            def interrupt(*_):
                if running:
                    interrupts.append(True)
                    raise raised

            interrupts.clear()
            signal.signal(signal.SIGINT, interrupt)
            timer = threading.Timer(0.2, press)
            timer.start()
            with unittest.mock.patch.object(placeto.Placement, "_make", watched):
                with self.assertRaises(raised):
                    placeto.place(diamond(), pair(), method="anneal",
                                  budget_milliseconds=30_000.0)
                self.assertFalse(running)
            timer.join()
            self.assertGreater(len(interrupts), 1)

    def test_places_where_no_thread_can_be_started(self):
        with unittest.mock.patch("threading.Thread.start", side_effect=RuntimeError):
            self.assertEqual(len(placeto.place(diamond(), pair())), 4)

    def test_fields_are_where_the_library_has_them(self):
        options = _handles._defaulted(_native.placeto_options, "placeto_default_options")
        self.assertEqual((options.seed, options.passes, options.samples), (1, 4, 0))
        limits = _handles._defaulted(_native.placeto_limits, "placeto_default_limits")
        self.assertEqual((limits.max_devices, limits.max_run_entries), (1024, 256_000_000))


if __name__ == "__main__":
    unittest.main()
