#include "tools/onnx/fold.h"

#include <algorithm>
#include <cmath>

#include "tools/onnx/folding.h"

namespace placeto {
namespace folding {

using onnx::NodeProto;

const Constant* input(Inputs inputs, size_t i) {
  return i < inputs.size() && inputs[i] != nullptr ? inputs[i]->constant.get() : nullptr;
}

namespace {

// The nearest of half precision: 11 bits from 2^-14 on, multiples of 2^-24 below.
double nearest_half(double x) {
  constexpr int kLeastExponent = -14, kFractionBits = 10;
  constexpr double kTooLarge = 65'520;  // halfway from the largest to what would be next
  if (!std::isfinite(x) || x == 0) return x;
  if (std::abs(x) >= kTooLarge) return std::copysign(INFINITY, x);
  const double step = std::ldexp(1, std::max(std::ilogb(x), kLeastExponent) - kFractionBits);
  return std::nearbyint(x / step) * step;
}

}  // namespace

double held(int32_t type, double x) {
  if (type == onnx::TensorProto::FLOAT) return static_cast<float>(x);
  return type == onnx::TensorProto::FLOAT16 ? nearest_half(x) : x;
}

int64_t held(int32_t type, int64_t x) {
  switch (type) {
    case onnx::TensorProto::BOOL:
      return x != 0;
    case onnx::TensorProto::INT8:
      return static_cast<int8_t>(x);
    case onnx::TensorProto::UINT8:
      return static_cast<uint8_t>(x);
    case onnx::TensorProto::INT16:
      return static_cast<int16_t>(x);
    case onnx::TensorProto::UINT16:
      return static_cast<uint16_t>(x);
    case onnx::TensorProto::INT32:
      return static_cast<int32_t>(x);
    case onnx::TensorProto::UINT32:
      return static_cast<uint32_t>(x);
    default:
      return x;
  }
}

// A constant of that type and shape, without content yet; nullopt if it would be too large.
Folded empty_like(int32_t type, const Dims& dims) {
  const auto count = element_count(dims);
  if (!count || *count > kMaxConstantElements || dims.size() > kMaxRank) return std::nullopt;
  Constant out;
  out.type = type;
  out.dims = dims;
  return out;
}

void append(Constant& out, const Constant& from, size_t i) {
  if (out.whole()) {
    out.ints.push_back(from.ints[i]);
  } else {
    out.reals.push_back(from.reals[i]);
  }
}

Dims strides_of(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (size_t a = dims.size(); a-- > 1;)
    strides[a - 1] = wrap_multiply(strides[a], std::max<int64_t>(dims[a], 1));
  return strides;
}

// Position of element i of the shape `out` in a tensor of shape `in` that is broadcast to it.
size_t broadcast_index(size_t i, const Dims& out, const Dims& in) {
  size_t index = 0, stride = 1;
  const size_t skipped = out.size() - in.size();
  for (size_t a = out.size(); a-- > skipped;) {
    const auto length = static_cast<size_t>(out[a]), own = static_cast<size_t>(in[a - skipped]);
    if (own != 1) index += i % length * stride;
    i /= length;
    stride *= std::max<size_t>(own, 1);
  }
  return index;
}

std::optional<std::vector<int64_t>> axes_of(const NodeProto& node, Inputs inputs, size_t position) {
  if (position < inputs.size() && inputs[position] != nullptr) {
    const Constant* axes = input(inputs, position);
    if (axes == nullptr || !axes->whole()) return std::nullopt;
    return axes->ints;
  }
  return ints_attribute(node, "axes");
}

namespace {

using onnx::TensorProto;

Constant whole_numbers(std::vector<int64_t> values, bool scalar = false) {
  Constant out;
  out.type = TensorProto::INT64;
  if (!scalar) out.dims = {static_cast<int64_t>(values.size())};
  out.ints = std::move(values);
  return out;
}

// --- shapes

Folded fold_shape(const NodeProto& node, Inputs inputs) {
  if (inputs.empty() || inputs[0] == nullptr) return std::nullopt;
  const auto dims = inputs[0]->dims();
  if (!dims) return std::nullopt;
  const auto rank = static_cast<int64_t>(dims->size());
  const auto clamp = [rank](int64_t x) {
    return std::clamp<int64_t>(x < 0 ? x + rank : x, 0, rank);
  };
  const int64_t begin = clamp(int_attribute(node, "start", 0));
  const int64_t end = clamp(int_attribute(node, "end", rank));
  std::vector<int64_t> values;
  for (int64_t a = begin; a < end; ++a) {
    if ((*dims)[static_cast<size_t>(a)] < 0) return std::nullopt;
    values.push_back((*dims)[static_cast<size_t>(a)]);
  }
  return whole_numbers(std::move(values));
}

Folded fold_size(const NodeProto&, Inputs inputs) {
  if (inputs.empty() || inputs[0] == nullptr) return std::nullopt;
  const auto dims = inputs[0]->dims();
  const auto count = dims ? element_count(*dims) : std::nullopt;
  if (!count) return std::nullopt;
  return whole_numbers({static_cast<int64_t>(*count)}, true);
}

// --- new content

Folded fold_constant_of_shape(const NodeProto& node, Inputs inputs) {
  const Constant* shape = input(inputs, 0);
  if (shape == nullptr || !shape->whole()) return {};
  Constant value;
  value.type = TensorProto::FLOAT;
  value.reals = {0};
  if (const auto* attribute = find_attribute(node, "value")) {
    const auto given = read_constant(attribute->t());
    if (!given || given->size() != 1) return {};
    value = *given;
  }
  return pick(value, shape->ints, [](size_t) { return size_t{0}; });
}

Folded fold_range(const NodeProto&, Inputs inputs) {
  const Constant *begin = input(inputs, 0), *end = input(inputs, 1), *step = input(inputs, 2);
  if (begin == nullptr || end == nullptr || step == nullptr) return {};
  if (begin->size() != 1 || end->size() != 1 || step->size() != 1) return {};
  if (begin->type != end->type || begin->type != step->type) return {};
  const double span = held(begin->type, end->number(0) - begin->number(0));
  const double count = std::ceil(span / step->number(0));
  if (!(count <= double{kMaxConstantElements})) return {};
  const auto length = static_cast<int64_t>(std::max(count, 0.0));
  Folded out = empty_like(begin->type, {length});
  for (int64_t i = 0; i < length; ++i) {
    if (out->whole()) {
      out->ints.push_back(wrap_add(begin->ints[0], wrap_multiply(i, step->ints[0])));
    } else {
      out->reals.push_back(begin->reals[0] + static_cast<double>(i) * step->reals[0]);
    }
  }
  return out;
}

Folded fold_expand(const NodeProto&, Inputs inputs) {
  const Constant *in = input(inputs, 0), *shape = input(inputs, 1);
  if (in == nullptr || shape == nullptr || !shape->whole()) return {};
  const auto dims = broadcast(in->dims, shape->ints);
  if (!dims) return {};
  return pick(*in, *dims, [&](size_t i) { return broadcast_index(i, *dims, in->dims); });
}

Folded fold_identity(const NodeProto&, Inputs inputs) {
  const Constant* in = input(inputs, 0);
  return in != nullptr ? Folded(*in) : std::nullopt;
}

const Folders& folders() {
  static const Folders table = [] {
    Folders all = {{"Shape", fold_shape},   {"Size", fold_size},
                   {"Range", fold_range},   {"ConstantOfShape", fold_constant_of_shape},
                   {"Expand", fold_expand}, {"Identity", fold_identity}};
    add_arithmetic(all);
    add_layout(all);
    return all;
  }();
  return table;
}

}  // namespace
}  // namespace folding

std::vector<Constant> fold(const onnx::NodeProto& node, std::span<const Value* const> inputs) {
  if (!is_default_domain(node.domain())) return {};
  if (node.op_type() == "Split") return folding::fold_split(node, inputs);
  const auto folder = folding::folders().find(node.op_type());
  if (folder == folding::folders().end() || node.output_size() != 1) return {};
  folding::Folded out = folder->second(node, inputs);
  if (!out) return {};
  for (int64_t& x : out->ints) x = folding::held(out->type, x);
  for (double& x : out->reals) x = folding::held(out->type, x);
  std::vector<Constant> all;
  all.push_back(*std::move(out));
  return all;
}

}  // namespace placeto
