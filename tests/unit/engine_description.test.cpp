// Engine descriptions: what providers run, by operator, version and types.
#include "tools/engine/description.h"

#include <doctest/doctest.h>

using namespace placeto;

namespace {

NodeSpec node(const std::string& op, uint32_t opset = 0, std::vector<std::string> types = {}) {
  NodeSpec node;
  node.op = op;
  node.opset = opset;
  node.input_types = std::move(types);
  return node;
}

// What one gpu with that provider, or none (""), may not run, and what is said of it.
struct Ruled {
  std::vector<uint32_t> forbidden;  // nodes
  std::vector<std::string> notes;
};

Ruled rule(const EngineDescription& engine, const std::string& provider,
           std::vector<NodeSpec> nodes) {
  GraphSpec spec;
  spec.nodes = std::move(nodes);
  const auto graph = Graph::build(spec);
  TopologySpec machine;
  machine.devices.resize(2);
  machine.devices[0].name = machine.devices[0].kind = "cpu";
  machine.devices[1].name = machine.devices[1].kind = "gpu";
  machine.default_link.bandwidth_bytes_per_us = 1;
  const auto topology = Topology::build(machine);
  REQUIRE(graph.ok());
  REQUIRE_MESSAGE(topology.ok(), topology.status().message());
  Ruled ruled;
  Rules rules;
  const std::string wish = "gpu=" + provider;
  EngineNotes notes;
  const std::span wishes(&wish, provider.empty() ? 0 : 1);
  const Status status = engine.restrict(*graph, *topology, wishes, rules, notes);
  ruled.notes = notes.all();
  REQUIRE_MESSAGE(status.ok(), status.message());
  for (const auto& [v, device] : rules.forbids) {
    CHECK(device == 1);
    ruled.forbidden.push_back(v);
  }
  return ruled;
}

EngineDescription engine_with(const std::string& operators) {
  const auto engine = EngineDescription::parse(
      R"({"format_version": 1, "types": {"real": "float double", "number": "real int64"},
          "providers": {"p": {"operators": )" +
          operators + "}}}",
      "engine.json");
  REQUIRE_MESSAGE(engine.ok(), engine.status().message());
  return *engine;
}

std::string refused(const std::string& fields) {
  const auto engine =
      EngineDescription::parse(R"({"format_version": 1, )" + fields + "}", "engine.json");
  return engine.ok() ? "ok" : engine.status().message();
}

// The only note.
std::string note(const Ruled& ruled) {
  REQUIRE(ruled.notes.size() == 1);
  return ruled.notes[0];
}

using Nodes = std::vector<uint32_t>;

}  // namespace

TEST_CASE(
    "a version between, below or above the closed ranges of an operator's kernels is lacked") {
  const auto engine = engine_with(
      R"({"ai.onnx": {"Add": [{"opset": [7, 12]}, {"opset": [14]}], "Scatter": [{"opset": [9, 10]}]}})");
  const auto ruled =
      rule(engine, "p",
           {node("Add", 6), node("Add", 7), node("Add", 12), node("Add", 13), node("Add", 14),
            node("Add", 30), node("Scatter", 10), node("Scatter", 11)});
  CHECK(ruled.forbidden == Nodes{0, 3, 7});
  CHECK(note(ruled) ==
        "p on gpu lacks Add (1, operator set 13), Add (1, operator set 6), Scatter (1, operator "
        "set 11): not placed there");
}

TEST_CASE("a type that no kernel of the version takes is lacked, by the input that has it") {
  const auto engine = engine_with(
      R"({"ai.onnx": {"Conv": [{"opset": [1, 10], "types": ["float"]},
                               {"opset": [11], "types": ["real"]}],
                      "Gather": [{"types": ["", "int64"]}]}})");
  const auto ruled =
      rule(engine, "p",
           {node("Conv", 10, {"double", "double"}), node("Conv", 11, {"double", "double"}),
            node("Conv", 11, {"float16", "float16"}), node("Conv", 12, {"float16", "float16"}),
            node("Gather", 13, {"string", "int64"}), node("Gather", 13, {"float", "int32"})});
  CHECK(ruled.forbidden == Nodes{0, 2, 3, 5});
  CHECK(note(ruled) ==
        "p on gpu lacks Conv (1, of double), Conv (2, of float16), Gather (1, of int32): not "
        "placed there");
}

TEST_CASE("the last list of types goes for all inputs that follow, and an absent input for none") {
  const auto engine = engine_with(R"({"ai.onnx": {"Concat": [{"types": ["number"]}],
                                  "Slice": [{"types": ["number", "int64"]}],
                                  "Loop": [{"types": ["int64", "bool", ""]}]}})");
  const auto ruled = rule(engine, "p",
                          {node("Concat", 13, {"float", "float", "float"}),
                           node("Concat", 13, {"float", "float", "bool"}),
                           node("Slice", 13, {"float", "int64", "int64", "", "int64"}),
                           node("Slice", 13, {"float", "int64", "int64", "", "int32"}),
                           node("Loop", 13, {"int64", "", "string", "float", "bool"})});
  CHECK(ruled.forbidden == Nodes{1, 3});
}

TEST_CASE("kernels for types that do not go together are told apart") {
  const auto engine = engine_with(
      R"({"ai.onnx": {"Add": [{"types": ["float", "float"]}, {"types": ["int64", "int64"]}]}})");
  const auto ruled =
      rule(engine, "p", {node("Add", 1, {"int64", "int64"}), node("Add", 1, {"int64", "float"})});
  CHECK(ruled.forbidden == Nodes{1});
  CHECK(note(ruled) == "p on gpu lacks Add (1, of float and int64): not placed there");
}

TEST_CASE("where no provider is named all operators may run, and that is said") {
  const auto ruled = rule(engine_with(R"({"ai.onnx": ["Add"]})"), "", {node("Loop")});
  CHECK(ruled.forbidden.empty());
  CHECK(ruled.notes == std::vector<std::string>{"no provider is named for gpu (--provider): all "
                                                "operators are allowed there"});
}

TEST_CASE("what a graph does not know of a node forbids nothing") {
  const auto engine = engine_with(
      R"({"ai.onnx": {"Conv": [{"opset": [11, 12], "types": ["float"]}], "Any": []},
          "other": ["Named"]})");
  const auto ruled = rule(
      engine, "p",
      {node("Conv"), node("Conv", 11), node("Conv", 0, {"float"}), node("Conv", 12, {"", "float"}),
       node("Any", 3, {"string"}), node("Named", 99, {"bool"})});
  CHECK(ruled.forbidden.empty());
  CHECK(ruled.notes.empty());
  CHECK(rule(engine, "p", {node("Conv", 0, {"double"})}).forbidden == Nodes{0});
}

TEST_CASE("an operator that two domains have is run if either has a kernel for it") {
  const auto engine = engine_with(
      R"({"ai.onnx": {"Gelu": [{"opset": [20], "types": ["float"]}]},
          "com.microsoft": {"Gelu": [{"opset": [1, 1], "types": ["float16"]}]}})");
  const auto ruled = rule(engine, "p",
                          {node("Gelu", 20, {"float"}), node("Gelu", 1, {"float16"}),
                           node("com.microsoft:Gelu", 1, {"float16"}),
                           node("Gelu", 20, {"float16"}), node("Gelu", 19)});
  CHECK(ruled.forbidden == Nodes{3, 4});
}

TEST_CASE("an operator whose domain is known is judged by that domain alone") {
  const auto engine = engine_with(
      R"({"ai.onnx": {"Gelu": [{"types": ["float"]}], "Own": []},
          "com.microsoft": {"Gelu": [{"types": ["float16"]}]}, "blocked": []})");
  const auto of = [](const std::string& domain, NodeSpec spec) {
    spec.domain = domain;
    return spec;
  };
  const auto ruled =
      rule(engine, "p",
           {of("ai.onnx", node("Gelu", 0, {"float"})), of("ai.onnx", node("Gelu", 0, {"float16"})),
            of("com.microsoft", node("Gelu", 0, {"float"})),
            of("com.microsoft", node("Gelu", 0, {"float16"})),
            node("com.microsoft:Gelu", 0, {"float"})});
  CHECK(ruled.forbidden == Nodes{1, 2, 4});
  const auto unknown = rule(engine, "p", {of("elsewhere", node("Own"))});
  CHECK(unknown.forbidden.empty());
  CHECK(note(unknown) == "whether p on gpu runs Own (1) is not known: allowed");
}

TEST_CASE("a table of kernels that is malformed is refused with its place") {
  const auto of = [](const std::string& kernels) {
    return refused(R"("providers": {"p": {"operators": {"ai.onnx": {"Add": )" + kernels + "}}}}");
  };
  const std::string add = "engine.json: providers.p.operators.ai.onnx.Add";
  CHECK(of("[]") == "ok");
  CHECK(of(R"([{"opset": [7, 7], "types": ["", "bool float8e5m2"]}])") == "ok");
  CHECK(of(R"("float")") == add + ": expected a list of kernels");
  CHECK(of(R"([{}, 7])") == add + "[1]: expected an object");
  CHECK(of(R"([{"version": 7}])") == add + "[0]: unknown field 'version'");
  const std::string range = "[0].opset: expected [FIRST, LAST] or [FIRST], versions from 1";
  for (const char* wrong :
       {"7", "[]", "[0]", "[9, 7]", "[7, 9, 11]", "[7.5]", "[-1]", "[\"7\"]", "[1, 4294967296]"}) {
    CHECK(of(R"([{"opset": )" + std::string(wrong) + "}]") == add + range);
  }
  CHECK(of(R"([{"types": "float"}])") == add + "[0].types: expected a list, by input");
  CHECK(of(R"([{"types": ["float", 1]}])") ==
        add + "[0].types[1]: expected text: types with spaces between");
  CHECK(of(R"([{"types": ["float float32"]}])") ==
        add + "[0].types[0]: 'float32' is no type of elements, and no name that 'types' has");
  CHECK(refused(R"("providers": {"p": {"operators": {"ai.onnx": "Add"}}})") ==
        "engine.json: providers.p.operators.ai.onnx: expected a list of operators, or an object "
        "with their kernels");
  CHECK(refused(R"("types": ["float"])") ==
        "engine.json: types: expected an object: names for types");
  CHECK(refused(R"("types": {"bool": "float"})") ==
        "engine.json: types.bool: is itself a type of elements");
  CHECK(refused(R"("types": {"a": "b", "b": "float"})") ==
        "engine.json: types.a: 'b' is no type of elements, and no name that 'types' has");
}

TEST_CASE("of ONNX Runtime's providers, the processor's refuses nothing") {
  const auto engine = EngineDescription::load("onnxruntime");
  REQUIRE_MESSAGE(engine.ok(), engine.status().message());
  const auto ruled = rule(*engine, "cpu", {node("Conv", 1, {"bool"}), node("Nothing", 99)});
  CHECK(ruled.forbidden.empty());
}

TEST_CASE("providers have the names that people use for them, in any spelling") {
  const auto engine = EngineDescription::load("onnxruntime");
  REQUIRE_MESSAGE(engine.ok(), engine.status().message());
  const std::vector<NodeSpec> nodes = {node("Conv", 17, {"double", "double"}), node("Loop", 16)};
  const auto forbidden = [&](const std::string& name) {
    return rule(*engine, name, nodes).forbidden;
  };
  CHECK(forbidden("directml") == Nodes{0, 1});
  for (const char* name : {"dml", "DML", "DirectML", "DmlExecutionProvider"}) {
    CHECK(forbidden(name) == Nodes{0, 1});
  }
  for (const char* name : {"trt", "TensorRT"}) CHECK(forbidden(name) == forbidden("tensorrt"));
  for (const char* name : {"ov", "OpenVINO"}) CHECK(forbidden(name) == forbidden("openvino"));
  const auto own = EngineDescription::parse(
      R"({"format_version": 1, "providers": {"dml": {"operators": {"ai.onnx": ["Add"]}},
          "Metal": {}}, "operators": {"ai.onnx": ["Add", "Mul"]}})",
      "engine.json");
  REQUIRE_MESSAGE(own.ok(), own.status().message());
  CHECK(rule(*own, "directml", {node("Mul")}).forbidden == Nodes{0});
  CHECK(rule(*own, "Metal", {node("Mul")}).forbidden.empty());
}

TEST_CASE("ONNX Runtime's CUDA and DirectML lack versions and types, as their tables say") {
  const auto engine = EngineDescription::load("onnxruntime");
  REQUIRE_MESSAGE(engine.ok(), engine.status().message());
  const std::vector<NodeSpec> nodes = {node("Conv", 17, {"float", "float", "float"}),
                                       node("Conv", 17, {"double", "double"}),
                                       node("Conv", 17, {"bfloat16", "bfloat16"}),
                                       node("Conv", 22, {"bfloat16", "bfloat16"}),
                                       node("CumSum", 11, {"float16", "int64"}),
                                       node("ReduceProd", 17, {"int64"}),
                                       node("Gather", 17, {"string", "int64"}),
                                       node("Reshape", 17, {"int64", "int64"}),
                                       node("Add", 6, {"float", "float"})};
  const auto cuda = rule(*engine, "cuda", nodes);
  CHECK(cuda.forbidden == Nodes{2, 4, 5, 6, 8});
  CHECK(note(cuda) ==
        "cuda on gpu lacks Add (1, operator set 6), Conv (1, of bfloat16), CumSum (1, of "
        "float16), Gather (1, of string), ReduceProd (1, of int64): not placed there");
  CHECK(rule(*engine, "directml", nodes).forbidden == Nodes{1, 2, 3, 6, 8});
  // What its optimizer makes for processors has no kernels elsewhere.
  NodeSpec blocked = node("Conv", 1, {"float", "float"});
  blocked.domain = "com.microsoft.nchwc";
  CHECK(rule(*engine, "cuda", {blocked}).forbidden == Nodes{0});
  CHECK(rule(*engine, "directml", {blocked}).forbidden == Nodes{0});
  CHECK(rule(*engine, "cpu", {blocked}).forbidden.empty());
}
