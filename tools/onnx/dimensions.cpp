#include "tools/onnx/dimensions.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "runtime/graph/text.h"
#include "tools/onnx/bodies.h"
#include "tools/onnx/graph_order.h"
#include "tools/onnx/model.h"

namespace placeto {
namespace {

using Dimension = onnx::TensorShapeProto::Dimension;

std::string axis_name(const std::string& tensor, int axis) {
  return tensor + "[" + std::to_string(axis) + "]";
}

constexpr size_t kShown = 8;  // names, in a message

class Setter {
 public:
  explicit Setter(std::span<const DimSetting> settings)
      : settings_(settings), used_(settings.size()) {
    for (const DimSetting& setting : settings) by_name_[setting.name] = &setting;
  }

  // What an axis of an input says about its symbol: the same in all other places.
  void bind(const onnx::ValueInfoProto& input) {
    const auto& shape = input.type().tensor_type().shape();
    for (int a = 0; a < shape.dim_size(); ++a) {
      if (shape.dim(a).has_dim_value() || shape.dim(a).dim_param().empty()) continue;
      const DimSetting* setting = named(axis_name(input.name(), a));
      if (setting != nullptr) bound_.try_emplace(shape.dim(a).dim_param(), setting);
    }
  }
  // For symbols of inputs that nothing else sets.
  void bind_rest(const onnx::ValueInfoProto& input) {
    const DimSetting* setting = named("*");
    if (setting == nullptr) return;
    for (const auto& dim : input.type().tensor_type().shape().dim()) {
      if (dim.has_dim_value() || dim.dim_param().empty()) continue;
      bound_.try_emplace(dim.dim_param(), setting);
    }
  }

  // Sets the unknown dimensions of a tensor as far as there are numbers for them. Those of an input
  // that nothing reads may stay unknown.
  void apply(onnx::ValueInfoProto& tensor, bool is_input, bool is_read) {
    if (!tensor.type().has_tensor_type() || !tensor.type().tensor_type().has_shape()) return;
    auto* shape = tensor.mutable_type()->mutable_tensor_type()->mutable_shape();
    for (int a = 0; a < shape->dim_size(); ++a) {
      Dimension& dim = *shape->mutable_dim(a);
      if (dim.has_dim_value() && dim.dim_value() >= 0) continue;
      const std::string axis = is_input ? axis_name(tensor.name(), a) : "";
      if (const DimSetting* setting = find(axis, dim.dim_param(), is_input)) {
        dim.set_dim_value(static_cast<int64_t>(setting->value));
      } else if (is_input && is_read) {
        unset_[dim.dim_param().empty() ? axis : dim.dim_param()].push_back(axis);
      }
    }
  }

  Status result() const {
    for (size_t i = 0; i < used_.size(); ++i) {
      if (used_[i] || settings_[i].name == "*" || settings_[i].may_be_absent) continue;
      return unused(settings_[i]);
    }
    return unset_.empty() ? Status() : unset();
  }
  void remember(const std::string& name) { known_.insert(name); }

 private:
  // The last one of that name, or null.
  const DimSetting* named(const std::string& name) const {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : found->second;
  }
  const DimSetting* find(const std::string& axis, const std::string& symbol, bool is_input) {
    const DimSetting* found = is_input ? named(axis) : nullptr;
    if (found == nullptr && !symbol.empty()) found = named(symbol);
    if (found == nullptr && is_input) found = named("*");
    const auto bound = bound_.find(symbol);
    if ((found == nullptr || found->name == "*") && bound != bound_.end()) found = bound->second;
    if (found != nullptr) used_[static_cast<size_t>(found - settings_.data())] = true;
    return found;
  }

  Status unset() const {
    std::string names, options;
    size_t shown = 0;
    for (const auto& [name, axes] : unset_) {
      if (shown++ == kShown) {
        names += ", ...";
        break;
      }
      names += (names.empty() ? "" : ", ") + in_quotes(name);
      if (axes.size() > 1 || axes[0] != name) {
        names += " (" + in_quotes(axes[0]) + (axes.size() > 1 ? " and others" : "") + ")";
      }
      options += std::string(" ") + kDimWords + " " + in_quotes(name + "=1");
    }
    return Status::invalid(
        std::to_string(unset_.size()) + (unset_.size() == 1 ? " dimension" : " dimensions") +
        " of its inputs without a value: " + names + "; add, for instance," + options);
  }

  Status unused(const DimSetting& setting) const {
    const std::string what = std::string(kDimWords) + " " + in_quotes(setting.name);
    const auto alike = std::count_if(settings_.begin(), settings_.end(),
                                     [&](const DimSetting& s) { return s.name == setting.name; });
    if (alike > 1 || known_.contains(setting.name)) {
      return Status::invalid(what + ": another one sets the same, expected one of them");
    }
    std::vector<std::string> names(known_.begin(), known_.end());
    std::sort(names.begin(), names.end());
    std::string list;
    for (size_t i = 0; i < std::min(names.size(), kShown); ++i) {
      list += (i == 0 ? "" : ", ") + in_quotes(names[i]);
    }
    if (names.size() > kShown) list += ", ...";
    return Status::invalid(
        what + ": the model has no such free dimension" +
        (list.empty() ? "; all its inputs have fixed shapes" : ", expected one of " + list));
  }

  std::span<const DimSetting> settings_;
  std::map<std::string_view, const DimSetting*> by_name_;
  std::vector<bool> used_;
  std::map<std::string, std::vector<std::string>> unset_;
  std::set<std::string> known_;
  std::map<std::string, const DimSetting*> bound_;  // by symbol
};

// Names that nodes or outputs of the graph read.
std::set<std::string> read_names(const onnx::GraphProto& graph) {
  std::set<std::string> read;
  for (const auto& node : graph.node()) {
    for (std::string& name : names_read(node)) read.insert(std::move(name));
  }
  for (const auto& output : graph.output()) read.insert(output.name());
  return read;
}

// Symbols stand for the same number everywhere, in the bodies of control flow too.
void apply_inside(onnx::GraphProto& graph, Setter& setter) {
  for (auto& node : *graph.mutable_node()) {
    for_each_body(node, [&](onnx::GraphProto& body) {
      for (auto& tensor : *body.mutable_input()) setter.apply(tensor, false, false);
      for (auto& tensor : *body.mutable_output()) setter.apply(tensor, false, false);
      for (auto& tensor : *body.mutable_value_info()) setter.apply(tensor, false, false);
      apply_inside(body, setter);
    });
  }
}

// Names that a setting may have, for the message that says there is no other.
void remember_free(const onnx::GraphProto& graph, Setter& setter) {
  for (const auto& input : graph.input()) {
    const auto& shape = input.type().tensor_type().shape();
    for (int a = 0; a < shape.dim_size(); ++a) {
      const Dimension& dim = shape.dim(a);
      if (dim.has_dim_value() && dim.dim_value() >= 0) continue;
      setter.remember(dim.dim_param().empty() ? axis_name(input.name(), a) : dim.dim_param());
    }
  }
}

}  // namespace

Status set_dimensions(onnx::ModelProto& model, std::span<const DimSetting> settings) {
  Setter setter(settings);
  onnx::GraphProto& graph = *model.mutable_graph();
  std::set<std::string> initialized;  // have a shape of their own
  for (const auto& tensor : graph.initializer()) initialized.insert(tensor.name());
  remember_free(graph, setter);
  const std::set<std::string> read = read_names(graph);
  for (const auto& input : graph.input()) setter.bind(input);
  for (const auto& input : graph.input()) setter.bind_rest(input);
  for (auto& input : *graph.mutable_input()) {
    if (!initialized.contains(input.name())) {
      setter.apply(input, true, read.contains(input.name()));
    }
  }
  for (auto& output : *graph.mutable_output()) setter.apply(output, false, false);
  for (auto& tensor : *graph.mutable_value_info()) setter.apply(tensor, false, false);
  apply_inside(graph, setter);
  return setter.result();
}

}  // namespace placeto
