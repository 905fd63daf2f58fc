// Sizes of attention, which its operators say in many ways: ONNX's own (operator set 23,
// https://onnx.ai/onnx/operators/onnx__Attention.html) and those of ONNX Runtime
// (https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md).
#pragma once

#include <optional>
#include <span>

#include "tools/onnx/value.h"

namespace placeto {

// kUnknownDim: not known.
struct AttentionSizes {
  int64_t batch = kUnknownDim, queries = kUnknownDim;
  int64_t heads = kUnknownDim, key_heads = kUnknownDim;
  int64_t width = kUnknownDim, value_width = kUnknownDim;  // of one head
  int64_t fresh = kUnknownDim;                             // keys of this call
  int64_t total = kUnknownDim;                             // and of all calls before it
  int64_t present = kUnknownDim;  // what is kept for the next call has room for so many keys
  int64_t window = kUnknownDim;   // a query looks at no more keys than that, if it is known
  bool projects = false;          // multiplies its input with weights (input 1) first
  size_t past = 0;                // input with the keys of calls before; 0: the operator has none
  Dims result;                    // of its first output
};

// nullopt if the operator is none that is described here, or its inputs are not known so far.
std::optional<AttentionSizes> attention_sizes(const onnx::NodeProto& node,
                                              std::span<const Value* const> inputs);

}  // namespace placeto
