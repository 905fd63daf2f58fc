#include "tools/onnx/rules.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <unordered_map>

namespace placeto {
namespace {

using onnx::NodeProto;
using onnx::TensorProto;
using Inputs = std::span<const Value* const>;
using Outputs = std::span<Value>;

const Value* known(Inputs inputs, size_t i) {
  return i < inputs.size() && inputs[i] != nullptr && inputs[i]->dims() ? inputs[i] : nullptr;
}

const Constant* constant(Inputs inputs, size_t i) {
  return i < inputs.size() && inputs[i] != nullptr ? inputs[i]->constant.get() : nullptr;
}

// Lengths and offsets beyond this are damage, and their sums would overflow.
constexpr int64_t kMost = int64_t{1} << 40;
bool reasonable(int64_t x) {
  return x >= -kMost && x <= kMost;
}

bool given(Inputs inputs, size_t i) {
  return i < inputs.size() && inputs[i] != nullptr;
}

void set(Outputs outputs, size_t i, int32_t type, const Dims& dims) {
  if (i < outputs.size()) outputs[i].set_tensor(type, dims);
}

// --- one output like the first input

bool same_as_first(const NodeProto&, Inputs inputs, Outputs outputs) {
  const Value* x = known(inputs, 0);
  if (x == nullptr) return false;
  set(outputs, 0, x->element_type(), *x->dims());
  return true;
}

// y, and the mean and inverse deviation that training wants, one per normalized row.
bool normalization(const NodeProto& node, Inputs inputs, Outputs outputs) {
  if (!same_as_first(node, inputs, outputs)) return false;
  Dims rows = *inputs[0]->dims();
  const auto axis = resolve_axis(int_attribute(node, "axis", -1), rows.size());
  if (!axis) return true;
  for (size_t a = *axis; a < rows.size(); ++a) rows[a] = 1;
  set(outputs, 1, TensorProto::FLOAT, rows);
  set(outputs, 2, TensorProto::FLOAT, rows);
  return true;
}

// SkipLayerNormalization: the fourth output is the sum before normalization.
bool skip_normalization(const NodeProto& node, Inputs inputs, Outputs outputs) {
  if (!normalization(node, inputs, outputs)) return false;
  set(outputs, 3, inputs[0]->element_type(), *inputs[0]->dims());
  return true;
}

// --- elementwise on two operands; where: on three, the first a condition

bool elementwise_type(Inputs inputs, std::span<const size_t> operands, int32_t type, Outputs out) {
  Dims dims;
  for (size_t i : operands) {
    if (!given(inputs, i)) continue;
    const Value* x = known(inputs, i);
    const auto together = x != nullptr ? broadcast(dims, *x->dims()) : std::nullopt;
    if (!together) return false;
    dims = *together;
  }
  set(out, 0, type, dims);
  return true;
}

bool elementwise(const NodeProto&, Inputs inputs, Outputs outputs) {
  constexpr size_t kOperands[] = {0, 1};
  return given(inputs, 0) &&
         elementwise_type(inputs, kOperands, inputs[0]->element_type(), outputs);
}

bool comparison(const NodeProto&, Inputs inputs, Outputs outputs) {
  constexpr size_t kOperands[] = {0, 1};
  return given(inputs, 0) && elementwise_type(inputs, kOperands, TensorProto::BOOL, outputs);
}

// QLinearAdd(a, a_scale, a_zero, b, b_scale, b_zero, ...)
bool quantized_elementwise(const NodeProto&, Inputs inputs, Outputs outputs) {
  constexpr size_t kOperands[] = {0, 3};
  return given(inputs, 0) &&
         elementwise_type(inputs, kOperands, inputs[0]->element_type(), outputs);
}

// --- reductions: axes as an attribute or an input

bool reduce(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const Value* x = known(inputs, 0);
  if (x == nullptr) return false;
  const Dims in = *x->dims();
  std::vector<int64_t> axes = ints_attribute(node, "axes");
  if (given(inputs, 1)) {
    const Constant* wanted = constant(inputs, 1);
    if (wanted == nullptr || !wanted->whole()) return false;
    axes = wanted->ints;
  }
  const bool nothing = axes.empty() && int_attribute(node, "noop_with_empty_axes", 0) != 0;
  std::vector<bool> reduced(in.size(), axes.empty() && !nothing);
  for (int64_t axis : axes) {
    const auto at = resolve_axis(axis, in.size());
    if (!at) return false;
    reduced[*at] = true;
  }
  Dims dims;
  const bool keep = int_attribute(node, "keepdims", 1) != 0;
  for (size_t a = 0; a < in.size(); ++a) {
    if (!reduced[a]) dims.push_back(in[a]);
    if (reduced[a] && keep) dims.push_back(1);
  }
  set(outputs, 0, x->element_type(), dims);
  return true;
}

// --- quantization

bool quantize(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const Value* x = known(inputs, 0);
  if (x == nullptr) return false;
  int32_t type = given(inputs, 2) ? inputs[2]->element_type() : int32_t{TensorProto::UINT8};
  const auto wanted = static_cast<int32_t>(int_attribute(node, "output_dtype", 0));
  if (wanted != 0) type = wanted;
  set(outputs, 0, type, *x->dims());
  return true;
}

bool dequantize(const NodeProto&, Inputs inputs, Outputs outputs) {
  const Value* x = known(inputs, 0);
  if (x == nullptr || !given(inputs, 1)) return false;
  set(outputs, 0, inputs[1]->element_type(), *x->dims());
  return true;
}

// --- matrices

std::optional<Dims> matrix_product(Dims a, Dims b, bool transpose_a, bool transpose_b) {
  if (a.empty() || b.empty()) return std::nullopt;
  const bool row = a.size() == 1, column = b.size() == 1;
  if (row) a.insert(a.begin(), 1);
  if (column) b.push_back(1);
  if (transpose_a && !row) std::swap(a[a.size() - 1], a[a.size() - 2]);
  if (transpose_b && !column) std::swap(b[b.size() - 1], b[b.size() - 2]);
  auto dims = broadcast({a.begin(), a.end() - 2}, {b.begin(), b.end() - 2});
  if (!dims) return std::nullopt;
  if (!row) dims->push_back(a[a.size() - 2]);
  if (!column) dims->push_back(b.back());
  return dims;
}

// Where the matrices of an operator are among its inputs, and the type of the product.
bool product_of(const NodeProto& node, Inputs inputs, size_t a, size_t b, int32_t type,
                Outputs outputs) {
  const Value *left = known(inputs, a), *right = known(inputs, b);
  if (left == nullptr || right == nullptr) return false;
  const auto dims = matrix_product(*left->dims(), *right->dims(), int_attribute(node, "transA", 0),
                                   int_attribute(node, "transB", 0));
  if (!dims) return false;
  set(outputs, 0, type, *dims);
  return true;
}

bool float_product(const NodeProto& node, Inputs inputs, Outputs outputs) {
  return product_of(node, inputs, 0, 1, TensorProto::FLOAT, outputs);
}

bool same_product(const NodeProto& node, Inputs inputs, Outputs outputs) {
  return given(inputs, 0) && product_of(node, inputs, 0, 1, inputs[0]->element_type(), outputs);
}

// QGemm(A, a_scale, a_zero, B, b_scale, b_zero, C, y_scale, y_zero): float without a y_scale.
bool quantized_gemm(const NodeProto& node, Inputs inputs, Outputs outputs) {
  if (!given(inputs, 0)) return false;
  const int32_t type = given(inputs, 7) ? inputs[0]->element_type() : int32_t{TensorProto::FLOAT};
  return product_of(node, inputs, 0, 3, type, outputs);
}

// MatMulNBits: B is packed; its shape is in attributes.
bool packed_product(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const Value* x = known(inputs, 0);
  const int64_t columns = int_attribute(node, "N", 0);
  if (x == nullptr || columns <= 0 || x->dims()->empty()) return false;
  Dims dims = *x->dims();
  dims.back() = columns;
  set(outputs, 0, x->element_type(), dims);
  return true;
}

// --- attention of com.microsoft: [batch, sequence, hidden]

// Attention(input, weights [hidden, 3 hidden], ...)
bool packed_attention(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const Value *x = known(inputs, 0), *weights = known(inputs, 1);
  if (x == nullptr || x->dims()->size() != 3) return false;
  Dims dims = *x->dims();
  const auto sizes = ints_attribute(node, "qkv_hidden_sizes");
  if (sizes.size() == 3) {
    dims[2] = sizes[2];
  } else if (weights != nullptr && !weights->dims()->empty() && weights->dims()->back() > 0) {
    dims[2] = weights->dims()->back() / 3;
  }
  const bool quantized = node.op_type() == "QAttention";
  set(outputs, 0, quantized ? int32_t{TensorProto::FLOAT} : x->element_type(), dims);
  return true;
}

// MultiHeadAttention and GroupQueryAttention: as wide as the query, or as the values where given.
bool attention(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const Value *query = known(inputs, 0), *value = known(inputs, 2);
  if (query == nullptr || query->dims()->size() != 3) return false;
  Dims dims = *query->dims();
  const bool grouped = node.op_type() == "GroupQueryAttention";
  if (!grouped && value != nullptr && value->dims()->size() == 3) dims[2] = value->dims()->back();
  set(outputs, 0, query->element_type(), dims);
  return outputs.size() == 1;  // the present key and value follow from the past ones
}

// EmbedLayerNormalization(input_ids, segment_ids, word_embedding, ...)
bool embedding(const NodeProto&, Inputs inputs, Outputs outputs) {
  const Value *ids = known(inputs, 0), *table = known(inputs, 2);
  if (ids == nullptr || table == nullptr || table->dims()->size() != 2) return false;
  Dims dims = *ids->dims();
  dims.push_back(table->dims()->back());
  set(outputs, 0, table->element_type(), dims);
  set(outputs, 1, TensorProto::INT32, {dims[0]});
  return true;
}

// DynamicQuantizeLSTM(X [steps, batch, in], W [directions, in, 4 hidden], R [.., hidden, ..], ...)
bool quantized_lstm(const NodeProto&, Inputs inputs, Outputs outputs) {
  const Value *x = known(inputs, 0), *r = known(inputs, 2);
  if (x == nullptr || r == nullptr || x->dims()->size() != 3 || r->dims()->size() != 3)
    return false;
  const Dims in = *x->dims(), weights = *r->dims();
  const Dims state = {weights[0], in[1], weights[1]};
  set(outputs, 0, x->element_type(), {in[0], weights[0], in[1], weights[1]});
  set(outputs, 1, x->element_type(), state);
  set(outputs, 2, x->element_type(), state);
  return true;
}

// --- images

bool global_pool(const NodeProto&, Inputs inputs, Outputs outputs) {
  const Value* x = known(inputs, 0);
  if (x == nullptr || x->dims()->size() < 3) return false;
  Dims dims = *x->dims();
  for (size_t a = 2; a < dims.size(); ++a) dims[a] = 1;
  set(outputs, 0, x->element_type(), dims);
  return true;
}

int64_t entry(const std::vector<int64_t>& list, size_t i, int64_t fallback) {
  return i < list.size() ? list[i] : fallback;
}

// Positions of a window along one axis; kUnknownDim if the numbers make no sense.
int64_t positions(const NodeProto& node, size_t axis, size_t axes, int64_t length, int64_t kernel) {
  const int64_t stride = entry(ints_attribute(node, "strides"), axis, 1);
  const int64_t dilation = entry(ints_attribute(node, "dilations"), axis, 1);
  const auto pads = ints_attribute(node, "pads");
  for (int64_t number : {length, kernel, stride, dilation}) {
    if (number <= 0 || number > kMost) return kUnknownDim;
  }
  const std::string automatic = text_attribute(node, "auto_pad", "NOTSET");
  if (automatic.starts_with("SAME")) return (length - 1) / stride + 1;
  int64_t padded = length;
  if (automatic == "NOTSET") {
    const int64_t before = entry(pads, axis, 0), after = entry(pads, axis + axes, 0);
    if (!reasonable(before) || !reasonable(after)) return kUnknownDim;
    padded += before + after;
  }
  if (kernel > kMost / dilation) return kUnknownDim;
  const int64_t room = padded - ((kernel - 1) * dilation + 1);
  if (room < 0) return kUnknownDim;
  const bool ceil = int_attribute(node, "ceil_mode", 0) != 0;
  return (room + (ceil ? stride - 1 : 0)) / stride + 1;
}

// Convolutions and pools on [batch, channels, axes...]; `weights` is the shape of the filter, or
// null for a pool, which has kernel_shape.
bool window(const NodeProto& node, const Value& x, const Dims* weights, int32_t type, Outputs out) {
  const Dims in = *x.dims();
  if (in.size() < 3 || (weights != nullptr && weights->size() != in.size())) return false;
  const auto kernel = ints_attribute(node, "kernel_shape");
  Dims dims = {in[0], weights != nullptr ? (*weights)[0] : in[1]};
  for (size_t a = 0; a + 2 < in.size(); ++a) {
    const int64_t width = weights != nullptr ? (*weights)[a + 2] : entry(kernel, a, kUnknownDim);
    dims.push_back(positions(node, a, in.size() - 2, in[a + 2], width));
  }
  set(out, 0, type, dims);
  return true;
}

bool pool(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const Value* x = known(inputs, 0);
  if (x == nullptr || !window(node, *x, nullptr, x->element_type(), outputs)) return false;
  if (outputs.size() > 1) set(outputs, 1, TensorProto::INT64, *outputs[0].dims());
  return true;
}

bool convolution(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const Value *x = known(inputs, 0), *filter = known(inputs, 1);
  if (x == nullptr || filter == nullptr) return false;
  const Dims weights = *filter->dims();
  return window(node, *x, &weights, x->element_type(), outputs);
}

// Resize(X, roi, scales, sizes), in opset 10 (X, scales), with the axes of opset 18.
bool resize(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const Value* x = known(inputs, 0);
  if (x == nullptr) return false;
  Dims dims = *x->dims();
  if (text_attribute(node, "keep_aspect_ratio_policy", "stretch") != "stretch") return false;
  const Constant* sizes = constant(inputs, 3);
  const Constant* scales = constant(inputs, inputs.size() == 2 ? 1 : 2);
  const bool by_size = sizes != nullptr && sizes->size() > 0;
  const Constant* factors = by_size ? sizes : scales;
  if (factors == nullptr || factors->size() == 0 || factors->whole() != by_size) return false;
  std::vector<int64_t> axes = ints_attribute(node, "axes");
  if (axes.empty()) {
    axes.resize(dims.size());
    std::iota(axes.begin(), axes.end(), int64_t{0});
  }
  if (axes.size() != factors->size()) return false;
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto at = resolve_axis(axes[i], dims.size());
    if (!at) return false;
    int64_t& dim = dims[*at];
    const double scaled = std::floor(static_cast<double>(dim) * factors->number(i));
    if (by_size) {
      dim = factors->ints[i] >= 0 ? factors->ints[i] : kUnknownDim;
    } else if (dim >= 0) {
      dim = scaled >= 0 && scaled < 1e15 ? static_cast<int64_t>(scaled) : kUnknownDim;
    }
  }
  set(outputs, 0, x->element_type(), dims);
  return true;
}

// --- rearrangement

// Pad(data, pads, value, axes)
bool pad(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const Value* x = known(inputs, 0);
  if (x == nullptr) return false;
  Dims dims = *x->dims();
  std::vector<int64_t> pads = ints_attribute(node, "pads"), axes(dims.size());
  std::iota(axes.begin(), axes.end(), int64_t{0});
  if (given(inputs, 1)) {
    if (constant(inputs, 1) == nullptr) return false;
    pads = constant(inputs, 1)->ints;
  }
  if (given(inputs, 3)) {
    if (constant(inputs, 3) == nullptr) return false;
    axes = constant(inputs, 3)->ints;
  }
  if (pads.size() != 2 * axes.size()) return false;
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto at = resolve_axis(axes[i], dims.size());
    const int64_t before = pads[i], after = pads[i + axes.size()];
    if (!at || !reasonable(before) || !reasonable(after)) return false;
    int64_t& dim = dims[*at];
    if (dim >= 0 && dim <= kMost) dim = std::max<int64_t>(dim + before + after, 0);
  }
  set(outputs, 0, x->element_type(), dims);
  return true;
}

// Split by lengths, or into equal parts of which the last may be shorter (opset 18).
bool split(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const Value* x = known(inputs, 0);
  if (x == nullptr || outputs.empty()) return false;
  Dims dims = *x->dims();
  const auto at = resolve_axis(int_attribute(node, "axis", 0), dims.size());
  if (!at) return false;
  std::vector<int64_t> lengths = ints_attribute(node, "split");
  if (given(inputs, 1)) {
    if (constant(inputs, 1) == nullptr) return false;
    lengths = constant(inputs, 1)->ints;
  }
  const auto parts = static_cast<int64_t>(outputs.size());
  const int64_t whole = dims[*at], each = whole < 0 ? kUnknownDim : (whole - 1) / parts + 1;
  if (!lengths.empty() && lengths.size() != outputs.size()) return false;
  for (int64_t i = 0; i < parts; ++i) {
    dims[*at] = whole < 0 ? kUnknownDim : std::clamp<int64_t>(whole - i * each, 0, each);
    if (!lengths.empty()) dims[*at] = std::max(lengths[static_cast<size_t>(i)], kUnknownDim);
    set(outputs, static_cast<size_t>(i), x->element_type(), dims);
  }
  return true;
}

// GatherND(data, indices): each last row of indices is a place in data, behind the batch axes.
bool gather_places(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const Value *data = known(inputs, 0), *indices = known(inputs, 1);
  if (data == nullptr || indices == nullptr || indices->dims()->empty()) return false;
  const Dims from = *data->dims();
  Dims dims = *indices->dims();
  const int64_t depth = dims.back(), batch = int_attribute(node, "batch_dims", 0);
  const auto rank = static_cast<int64_t>(from.size());
  if (depth < 0 || batch < 0 || depth > rank || batch > rank - depth) return false;
  dims.pop_back();
  dims.insert(dims.end(), from.begin() + batch + depth, from.end());
  set(outputs, 0, data->element_type(), dims);
  return true;
}

// QLinearConcat(y_scale, y_zero, x0, x0_scale, x0_zero, x1, ...)
bool quantized_concat(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const Value* first = known(inputs, 2);
  if (first == nullptr) return false;
  Dims dims = *first->dims();
  const auto at = resolve_axis(int_attribute(node, "axis", 0), dims.size());
  if (!at) return false;
  for (size_t i = 5; i < inputs.size(); i += 3) {
    const Value* x = known(inputs, i);
    if (x == nullptr || x->dims()->size() != dims.size()) return false;
    const int64_t more = (*x->dims())[*at];
    if (more < 0 || more > kMost || dims[*at] < 0 || dims[*at] > kMost) return false;
    dims[*at] += more;
  }
  set(outputs, 0, first->element_type(), dims);
  return true;
}

using Rule = bool (*)(const NodeProto&, Inputs, Outputs);
using Rules = std::unordered_map<std::string_view, Rule>;

// Operators whose newest form libonnx 1.12 (opset 17) does not know, or gets less from.
const Rules& default_rules() {
  static const Rules table = {{"ReduceSum", reduce},
                              {"ReduceMean", reduce},
                              {"ReduceMax", reduce},
                              {"ReduceMin", reduce},
                              {"ReduceProd", reduce},
                              {"ReduceL1", reduce},
                              {"ReduceL2", reduce},
                              {"ReduceLogSum", reduce},
                              {"ReduceLogSumExp", reduce},
                              {"ReduceSumSquare", reduce},
                              {"Resize", resize},
                              {"Pad", pad},
                              {"GatherND", gather_places},
                              {"Split", split},
                              {"QuantizeLinear", quantize},
                              {"AveragePool", pool},
                              {"MaxPool", pool},
                              {"DequantizeLinear", dequantize},
                              {"Gelu", same_as_first},
                              {"Mish", same_as_first},
                              {"Swish", same_as_first},
                              {"HardSwish", same_as_first},
                              {"GroupNormalization", same_as_first},
                              {"LayerNormalization", normalization},
                              {"RMSNormalization", normalization},
                              {"RotaryEmbedding", same_as_first},
                              {"BitwiseAnd", elementwise},
                              {"GreaterOrEqual", comparison},
                              {"LessOrEqual", comparison},
                              {"BitwiseOr", elementwise},
                              {"BitwiseXor", elementwise},
                              {"BitwiseNot", same_as_first}};
  return table;
}

// https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
const Rules& microsoft_rules() {
  static const Rules table = {{"Gelu", same_as_first},
                              {"FastGelu", same_as_first},
                              {"QuickGelu", same_as_first},
                              {"BiasGelu", same_as_first},
                              {"BiasSoftmax", same_as_first},
                              {"QLinearSigmoid", same_as_first},
                              {"QLinearLeakyRelu", same_as_first},
                              {"QLinearSoftmax", same_as_first},
                              {"RotaryEmbedding", same_as_first},
                              {"SimplifiedLayerNormalization", normalization},
                              {"SkipLayerNormalization", skip_normalization},
                              {"SkipSimplifiedLayerNormalization", skip_normalization},
                              {"EmbedLayerNormalization", embedding},
                              {"QLinearAdd", quantized_elementwise},
                              {"QLinearMul", quantized_elementwise},
                              {"QuantizeLinear", quantize},
                              {"DequantizeLinear", dequantize},
                              {"FusedMatMul", same_product},
                              {"FusedGemm", same_product},
                              {"TransposeMatMul", same_product},
                              {"GemmFastGelu", same_product},
                              {"DynamicQuantizeMatMul", float_product},
                              {"MatMulIntegerToFloat", float_product},
                              {"MatMulNBits", packed_product},
                              {"QGemm", quantized_gemm},
                              {"Attention", packed_attention},
                              {"QAttention", packed_attention},
                              {"MultiHeadAttention", attention},
                              {"GroupQueryAttention", attention},
                              {"DynamicQuantizeLSTM", quantized_lstm},
                              {"FusedConv", convolution},
                              {"QLinearGlobalAveragePool", global_pool},
                              {"QLinearAveragePool", pool},
                              {"QLinearConcat", quantized_concat}};
  return table;
}

}  // namespace

bool apply_shape_rule(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const bool microsoft = node.domain() == "com.microsoft" || node.domain() == "com.microsoft.nchwc";
  if (!microsoft && !is_default_domain(node.domain())) return false;
  const Rules& rules = microsoft ? microsoft_rules() : default_rules();
  const auto rule = rules.find(node.op_type());
  return rule != rules.end() && rule->second(node, inputs, outputs);
}

}  // namespace placeto
