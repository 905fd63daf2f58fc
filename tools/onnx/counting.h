// What the counters of operations share. Private to work*.cpp.
#pragma once

#include <cstdint>
#include <span>

#include "tools/onnx/value.h"

namespace placeto::counting {

using Inputs = std::span<const Value* const>;  // null: not given
using Outputs = std::span<const Value>;

// Operations of a node.
using Counter = uint64_t (*)(const onnx::NodeProto&, Inputs, Outputs);
uint64_t attention_flops(const onnx::NodeProto& node, Inputs inputs, Outputs outputs);

// What is not known has no axes, and counts 0.
inline Dims dims_at(Inputs inputs, size_t i) {
  if (i >= inputs.size() || inputs[i] == nullptr) return {};
  return inputs[i]->dims().value_or(Dims{});
}

inline uint64_t count(const Dims& dims) {
  return element_count(dims).value_or(0);
}

inline uint64_t count_at(Inputs inputs, size_t i) {
  if (i >= inputs.size() || inputs[i] == nullptr) return 0;
  const auto dims = inputs[i]->dims();
  return dims ? count(*dims) : 0;
}

inline uint64_t output_count(Outputs outputs) {
  const auto dims = outputs.empty() ? std::nullopt : outputs[0].dims();
  return dims ? count(*dims) : 0;
}

inline uint64_t extent(const Dims& dims, size_t i) {
  return i < dims.size() && dims[i] > 0 ? static_cast<uint64_t>(dims[i]) : 0;
}

inline uint64_t extent_from_end(const Dims& dims, size_t i) {
  return i < dims.size() ? extent(dims, dims.size() - 1 - i) : 0;
}

// Elements of everything behind the first axis.
inline uint64_t per_first(const Dims& dims) {
  return dims.empty() ? 0 : count({dims.begin() + 1, dims.end()});
}

}  // namespace placeto::counting
