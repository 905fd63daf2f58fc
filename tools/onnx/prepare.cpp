#include "tools/onnx/prepare.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "runtime/graph/text.h"
#include "tools/io/element_names.h"
#include "tools/onnx/dimensions.h"

namespace placeto {
namespace {

using onnx::GraphProto;
using onnx::TensorProto;

std::string list_of_inputs(const GraphProto& graph) {
  constexpr int kShown = 12;
  std::string list;
  for (int i = 0; i < std::min(graph.input_size(), kShown); ++i) {
    list += (i == 0 ? "" : ", ") + in_quotes(graph.input(i).name());
  }
  return graph.input_size() > kShown ? list + ", ..." : list;
}

// Whether an element of that type can be that number, if it is a type of whole numbers.
bool holds(int32_t type, double value) {
  double least = 0, end = 0;  // which is not held any more
  switch (type) {
    case TensorProto::BOOL:
      end = 2;
      break;
    case TensorProto::UINT8:
      end = 0x1p8;
      break;
    case TensorProto::UINT16:
      end = 0x1p16;
      break;
    case TensorProto::UINT32:
      end = 0x1p32;
      break;
    case TensorProto::INT8:
      least = -(end = 0x1p7);
      break;
    case TensorProto::INT16:
      least = -(end = 0x1p15);
      break;
    case TensorProto::INT32:
      least = -(end = 0x1p31);
      break;
    default:
      least = -(end = 0x1p63);
  }
  return value >= least && value < end && value == std::trunc(value);
}

Status set_input(GraphProto& graph, const InputSetting& setting) {
  const auto problem = [&](const std::string& what) {
    return Status::invalid(std::string(kValueWords) + " " + in_quotes(setting.name) + ": " + what);
  };
  auto& inputs = *graph.mutable_input();
  const auto input = std::find_if(inputs.begin(), inputs.end(),
                                  [&](const auto& i) { return i.name() == setting.name; });
  if (input == inputs.end()) {
    return problem("the model has no such input, expected one of " + list_of_inputs(graph));
  }
  const auto& type = input->type().tensor_type();
  const bool half = type.elem_type() == TensorProto::FLOAT16;  // which to_tensor widens
  if (!input->type().has_tensor_type() || !is_constant_type(type.elem_type()) || half) {
    return problem("its elements are of a type that cannot be set");
  }
  Constant content;
  content.type = type.elem_type();
  if (type.shape().dim_size() > static_cast<int>(kMaxRank)) return problem("has too many axes");
  for (const auto& dim : type.shape().dim()) {
    const bool fixed = dim.has_dim_value() && dim.dim_value() >= 0;
    const bool single = type.shape().dim_size() == 1;
    if (!fixed && !single) return problem("its shape is not fixed, expected one that is");
    content.dims.push_back(fixed ? dim.dim_value() : static_cast<int64_t>(setting.values.size()));
  }
  const auto count = element_count(content.dims);
  if (!count || *count > kMaxConstantElements) {
    return problem("it has too many elements to be set, expected at most " +
                   std::to_string(kMaxConstantElements));
  }
  if (setting.values.size() != 1 && setting.values.size() != *count) {
    return problem("it has " + std::to_string(*count) + " elements, but " +
                   std::to_string(setting.values.size()) + " values are given");
  }
  for (size_t i = 0; i < *count; ++i) {
    const double value = setting.values[setting.values.size() == 1 ? 0 : i];
    if (content.whole()) {
      if (!holds(content.type, value)) {
        return problem(number_text(value) + " is no " + std::string(element_name(content.type)));
      }
      content.ints.push_back(static_cast<int64_t>(value));
    } else {
      content.reals.push_back(value);
    }
  }
  TensorProto tensor = to_tensor(content);
  tensor.set_name(setting.name);
  inputs.erase(input);
  auto& initializers = *graph.mutable_initializer();
  initializers.erase(std::remove_if(initializers.begin(), initializers.end(),
                                    [&](const auto& t) { return t.name() == setting.name; }),
                     initializers.end());
  *graph.add_initializer() = std::move(tensor);
  return {};
}

bool has_branches(const GraphProto& graph) {
  return std::any_of(graph.node().begin(), graph.node().end(), [](const auto& node) {
    return node.op_type() == "If" && is_default_domain(node.domain());
  });
}

// "1x3x?", as shape settings have it.
std::string dims_text(const onnx::TensorShapeProto& shape) {
  std::string text;
  for (const auto& dim : shape.dim()) {
    const bool fixed = dim.has_dim_value() && dim.dim_value() >= 0;
    text += (text.empty() ? "" : "x") + (fixed ? std::to_string(dim.dim_value()) : "?");
  }
  return text.empty() ? "a single number" : text;
}

Status shape_problem(const ShapeSetting& setting, const std::string& what) {
  return Status::invalid(std::string(kShapeWords) + " " + in_quotes(setting.tensor) + ": " + what);
}

std::string dims_text(const ShapeSetting& setting) {
  onnx::TensorShapeProto shape;
  for (const int64_t dim : setting.dims) shape.add_dim()->set_dim_value(dim);
  return dims_text(shape);
}

// Whether a type leaves open what is set of it, or has the same. No type leaves all open.
bool fits(const onnx::TypeProto& type, const ShapeSetting& setting) {
  if (!type.has_tensor_type() || !type.tensor_type().has_shape()) return true;
  const onnx::TensorShapeProto& shape = type.tensor_type().shape();
  if (static_cast<size_t>(shape.dim_size()) != setting.dims.size()) return false;
  for (size_t a = 0; a < setting.dims.size(); ++a) {
    const auto& dim = shape.dim(static_cast<int>(a));
    const bool fixed = dim.has_dim_value() && dim.dim_value() >= 0;
    if (fixed && dim.dim_value() != setting.dims[a]) return false;
  }
  return true;
}

Status check_tensor(const onnx::TypeProto& type, const ShapeSetting& setting) {
  if (type.value_case() == onnx::TypeProto::VALUE_NOT_SET || type.has_tensor_type()) return {};
  return shape_problem(setting, "it is no tensor in the model");
}

enum class Lengths { kDeclared, kFree };

// Says the shape where analysis looks for what a model says of a tensor.
Status declare_shape(GraphProto& graph, const ShapeSetting& setting, Lengths lengths,
                     const std::set<std::string>& produced) {
  if (!produced.contains(setting.tensor)) {
    return shape_problem(setting, "no node of the model produces such a tensor");
  }
  auto& declared = *graph.mutable_value_info();
  const auto known = std::find_if(declared.begin(), declared.end(),
                                  [&](const auto& v) { return v.name() == setting.tensor; });
  int32_t type = setting.element_type;
  for (const auto* stated : {&graph.output(), &graph.value_info()}) {
    for (const auto& tensor : *stated) {
      if (tensor.name() != setting.tensor) continue;
      if (Status s = check_tensor(tensor.type(), setting); !s.ok()) return s;
      if (type == 0) type = tensor.type().tensor_type().elem_type();
    }
  }
  onnx::ValueInfoProto* tensor = known == declared.end() ? graph.add_value_info() : &*known;
  tensor->set_name(setting.tensor);
  auto* typed = tensor->mutable_type()->mutable_tensor_type();
  typed->set_elem_type(type != 0 ? type : int32_t{TensorProto::FLOAT});
  typed->clear_shape();
  typed->mutable_shape();
  for (const int64_t length : setting.dims) {
    auto* const dim = typed->mutable_shape()->add_dim();
    if (lengths == Lengths::kDeclared) dim->set_dim_value(length);
  }
  return {};
}

Status declare_shapes(GraphProto& graph, std::span<const ShapeSetting> settings, Lengths lengths) {
  if (settings.empty()) return {};
  std::set<std::string> produced;
  for (const auto& node : graph.node()) produced.insert(node.output().begin(), node.output().end());
  for (const ShapeSetting& setting : settings) {
    if (Status s = declare_shape(graph, setting, lengths, produced); !s.ok()) return s;
  }
  return {};
}

}  // namespace

Result<std::vector<InlinedBranch>> prepare_nodes(OnnxModel& model, const ModelSettings& settings) {
  GraphProto& graph = *model.proto.mutable_graph();
  std::set<std::string_view> names;
  for (const InputSetting& setting : settings.inputs) {
    if (!names.insert(setting.name).second) {
      return Status::invalid(std::string(kValueWords) + " " + in_quotes(setting.name) +
                             ": another one sets the same, expected one of them");
    }
    if (Status s = set_input(graph, setting); !s.ok()) return s;
  }
  if (!has_branches(graph)) return std::vector<InlinedBranch>();
  const Result<Analysis> analysis = analyze(model.proto, Defaults::kReplaceable);
  if (!analysis.ok()) return analysis.status();
  return inline_branches(model, analysis->decided);
}

Result<std::vector<InlinedBranch>> prepare_model(OnnxModel& model, const ModelSettings& settings) {
  auto inlined = prepare_nodes(model, settings);
  if (!inlined.ok()) return inlined;
  if (Status s = set_dimensions(model.proto, settings.dims); !s.ok()) return s;
  GraphProto& graph = *model.proto.mutable_graph();
  if (Status s = declare_shapes(graph, settings.shapes, Lengths::kDeclared); !s.ok()) return s;
  return inlined;
}

Status declare_axes(GraphProto& graph, std::span<const ShapeSetting> settings) {
  return declare_shapes(graph, settings, Lengths::kFree);
}

std::vector<std::string> corrected_shapes(const onnx::ModelProto& model,
                                          const std::vector<ShapeSetting>& settings) {
  std::vector<std::string> corrected;
  for (const ShapeSetting& setting : settings) {
    for (const auto* stated : {&model.graph().output(), &model.graph().value_info()}) {
      for (const auto& tensor : *stated) {
        if (tensor.name() != setting.tensor || fits(tensor.type(), setting)) continue;
        corrected.push_back(std::string(kShapeWords) + " " + in_quotes(setting.tensor) + ": " +
                            dims_text(setting) + " instead of " +
                            dims_text(tensor.type().tensor_type().shape()) +
                            ", as the model says it");
      }
    }
  }
  return corrected;
}

Status check_shapes(const Analysis& analysis, const std::vector<ShapeSetting>& settings) {
  for (const ShapeSetting& setting : settings) {
    const Value* value = analysis.scope.find(setting.tensor);
    if (value == nullptr) continue;
    if (Status s = check_tensor(value->type, setting); !s.ok()) return s;
    const int32_t elements = value->type.tensor_type().elem_type();
    if (setting.element_type != 0 && elements != 0 && setting.element_type != elements) {
      return shape_problem(setting,
                           std::string(element_name(setting.element_type)) + " contradicts " +
                               std::string(element_name(elements)) +
                               ", which follows from the operator; expected no type, or that one");
    }
    if (fits(value->type, setting)) continue;
    return shape_problem(setting, dims_text(setting) + " contradicts " +
                                      dims_text(value->type.tensor_type().shape()) +
                                      ", which follows from what the operator reads; expected an "
                                      "inner tensor whose shape is open");
  }
  return {};
}

}  // namespace placeto
