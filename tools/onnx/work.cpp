#include "tools/onnx/work.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "runtime/base/saturating.h"
#include "tools/costs/function_flops.h"
#include "tools/onnx/counting.h"
#include "tools/onnx/einsum.h"

namespace placeto {
namespace {

using onnx::NodeProto;
using namespace counting;

// --- products

uint64_t convolution_flops(const NodeProto& node, Inputs inputs, Outputs outputs) {
  // Filter: [out channels, in channels / groups, window...]; transposed: [in, out / groups, ...].
  const bool transposed = node.op_type().starts_with("ConvTranspose");
  const uint64_t places = transposed ? count_at(inputs, 0) : output_count(outputs);
  const size_t filter = node.op_type() == "QLinearConv" ? 3 : 1;
  return saturating_product(2 * std::min(places, kMostSize / 2),
                            per_first(dims_at(inputs, filter)));
}

uint64_t product_flops(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const bool transposed = int_attribute(node, "transA", 0) != 0;
  const Dims left = dims_at(inputs, 0);
  const bool begins_with_it = transposed && int_attribute(node, "transBatchA", 0) != 0;
  const uint64_t inner =
      begins_with_it ? extent(left, 0) : extent_from_end(left, transposed ? 1 : 0);
  return saturating_product(output_count(outputs), saturating_product(2, inner));
}

// Positions of what the letters stand for, and the dots. What is not known counts as one.
uint64_t einsum_places(const EinsumAxes& axes, const std::string& letters) {
  const auto known = [](int64_t length) {
    return static_cast<uint64_t>(std::max(length, int64_t{1}));
  };
  uint64_t places = 1;
  for (const char c : letters) {
    if (c != '.') places = saturating_product(places, known(axes.extent.at(c)));
    if (c != '.') continue;
    for (const int64_t length : axes.dots) places = saturating_product(places, known(length));
  }
  return places;
}

// As engines do it, one operand after the other: a product of two has the letters of both, and of
// those, what no later one and not the result has is summed up.
uint64_t einsum_flops(const NodeProto& node, Inputs inputs, Outputs outputs) {
  std::vector<Dims> operands;
  for (size_t i = 0; i < inputs.size(); ++i) operands.push_back(dims_at(inputs, i));
  const auto axes = einsum_axes(text_attribute(node, "equation", ""), operands);
  if (!axes || operands.empty()) return saturating_product(2, output_count(outputs));
  std::map<char, size_t> last;  // operand that has a letter; beyond all, if the result has it
  for (size_t i = 0; i < axes->operands.size(); ++i) {
    for (const char c : axes->operands[i]) last[c] = i;
  }
  for (const char c : axes->result) last[c] = axes->operands.size();
  std::string letters;
  uint64_t total = 0;
  for (size_t i = 0; i < axes->operands.size(); ++i) {
    for (const char c : axes->operands[i]) {
      if (letters.find(c) == std::string::npos) letters += c;
    }
    if (i == 0) continue;
    total = saturating_add(total, saturating_product(2, einsum_places(*axes, letters)));
    std::erase_if(letters, [&](char c) { return last.at(c) <= i; });
  }
  return axes->operands.size() > 1 ? total : einsum_places(*axes, letters);
}

// MoE(rows, router, w1, b1, w2, b2, w3, b3) and QMoE, whose weights are followed by their scales:
// each row passes the k experts that the router prefers. Weights are [experts, ...].
struct Experts {
  uint64_t count = 0, chosen = 0;  // chosen: by all rows together, at most all
  uint64_t weights = 0;            // numbers of one
  uint64_t per_row = 1, rows = 0;
};
constexpr size_t kExpertWeights[] = {2, 4, 6}, kQuantizedExpertWeights[] = {2, 5, 8};

Experts experts_of(const NodeProto& node, Inputs inputs) {
  const bool quantized = node.op_type() == "QMoE";
  Experts experts;
  experts.count = std::max<uint64_t>(extent(dims_at(inputs, 2), 0), 1);
  experts.per_row = static_cast<uint64_t>(std::max<int64_t>(int_attribute(node, "k", 1), 1));
  for (const size_t i : quantized ? kQuantizedExpertWeights : kExpertWeights) {
    experts.weights = saturating_add(experts.weights, per_first(dims_at(inputs, i)));
  }
  const int64_t bits = int_attribute(node, "expert_weight_bits", 4);
  if (quantized && bits > 0 && bits < 8) {
    experts.weights = saturating_product(experts.weights, static_cast<uint64_t>(8 / bits));
  }
  const Dims rows = dims_at(inputs, 0);
  experts.rows = rows.empty() ? 0 : count({rows.begin(), rows.end() - 1});
  experts.chosen = std::min(experts.count, saturating_product(experts.rows, experts.per_row));
  return experts;
}

uint64_t expert_flops(const NodeProto& node, Inputs inputs, Outputs) {
  const Experts experts = experts_of(node, inputs);
  return saturating_product(
      2, saturating_product(saturating_product(experts.rows, experts.per_row), experts.weights));
}

// LSTM, GRU, RNN: X [sequence, batch, in], W [directions, gates x hidden, in], R [.., .., hidden].
uint64_t recurrent_flops(const NodeProto& node, Inputs inputs, Outputs) {
  const Dims x = dims_at(inputs, 0);
  const uint64_t steps = saturating_product(extent(x, 0), extent(x, 1));
  const uint64_t weights = saturating_add(count_at(inputs, 1), count_at(inputs, 2));
  const Dims w = dims_at(inputs, 1);
  const size_t gates_axis = node.op_type() == "DynamicQuantizeLSTM" ? 2 : 1;
  const uint64_t gates = saturating_product(extent(w, 0), extent(w, gates_axis));
  return saturating_product(steps, saturating_add(saturating_product(2, weights),
                                                  saturating_product(gates, kFunctionFlops + 2)));
}

// --- everything else

uint64_t window_flops(const NodeProto& node, Inputs, Outputs outputs) {
  uint64_t window = 1;
  for (int64_t k : ints_attribute(node, "kernel_shape")) {
    window = saturating_product(window, static_cast<uint64_t>(std::max<int64_t>(k, 1)));
  }
  return saturating_product(output_count(outputs), window);
}

template <uint64_t kEach>
uint64_t per_output(const NodeProto&, Inputs, Outputs outputs) {
  return saturating_product(output_count(outputs), kEach);
}

template <uint64_t kEach>
uint64_t per_input(const NodeProto&, Inputs inputs, Outputs) {
  return saturating_product(count_at(inputs, 0), kEach);
}

// Sum, Max, Min of as many inputs; Mean divides, too.
uint64_t list_flops(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const uint64_t each = inputs.size() - (inputs.empty() || node.op_type() == "Mean" ? 0 : 1);
  return saturating_product(output_count(outputs), each);
}

const std::map<std::string_view, Counter>& special_counters() {
  static const std::map<std::string_view, Counter> table = {
      {"Einsum", einsum_flops},
      {"Attention", attention_flops},
      {"DecoderMaskedMultiHeadAttention", attention_flops},
      {"DecoderMaskedSelfAttention", attention_flops},
      {"GroupQueryAttention", attention_flops},
      {"MultiHeadAttention", attention_flops},
      {"PackedAttention", attention_flops},
      {"PackedMultiHeadAttention", attention_flops},
      {"QAttention", attention_flops},
      {"SparseAttention", attention_flops},
      {"MoE", expert_flops},
      {"QMoE", expert_flops},
      {"QLinearConv", convolution_flops},
      {"ConvInteger", convolution_flops},
      {"MaxPool", window_flops},
      {"AveragePool", window_flops},
      {"LpPool", window_flops},
      {"QLinearAveragePool", window_flops},
      {"NhwcMaxPool", window_flops},
      {"BatchNormalization", per_output<2>},
      {"DynamicQuantizeLinear", per_input<4>},
      {"QuantizeLinear", per_output<2>},
      {"DequantizeLinear", per_output<2>},
      {"Softmax", per_input<kFunctionFlops + 3>},
      {"LogSoftmax", per_input<kFunctionFlops + 4>},
      {"LayerNormalization", per_input<8>},
      {"SkipLayerNormalization", per_input<9>},
      {"InstanceNormalization", per_input<8>},
      {"GroupNormalization", per_input<8>},
      {"GroupNorm", per_input<8>},
      {"SkipGroupNorm", per_input<9>},
      {"MeanVarianceNormalization", per_input<8>},
      {"Max", list_flops},
      {"Mean", list_flops},
      {"Min", list_flops},
      {"Sum", list_flops},
      {"RMSNormalization", per_input<5>},
      {"SimplifiedLayerNormalization", per_input<5>},
  };
  return table;
}

Counter counter_for(std::string_view op, OperatorClass operator_class) {
  const auto special = special_counters().find(op);
  if (special != special_counters().end()) return special->second;
  switch (operator_class) {
    case OperatorClass::kConvolution:
      return convolution_flops;
    case OperatorClass::kMatrix:
    case OperatorClass::kQuantized:
      return product_flops;
    case OperatorClass::kRecurrent:
      return recurrent_flops;
    case OperatorClass::kElementwise:
      return per_output<1>;
    case OperatorClass::kFunction:
      return per_output<kFunctionFlops>;
    case OperatorClass::kReduction:
      return per_input<1>;
    default:
      return nullptr;  // moves bytes, or is not known
  }
}

// Operators that read only what they pick of an input: of their first one, of the tables of words,
// positions and segments.
bool picks(std::string_view op, size_t input) {
  if (op == "EmbedLayerNormalization") return input >= 2 && input <= 4;
  return input == 0 &&
         (op == "Gather" || op == "GatherElements" || op == "GatherND" || op == "Slice" ||
          op == "Expand" || op == "Tile" || op == "GridSample" || op == "RoiAlign");
}

// GatherBlockQuantized reads rows of packed numbers, of their scales and of their zero points.
uint64_t bytes_of_rows(const NodeProto& node, Inputs inputs, size_t input, uint64_t bytes) {
  if (node.op_type() != "GatherBlockQuantized" || input == 1 || inputs[0] == nullptr) return bytes;
  const auto table = inputs[0]->dims();
  const int64_t axis = int_attribute(node, "gather_axis", 0);
  if (!table || axis < 0 || static_cast<size_t>(axis) >= table->size()) return bytes;
  const auto rows =
      static_cast<uint64_t>(std::max<int64_t>((*table)[static_cast<size_t>(axis)], 1));
  const uint64_t wanted = count_at(inputs, 1);
  return wanted >= rows ? bytes : saturating_product(bytes / rows, wanted);
}

uint64_t bytes_moved(const NodeProto& node, OperatorClass operator_class, Inputs inputs,
                     Outputs outputs) {
  if (operator_class == OperatorClass::kView) return 0;
  uint64_t written = 0, read = 0;
  for (const Value& output : outputs)
    written = saturating_add(written, value_bytes(output).value_or(0));
  const bool has_experts = node.op_type() == "MoE" || node.op_type() == "QMoE";
  const Experts experts = has_experts ? experts_of(node, inputs) : Experts{};
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == nullptr) continue;
    uint64_t bytes = value_bytes(*inputs[i]).value_or(0);
    if (picks(node.op_type(), i)) bytes = std::min(bytes, written);
    bytes = bytes_of_rows(node, inputs, i, bytes);
    if (has_experts && i >= 2) bytes = bytes / experts.count * experts.chosen;
    read = saturating_add(read, bytes);
  }
  return saturating_add(read, written);
}

}  // namespace

Work count_work(const NodeProto& node, Inputs inputs, Outputs outputs) {
  Work work;
  work.operator_class = operator_class_of(node.op_type());
  if (const Counter counter = counter_for(node.op_type(), work.operator_class)) {
    work.flops = counter(node, inputs, outputs);
  }
  work.bytes = std::max<uint64_t>(bytes_moved(node, work.operator_class, inputs, outputs), 1);
  return work;
}

}  // namespace placeto
