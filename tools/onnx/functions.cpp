#include "tools/onnx/functions.h"

#include <google/protobuf/unknown_field_set.h>

#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace placeto {
namespace {

using onnx::AttributeProto;
using onnx::FunctionProto;
using onnx::NodeProto;

using Given = std::map<std::string_view, const AttributeProto*>;

constexpr int kDefaultsField = 11;  // attribute_proto

bool is_bytes_of(const google::protobuf::UnknownField& field, int number) {
  return field.number() == number && field.type() == field.TYPE_LENGTH_DELIMITED;
}

// Calls `take(bytes)` for each field of that number which libonnx does not know.
template <class Message, class Take>
void each_unknown(const Message& message, int number, Take take) {
  const auto& fields = message.unknown_fields();
  for (int i = 0; i < fields.field_count(); ++i) {
    if (is_bytes_of(fields.field(i), number)) take(fields.field(i).length_delimited());
  }
}

template <class Message>
std::string overload_of(const Message& message, int number) {
  std::string overload;
  if constexpr (requires { message.overload(); }) {
    overload = message.overload();
  } else {
    each_unknown(message, number, [&](const std::string& bytes) { overload = bytes; });
  }
  return overload;
}

// Values that the function gives attributes which a call leaves out (`attribute_proto`).
template <class Function>
std::vector<AttributeProto> default_attributes(const Function& function) {
  std::vector<AttributeProto> attributes;
  if constexpr (requires { function.attribute_proto(); }) {
    attributes.assign(function.attribute_proto().begin(), function.attribute_proto().end());
  } else {
    each_unknown(function, kDefaultsField, [&](const std::string& bytes) {
      AttributeProto attribute;
      if (attribute.ParseFromString(bytes)) attributes.push_back(std::move(attribute));
    });
  }
  return attributes;
}

template <class Function>
uint64_t bytes_of_defaults(const Function& function) {
  uint64_t bytes = 0;
  if constexpr (requires { function.attribute_proto(); }) {
    for (const auto& attribute : function.attribute_proto()) bytes += attribute.ByteSizeLong();
  } else {
    each_unknown(function, kDefaultsField,
                 [&](const std::string& field) { bytes += field.size(); });
  }
  return bytes;
}

template <class Function>
Status change_each_default(Function& function,
                           const std::function<Status(AttributeProto&)>& change) {
  if constexpr (requires { function.mutable_attribute_proto(); }) {
    for (AttributeProto& attribute : *function.mutable_attribute_proto()) {
      if (Status s = change(attribute); !s.ok()) return s;
    }
  } else {
    if (function.unknown_fields().empty()) return {};
    auto& fields = *function.GetReflection()->MutableUnknownFields(&function);
    for (int i = 0; i < fields.field_count(); ++i) {
      auto& field = *fields.mutable_field(i);
      AttributeProto attribute;
      if (!is_bytes_of(field, kDefaultsField)) continue;
      if (!attribute.ParseFromString(field.length_delimited())) continue;
      if (Status s = change(attribute); !s.ok()) return s;
      *field.mutable_length_delimited() = attribute.SerializeAsString();
    }
  }
  return {};
}

template <class Nodes>
uint64_t references_in(const Nodes& nodes) {
  uint64_t count = 0;
  for (const NodeProto& node : nodes) {
    for (const AttributeProto& attribute : node.attribute()) {
      count += attribute.has_ref_attr_name();
      count += references_in(attribute.g().node());
      for (const auto& graph : attribute.graphs()) count += references_in(graph.node());
    }
  }
  return count;
}

void replace_references(NodeProto& node, const Given& given) {
  auto& attributes = *node.mutable_attribute();
  for (int i = attributes.size() - 1; i >= 0; --i) {
    AttributeProto& attribute = attributes[i];
    if (!attribute.ref_attr_name().empty()) {
      const auto at = given.find(attribute.ref_attr_name());
      if (at == given.end()) {
        attributes.DeleteSubrange(i, 1);
        continue;
      }
      const std::string name = attribute.name();
      attribute = *at->second;
      attribute.set_name(name);
      continue;  // what the caller gives refers to nothing of the function
    }
    if (attribute.has_g()) {
      for (NodeProto& inner : *attribute.mutable_g()->mutable_node()) {
        replace_references(inner, given);
      }
    }
    for (auto& graph : *attribute.mutable_graphs()) {
      for (NodeProto& inner : *graph.mutable_node()) replace_references(inner, given);
    }
  }
}

}  // namespace

std::string function_key(const FunctionProto& function) {
  return function.domain() + ":" + function.name() + ":" + overload_of(function, 13);
}

std::string function_key(const NodeProto& call) {
  return call.domain() + ":" + call.op_type() + ":" + overload_of(call, 8);
}

uint64_t default_bytes(const FunctionProto& function) {
  return bytes_of_defaults(function);
}

Status change_defaults(FunctionProto& function,
                       const std::function<Status(AttributeProto&)>& change) {
  return change_each_default(function, change);
}

uint64_t attribute_bytes(const FunctionProto& function, const NodeProto& call) {
  uint64_t given = call.ByteSizeLong();
  for (const AttributeProto& attribute : default_attributes(function)) {
    given += attribute.ByteSizeLong();
  }
  return references_in(function.node()) * given;
}

onnx::GraphProto instantiate(const FunctionProto& function, const NodeProto& call) {
  const std::vector<AttributeProto> defaults = default_attributes(function);
  Given given;
  for (const auto& attribute : call.attribute()) given.emplace(attribute.name(), &attribute);
  for (const auto& attribute : defaults) given.emplace(attribute.name(), &attribute);
  onnx::GraphProto graph;
  graph.set_name(function.name());
  *graph.mutable_node() = function.node();
  for (NodeProto& node : *graph.mutable_node()) replace_references(node, given);
  for (const std::string& output : function.output()) graph.add_output()->set_name(output);
  return graph;
}

}  // namespace placeto
