// Profiles of models whose nodes have no names, or names that lead astray: each kernel's time has
// to reach the node that it ran. Events are named as ONNX Runtime 1.30 names them (engine_nodes.h).
#include <doctest/doctest.h>

#include "tests/support/onnx_models.h"
#include "tools/costs/measured.h"
#include "tools/onnx/import.h"

using namespace placeto;
using namespace placeto::test;

namespace {

ProfiledNode kernel(const std::string& name, const std::string& op, uint32_t index, double us,
                    uint64_t output_bytes) {
  return {name, op, "CPUExecutionProvider", index, output_bytes, us};
}

// What the engine writes without graph optimization: Constants are gone, the rest is numbered.
Profile unoptimized_profile(const onnx::GraphProto& graph, const GraphSpec& spec) {
  Profile profile;
  for (const onnx::NodeProto& node : graph.node()) {
    if (node.op_type() == "Constant") continue;
    const auto index = static_cast<uint32_t>(profile.nodes.size());
    const std::string name =
        node.name().empty() ? node.op_type() + "_" + std::to_string(index) : node.name();
    profile.nodes.push_back(
        kernel(name, node.op_type(), index, 10.0 + 7 * index, spec.nodes[index].outputs[0]));
  }
  profile.runs = 1;
  return profile;
}

void add_constant(OnnxBuilder& b, const std::string& output) {
  auto* value = b.node("Constant", {}, {output}).add_attribute();
  value->set_name("value_floats");
  value->set_type(onnx::AttributeProto::FLOATS);
  for (int i = 0; i < 4; ++i) value->add_floats(1);
}

ImportedGraph imported_whole(const OnnxBuilder& b) {
  const std::string bytes = b.bytes();
  auto result = import_onnx(as_bytes(bytes), "model", {});
  REQUIRE_MESSAGE(result.ok(), result.status().message());
  return *std::move(result);
}

std::vector<double> times(const ImportedGraph& model, const Profile& profile) {
  const auto graph = Graph::build(model.spec);
  REQUIRE(graph.ok());
  Coverage coverage;
  const auto costs = costs_from_profile(*graph, model.outputs, profile, "cpu", coverage);
  REQUIRE_MESSAGE(costs.ok(), costs.status().message());
  std::vector<double> us;
  for (const auto& time : costs->us) us.push_back(time.value_or(-1));
  return us;
}

std::vector<double> expected_times(size_t count) {
  std::vector<double> us;
  for (size_t i = 0; i < count; ++i) us.push_back(10.0 + 7 * static_cast<double>(i));
  return us;
}

}  // namespace

//   k0    k1    k2                Constants, which the engine does not count
//    \     \     \.
//  x - Add - Mul - Add - Mul - Relu ... twice, all with outputs of one size
TEST_CASE("each kernel of a model whose nodes have no names has its own time") {
  OnnxBuilder b;
  b.input("x", {"4"});
  std::string last = "x";
  for (int i = 0; i < 12; ++i) {
    const std::string k = "k" + std::to_string(i), y = "y" + std::to_string(i);
    if (i % 3 != 2) add_constant(b, k);
    const char* op = i % 3 == 0 ? "Add" : i % 3 == 1 ? "Mul" : "Relu";
    if (i % 3 == 2) b.node(op, {last}, {y});
    if (i % 3 != 2) b.node(op, {last, k}, {y});
    last = y;
  }
  const ImportedGraph model = imported_whole(b);
  REQUIRE(model.spec.nodes.size() == 12);
  CHECK(model.spec.nodes[4].name == "Mul_4");
  CHECK(times(model, unoptimized_profile(b.graph(), model.spec)) == expected_times(12));
}

TEST_CASE("names that look like numbers of other nodes, or that several have, lead nobody astray") {
  //  x - '' (Add_0) - 'Add_2' - '' (Add_2) - 'twice' - 'twice' - 'Add_0'
  OnnxBuilder b;
  b.input("x", {"4"});
  add_constant(b, "k");
  const char* names[] = {"", "Add_2", "", "twice", "twice", "Add_0"};
  std::string last = "x";
  for (const char* name : names) {
    const std::string y = last + "y";
    b.node("Add", {last, "k"}, {y}, name);
    last = y;
  }
  const ImportedGraph model = imported_whole(b);
  CHECK(times(model, unoptimized_profile(b.graph(), model.spec)) == expected_times(6));
}

//  x - MatMul - Mul(1.702) - Sigmoid - Mul - MatMul - y       fused: MatMul, QuickGelu, MatMul
//             \______________________/
TEST_CASE("fused kernels without a name take the place that their size and order tell") {
  OnnxBuilder b;
  b.input("x", {"2", "8"});
  b.weight("w", {8, 8});
  b.weight("scale", {1});
  b.node("MatMul", {"x", "w"}, {"a"});
  b.node("Mul", {"a", "scale"}, {"s"});
  b.node("Sigmoid", {"s"}, {"t"});
  b.node("Mul", {"a", "t"}, {"g"});
  b.node("MatMul", {"g", "w"}, {"y"});
  const ImportedGraph model = imported_whole(b);
  Profile profile;
  profile.nodes = {kernel("MatMul_0", "MatMul", 0, 50, 64),
                   kernel("ReorderInput_token_3", "ReorderInput", 9, 2, 64),
                   kernel("/QuickGeluFusion/_token_1", "QuickGelu", 7, 5, 64),
                   kernel("MatMul_4", "MatMul", 4, 60, 64)};
  const std::vector<double> us = times(model, profile);
  CHECK(us[0] == 52);
  CHECK(us[1] + us[2] + us[3] == 5);
  CHECK(us[4] == 60);
}
