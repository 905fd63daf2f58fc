#include "tools/onnx/model.h"

#include <limits>
#include <set>

#include "runtime/base/mapped_file.h"
#include "runtime/base/message.h"
#include "runtime/graph/text.h"
#include "tools/onnx/value.h"

namespace placeto {
namespace {

Status not_a_message() {
  return Status::bad_input("is damaged: its fields do not form an ONNX model (a protobuf message)");
}

Status parse(std::span<const uint8_t> bytes, onnx::ModelProto& proto) {
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max())) {
    return Status::bad_input("has " + bytes_text(bytes.size()) +
                             ", expected at most 2 GiB: larger models keep their weights in "
                             "external data files");
  }
  if (!proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return not_a_message();
  return {};
}

std::string node_place(int i) {
  return "graph.node[" + std::to_string(i) + "]";
}

// Every free axis of an input has a name of its own, which begins with the input's.
Status check_input(const onnx::ValueInfoProto& input) {
  const size_t most_bytes = Limits{}.max_name_bytes;
  if (input.name().size() > most_bytes) {
    return Status::bad_input("has a name of " + std::to_string(input.name().size()) +
                             " bytes, expected at most " + std::to_string(most_bytes));
  }
  const int axes = input.type().tensor_type().shape().dim_size();
  if (axes <= static_cast<int>(kMaxRank)) return {};
  return Status::bad_input("has " + std::to_string(axes) + " axes, expected at most " +
                           std::to_string(kMaxRank));
}

Status check(const onnx::ModelProto& proto) {
  if (!proto.has_graph()) return Status::bad_input("has no graph, expected an ONNX model");
  const onnx::GraphProto& graph = proto.graph();
  for (int i = 0; i < graph.input_size(); ++i) {
    if (Status s = check_input(graph.input(i)); !s.ok()) {
      return s.at("graph.input[" + std::to_string(i) + "]");
    }
  }
  for (int i = 0; i < graph.node_size(); ++i) {
    if (graph.node(i).op_type().empty()) {
      return Status::bad_input(node_place(i) + " " + in_quotes(graph.node(i).name()) +
                               " has no op_type, expected the name of an operator");
    }
  }
  return {};
}

}  // namespace

bool is_default_domain(const std::string& domain) {
  return domain.empty() || domain == "ai.onnx";
}

bool is_constant_node(const onnx::NodeProto& node) {
  return node.op_type() == "Constant" && is_default_domain(node.domain());
}

std::vector<std::string> onnx_node_names(const onnx::GraphProto& graph) {
  std::vector<std::string> names(static_cast<size_t>(graph.node_size()));
  std::set<std::string> taken;
  for (int i = 0; i < graph.node_size(); ++i) {
    const std::string& name = graph.node(i).name();
    if (!check_name(name, {}).ok() || !taken.insert(name).second) continue;
    names[static_cast<size_t>(i)] = name;
  }
  // Engines drop Constants when they load a model and number what is left.
  int number = 0;
  for (int i = 0; i < graph.node_size(); ++i) {
    const bool constant = is_constant_node(graph.node(i));
    const int position = constant ? i : number++;
    std::string& name = names[static_cast<size_t>(i)];
    if (!name.empty()) continue;
    const std::string& op = graph.node(i).op_type();
    name = (check_name(op, {}).ok() ? op : std::string("node")) + "_" + std::to_string(position);
    while (!taken.insert(name).second) name += "_";
  }
  return names;
}

Result<OnnxModel> parse_onnx(std::span<const uint8_t> bytes, const OnnxReadOptions& options) {
  if (bytes.size() > options.max_file_bytes) {
    return bad_input(
        {"is ", bytes.size(), " bytes long, expected at most ", options.max_file_bytes});
  }
  OnnxModel model;
  if (options.with_weights) {
    StripLimits limits = options.strip;
    limits.is_parsed_whole = true;
    if (const auto light = without_weights(bytes, limits); !light.ok()) return light.status();
    if (Status s = parse(bytes, model.proto); !s.ok()) return s;
  } else {
    const Result<std::string> structure = without_weights(bytes, options.strip);
    if (!structure.ok()) return structure.status();
    if (Status s = parse(as_bytes(*structure), model.proto); !s.ok()) return s;
  }
  if (Status s = check(model.proto); !s.ok()) return s;
  model.node_names = onnx_node_names(model.proto.graph());
  return model;
}

Result<OnnxModel> read_onnx(const std::string& path, const OnnxReadOptions& options) {
  const auto file = MappedFile::open(path, options.max_file_bytes);
  if (!file.ok()) {
    const bool placed = file.status().message().starts_with(path);
    return placed ? file.status() : file.status().at(path);
  }
  return parse_onnx(file->bytes(), options).at(path);
}

}  // namespace placeto
