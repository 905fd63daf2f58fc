#include "tools/export/onnx_export.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <iterator>
#include <limits>
#include <map>
#include <set>

#include "runtime/base/message.h"
#include "runtime/base/no_index.h"
#include "runtime/format/file.h"
#include "runtime/graph/text.h"
#include "tools/export/annotate.h"
#include "tools/export/external_data.h"
#include "tools/export/manifest.h"
#include "tools/export/name_rules.h"
#include "tools/export/new_directory.h"
#include "tools/export/split.h"
#include "tools/export/value_types.h"
#include "tools/onnx/bodies.h"
#include "tools/onnx/dimensions.h"
#include "tools/onnx/graph_order.h"
#include "tools/onnx/model.h"
#include "tools/onnx/prepare.h"

namespace placeto {
namespace {

namespace fs = std::filesystem;

std::string folder_of(const std::string& path) {
  const fs::path parent = fs::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

// As the manifest says it: "" of what came through a descriptor, a pipe for instance.
std::string name_of_model(const fs::path& path) {
  return path.parent_path() == "/proc/self/fd" ? "" : path.filename().string();
}

Result<std::string> bytes_of_model(const std::string& path, const onnx::ModelProto& model) {
  if (model.ByteSizeLong() > static_cast<size_t>(std::numeric_limits<int>::max())) {
    return Status::invalid(path +
                           ": would have more than 2 GiB, the limit of an ONNX file: keep "
                           "the model's weights in external data files");
  }
  std::string bytes;
  if (!model.SerializeToString(&bytes)) return Status::internal(path + ": cannot be serialized");
  return bytes;
}

// As import calls the graph.
std::string name_of_graph(const onnx::GraphProto& graph, const std::string& path) {
  return check_name(graph.name(), {}).ok() ? graph.name() : fs::path(path).stem().string();
}

Status write_model(const std::string& path, const onnx::ModelProto& model) {
  const Result<std::string> bytes = bytes_of_model(path, model);
  return bytes.ok() ? write_file_atomically(path, *bytes) : bytes.status();
}

// As the whole model's nodes are called: those without a name of their own go by their number,
// which is another in a stage.
void name_nodes(const StagePlan& stage, const std::vector<std::string>& names,
                onnx::GraphProto& graph) {
  for (size_t k = 0; k < stage.nodes.size(); ++k) {
    graph.mutable_node(static_cast<int>(k))->set_name(names[static_cast<size_t>(stage.nodes[k])]);
  }
}

// Nodes of bodies of control flow, with the device of the node that has them.
void add_body_names(const onnx::NodeProto& node, uint32_t device, std::vector<NamedNode>& names) {
  for_each_body(node, [&](const onnx::GraphProto& body) {
    for (const auto& inner : body.node()) {
      if (!is_constant_node(inner)) names.push_back({inner.name(), device});
      add_body_names(inner, device, names);
    }
  });
}

// Device of each node of the model; 0 for Constants, which have none.
Result<std::vector<uint32_t>> devices_of_nodes(const OnnxModel& model, const Placed& placed) {
  std::map<std::string_view, uint32_t> device;
  for (const PlacedNode& node : placed.nodes) device.emplace(node.name, node.device);
  const onnx::GraphProto& graph = model.proto.graph();
  std::vector<uint32_t> devices(model.node_names.size());
  size_t found = 0;
  for (size_t i = 0; i < devices.size(); ++i) {
    const auto entry = device.find(model.node_names[i]);
    if (entry != device.end()) {
      devices[i] = entry->second;
      ++found;
    } else if (!is_constant_node(graph.node(static_cast<int>(i)))) {
      return Status::bad_input("node " + placeto::in_quotes(model.node_names[i]) +
                               " of the model is not in the graph that was placed; expected the "
                               "graph that 'placeto import' makes of this model");
    }
  }
  if (found == placed.nodes.size()) return devices;
  const std::map<std::string_view, uint32_t> names = [&] {
    std::map<std::string_view, uint32_t> all;
    for (const std::string& name : model.node_names) all.emplace(name, 0);
    return all;
  }();
  for (const PlacedNode& node : placed.nodes) {
    if (names.contains(node.name)) continue;
    return Status::bad_input("node " + placeto::in_quotes(node.name) +
                             " of the graph that was placed is not in the model");
  }
  return Status::bad_input("the graph that was placed has two nodes of one name");
}

// Per node of the main graph; empty if the placement has none.
std::vector<uint32_t> stages_of_nodes(const OnnxModel& model, const Placed& placed) {
  std::map<std::string_view, uint32_t> stage;
  for (const PlacedNode& node : placed.nodes) {
    if (node.stage == kNoIndex) return {};
    stage.emplace(node.name, node.stage);
  }
  std::vector<uint32_t> stages(model.node_names.size(), kNoIndex);
  for (size_t i = 0; i < stages.size(); ++i) {
    const auto entry = stage.find(model.node_names[i]);
    if (entry != stage.end()) stages[i] = entry->second;
  }
  return stages;
}

// The same numbers, each by the name of an axis, or by its place if it has none: whoever runs the
// stages looks for these, and the engine knows no others.
std::vector<DimSetting> named_axes(const onnx::GraphProto& graph, std::vector<DimSetting> dims) {
  for (DimSetting& dim : dims) dim.may_be_absent = true;
  onnx::ModelProto settled;
  *settled.mutable_graph()->mutable_input() = graph.input();
  for (const auto& weight : graph.initializer()) {  // which have shapes of their own
    settled.mutable_graph()->add_initializer()->set_name(weight.name());
  }
  if (!set_dimensions(settled, dims).ok()) return dims;
  std::vector<DimSetting> named;
  std::map<std::string, uint64_t> numbers;  // the first of each name
  const auto name = [&](const std::string& dim, uint64_t value) {
    named.push_back({dim, value});
    numbers.try_emplace(dim, value);
  };
  for (int i = 0; i < graph.input_size(); ++i) {
    const auto& before = graph.input(i).type().tensor_type().shape();
    const auto& after = settled.graph().input(i).type().tensor_type().shape();
    for (int axis = 0; axis < before.dim_size(); ++axis) {
      const bool was_free = !before.dim(axis).has_dim_value() || before.dim(axis).dim_value() < 0;
      if (!was_free || !after.dim(axis).has_dim_value() || after.dim(axis).dim_value() < 0)
        continue;
      const auto value = static_cast<uint64_t>(after.dim(axis).dim_value());
      const std::string& symbol = before.dim(axis).dim_param();
      const auto same = numbers.find(symbol);
      if (same != numbers.end() && same->second == value) continue;
      const std::string place = graph.input(i).name() + "[" + std::to_string(axis) + "]";
      name(symbol.empty() || same != numbers.end() ? place : symbol, value);
    }
  }
  return named;
}

// The numbers that were placed with, but those that the caller gives anew.
std::vector<std::string> dims_of(const OnnxModel& model, const std::vector<std::string>& recorded,
                                 std::span<const DimSetting> given) {
  std::vector<DimSetting> before;
  for (const std::string& text : recorded) {
    if (const auto dim = parse_dim_setting(text); dim.ok()) before.push_back(*dim);
  }
  std::map<std::string_view, const onnx::TensorShapeProto*> shapes;
  for (const auto& input : model.proto.graph().input()) {
    shapes.emplace(input.name(), &input.type().tensor_type().shape());
  }
  const auto name_of_axis = [&](const std::string& place) -> std::optional<std::string> {
    const auto at = parse_place(place);
    const auto shape = at ? shapes.find(at->input) : shapes.end();
    if (shape == shapes.end()) return std::nullopt;
    if (at->axis >= static_cast<size_t>(shape->second->dim_size())) return std::nullopt;
    return shape->second->dim(static_cast<int>(at->axis)).dim_param();
  };
  std::vector<std::string> texts;
  const auto& graph = model.proto.graph();
  for (const DimSetting& dim : named_axes(graph, merged_dims(before, given, name_of_axis))) {
    texts.push_back(dim_text(dim));
  }
  return texts;
}

// "false", "2", "1,2,3": as an input setting has it.
std::string value_text(const InputSetting& setting, bool is_bool) {
  std::string text;
  for (const double value : setting.values) {
    if (!text.empty()) text += ',';
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    text += is_bool ? std::string(value != 0 ? "true" : "false") : std::string(digits.data(), end);
  }
  return text;
}

// Of the model as it was read, whose inputs they still are.
std::vector<std::pair<std::string, std::string>> set_of(const onnx::GraphProto& graph,
                                                        std::span<const InputSetting> settings) {
  std::vector<std::pair<std::string, std::string>> set;
  for (const InputSetting& setting : settings) {
    const auto input = std::ranges::find(graph.input(), setting.name,
                                         [](const auto& info) { return info.name(); });
    const bool is_bool = input != graph.input().end() &&
                         input->type().tensor_type().elem_type() == onnx::TensorProto::BOOL;
    set.emplace_back(setting.name, value_text(setting, is_bool));
  }
  return set;
}

}  // namespace

Result<Placed> placed_model(const std::string& path, const PlacementSpec& placement,
                            const ModelSettings& settings, const std::string& file) {
  Result<OnnxModel> model = read_onnx(path);
  if (!model.ok()) return model.status();
  const auto inlined = prepare_nodes(*model, settings);
  if (!inlined.ok()) return inlined.status().at(path);
  Placed placed{placement.graph,
                placement.topology,
                placement.devices,
                {},
                placement.order,
                {},
                dims_of(*model, placement.dims, settings.dims)};
  for (size_t i = 0; i < model->node_names.size(); ++i) {
    const onnx::NodeProto& node = model->proto.graph().node(static_cast<int>(i));
    if (is_constant_node(node)) continue;
    const size_t v = placed.nodes.size();
    const uint32_t device = v < placement.assignment.size() ? placement.assignment[v] : 0;
    const uint32_t stage = v < placement.stages.size() ? placement.stages[v] : kNoIndex;
    placed.nodes.push_back({model->node_names[i],
                            node.op_type(),
                            device,
                            0,
                            stage,
                            {node.output().begin(), node.output().end()}});
  }
  const Status fits = check_entries(placement, placed.nodes.size(), path);
  if (fits.ok()) return placed;
  std::string why = of_other_graph(placement, name_of_graph(model->proto.graph(), path));
  if (why.empty()) {
    why = fits.message() + "; it needs every " + kValueWords + " that it was placed with";
  }
  return Status(fits.code(), std::move(why)).at(file);
}

std::vector<std::string> external_files(const std::string& path) {
  const Result<OnnxModel> model = read_onnx(path);
  if (!model.ok()) return {};
  std::set<fs::path> folders{fs::path(path).parent_path()};
  std::error_code error;
  const fs::path file = fs::canonical(path, error);
  if (!file.empty()) folders.insert(file.parent_path());
  std::vector<std::string> files;
  for (const std::string& location : external_locations(model->proto)) {
    for (const fs::path& folder : folders) files.push_back((folder / location).string());
  }
  return files;
}

Result<std::vector<ModelNode>> model_nodes(const std::string& path) {
  Result<OnnxModel> model = read_onnx(path);
  if (!model.ok()) return model.status();
  std::vector<ModelNode> nodes;
  for (size_t i = 0; i < model->node_names.size(); ++i) {
    const onnx::NodeProto& node = model->proto.graph().node(static_cast<int>(i));
    if (is_constant_node(node)) continue;
    nodes.push_back({std::move(model->node_names[i]),
                     node.op_type(),
                     {node.output().begin(), node.output().end()}});
  }
  return nodes;
}

struct PlacedModel::State {
  std::string path;
  Placed placed;
  OnnxModel model;
  std::vector<uint32_t> device;  // per node of the main graph
  std::vector<uint32_t> stage;   // the same, as recorded; empty: none
  std::vector<ShapeSetting> shapes;

  uint32_t device_count() const { return static_cast<uint32_t>(placed.devices.size()); }
};

PlacedModel::PlacedModel(std::unique_ptr<State> state) : state_(std::move(state)) {}
PlacedModel::PlacedModel(PlacedModel&&) noexcept = default;
PlacedModel& PlacedModel::operator=(PlacedModel&&) noexcept = default;
PlacedModel::~PlacedModel() = default;

Result<PlacedModel> PlacedModel::read(const std::string& path, const Placed& placed,
                                      const ModelSettings& settings) {
  OnnxReadOptions whole;
  whole.with_weights = true;
  Result<OnnxModel> model = read_onnx(path, whole);
  if (!model.ok()) return model.status();
  auto set = set_of(model->proto.graph(), settings.inputs);
  const auto inlined = prepare_nodes(*model, settings);
  if (!inlined.ok()) return inlined.status().at(path);
  if (Status s = sort_nodes(*model); !s.ok()) return s.at(path);
  Result<std::vector<uint32_t>> device = devices_of_nodes(*model, placed);
  if (!device.ok()) return device.status().at(path);
  std::vector<uint32_t> stage = stages_of_nodes(*model, placed);
  auto state = std::make_unique<State>(State{path, placed, std::move(*model), std::move(*device),
                                             std::move(stage), settings.shapes});
  std::ranges::move(set, std::back_inserter(state->placed.set));
  return PlacedModel(std::move(state));
}

const Placed& PlacedModel::placed() const {
  return state_->placed;
}

Result<AnnotatedModel> PlacedModel::annotated(const std::string& out,
                                              std::span<const std::string> engine) {
  std::error_code error;
  if (has_external_data(state_->model.proto) && out == "-") {
    return Status::invalid(
        state_->path +
        ": has weights in files beside it, so its annotated copy must be written "
        "into the same folder, and not to standard output");
  }
  if (has_external_data(state_->model.proto) &&
      !fs::equivalent(folder_of(out), folder_of(state_->path), error)) {
    return Status::invalid(out + ": " + state_->path +
                           " has weights in files beside it, so its annotated copy must be written "
                           "into the same folder");
  }
  onnx::ModelProto& model = state_->model.proto;  // no copy: it has the weights
  if (Status s = annotate(model, state_->device); !s.ok()) return s.at(state_->path);
  Result<std::string> bytes = bytes_of_model(out, model);
  if (!bytes.ok()) return bytes.status();
  return AnnotatedModel{*std::move(bytes), annotation_rules(engine)};
}

Result<std::string> PlacedModel::name_rules(std::span<const std::string> engine) const {
  const onnx::GraphProto& graph = state_->model.proto.graph();
  std::vector<NamedNode> names;
  for (int i = 0; i < graph.node_size(); ++i) {
    if (is_constant_node(graph.node(i))) continue;
    const uint32_t device = state_->device[static_cast<size_t>(i)];
    names.push_back({graph.node(i).name(), device});
    add_body_names(graph.node(i), device, names);
  }
  return placeto::name_rules(names, engine);
}

Result<SplitSummary> PlacedModel::write_stages(const std::string& directory,
                                               std::optional<StageRule> rule,
                                               const std::atomic<bool>* interrupted) const {
  const onnx::ModelProto& model = state_->model.proto;
  const Result<ValueTypes> types = infer_types(model, state_->shapes);
  if (!types.ok()) return types.status().at(state_->path);
  StageWish wish(rule.value_or(StageRule::kFewest));
  if (!rule) {
    wish.stage_of = state_->stage;
    wish.order = state_->placed.order;
  }
  Result<SplitPlan> plan = plan_split(model, *types, state_->device, state_->device_count(), wish);
  if (!plan.ok()) return plan.status().at(state_->path);
  Result<NewDirectory> target = NewDirectory::create(directory);
  if (!target.ok()) return target.status();
  ExternalFiles weights(state_->path, interrupted);
  SplitSummary summary;
  summary.unused_nodes = plan->unused_nodes;
  const uint64_t whole_bytes = model.ByteSizeLong();
  uint64_t stage_bytes = 0;
  for (uint32_t s = 0; s < plan->stages.size(); ++s) {
    const std::string file = stage_file(s);
    onnx::ModelProto stage = stage_model(model, *plan, s);
    name_nodes(plan->stages[s], state_->model.node_names, *stage.mutable_graph());
    stage_bytes += stage.ByteSizeLong();
    if (stage_bytes / ExternalFiles::kMostCopies > whole_bytes) {
      return Status::bad_input(join({"the stages hold more than ", ExternalFiles::kMostCopies,
                                     " times what the model does (", bytes_text(whole_bytes),
                                     "), expected fewer stages that share weights"}))
          .at(state_->path);
    }
    Status done = weights.gather(stage, target->file(file + ".data"), file + ".data");
    // What cannot be read or written is named already; the rest is wrong with the model.
    if (!done.ok() && done.code() != StatusCode::kIo) return done.at(state_->path);
    if (done.ok()) done = write_model(target->file(file), stage);
    if (!done.ok()) return target->told(done);
    if (interrupted != nullptr && *interrupted) return Status::stopped();
    const StagePlan& part = plan->stages[s];
    summary.stages.push_back({file, state_->placed.devices[part.device], part.nodes.size(),
                              part.inputs.size(), part.outputs.size()});
  }
  const std::string manifest =
      manifest_json(name_of_model(state_->path), model, state_->placed, *plan);
  if (Status s = write_file_atomically(target->file("manifest.json"), manifest); !s.ok()) {
    return target->told(s);
  }
  if (Status s = target->commit(); !s.ok()) return s;
  return summary;
}

}  // namespace placeto
