#include "tools/onnx/misfit.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "runtime/graph/text.h"
#include "tools/onnx/shape_rules.h"
#include "tools/onnx/window_problem.h"

namespace placeto {
namespace {

using onnx::NodeProto;

struct Reading {
  const NodeProto& node;
  std::span<const Value* const> inputs;
  int opset;

  // Of input i; null if it is not known.
  std::optional<Dims> dims(size_t i) const {
    const Value* value = shape_rules::known(inputs, i);
    return value != nullptr ? value->dims() : std::nullopt;
  }
  std::string name(size_t i) const { return in_quotes(node.input(static_cast<int>(i))); }
};

std::string tensor_text(const Reading& reading, size_t i) {
  return reading.name(i) + " (" + lengths_text(reading.dims(i).value_or(Dims{})) + ")";
}

std::string unfit(const Reading& reading, size_t i, size_t j, const std::string& expected) {
  return "reads " + tensor_text(reading, i) + " and " + tensor_text(reading, j) + ", expected " +
         expected;
}

std::string along(const Reading& reading, size_t i, size_t axis, int64_t length) {
  return std::to_string(length) + " along axis " + std::to_string(axis) + " of " + reading.name(i);
}

bool differ(int64_t a, int64_t b) {
  return a >= 0 && b >= 0 && a != b;
}

// --- broadcasting

bool clash(int64_t a, int64_t b) {
  return differ(a, b) && a != 1 && b != 1;
}

constexpr const char* kBroadcast = "the same lengths, or 1, of the last axes";

// Inputs that are broadcast to one shape; of each the last `left_out` axes are no part of that.
std::string unfit_broadcast(const Reading& reading, const std::vector<size_t>& operands,
                            size_t left_out = 0) {
  struct Axis {
    int64_t length = 1;
    size_t owner = 0;
  };
  std::vector<Axis> axes;  // counted from the last one
  for (const size_t i : operands) {
    const auto dims = reading.dims(i);
    if (!dims) continue;
    for (size_t a = left_out; a < dims->size(); ++a) {
      const int64_t length = (*dims)[dims->size() - 1 - a];
      if (axes.size() <= a) axes.resize(a + 1);
      if (clash(axes[a].length, length)) return unfit(reading, axes[a].owner, i, kBroadcast);
      if (axes[a].length <= 1 && length != 1) axes[a] = {length, i};
    }
  }
  return "";
}

std::string unfit_pair(const Reading& reading) {
  constexpr int kFirstBroadcast = 7;  // operator sets before have attributes for it
  return reading.opset >= kFirstBroadcast ? unfit_broadcast(reading, {0, 1}) : "";
}

std::string unfit_list(const Reading& reading) {
  constexpr int kFirstBroadcast = 8;
  std::vector<size_t> all(reading.inputs.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = i;
  return reading.opset >= kFirstBroadcast ? unfit_broadcast(reading, all) : "";
}

std::string unfit_choice(const Reading& reading) {
  return unfit_broadcast(reading, {0, 1, 2});
}

// --- products

std::string unfit_product(const Reading& reading, size_t left, size_t right, bool transpose_left,
                          bool transpose_right) {
  const auto a = reading.dims(left), b = reading.dims(right);
  if (!a || !b || a->empty() || b->empty()) return "";
  const size_t a_axis = a->size() - (transpose_left && a->size() > 1 ? 2 : 1);
  const size_t b_axis = b->size() == 1 || transpose_right ? b->size() - 1 : b->size() - 2;
  if (differ((*a)[a_axis], (*b)[b_axis])) {
    return unfit(reading, left, right, along(reading, right, b_axis, (*a)[a_axis]));
  }
  const bool stacked = a->size() > 2 && b->size() > 2;
  return stacked ? unfit_broadcast(reading, {left, right}, 2) : "";
}

std::string unfit_matmul(const Reading& reading) {
  return unfit_product(reading, 0, 1, false, false);
}

std::string unfit_quantized_matmul(const Reading& reading) {
  return unfit_product(reading, 0, 3, false, false);
}

std::string unfit_gemm(const Reading& reading) {
  const auto a = reading.dims(0), b = reading.dims(1), c = reading.dims(2);
  if (!a || !b || a->size() != 2 || b->size() != 2) return "";
  const bool left = int_attribute(reading.node, "transA", 0) != 0;
  const bool right = int_attribute(reading.node, "transB", 0) != 0;
  std::string problem = unfit_product(reading, 0, 1, left, right);
  constexpr int kFirstBroadcast = 7;
  if (!problem.empty() || !c || c->size() > 2 || reading.opset < kFirstBroadcast) return problem;
  const Dims product = {(*a)[left ? 1 : 0], (*b)[right ? 0 : 1]};
  for (size_t i = 0; i < c->size(); ++i) {
    const int64_t length = (*c)[c->size() - 1 - i], wanted = product[1 - i];
    if (length == 1 || wanted == 0 || !differ(length, wanted)) continue;
    return "reads " + tensor_text(reading, 2) + " to be added to " + lengths_text(product) +
           ", expected " + along(reading, 2, c->size() - 1 - i, wanted) + ", or 1";
  }
  return "";
}

// --- windows

// Image [batch, channels, axes...], filter [channels, channels of a group, axes...].
std::string unfit_filter(const Reading& reading, size_t filter) {
  const auto image = reading.dims(0), weights = reading.dims(filter);
  const int64_t groups = int_attribute(reading.node, "group", 1);
  if (!image || !weights) return "";
  if (image->size() != weights->size()) return unfit(reading, 0, filter, "as many axes");
  if (image->size() < 3) return "";
  if (groups <= 0 || groups > shape_rules::kMost) return "";
  const int64_t of_group = (*weights)[1], made = (*weights)[0];
  const bool is_sensible = of_group >= 0 && of_group <= shape_rules::kMost / groups;
  if (is_sensible && differ((*image)[1], of_group * groups)) {
    return unfit(reading, 0, filter, along(reading, 0, 1, of_group * groups));
  }
  if (made >= 0 && made % groups != 0) {
    return unfit(reading, 0, filter,
                 "a multiple of its " + std::to_string(groups) + " groups along axis 0 of " +
                     reading.name(filter));
  }
  const bool is_padded_by_hand =
      text_attribute(reading.node, "auto_pad", "NOTSET") == std::string("NOTSET");
  const bool is_full = element_count(*image).value_or(1) > 0;
  if (!is_padded_by_hand || !is_full || window_problem(reading.node, reading.inputs).empty()) {
    return "";
  }
  return unfit(reading, 0, filter, "a window no larger than the image, padding included");
}

std::string unfit_convolution(const Reading& reading) {
  return unfit_filter(reading, 1);
}

std::string unfit_quantized_convolution(const Reading& reading) {
  return unfit_filter(reading, 3);
}

std::string unfit_transposed(const Reading& reading) {
  const auto image = reading.dims(0), weights = reading.dims(1);
  if (!image || !weights) return "";
  if (image->size() != weights->size()) return unfit(reading, 0, 1, "as many axes");
  if (image->size() < 3 || !differ((*image)[1], (*weights)[0])) return "";
  return unfit(reading, 0, 1, along(reading, 0, 1, (*weights)[0]));
}

// --- recurrence: X [.., .., in], W [directions, gates x hidden, in], R [.., gates x hidden,
// hidden]

std::string unfit_recurrence(const Reading& reading) {
  const std::string& op = reading.node.op_type();
  const int64_t gates = op == "LSTM" ? 4 : op == "GRU" ? 3 : 1;
  const auto x = reading.dims(0), w = reading.dims(1), r = reading.dims(2);
  if (!x || !w || x->size() != 3 || w->size() != 3) return "";
  if (differ((*x)[2], (*w)[2])) return unfit(reading, 0, 1, along(reading, 1, 2, (*x)[2]));
  const int64_t hidden = int_attribute(reading.node, "hidden_size", kUnknownDim);
  if (hidden <= 0 || hidden > shape_rules::kMost) return "";
  const std::string reason = ", as hidden_size is " + std::to_string(hidden);
  for (const size_t i : {size_t{1}, size_t{2}}) {
    const auto& weights = i == 1 ? w : r;
    if (!weights || weights->size() != 3) continue;
    if (differ((*weights)[1], gates * hidden)) {
      return "reads " + tensor_text(reading, i) + ", expected " +
             along(reading, i, 1, gates * hidden) + reason;
    }
    if (i == 2 && differ((*weights)[2], hidden)) {
      return "reads " + tensor_text(reading, i) + ", expected " + along(reading, i, 2, hidden) +
             reason;
    }
  }
  return "";
}

// --- layout

// Engines leave out inputs without elements, whatever their shape.
std::string unfit_concat(const Reading& reading) {
  const size_t none = reading.inputs.size();
  size_t first = none;
  for (size_t i = 0; i < reading.inputs.size(); ++i) {
    const auto dims = reading.dims(i);
    if (!dims || std::find(dims->begin(), dims->end(), 0) != dims->end()) continue;
    if (first == none) {
      first = i;
      continue;
    }
    const Dims like = *reading.dims(first);
    if (dims->size() != like.size()) return unfit(reading, first, i, "as many axes");
    const auto joined = resolve_axis(int_attribute(reading.node, "axis", 0), like.size());
    if (!joined || find_attribute(reading.node, "axis") == nullptr) return "";
    for (size_t a = 0; a < like.size(); ++a) {
      if (a == *joined || !differ(like[a], (*dims)[a])) continue;
      return unfit(reading, first, i, along(reading, i, a, like[a]));
    }
  }
  return "";
}

std::string unfit_reshape(const Reading& reading) {
  const auto from = reading.dims(0);
  const Constant* wanted = shape_rules::constant(reading.inputs, 1);
  const auto count = from ? element_count(*from) : std::nullopt;
  if (!count || *count == 0 || wanted == nullptr || !wanted->whole()) return "";
  Dims to = wanted->ints;
  bool is_open = false;
  for (size_t a = 0; a < to.size(); ++a) {
    if (to[a] == 0 && a < from->size() && int_attribute(reading.node, "allowzero", 0) == 0) {
      to[a] = (*from)[a];
    }
    if (to[a] != -1) continue;
    is_open = true;
    to[a] = 1;
  }
  const auto asked = element_count(to);
  const bool fits = !asked || (is_open ? *asked != 0 && *count % *asked == 0 : *count == *asked);
  if (fits) return "";
  return "reads " + tensor_text(reading, 0) + " as " + lengths_text(wanted->ints) + ", expected " +
         (is_open ? "a product of lengths that divides " : "lengths whose product is ") +
         std::to_string(*count);
}

using Check = std::string (*)(const Reading&);

const std::map<std::string_view, Check>& checks() {
  static const std::map<std::string_view, Check> table = [] {
    std::map<std::string_view, Check> all = {{"MatMul", unfit_matmul},
                                             {"MatMulInteger", unfit_matmul},
                                             {"QLinearMatMul", unfit_quantized_matmul},
                                             {"Gemm", unfit_gemm},
                                             {"Conv", unfit_convolution},
                                             {"ConvInteger", unfit_convolution},
                                             {"QLinearConv", unfit_quantized_convolution},
                                             {"ConvTranspose", unfit_transposed},
                                             {"LSTM", unfit_recurrence},
                                             {"GRU", unfit_recurrence},
                                             {"RNN", unfit_recurrence},
                                             {"Concat", unfit_concat},
                                             {"Reshape", unfit_reshape},
                                             {"Where", unfit_choice}};
    for (const char* name : {"Add", "Sub", "Mul", "Div", "Pow", "Mod", "And", "Or", "Xor", "Equal",
                             "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "BitShift",
                             "BitwiseAnd", "BitwiseOr", "BitwiseXor"}) {
      all[name] = unfit_pair;
    }
    for (const char* name : {"Sum", "Mean", "Max", "Min"}) all[name] = unfit_list;
    return all;
  }();
  return table;
}

}  // namespace

std::string misfit(const NodeProto& node, std::span<const Value* const> inputs, int opset) {
  if (!is_default_domain(node.domain())) return "";
  const auto check = checks().find(node.op_type());
  return check != checks().end() ? check->second({node, inputs, opset}) : "";
}

}  // namespace placeto
