#include "tools/export/annotate.h"

#include <google/protobuf/unknown_field_set.h>

#include "tools/onnx/bodies.h"
#include "tools/onnx/model.h"

namespace placeto {
namespace {

using google::protobuf::UnknownField;
using google::protobuf::UnknownFieldSet;

// NodeProto.metadata_props of onnx.proto since IR version 10: repeated StringStringEntryProto. The
// messages of an older libonnx do not have it, so it is read and written as bytes.
constexpr int kMetadataProps = 9;
constexpr const char* kKey = "layer_ann";

// All fields of the node, by number, known or not.
void read_fields(const onnx::NodeProto& node, UnknownFieldSet& fields) {
  fields.ParseFromString(node.SerializeAsString());
}

// The entry's value if it is an annotation.
bool is_annotation(const UnknownField& field, std::string* value = nullptr) {
  if (field.number() != kMetadataProps || field.type() != UnknownField::TYPE_LENGTH_DELIMITED) {
    return false;
  }
  onnx::StringStringEntryProto entry;
  if (!entry.ParseFromString(field.length_delimited()) || entry.key() != kKey) return false;
  if (value != nullptr) *value = entry.value();
  return true;
}

// "": removes it.
bool set_annotation(onnx::NodeProto& node, const std::string& value) {
  UnknownFieldSet kept;
  UnknownFieldSet fields;
  read_fields(node, fields);
  for (int i = 0; i < fields.field_count(); ++i) {
    if (!is_annotation(fields.field(i))) kept.AddField(fields.field(i));
  }
  if (!value.empty()) {
    onnx::StringStringEntryProto entry;
    entry.set_key(kKey);
    entry.set_value(value);
    kept.AddLengthDelimited(kMetadataProps, entry.SerializeAsString());
  }
  std::string bytes;
  return kept.SerializeToString(&bytes) && node.ParseFromString(bytes);
}

bool clear_bodies(onnx::NodeProto& node);

bool clear_graph(onnx::GraphProto& graph) {
  for (auto& node : *graph.mutable_node()) {
    if (!annotation_of(node).empty() && !set_annotation(node, "")) return false;
    if (!clear_bodies(node)) return false;
  }
  return true;
}

bool clear_bodies(onnx::NodeProto& node) {
  bool cleared = true;
  for_each_body(node, [&](onnx::GraphProto& body) { cleared = cleared && clear_graph(body); });
  return cleared;
}

std::string annotation(size_t device) {
  return "plc" + std::to_string(device);
}

}  // namespace

std::string annotation_of(const onnx::NodeProto& node) {
  UnknownFieldSet fields;
  read_fields(node, fields);
  std::string value;
  for (int i = 0; i < fields.field_count(); ++i) is_annotation(fields.field(i), &value);
  return value;
}

Status annotate(onnx::ModelProto& model, std::span<const uint32_t> device_of_node) {
  onnx::GraphProto& graph = *model.mutable_graph();
  for (int i = 0; i < graph.node_size(); ++i) {
    onnx::NodeProto& node = *graph.mutable_node(i);
    const bool constant = is_constant_node(node);
    const std::string value = constant ? "" : annotation(device_of_node[static_cast<size_t>(i)]);
    if (!clear_bodies(node) || !set_annotation(node, value)) {
      return Status::internal("graph.node[" + std::to_string(i) + "] cannot be annotated");
    }
  }
  return {};
}

std::string annotation_rules(std::span<const std::string> engine) {
  std::string text;
  for (size_t d = 0; d < engine.size(); ++d) {
    if (engine[d].empty()) continue;
    text += (text.empty() ? "" : ";") + engine[d] + "(=" + annotation(d) + ")";
  }
  return text;
}

}  // namespace placeto
