// ONNX models as protobuf messages, and the names that tie nodes of graphs to nodes of models.
//
// Only for code that is built with libonnx (PLACETO_ONNX): graph import and export. What the rest
// of the tools need is in import.h, which names no protobuf type.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/result.h"
#include "tools/onnx/without_weights.h"

namespace placeto {

struct OnnxReadOptions {
  // false: tensor contents larger than strip.keep_tensor_bytes are left out of `proto`, so a file
  // of any size costs the memory of its structure. true: the whole message, at most 2 GiB.
  bool with_weights = false;
  StripLimits strip = {};
  uint64_t max_file_bytes = UINT64_MAX;
};

// A model. Nodes of its main graph are told by their position i in proto.graph().node() or by
// node_names[i]. Fields that this libonnx does not know stay in `proto` as unknown fields.
struct OnnxModel {
  onnx::ModelProto proto;
  std::vector<std::string> node_names;
};

// Reads a model. External data files are never opened. Fails with kIo if the file cannot be read,
// and with kBadInput if it is longer than max_file_bytes, is no ONNX model, has no graph, or has a
// node without an operator; the message starts with the path and names the byte or the node.
Result<OnnxModel> read_onnx(const std::string& path, const OnnxReadOptions& options = {});
// The same from memory, without a path in messages.
Result<OnnxModel> parse_onnx(std::span<const uint8_t> bytes, const OnnxReadOptions& options = {});

// The naming rule. Node i of the main graph is called by its NodeProto.name if that is not empty,
// is usable as a name in a graph, and no node before it has it; otherwise "<op_type>_<number>",
// with "_" appended until it is the name of no other node. The number is how many nodes before it
// are no Constants, which is how ONNX Runtime calls it in profiles (a Constant's own: its position
// i). A graph made by import has one node for each of these names except for Constant nodes.
std::vector<std::string> onnx_node_names(const onnx::GraphProto& graph);

// Whether the node is a Constant of the default domain: a weight, not work. It becomes no node of a
// graph; its tensor belongs to the nodes that read it.
bool is_constant_node(const onnx::NodeProto& node);

// Whether the domain is ONNX's own ("" or "ai.onnx").
bool is_default_domain(const std::string& domain);

}  // namespace placeto
