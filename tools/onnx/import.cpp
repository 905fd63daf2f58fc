#include "tools/onnx/import.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>

#include "runtime/base/disjoint_sets.h"
#include "runtime/base/no_index.h"
#include "runtime/base/saturating.h"
#include "runtime/graph/text.h"
#include "tools/costs/fusion.h"
#include "tools/io/element_names.h"
#include "tools/io/word_list.h"
#include "tools/onnx/analysis.h"
#include "tools/onnx/bodies.h"
#include "tools/onnx/completeness.h"
#include "tools/onnx/dimensions.h"
#include "tools/onnx/functions.h"
#include "tools/onnx/inner_weights.h"
#include "tools/onnx/interface.h"
#include "tools/onnx/prepare.h"
#include "tools/onnx/undecided.h"

namespace placeto {
namespace {

using onnx::GraphProto;
using onnx::NodeProto;

using NodePairs = std::vector<std::pair<uint32_t, uint32_t>>;

// A tensor that is there before the model runs.
struct Parameter {
  Weights weights;
  std::vector<uint32_t> readers;  // nodes of the graph, ascending
};

// The version that the model imports of each domain's operator set.
std::map<std::string, uint32_t> versions_of(const onnx::ModelProto& model) {
  std::map<std::string, uint32_t> versions;
  for (const auto& import : model.opset_import()) {
    const bool sensible = import.version() > 0 && import.version() <= 1'000'000;
    const std::string domain = is_default_domain(import.domain()) ? "" : import.domain();
    versions[domain] = sensible ? static_cast<uint32_t>(import.version()) : 0;
  }
  return versions;
}

// Those that the model defines: "domain:name".
std::set<std::string> functions_of(const onnx::ModelProto& model) {
  std::set<std::string> functions;
  for (const auto& function : model.functions()) {
    functions.insert(function_key(function));
  }
  return functions;
}

class Importer {
 public:
  Importer(const OnnxModel& model, const Analysis& analysis, const ImportOptions& options)
      : model_(model),
        graph_(model.proto.graph()),
        analysis_(analysis),
        options_(options),
        versions_(versions_of(model.proto)),
        functions_(functions_of(model.proto)),
        inner_weights_(model.proto) {}

  ImportedGraph run(const std::string& fallback_name);
  // Nodes that share a large parameter.
  NodePairs take_pairs() { return std::move(together_); }

 private:
  void collect_parameters();
  bool shape_is_settled(const std::string& name) const;
  bool is_computed_at_load(const NodeProto& node) const;
  void find_computed_at_load();
  void add_nodes();
  void add_edges(int position);
  void attribute_parameters();
  void hold_loaded();
  void count(const Weights& weights);
  uint64_t output_bytes(const std::string& name) const;
  Dims first_shape(const NodeProto& node) const;
  void describe_operator(const NodeProto& node, NodeSpec& spec) const;

  const OnnxModel& model_;
  const GraphProto& graph_;
  const Analysis& analysis_;
  const ImportOptions& options_;
  std::map<std::string, uint32_t> versions_;  // of operator sets, by domain
  std::set<std::string> functions_;           // of the model, by function_key
  InnerWeights inner_weights_;
  std::vector<std::pair<std::string, Parameter>> parameters_;  // in the order of the model
  std::map<std::string, size_t> parameter_at_;
  std::set<std::string_view> inputs_;  // of the model, parameters among them, too
  // Outputs of what is computed at load, with the nodes that read them in every run, ascending.
  std::map<std::string_view, std::vector<uint32_t>> loaded_;
  NodePairs together_;
  std::vector<bool> at_load_;      // by position in the model: computed at load
  std::vector<uint32_t> node_at_;  // node of the graph by position in the model, or kNoIndex
  std::map<std::string_view, uint32_t> output_at_;  // of its node, by name
  ImportedGraph result_;
};

void Importer::count(const Weights& weights) {
  ImportReport& report = result_.report;
  report.parameters = saturating_add(report.parameters, weights.elements);
  report.parameter_bytes = saturating_add(report.parameter_bytes, weights.bytes);
  report.external_bytes = saturating_add(report.external_bytes, weights.external_bytes);
}

void Importer::collect_parameters() {
  const auto add = [this](const std::string& name, const Weights& weights) {
    if (name.empty() || !parameter_at_.emplace(name, parameters_.size()).second) return;
    count(weights);
    parameters_.push_back({name, {weights, {}}});
  };
  for (const auto& input : graph_.input()) inputs_.insert(input.name());
  for (const auto& tensor : graph_.initializer()) add(tensor.name(), weights_of(tensor));
  for (const auto& tensor : graph_.sparse_initializer()) {
    add(tensor.values().name(), weights_of(tensor));
  }
  for (const NodeProto& node : graph_.node()) {
    if (!is_constant_node(node) || node.output_size() == 0) continue;
    add(node.output(0), weights_of_constant(node));
  }
}

// Axes that are not known count 1: a lower bound that keeps the size of what is known.
uint64_t Importer::output_bytes(const std::string& name) const {
  const Value* value = name.empty() ? nullptr : analysis_.scope.find(name);
  auto dims = value != nullptr ? value->dims() : std::nullopt;
  if (!dims) return 0;
  for (int64_t& dim : *dims) dim = dim < 0 ? 1 : dim;
  return tensor_bytes(value->element_type(), *dims).value_or(0);
}

// Empty where it is not known, or only what the model states.
Dims Importer::first_shape(const NodeProto& node) const {
  if (node.output_size() == 0 || node.output(0).empty()) return {};
  const Value* value = analysis_.scope.find(node.output(0));
  if (value == nullptr || value->stated || !has_size(*value)) return {};
  return value->dims().value_or(Dims{});
}

// Which operator it is, of which version, and of what types. A call of a function that the model
// defines is an operator of no set, whatever its name: what runs is the function's body.
void Importer::describe_operator(const NodeProto& node, NodeSpec& spec) const {
  if (functions_.contains(function_key(node))) return;
  const bool is_onnx = is_default_domain(node.domain());
  spec.domain = is_onnx ? "ai.onnx" : node.domain();
  const auto version = versions_.find(is_onnx ? "" : node.domain());
  if (version != versions_.end()) spec.opset = version->second;
  if (node.input_size() > static_cast<int>(kMostInputTypes)) return;
  bool known = false;
  for (const std::string& input : node.input()) {
    const Value* value = input.empty() ? nullptr : analysis_.scope.find(input);
    spec.input_types.emplace_back(value == nullptr ? "" : element_name(value->element_type()));
    known |= !spec.input_types.back().empty();
  }
  if (!known) spec.input_types.clear();
}

// Whether the tensor's shape is known before the model runs, and follows from what the engine
// knows.
bool Importer::shape_is_settled(const std::string& name) const {
  const Value* value = name.empty() ? nullptr : analysis_.scope.find(name);
  return value != nullptr && value->is_tensor() && !value->stated && has_size(*value);
}

// Whether engines compute the node once, as they load the model: it reads parameters that nobody
// can give in a run, what is computed of them, or no more than the shape of a tensor, which is
// settled. They leave DequantizeLinear to be fused with its reader.
bool Importer::is_computed_at_load(const NodeProto& node) const {
  constexpr std::string_view kEveryRun =
      " Bernoulli DequantizeLinear Dropout Multinomial RandomNormalLike RandomUniformLike ";
  if (!is_default_domain(node.domain()) || holds_word(kEveryRun, node.op_type())) return false;
  const auto has_body = [](const onnx::AttributeProto& a) { return a.has_g() || a.graphs_size(); };
  if (std::ranges::any_of(node.attribute(), has_body)) return false;
  if (node.op_type() == "Shape" && node.input_size() == 1) return shape_is_settled(node.input(0));
  bool reads = false;
  for (const std::string& name : node.input()) {
    if (name.empty()) continue;
    const bool given = parameter_at_.contains(name) && !inputs_.contains(name);
    if (!given && !loaded_.contains(name)) return false;
    reads = true;
  }
  return reads;
}

// Makers before readers, in whatever order the model lists them.
void Importer::find_computed_at_load() {
  at_load_.assign(static_cast<size_t>(graph_.node_size()), false);
  for (const int i : analysis_.order) {
    const NodeProto& node = graph_.node(i);
    if (is_constant_node(node) || !is_computed_at_load(node)) continue;
    at_load_[static_cast<size_t>(i)] = true;
    for (const std::string& output : node.output()) loaded_[output];
  }
}

void Importer::add_nodes() {
  node_at_.assign(static_cast<size_t>(graph_.node_size()), kNoIndex);
  for (int i = 0; i < graph_.node_size(); ++i) {
    const NodeProto& node = graph_.node(i);
    if (is_constant_node(node)) continue;
    const auto at = static_cast<size_t>(i);
    const NodeAnalysis& analysis = analysis_.nodes[at];
    node_at_[at] = static_cast<uint32_t>(result_.spec.nodes.size());
    NodeSpec spec;
    spec.name = model_.node_names[at];
    spec.op = node.op_type();
    describe_operator(node, spec);
    for (const std::string& output : node.output()) {
      output_at_.emplace(output, static_cast<uint32_t>(spec.outputs.size()));
      spec.outputs.push_back(output_bytes(output));
    }
    spec.flops = analysis.work.flops;
    spec.bytes_accessed = analysis.work.bytes;
    spec.launches = analysis.work.launches;
    if (at_load_[at]) {
      spec.flops = 0;
      spec.bytes_accessed = 1;  // as of what only hands on
      spec.fused = true;
    }
    spec.resident_bytes = inner_weights_.of(node).bytes;
    result_.report.flops = saturating_add(result_.report.flops, spec.flops);
    if (!analysis.complete) {
      result_.report.unknown.push_back({spec.name, spec.op, analysis.problem});
    }
    result_.outputs.push_back({{node.output().begin(), node.output().end()}, first_shape(node)});
    result_.spec.nodes.push_back(std::move(spec));
  }
  count(inner_weights_.distinct());
}

void Importer::add_edges(int position) {
  const uint32_t target = node_at_[static_cast<size_t>(position)];
  if (target == kNoIndex) return;
  const NodeProto& node = graph_.node(position);
  // Else it reads when the model is loaded.
  const bool runs = !at_load_[static_cast<size_t>(position)];
  std::set<std::string> seen;
  for (const std::string& name : names_read(node)) {
    if (!seen.insert(name).second) continue;
    const auto parameter = parameter_at_.find(name);
    if (parameter != parameter_at_.end()) {
      if (runs) parameters_[parameter->second].second.readers.push_back(target);
      continue;
    }
    const auto loaded = loaded_.find(name);
    if (runs && loaded != loaded_.end()) loaded->second.push_back(target);
    const auto producer = analysis_.producers.find(name);
    const auto output = output_at_.find(name);
    // An input of the model, or more than the one output that a Constant has.
    if (producer == analysis_.producers.end() || output == output_at_.end()) continue;
    result_.spec.edges.push_back({.source = node_at_[static_cast<size_t>(producer->second)],
                                  .output = output->second,
                                  .target = target});
  }
}

void Importer::attribute_parameters() {
  std::vector<NodeSpec>& nodes = result_.spec.nodes;
  for (const auto& [name, parameter] : parameters_) {
    const auto& readers = parameter.readers;
    if (readers.empty()) continue;
    const bool tie =
        readers.size() > 1 && parameter.weights.bytes >= kLargeShared && !options_.copy_shared;
    const auto hold = [&](uint32_t v) {
      nodes[v].resident_bytes = saturating_add(nodes[v].resident_bytes, parameter.weights.bytes);
    };
    hold(readers[0]);
    for (size_t i = 1; i < readers.size(); ++i) {
      if (tie) {
        together_.emplace_back(readers[0], readers[i]);
      } else {
        hold(readers[i]);
      }
    }
  }
}

// What is computed at load is held like a parameter, in place of those that it is computed from;
// its maker stands for it where a single node reads it, and hands nothing on in a run. What several
// nodes read, or a caller, passes between stages as other tensors do. So does a shape: its node
// stays with the tensor that it is of, which is much larger.
void Importer::hold_loaded() {
  for (const auto& output : graph_.output()) loaded_.erase(output.name());
  for (size_t i = 0; i < at_load_.size(); ++i) {
    if (!at_load_[i] || graph_.node(static_cast<int>(i)).op_type() == "Shape") continue;
    const uint32_t v = node_at_[i];
    NodeSpec& node = result_.spec.nodes[v];
    for (size_t o = 0; o < node.outputs.size(); ++o) {
      const auto loaded = loaded_.find(result_.outputs[v].names[o]);
      if (loaded == loaded_.end() || loaded->second.size() > 1) continue;
      if (!loaded->second.empty()) {
        node.resident_bytes = saturating_add(node.resident_bytes, node.outputs[o]);
        together_.emplace_back(v, loaded->second[0]);
      }
      node.outputs[o] = 0;
    }
  }
}

ImportedGraph Importer::run(const std::string& fallback_name) {
  const std::string& name = graph_.name();
  result_.spec.name = check_name(name, options_.limits).ok() ? name : fallback_name;
  result_.report.producer = model_.proto.producer_name();
  result_.report.ir_version = model_.proto.ir_version();
  for (const auto& import : model_.proto.opset_import()) {
    if (is_default_domain(import.domain())) result_.report.opset = import.version();
  }
  collect_parameters();
  find_computed_at_load();
  add_nodes();
  for (int i = 0; i < graph_.node_size(); ++i) add_edges(i);
  attribute_parameters();
  hold_loaded();
  return std::move(result_);
}

// Gives nodes that have to share a device a key of their own.
void colocate(const NodePairs& pairs, std::vector<NodeSpec>& nodes) {
  DisjointSets together(static_cast<uint32_t>(nodes.size()));
  std::vector<bool> tied(nodes.size(), false);
  for (const auto& [u, v] : pairs) {
    together.merge(u, v);
    tied[u] = tied[v] = true;
  }
  for (uint32_t v = 0; v < nodes.size(); ++v) {
    if (tied[v]) nodes[v].colocate = "together " + std::to_string(together.find(v));
  }
}

// What vanishes takes no time anywhere, a part of another node only where nothing tears it from
// that one, nor that one from what it is a part of itself.
void mark_fused(const Graph& graph, const NodePairs& whole, std::vector<NodeSpec>& nodes) {
  DisjointSets together(graph.node_count());
  for (const auto& [u, v] : whole) together.merge(u, v);
  const std::vector<uint32_t> host = fusion_hosts(graph);
  const auto torn = [&](uint32_t v) { return host[v] != v && !nodes[v].fused; };
  for (const uint32_t v : graph.topological_order()) {
    if (host[v] == v) continue;
    nodes[v].fused |=
        host[v] == kNoIndex || (together.find(v) == together.find(host[v]) && !torn(host[v]));
  }
}

// What shares large parameters and what engines run as one becomes groups. The message of a
// Graph::build that refuses what a model gave it is one about the model.
Result<ImportedGraph> finished(ImportedGraph imported, NodePairs together,
                               const ImportOptions& options) {
  if (imported.spec.nodes.empty()) {
    return Status::bad_input("has no node to place: its graph is empty or has only constants");
  }
  Result<Graph> graph = Graph::build(imported.spec, options.limits);
  if (!graph.ok()) return graph.status();
  const NodePairs whole = pairs_kept_whole(*graph, options.patterns);
  mark_fused(*graph, whole, imported.spec.nodes);
  together.insert(together.end(), whole.begin(), whole.end());
  colocate(together, imported.spec.nodes);
  return imported;
}

// Engines refuse a model that promises what nothing makes.
Status check_outputs(const GraphProto& graph, const Analysis& analysis) {
  std::set<std::string_view> given;
  for (const auto& input : graph.input()) given.insert(input.name());
  for (const auto& tensor : graph.initializer()) given.insert(tensor.name());
  for (const auto& tensor : graph.sparse_initializer()) given.insert(tensor.values().name());
  for (const auto& output : graph.output()) {
    if (given.contains(output.name()) || analysis.producers.contains(output.name())) continue;
    return Status::bad_input("graph.output " + in_quotes(output.name()) + ": nothing makes it");
  }
  return {};
}

Result<ImportedGraph> import_model(OnnxModel model, const std::string& name,
                                   const ImportOptions& options) {
  const auto& all = model.proto.graph().node();
  const auto nodes = static_cast<uint64_t>(
      std::count_if(all.begin(), all.end(), [](const auto& n) { return !is_constant_node(n); }));
  if (nodes > options.limits.max_nodes) {
    return Status::bad_input("has " + std::to_string(nodes) + " nodes, expected at most " +
                             std::to_string(options.limits.max_nodes));
  }
  ImportReport interface;
  describe_interface(model.proto, options.settings.inputs, interface);
  interface.corrected = corrected_shapes(model.proto, options.settings.shapes);
  const auto inlined = prepare_model(model, options.settings);
  if (!inlined.ok()) return inlined.status();
  const Result<Analysis> analysis = analyze(model.proto);
  if (!analysis.ok()) return analysis.status();
  if (Status s = check_outputs(model.proto.graph(), *analysis); !s.ok()) return s;
  if (Status s = check_shapes(*analysis, options.settings.shapes); !s.ok()) return s;
  std::vector<UndecidedIf> undecided = undecided_branches(model, analysis->producers);
  Importer importer(model, *analysis, options);
  ImportedGraph imported = importer.run(name);
  ImportReport& report = imported.report;
  report.opsets = std::move(interface.opsets);
  report.inputs = std::move(interface.inputs);
  report.outputs = std::move(interface.outputs);
  report.symbols = std::move(interface.symbols);
  report.corrected = std::move(interface.corrected);
  report.undecided = std::move(undecided);
  for (const InlinedBranch& branch : *inlined) {
    report.inlined.push_back({branch.node, branch.then_branch ? "then" : "else", branch.nodes});
  }
  return finished(std::move(imported), importer.take_pairs(), options);
}

// QuantizeLinear, DynamicQuantizeMatMul, QLinearConv, MatMulInteger; not DequantizeLinear.
bool rounds(const std::string& op) {
  return op.find("Quantize") != op.npos || op.find("Integer") != op.npos ||
         op.starts_with("QLinear") || op == "QGemm" || op == "QAttention";
}

template <class Nodes>
bool any_rounds(const Nodes& nodes) {
  for (const NodeProto& node : nodes) {
    bool found = rounds(node.op_type());
    for_each_body(node, [&](const GraphProto& body) { found = found || any_rounds(body.node()); });
    if (found) return true;
  }
  return false;
}

}  // namespace

bool have_onnx() {
  return true;
}

Status check_dimensions(const std::string& path, const ModelSettings& settings) {
  Result<OnnxModel> model = read_onnx(path);
  if (!model.ok()) return model.status();
  if (!settings.inputs.empty()) {
    const auto inlined = prepare_nodes(*model, settings);
    if (!inlined.ok()) return inlined.status().at(path);
  }
  const Status fits = set_dimensions(model->proto, settings.dims);
  return fits.ok() ? fits : fits.at(path);
}

bool rounds_to_steps(const std::string& path) {
  const Result<OnnxModel> model = read_onnx(path);
  if (!model.ok()) return false;
  const auto& functions = model->proto.functions();
  return any_rounds(model->proto.graph().node()) ||
         std::any_of(functions.begin(), functions.end(),
                     [](const auto& function) { return any_rounds(function.node()); });
}

Result<ImportedGraph> import_onnx(std::span<const uint8_t> bytes, const std::string& name,
                                  const ImportOptions& options) {
  Result<OnnxModel> model = parse_onnx(bytes, {.max_file_bytes = options.max_file_bytes});
  if (!model.ok()) return model.status();
  return import_model(*std::move(model), name, options);
}

Result<ImportedGraph> import_onnx(const std::string& path, const ImportOptions& options) {
  Result<OnnxModel> model = read_onnx(path, {.max_file_bytes = options.max_file_bytes});
  if (!model.ok()) return model.status();
  const std::string name = std::filesystem::path(path).stem().string();
  return import_model(*std::move(model), name, options).at(path);
}

}  // namespace placeto
