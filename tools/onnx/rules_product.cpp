// Shapes of matrix products, embeddings and recurrent operators of ONNX Runtime.
#include <algorithm>

#include "tools/onnx/einsum.h"
#include "tools/onnx/shape_rules.h"

namespace placeto::shape_rules {
namespace {

using onnx::NodeProto;
using onnx::TensorProto;

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

// FusedMatMul with transBatchA or transBatchB: rows, or what stands for them, go before the
// batches.
Dims rows_behind_batches(Dims dims, bool is_before) {
  if (is_before && dims.size() > 2) std::rotate(dims.begin(), dims.begin() + 1, dims.end() - 1);
  return dims;
}

// Where the matrices of an operator are among its inputs, and the type of the product.
bool product_of(const NodeProto& node, Inputs inputs, size_t a, size_t b, int32_t type,
                Outputs outputs) {
  const Value *left = known(inputs, a), *right = known(inputs, b);
  if (left == nullptr || right == nullptr) return false;
  const Dims one = rows_behind_batches(*left->dims(), int_attribute(node, "transBatchA", 0) != 0);
  const Dims other =
      rows_behind_batches(*right->dims(), int_attribute(node, "transBatchB", 0) != 0);
  const auto dims = matrix_product(one, other, int_attribute(node, "transA", 0) != 0,
                                   int_attribute(node, "transB", 0) != 0);
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

// MatMulNBits, ...: B is packed; its shape is in attributes.
bool packed_product(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const Value* x = known(inputs, 0);
  const int64_t columns = int_attribute(node, "N", 0);
  if (x == nullptr || columns <= 0 || x->dims()->empty()) return false;
  Dims dims = *x->dims();
  dims.back() = columns;
  set(outputs, 0, x->element_type(), dims);
  return true;
}

// MatMulFpQ4(A, B, shape of B): B is packed, and stands for [inner, columns].
bool sized_product(const NodeProto&, Inputs inputs, Outputs outputs) {
  const Value* x = known(inputs, 0);
  const Constant* shape = constant(inputs, 2);
  if (x == nullptr || x->dims()->empty() || shape == nullptr || !shape->whole()) return false;
  if (shape->size() != 2 || shape->ints[1] < 0) return false;
  Dims dims = *x->dims();
  dims.back() = shape->ints[1];
  set(outputs, 0, x->element_type(), dims);
  return true;
}

// GemmFloat8(A, B, C, scales...): of the type that `dtype` says.
bool typed_product(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const auto type = static_cast<int32_t>(int_attribute(node, "dtype", TensorProto::FLOAT));
  return product_of(node, inputs, 0, 1, type, outputs);
}

// EmbedLayerNormalization(input_ids, segment_ids, word_embedding, ...)
bool embedding(const NodeProto&, Inputs inputs, Outputs outputs) {
  const Value *ids = known(inputs, 0), *table = known(inputs, 2);
  if (ids == nullptr || table == nullptr || table->dims()->size() != 2) return false;
  Dims dims = *ids->dims();
  dims.push_back(table->dims()->back());
  set(outputs, 0, table->element_type(), dims);
  set(outputs, 1, TensorProto::INT32, {dims[0]});
  set(outputs, 2, table->element_type(), dims);  // the sum before normalization
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

bool einsum(const NodeProto& node, Inputs inputs, Outputs outputs) {
  std::vector<Dims> operands;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value* x = known(inputs, i);
    if (x == nullptr) return false;
    operands.push_back(*x->dims());
  }
  const auto axes = einsum_axes(text_attribute(node, "equation", ""), operands);
  if (!axes || operands.empty()) return false;
  Dims dims;
  for (const char c : axes->result) {
    if (c == '.') {
      dims.insert(dims.end(), axes->dots.begin(), axes->dots.end());
    } else {
      dims.push_back(axes->extent.at(c));
    }
  }
  if (dims.size() > kMaxRank) return false;
  set(outputs, 0, inputs[0]->element_type(), dims);
  return true;
}

}  // namespace

void add_products(Rules& rules) {
  rules["Einsum"] = einsum;
}

void add_microsoft_products(Rules& rules) {
  for (const char* name :
       {"FusedMatMul", "FusedMatMulActivation", "FusedGemm", "TransposeMatMul", "GemmFastGelu"}) {
    rules[name] = same_product;
  }
  rules["DynamicQuantizeMatMul"] = float_product;
  rules["MatMulIntegerToFloat"] = float_product;
  rules["MatMulNBits"] = packed_product;
  rules["MatMulBnb4"] = packed_product;
  rules["MatMulFpQ4"] = sized_product;
  rules["GemmFloat8"] = typed_product;
  rules["QGemm"] = quantized_gemm;
  rules["EmbedLayerNormalization"] = embedding;
  rules["DynamicQuantizeLSTM"] = quantized_lstm;
}

}  // namespace placeto::shape_rules
