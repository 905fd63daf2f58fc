#include "tools/export/split.h"

#include <algorithm>
#include <map>
#include <set>

#include "runtime/base/no_index.h"
#include "runtime/graph/text.h"
#include "tools/onnx/model.h"
#include "tools/onnx/value.h"

namespace placeto {
namespace {

using From = Origin::From;

// Collects, stage by stage, what crosses into and out of stages.
class Planner {
 public:
  Planner(const onnx::GraphProto& graph, const ValueFlow& flow, Division stages)
      : graph_(graph), flow_(flow), stages_(std::move(stages)) {
    // A model whose outputs are all weights has no live node, and still needs a model to hold them.
    if (stages_.device.empty()) stages_.device.push_back(0);
    plan_.stages.resize(stages_.device.size());
    for (size_t s = 0; s < plan_.stages.size(); ++s) plan_.stages[s].device = stages_.device[s];
    plan_.order = stages_.order;
    for (uint32_t s = 0; stages_.order.empty() && s < plan_.stages.size(); ++s) {
      plan_.order.push_back(s);
    }
    held_.resize(plan_.stages.size());
  }

  SplitPlan run() {
    for (int i = 0; i < graph_.node_size(); ++i) add_node(i);
    for (const auto& output : graph_.output()) add_graph_output(output.name());
    for (StagePlan& stage : plan_.stages) {
      std::sort(stage.nodes.begin(), stage.nodes.end());
      std::sort(stage.weights.begin(), stage.weights.end());
      std::sort(stage.sparse_weights.begin(), stage.sparse_weights.end());
      std::sort(stage.after.begin(), stage.after.end());
      stage.after.erase(std::unique(stage.after.begin(), stage.after.end()), stage.after.end());
    }
    return std::move(plan_);
  }

 private:
  void add_node(int i) {
    const uint32_t s = stages_.stage_of[static_cast<size_t>(i)];
    if (s == kNoIndex) {
      plan_.unused_nodes += is_constant_node(graph_.node(i)) ? 0 : 1;
      return;
    }
    plan_.stages[s].nodes.push_back(i);
    for (const std::string& name : flow_.reads[static_cast<size_t>(i)]) bring(name, s);
  }

  // Makes the tensor available in the stage.
  void bring(const std::string& name, uint32_t s) {
    const Origin& origin = flow_.origin.at(name);
    if (origin.from == From::kNode && made_in(origin) == s) return;
    if (!held_[s].insert(name).second) return;
    StagePlan& stage = plan_.stages[s];
    switch (origin.from) {
      case From::kInitializer:
        stage.weights.push_back(origin.index);
        break;
      case From::kSparseInitializer:
        stage.sparse_weights.push_back(origin.index);
        break;
      case From::kConstantNode:
        stage.nodes.push_back(origin.index);
        break;
      case From::kNode:
        stage.inputs.push_back(name);
        stage.after.push_back(made_in(origin));
        add_output(name, made_in(origin));
        break;
      case From::kInput:
        stage.inputs.push_back(name);
        break;
    }
  }

  // A graph output comes from the stage of its node; a weight from the first stage that has it, or
  // the first of all; an input is handed through by the caller.
  void add_graph_output(const std::string& name) {
    const Origin& origin = flow_.origin.at(name);
    uint32_t s = kFromCaller;
    if (origin.from == From::kNode) {
      s = made_in(origin);
    } else if (origin.is_weight()) {
      for (s = 0; s < held_.size() && !held_[s].contains(name);) ++s;
      if (s == held_.size()) s = 0;
      bring(name, s);
    }
    plan_.output_stage.push_back(s);
    if (s != kFromCaller) add_output(name, s);
  }

  void add_output(const std::string& name, uint32_t s) {
    if (plan_.made_by.emplace(name, s).second) plan_.stages[s].outputs.push_back(name);
  }

  uint32_t made_in(const Origin& origin) const {
    return stages_.stage_of[static_cast<size_t>(origin.index)];
  }

  const onnx::GraphProto& graph_;
  const ValueFlow& flow_;
  Division stages_;
  SplitPlan plan_;
  std::vector<std::set<std::string>> held_;  // per stage: tensors brought in
};

onnx::TypeProto type_of(const onnx::TensorProto& weight) {
  onnx::TypeProto type;
  type.mutable_tensor_type()->set_elem_type(weight.data_type());
  for (const int64_t extent : weight.dims()) {
    type.mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(extent);
  }
  return type;
}

// Engines refuse another length than an input states, and take any where it states none.
void open_contradicted(const onnx::TypeProto& inferred, onnx::TypeProto& stated) {
  if (!inferred.tensor_type().has_shape() || !stated.tensor_type().has_shape()) return;
  const auto& known = inferred.tensor_type().shape();
  auto& shape = *stated.mutable_tensor_type()->mutable_shape();
  if (shape.dim_size() != known.dim_size()) {
    stated.mutable_tensor_type()->clear_shape();
    return;
  }
  for (int a = 0; a < shape.dim_size(); ++a) {
    if (!shape.dim(a).has_dim_value()) continue;
    if (!known.dim(a).has_dim_value() || known.dim(a).dim_value() != shape.dim(a).dim_value()) {
      *shape.mutable_dim(a) = known.dim(a);
      shape.mutable_dim(a)->clear_dim_value();
    }
  }
}

// What is known of a tensor: what the model says, but for numbers that inference contradicts, else
// what was inferred.
class Catalog {
 public:
  Catalog(const onnx::GraphProto& graph, const ValueTypes& types) : types_(types) {
    for (const auto& info : graph.input()) stated_.emplace(info.name(), &info);
    for (const auto& info : graph.output()) stated_.emplace(info.name(), &info);
    for (const auto& info : graph.value_info()) stated_.emplace(info.name(), &info);
    for (const auto& weight : graph.initializer()) weights_.emplace(weight.name(), &weight);
  }

  onnx::ValueInfoProto find(const std::string& name) const {
    onnx::ValueInfoProto info;
    if (const auto stated = stated_.find(name); stated != stated_.end()) info = *stated->second;
    info.set_name(name);
    // Said once in every stage that it enters or leaves.
    const int axes = info.type().tensor_type().shape().dim_size();
    if (axes > static_cast<int>(kMaxRank)) info.clear_type();
    const auto found = types_.find(name);
    if (is_typed(info.type())) {
      if (found != types_.end()) open_contradicted(found->second, *info.mutable_type());
      return info;
    }
    if (found != types_.end()) {
      *info.mutable_type() = found->second;
    } else if (const auto weight = weights_.find(name); weight != weights_.end()) {
      *info.mutable_type() = type_of(*weight->second);
    }
    return info;
  }

 private:
  std::map<std::string, const onnx::ValueInfoProto*> stated_;
  std::map<std::string, const onnx::TensorProto*> weights_;
  const ValueTypes& types_;
};

// The manifest, which is JSON, names what passes between stages.
Status check_names(const StagePlan& stage) {
  for (const auto* names : {&stage.inputs, &stage.outputs}) {
    for (const std::string& name : *names) {
      if (valid_utf8_prefix(name) == name.size()) continue;
      return Status::bad_input("the name of tensor " + in_quotes(name) +
                               ", which enters or leaves a stage, is not UTF-8");
    }
  }
  return {};
}

// Engines must be told the types of inputs; those of outputs they work out by themselves.
Status add_info(const onnx::GraphProto& graph, const ValueTypes& types, SplitPlan& plan) {
  const Catalog catalog(graph, types);
  for (size_t s = 0; s < plan.stages.size(); ++s) {
    if (Status status = check_names(plan.stages[s]); !status.ok()) return status;
    for (const std::string& name : plan.stages[s].outputs) plan.info[name] = catalog.find(name);
    for (const std::string& name : plan.stages[s].inputs) {
      onnx::ValueInfoProto info = catalog.find(name);
      if (!is_typed(info.type())) {
        return Status::bad_input(
            "the type of tensor " + in_quotes(name) + ", which stage " + std::to_string(s) +
            " reads from another, is not known; expected an entry in graph.value_info (the engine "
            "writes one when it saves an optimized model)");
      }
      plan.info[name] = std::move(info);
    }
  }
  for (const auto& input : graph.input()) plan.info.emplace(input.name(), input);
  return {};
}

void copy_weights(const onnx::GraphProto& from, const StagePlan& stage, onnx::GraphProto& to) {
  std::map<std::string, const onnx::ValueInfoProto*> inputs;
  for (const auto& input : from.input()) inputs.emplace(input.name(), &input);
  const auto keep_input = [&](const std::string& name) {  // before IR 4 every weight is an input
    if (const auto found = inputs.find(name); found != inputs.end())
      *to.add_input() = *found->second;
  };
  for (const int i : stage.weights) {
    *to.add_initializer() = from.initializer(i);
    keep_input(from.initializer(i).name());
  }
  for (const int i : stage.sparse_weights) {
    *to.add_sparse_initializer() = from.sparse_initializer(i);
    keep_input(from.sparse_initializer(i).values().name());
  }
}

// Shapes and quantization of tensors that stay within the stage.
void copy_annotations(const onnx::GraphProto& from, const StagePlan& stage, onnx::GraphProto& to) {
  std::set<std::string> boundary(stage.inputs.begin(), stage.inputs.end());
  boundary.insert(stage.outputs.begin(), stage.outputs.end());
  std::set<std::string> here;
  for (const auto& node : to.node()) here.insert(node.output().begin(), node.output().end());
  for (const auto& info : from.value_info()) {
    if (here.contains(info.name()) && !boundary.contains(info.name())) *to.add_value_info() = info;
  }
  for (const auto& weight : to.initializer()) here.insert(weight.name());
  here.insert(stage.inputs.begin(), stage.inputs.end());
  for (const auto& annotation : from.quantization_annotation()) {
    if (here.contains(annotation.tensor_name())) *to.add_quantization_annotation() = annotation;
  }
}

// What a model or graph says that changes nothing, and what this libonnx does not know: bytes where
// it was built for the lite runtime of Protocol Buffers.
template <typename Message>
void copy_remarks(const Message& from, Message& to) {
  to.set_doc_string(from.doc_string());
  // Graphs have them since libonnx 1.16; to an older one they are unknown fields.
  if constexpr (requires { to.mutable_metadata_props(); }) {
    *to.mutable_metadata_props() = from.metadata_props();
  }
  if constexpr (requires { to.mutable_unknown_fields()->MergeFrom(from.unknown_fields()); }) {
    to.mutable_unknown_fields()->MergeFrom(from.unknown_fields());
  } else {
    to.mutable_unknown_fields()->append(from.unknown_fields());
  }
}

}  // namespace

Result<SplitPlan> plan_split(const onnx::ModelProto& model, const ValueTypes& types,
                             std::span<const uint32_t> device_of_node, uint32_t device_count,
                             const StageWish& wish) {
  const onnx::GraphProto& graph = model.graph();
  const Result<ValueFlow> flow = find_value_flow(graph);
  if (!flow.ok()) return flow.status();
  Result<Division> stages =
      find_stages(flow->predecessors, device_of_node, device_count, flow->live, wish);
  if (!stages.ok()) return stages.status();
  const auto passed_on = [&](const auto& output) {
    return flow->origin.at(output.name()).from == From::kInput;
  };
  if (stages->stage_count() == 0 && graph.output_size() > 0 &&
      std::ranges::all_of(graph.output(), passed_on)) {
    return Status::bad_input("computes none of its outputs: each is one of its inputs");
  }
  std::vector<uint32_t> recorded(wish.stage_of.empty() ? 0 : stages->stage_count());
  for (size_t v = 0; v < wish.stage_of.size(); ++v) {
    if (stages->stage_of[v] != kNoIndex) recorded[stages->stage_of[v]] = wish.stage_of[v];
  }
  SplitPlan plan = Planner(graph, *flow, std::move(*stages)).run();
  plan.recorded = std::move(recorded);
  if (Status s = add_info(graph, types, plan); !s.ok()) return s;
  return plan;
}

onnx::ModelProto stage_model(const onnx::ModelProto& model, const SplitPlan& plan, uint32_t stage) {
  const StagePlan& part = plan.stages[stage];
  const onnx::GraphProto& from = model.graph();
  onnx::ModelProto result;
  result.set_ir_version(model.ir_version());
  *result.mutable_opset_import() = model.opset_import();
  result.set_producer_name(model.producer_name());
  result.set_producer_version(model.producer_version());
  result.set_domain(model.domain());
  result.set_model_version(model.model_version());
  *result.mutable_functions() = model.functions();
  copy_remarks(model, result);
  onnx::GraphProto& to = *result.mutable_graph();
  to.set_name(from.name() + "_stage_" + std::to_string(stage));
  copy_remarks(from, to);
  for (const int i : part.nodes) *to.add_node() = from.node(i);
  for (const std::string& name : part.inputs) *to.add_input() = plan.info.at(name);
  for (const std::string& name : part.outputs) *to.add_output() = plan.info.at(name);
  copy_weights(from, part, to);
  copy_annotations(from, part, to);
  return result;
}

}  // namespace placeto
