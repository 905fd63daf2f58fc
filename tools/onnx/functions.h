// Functions that a model defines, and calls of them. Some of what tells them apart came with ONNX
// 1.13 and 1.16; an older libonnx keeps such fields as bytes that it does not know.
#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <functional>
#include <string>

#include "runtime/base/result.h"

namespace placeto {

// What a call names: "domain:name:overload".
std::string function_key(const onnx::FunctionProto& function);
std::string function_key(const onnx::NodeProto& call);

// Bytes of the values that the function gives attributes which a call leaves out.
uint64_t default_bytes(const onnx::FunctionProto& function);

// Calls `change` for each of these values, and keeps what it makes of them; stops at a failure.
Status change_defaults(onnx::FunctionProto& function,
                       const std::function<Status(onnx::AttributeProto&)>& change);

// At most so many bytes of attributes a call puts in place of references, in the function's nodes
// and the graphs inside them.
uint64_t attribute_bytes(const onnx::FunctionProto& function, const onnx::NodeProto& call);

// The nodes of a function as a graph, with the attributes of the call, else the function's own
// values for them, in place of references. An attribute that has neither is left out.
onnx::GraphProto instantiate(const onnx::FunctionProto& function, const onnx::NodeProto& call);

}  // namespace placeto
