#include "tools/export/manifest.h"

#include <nlohmann/json.hpp>
#include <set>

#include "tools/io/element_names.h"
#include "tools/io/json_text.h"
#include "tools/onnx/dimensions.h"

namespace placeto {
namespace {

using Json = nlohmann::ordered_json;

std::string element_text(int32_t type) {
  const std::string_view name = numpy_name(type);
  return name.empty() && type != 0 ? "type" + std::to_string(type) : std::string(name);
}

std::string type_name(const onnx::TypeProto& type) {
  switch (type.value_case()) {
    case onnx::TypeProto::kTensorType:
      return element_text(type.tensor_type().elem_type());
    case onnx::TypeProto::kSparseTensorType:
      return "sparse " + element_text(type.sparse_tensor_type().elem_type());
    case onnx::TypeProto::kSequenceType:
      return "sequence of " + type_name(type.sequence_type().elem_type());
    case onnx::TypeProto::kOptionalType:
      return "optional " + type_name(type.optional_type().elem_type());
    case onnx::TypeProto::kMapType:
      return "map";
    default:
      return "";
  }
}

Json describe(const onnx::ValueInfoProto& info) {
  Json tensor{{"name", info.name()}};
  const std::string type = type_name(info.type());
  if (!type.empty()) tensor["type"] = type;
  if (!info.type().tensor_type().has_shape()) return tensor;
  tensor["shape"] = Json::array();
  for (const auto& axis : info.type().tensor_type().shape().dim()) {
    Json extent;
    if (axis.has_dim_value()) extent = axis.dim_value();
    if (axis.has_dim_param() && !axis.dim_param().empty()) extent = axis.dim_param();
    tensor["shape"].push_back(std::move(extent));
  }
  return tensor;
}

Json describe_stage(const SplitPlan& plan, uint32_t s, const Placed& placed) {
  const StagePlan& stage = plan.stages[s];
  Json object{{"file", stage_file(s)},       {"device", placed.devices[stage.device]},
              {"nodes", stage.nodes.size()}, {"after", stage.after},
              {"inputs", Json::array()},     {"outputs", Json::array()}};
  const Prediction& predicted = placed.prediction;
  if (predicted.makespan_us > 0 && s < plan.recorded.size()) {
    object["predicted_start_us"] = predicted.start_us[plan.recorded[s]];
    object["predicted_us"] = predicted.us[plan.recorded[s]];
  }
  for (const std::string& name : stage.inputs) {
    Json tensor = describe(plan.info.at(name));
    if (const auto maker = plan.made_by.find(name); maker != plan.made_by.end()) {
      tensor["stage"] = maker->second;
    }
    object["inputs"].push_back(std::move(tensor));
  }
  for (const std::string& name : stage.outputs) {
    object["outputs"].push_back(describe(plan.info.at(name)));
  }
  return object;
}

// Inputs that a caller must give: those without a default.
Json describe_inputs(const onnx::GraphProto& graph, const SplitPlan& plan) {
  std::set<std::string> weights;
  for (const auto& weight : graph.initializer()) weights.insert(weight.name());
  for (const auto& weight : graph.sparse_initializer()) weights.insert(weight.values().name());
  Json inputs = Json::array();
  for (const auto& input : graph.input()) {
    if (!weights.contains(input.name())) inputs.push_back(describe(plan.info.at(input.name())));
  }
  return inputs;
}

// {"batch": 1}
Json describe_dims(const std::vector<std::string>& dims) {
  Json object = Json::object();
  for (const std::string& text : dims) {
    if (const auto dim = parse_dim_setting(text); dim.ok()) object[dim->name] = dim->value;
  }
  return object;
}

}  // namespace

std::string stage_file(uint32_t stage) {
  return "stage_" + std::to_string(stage) + ".onnx";
}

std::string manifest_json(const std::string& model_name, const onnx::ModelProto& model,
                          const Placed& placed, const SplitPlan& plan) {
  Json manifest{{"format_version", 1},       {"model", model_name},
                {"graph", placed.graph},     {"topology", placed.topology},
                {"devices", placed.devices}, {"inputs", describe_inputs(model.graph(), plan)},
                {"outputs", Json::array()},  {"stages", Json::array()},
                {"order", plan.order}};
  if (!placed.dims.empty()) manifest["dims"] = describe_dims(placed.dims);
  for (const auto& [input, value] : placed.set) manifest["set"][input] = value;
  if (placed.prediction.makespan_us > 0) {
    manifest["predicted_makespan_us"] = placed.prediction.makespan_us;
    if (placed.prediction.whole_us > 0) manifest["predicted_whole_us"] = placed.prediction.whole_us;
  }
  for (int i = 0; i < model.graph().output_size(); ++i) {
    const uint32_t stage = plan.output_stage[static_cast<size_t>(i)];
    Json output = describe(model.graph().output(i));
    if (stage != kFromCaller) output["stage"] = stage;
    manifest["outputs"].push_back(std::move(output));
  }
  for (uint32_t s = 0; s < plan.stages.size(); ++s) {
    manifest["stages"].push_back(describe_stage(plan, s, placed));
  }
  return json_text(manifest, 1) + "\n";
}

}  // namespace placeto
