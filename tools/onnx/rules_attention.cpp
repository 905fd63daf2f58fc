// Shapes of attention: ONNX's own (operator set 23) and ONNX Runtime's.
// https://github.com/onnx/onnx/blob/main/docs/Operators.md#Attention, and ContribOperators.md
// there.
#include <algorithm>

#include "tools/onnx/shape_rules.h"

namespace placeto::shape_rules {
namespace {

using onnx::NodeProto;
using onnx::TensorProto;

int64_t sum(int64_t a, int64_t b) {
  return a < 0 || b < 0 || a > kMost || b > kMost ? kUnknownDim : a + b;
}

int64_t part(int64_t whole, int64_t count) {
  return whole < 0 || count <= 0 ? kUnknownDim : whole / count;
}

// Input i as [batch, heads, positions, width]; null if it is not known as such.
const Value* heads_apart(Inputs inputs, size_t i) {
  const Value* x = known(inputs, i);
  return x != nullptr && x->dims()->size() == 4 ? x : nullptr;
}

// Present keys or values: the past ones (input `past`), and behind them as many as there are new.
// Without a past they have the shape given here.
void set_present(Outputs outputs, size_t i, Inputs inputs, size_t past, int32_t type, Dims dims) {
  if (i >= outputs.size()) return;
  if (const Value* before = heads_apart(inputs, past)) {
    const int64_t fresh = dims[2];
    dims = *before->dims();
    dims[2] = sum(dims[2], fresh);
  }
  set(outputs, i, type, dims);
}

// Attention(input, weights [hidden, 3 hidden], bias, mask, past [2, batch, heads, length, width])
bool packed_attention(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const Value *x = known(inputs, 0), *weights = known(inputs, 1);
  if (x == nullptr || x->dims()->size() != 3) return false;
  const Dims in = *x->dims();
  Dims dims = in;
  const auto sizes = ints_attribute(node, "qkv_hidden_sizes");
  if (sizes.size() == 3) {
    dims[2] = sizes[2];
  } else if (weights != nullptr && !weights->dims()->empty() && weights->dims()->back() > 0) {
    dims[2] = weights->dims()->back() / 3;
  }
  const bool quantized = node.op_type() == "QAttention";
  const int32_t type = quantized ? int32_t{TensorProto::FLOAT} : x->element_type();
  set(outputs, 0, type, dims);
  const int64_t heads = int_attribute(node, "num_heads", 0);
  Dims present = {2, in[0], heads, in[1], part(dims[2], heads)};
  const Value* past = known(inputs, quantized ? 8 : 4);
  if (past != nullptr && past->dims()->size() == 5) present[3] = sum((*past->dims())[3], in[1]);
  set(outputs, 1, type, present);
  return true;
}

// MultiHeadAttention(query, key, value, bias, mask, attention_bias, past_key, past_value), or
// packed: query [batch, length, heads, 3, width], or key [batch, length, heads, 2, width].
bool multi_head(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const Value *query = known(inputs, 0), *key = known(inputs, 1), *value = known(inputs, 2);
  if (query == nullptr) return false;
  const Dims q = *query->dims();
  const int64_t heads = int_attribute(node, "num_heads", 0);
  if (heads <= 0 || (q.size() != 3 && q.size() != 5)) return false;
  const int64_t width = q.size() == 5 ? q[4] : part(q[2], heads);
  int64_t value_width = width, length = q[1];
  if (key != nullptr && key->dims()->size() == 4) length = (*key->dims())[2];
  if (key != nullptr && (key->dims()->size() == 3 || key->dims()->size() == 5)) {
    length = (*key->dims())[1];
  }
  if (value != nullptr && value->dims()->size() == 3)
    value_width = part(value->dims()->back(), heads);
  if (value != nullptr && value->dims()->size() == 4) value_width = value->dims()->back();
  const bool sensible = value_width >= 0 && value_width <= kMost / heads;
  set(outputs, 0, query->element_type(),
      {q[0], q[1], sensible ? value_width * heads : kUnknownDim});
  set_present(outputs, 1, inputs, 6, query->element_type(), {q[0], heads, length, width});
  set_present(outputs, 2, inputs, 7, query->element_type(), {q[0], heads, length, value_width});
  const Value* past = heads_apart(inputs, 6);
  const int64_t total = past != nullptr ? sum((*past->dims())[2], length) : length;
  set(outputs, 3, query->element_type(), {q[0], heads, q[1], total});
  return true;
}

// GroupQueryAttention(query, key, value, past_key, past_value, lengths, total length, ...): without
// a key, the query holds all three. A past that has room for all is the present, too; where the
// total is not known it is taken to be both together.
bool grouped(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const Value *query = known(inputs, 0), *key = known(inputs, 1);
  const int64_t heads = int_attribute(node, "num_heads", 0);
  const int64_t kv_heads = int_attribute(node, "kv_num_heads", 0);
  const bool counted = heads > 0 && kv_heads > 0 && heads <= kMost && kv_heads <= kMost;
  if (query == nullptr || query->dims()->size() != 3 || !counted) return false;
  const Dims q = *query->dims();
  const bool packed = !given(inputs, 1);
  if (!packed && (key == nullptr || key->dims()->size() != 3)) return false;
  const int64_t width = part(q[2], packed ? heads + 2 * kv_heads : heads);
  const int64_t length = packed ? q[1] : (*key->dims())[1];
  const Constant* total = constant(inputs, 6);
  const bool counted_all = total != nullptr && total->whole() && total->size() == 1;
  const bool sensible = width >= 0 && width <= kMost / heads;
  set(outputs, 0, query->element_type(), {q[0], q[1], sensible ? width * heads : kUnknownDim});
  for (size_t i : {size_t{1}, size_t{2}}) {
    set_present(outputs, i, inputs, i + 2, query->element_type(), {q[0], kv_heads, length, width});
    const Value* past = heads_apart(inputs, i + 2);
    if (!counted_all || past == nullptr || i >= outputs.size()) continue;
    Dims present = *past->dims();
    if (present[2] >= 0) present[2] = std::max(present[2], std::min(total->ints[0], kMost));
    set(outputs, i, query->element_type(), present);
  }
  for (size_t i = 3; i < outputs.size(); ++i) {
    set(outputs, i, query->element_type(), {q[0], heads, q[1], kUnknownDim});
  }
  return true;
}

// Attention(Q, K, V, mask, past_key, past_value) of ONNX: heads apart, or side by side with
// q_num_heads and kv_num_heads.
bool onnx_attention(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const Value *query = known(inputs, 0), *key = known(inputs, 1), *value = known(inputs, 2);
  if (query == nullptr || key == nullptr || value == nullptr) return false;
  Dims q = *query->dims(), k = *key->dims(), v = *value->dims();
  if (q.size() != k.size() || q.size() != v.size()) return false;
  const bool apart = q.size() == 4;
  const int64_t heads = int_attribute(node, "q_num_heads", 0);
  const int64_t kv_heads = int_attribute(node, "kv_num_heads", 0);
  if (!apart) {
    if (q.size() != 3 || heads <= 0 || kv_heads <= 0 || heads > kMost) return false;
    q = {q[0], heads, q[1], part(q[2], heads)};
    k = {k[0], kv_heads, k[1], part(k[2], kv_heads)};
    v = {v[0], kv_heads, v[1], part(v[2], kv_heads)};
  }
  const bool sensible = v[3] >= 0 && v[3] <= kMost / std::max<int64_t>(q[1], 1);
  const Dims together = {q[0], q[2], sensible ? v[3] * q[1] : kUnknownDim};
  set(outputs, 0, query->element_type(), apart ? Dims{q[0], q[1], q[2], v[3]} : together);
  set_present(outputs, 1, inputs, 4, key->element_type(), k);
  set_present(outputs, 2, inputs, 5, value->element_type(), v);
  const Value* past = heads_apart(inputs, 4);
  const int64_t total = past != nullptr ? sum((*past->dims())[2], k[2]) : k[2];
  set(outputs, 3, query->element_type(), {q[0], q[1], q[2], total});
  return true;
}

}  // namespace

void add_attention(Rules& rules) {
  rules["Attention"] = onnx_attention;
}

void add_microsoft_attention(Rules& rules) {
  rules["Attention"] = packed_attention;
  rules["QAttention"] = packed_attention;
  rules["MultiHeadAttention"] = multi_head;
  rules["DecoderMaskedMultiHeadAttention"] = multi_head;
  rules["GroupQueryAttention"] = grouped;
  rules["SparseAttention"] = grouped;
}

}  // namespace placeto::shape_rules
