// A placed ONNX model for ONNX Runtime: cut into stages by each rule, annotated, and as name
// rules. The input is kHeader bytes that place the nodes, then the model.
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "tests/fuzz/check.h"
#include "tests/fuzz/targets.h"
#include "tools/export/annotate.h"
#include "tools/export/manifest.h"
#include "tools/export/name_matcher.h"
#include "tools/export/name_rules.h"
#include "tools/export/split.h"
#include "tools/onnx/model.h"

namespace placeto::fuzz {
namespace {

constexpr size_t kHeader = 8;
constexpr uint32_t kPlacedOn = 4;

struct Placing {
  uint32_t devices = 1;
  std::vector<uint32_t> of_node;  // per node of the main graph
};

// The first byte: how many devices. The others, over and over: device of each node.
Placing read_placing(const std::vector<uint8_t>& header, size_t nodes) {
  Placing placing;
  placing.devices = 1 + header[0] % kPlacedOn;
  for (size_t i = 0; i < nodes; ++i) {
    placing.of_node.push_back(header[1 + i % (kHeader - 1)] % placing.devices);
  }
  return placing;
}

// Without outputs there is nothing to compute: then whatever no node reads is one.
void put_out_what_is_not_read(onnx::GraphProto& graph) {
  if (graph.output_size() > 0) return;
  std::unordered_set<std::string> read;
  for (const auto& node : graph.node()) read.insert(node.input().begin(), node.input().end());
  for (const auto& node : graph.node()) {
    for (const std::string& name : node.output()) {
      if (!name.empty() && read.insert(name).second) graph.add_output()->set_name(name);
    }
  }
}

// Stages in their order: each finds what it reads, has what it needs inside, and all together make
// the model's outputs.
void check_stages(const onnx::ModelProto& model, const SplitPlan& plan, const Placing& placing) {
  std::unordered_set<std::string> there;
  for (const auto& input : model.graph().input()) there.insert(input.name());
  std::vector<int> copies(placing.of_node.size(), 0);
  for (uint32_t s = 0; s < plan.stages.size(); ++s) {
    const StagePlan& stage = plan.stages[s];
    check(stage.device < placing.devices, "a stage is on a device");
    for (const uint32_t before : stage.after) check(before < s, "stages wait for earlier ones");
    for (const std::string& name : stage.inputs) {
      check(there.contains(name), "what a stage reads is there before it runs");
    }
    const onnx::ModelProto part = stage_model(model, plan, s);
    check(find_value_flow(part.graph()).ok(), "a stage is complete");
    for (const int i : stage.nodes) {
      const auto v = static_cast<size_t>(i);
      if (is_constant_node(model.graph().node(i))) continue;
      check(placing.of_node[v] == stage.device, "a node runs where it was placed");
      check(++copies[v] == 1, "a node is in one stage");
    }
    there.insert(stage.outputs.begin(), stage.outputs.end());
  }
  for (const auto& output : model.graph().output()) {
    check(there.contains(output.name()), "the stages make the model's outputs");
  }
}

bool split(const OnnxModel& model, const ValueTypes& types, const Placing& placing) {
  Placed placed{"graph", "topology", {}, {}, {}};
  for (uint32_t d = 0; d < placing.devices; ++d) placed.devices.push_back(std::to_string(d));
  for (const StageRule rule : kStageRules) {
    const auto plan = plan_split(model.proto, types, placing.of_node, placing.devices, rule);
    if (!plan.ok()) return check_refused(plan.status()), false;
    check_stages(model.proto, *plan, placing);
    const std::string manifest = manifest_json("model", model.proto, placed, *plan);
    check(nlohmann::json::parse(manifest)["stages"].size() == plan->stages.size(),
          "the manifest lists the stages");
  }
  return true;
}

void check_annotations(const OnnxModel& model, const Placing& placing) {
  onnx::ModelProto copy = model.proto;
  check(annotate(copy, placing.of_node).ok(), "every model can be annotated");
  for (int i = 0; i < copy.graph().node_size(); ++i) {
    const uint32_t device = placing.of_node[static_cast<size_t>(i)];
    const bool constant = is_constant_node(copy.graph().node(i));
    check(annotation_of(copy.graph().node(i)) == (constant ? "" : "plc" + std::to_string(device)),
          "an annotation says where its node is");
  }
}

void check_names(const OnnxModel& model, const Placing& placing) {
  std::vector<NamedNode> nodes;
  for (int i = 0; i < model.proto.graph().node_size(); ++i) {
    nodes.push_back({model.proto.graph().node(i).name(), placing.of_node[static_cast<size_t>(i)]});
  }
  const std::vector<std::string> engine = {"a", "b", "c", "d"};
  const auto rules = name_rules(nodes, engine);
  if (!rules.ok()) {
    check(rules.status().code() == StatusCode::kInvalidArgument, "names can be unfit, no more");
    return;
  }
  check(rules->size() <= kMaxOptionBytes, "the engine takes the rules");
  const NameMatcher matcher(*rules);
  for (const NamedNode& node : nodes) {
    check(matcher.device_of(node.name) == engine[node.device], "rules say the placement");
  }
}

}  // namespace

int fuzz_export(const uint8_t* data, size_t size) {
  if (size < kHeader) return 0;
  const std::vector<uint8_t> header = own_copy(data, kHeader);
  const std::vector<uint8_t> bytes = own_copy(data + kHeader, size - kHeader);
  OnnxReadOptions whole;
  whole.with_weights = true;
  auto model = parse_onnx(bytes, whole);
  if (!model.ok()) return check_refused(model.status()), 0;
  put_out_what_is_not_read(*model->proto.mutable_graph());
  const Placing placing = read_placing(header, model->node_names.size());
  check_annotations(*model, placing);
  check_names(*model, placing);
  const auto types = infer_types(model->proto);
  if (!types.ok()) return check_refused(types.status()), 0;
  return split(*model, *types, placing) ? 1 : 0;
}

}  // namespace placeto::fuzz
