// What the shape rules share. Private to rules*.cpp and attention.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "tools/onnx/value.h"

namespace placeto::shape_rules {

using Inputs = std::span<const Value* const>;  // null: not given
using Outputs = std::span<Value>;
// Sets all outputs and is true, or knows too little and is false.
using Rule = bool (*)(const onnx::NodeProto&, Inputs, Outputs);
using Rules = std::map<std::string_view, Rule>;  // by operator

// Those of the files: matrix products and recurrence; attention; cutting and joining of axes; types
// of elements; images resized, sampled and cut; the same elements in other shapes; signals; windows
// over images.
void add_products(Rules& rules);
void add_microsoft_products(Rules& rules);
void add_attention(Rules& rules);
void add_microsoft_attention(Rules& rules);
void add_axes(Rules& rules);
void add_microsoft_axes(Rules& rules);
void add_elements(Rules& rules);
void add_microsoft_elements(Rules& rules);
void add_learning_elements(Rules& rules);
void add_images(Rules& rules);
void add_layouts(Rules& rules);
void add_signals(Rules& rules);
void add_windows(Rules& rules);
void add_microsoft_windows(Rules& rules);
void add_blocked(Rules& rules);

// Lengths and offsets beyond this are damage, and their sums would overflow.
inline constexpr int64_t kMost = int64_t{1} << 40;
inline bool reasonable(int64_t x) {
  return x >= -kMost && x <= kMost;
}

inline bool given(Inputs inputs, size_t i) {
  return i < inputs.size() && inputs[i] != nullptr;
}

// Input i if its rank is known, else null.
inline const Value* known(Inputs inputs, size_t i) {
  return given(inputs, i) && inputs[i]->dims() ? inputs[i] : nullptr;
}

inline const Constant* constant(Inputs inputs, size_t i) {
  return given(inputs, i) ? inputs[i]->constant.get() : nullptr;
}

// Input i if it is a known list of lengths, else null.
const Constant* lengths(Inputs inputs, size_t i);

// 0, 1, ...: what operators that name no axes mean.
std::vector<int64_t> first_axes(size_t count);

inline void set(Outputs outputs, size_t i, int32_t type, const Dims& dims) {
  if (i < outputs.size()) outputs[i].set_tensor(type, dims);
}

}  // namespace placeto::shape_rules
