// What the evaluators of constants share. Private to fold*.cpp, and to rules*.cpp, which have
// shapes by the same numbers.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/onnx/value.h"

namespace placeto::folding {

using Inputs = std::span<const Value* const>;  // null: not given
using Folded = std::optional<Constant>;        // nullopt: does not follow, or is not valid
using Folder = Folded (*)(const onnx::NodeProto&, Inputs);
using Folders = std::map<std::string, Folder>;  // by operator, of one output each

// Each adds the operators of its file.
void add_arithmetic(Folders& folders);
void add_layout(Folders& folders);
// The shape that Slice leaves of `dims`; kUnknownDim along an axis that is not known. nullopt if
// its lists are not known, or make no sense.
std::optional<Dims> sliced(const onnx::NodeProto& node, Inputs inputs, Dims dims);
// Parts of a one-dimensional input; empty when they do not follow.
std::vector<Constant> fold_split(const onnx::NodeProto& node, Inputs inputs);

// Whole numbers wrap around as engines' do; signed overflow would be undefined here.
inline int64_t wrap_add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
inline int64_t wrap_subtract(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
inline int64_t wrap_multiply(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

// The content of input i; null if it has none or is not given.
const Constant* input(Inputs inputs, size_t i);
// Axes from an attribute in old operator sets, and from the input at `position` in new ones.
std::optional<std::vector<int64_t>> axes_of(const onnx::NodeProto& node, Inputs inputs,
                                            size_t position);

// The number that an element of the type holds if it is given `x`: engines compute in that type.
double held(int32_t type, double x);
int64_t held(int32_t type, int64_t x);

// A constant of that type and shape, without content yet; nullopt if it would be too large.
Folded empty_like(int32_t type, const Dims& dims);
// Element i of `from`, behind what `out` has; both of one type.
void append(Constant& out, const Constant& from, size_t i);
// Elements from one to the next along each axis, last axis fastest.
Dims strides_of(const Dims& dims);
// Position of element i of the shape `out` in a tensor of shape `in` that is broadcast to it.
size_t broadcast_index(size_t i, const Dims& out, const Dims& in);

// Elements of `in` at the places that `source` gives for 0, 1, ... of the new shape.
template <class Source>
Folded pick(const Constant& in, const Dims& dims, Source source) {
  Folded out = empty_like(in.type, dims);
  if (!out) return out;
  const size_t count = *element_count(dims);
  for (size_t i = 0; i < count; ++i) {
    const size_t from = source(i);
    if (from >= in.size()) return std::nullopt;
    append(*out, in, from);
  }
  return out;
}

}  // namespace placeto::folding
