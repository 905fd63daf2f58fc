// An ONNX model without its weights, from the bytes of its file: the protobuf wire format is walked
// and copied, large tensor contents are stepped over. So a file of many gigabytes costs the memory
// of its structure, its weights are never read when it is mapped, and protobuf's limit of 2 GiB a
// message does not apply to the file.
//
// Wire format: https://protobuf.dev/programming-guides/encoding; field numbers: onnx.proto.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "runtime/base/result.h"

namespace placeto {

struct StripLimits {
  uint64_t keep_tensor_bytes = 64 * 1024;       // contents up to this stay: shapes are computed
  uint64_t max_structure_bytes = 256ull << 20;  // of what is left
  uint64_t max_parsed_bytes = 1ull << 30;       // that it will take in memory, about
  bool is_parsed_whole = false;                 // what is left out here counts there, too
};

// Whether the bytes can begin an ONNX model: a field of ModelProto with the right wire type, and
// neither JSON nor a binary file of Placeto.
bool looks_like_onnx(std::span<const uint8_t> bytes);
// Whether the bytes begin one, and no other file that Placeto reads.
bool is_onnx(std::span<const uint8_t> bytes);
// Whether the file is one. False if it cannot be read: whoever reads it says so; and of what is no
// regular file, since a pipe gives its bytes but once.
bool is_onnx_file(const std::string& path);

// The serialized ModelProto with every TensorProto's contents left out that are larger than
// keep_tensor_bytes (dims, data_type, name and external_data stay), and without doc strings and
// training information. The message of a failure names the byte and the message around it, e.g.
// "byte 812 in graph.node.attribute: a field of 300 bytes runs past the end of its message".
Result<std::string> without_weights(std::span<const uint8_t> model, const StripLimits& limits = {});

}  // namespace placeto
