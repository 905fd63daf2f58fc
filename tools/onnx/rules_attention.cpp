// Shapes of attention: ONNX's own (operator set 23) and ONNX Runtime's.
#include "tools/onnx/attention.h"
#include "tools/onnx/shape_rules.h"

namespace placeto::shape_rules {
namespace {

using onnx::NodeProto;
using onnx::TensorProto;

// Keys or values that are kept: of the type and the shape of the past ones (input `past`) but for
// how many there are (along `axis`). Without a past they have the type and shape given here.
void set_present(Outputs outputs, size_t i, Inputs inputs, size_t past, size_t axis, int32_t type,
                 Dims dims) {
  const Value* before = past != 0 ? known(inputs, past) : nullptr;
  if (before != nullptr && before->dims()->size() == dims.size()) {
    const int64_t length = dims[axis];
    dims = *before->dims();
    dims[axis] = length;
    type = before->element_type();
  }
  set(outputs, i, type, dims);
}

// Attention with weights has keys and values in one.
bool projecting_attention(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const auto sizes = attention_sizes(node, inputs);
  if (!sizes) return false;
  const bool quantized = node.op_type() == "QAttention";
  const int32_t type = quantized ? int32_t{TensorProto::FLOAT} : inputs[0]->element_type();
  set(outputs, 0, type, sizes->result);
  set_present(outputs, 1, inputs, sizes->past, 3, type,
              {2, sizes->batch, sizes->heads, sizes->present, sizes->value_width});
  return true;
}

// Attention -> result, keys, values, products of queries and keys.
bool attention(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const auto sizes = attention_sizes(node, inputs);
  if (!sizes) return false;
  const int32_t type = inputs[0]->element_type();
  const size_t past = sizes->past;
  set(outputs, 0, type, sizes->result);
  set_present(outputs, 1, inputs, past, 2, type,
              {sizes->batch, sizes->key_heads, sizes->present, sizes->width});
  set_present(outputs, 2, inputs, past + 1, 2, type,
              {sizes->batch, sizes->key_heads, sizes->present, sizes->value_width});
  set(outputs, 3, type, {sizes->batch, sizes->heads, sizes->queries, sizes->total});
  return true;
}

}  // namespace

void add_attention(Rules& rules) {
  rules["Attention"] = attention;
}

void add_microsoft_attention(Rules& rules) {
  for (const char* name :
       {"Attention", "DecoderMaskedSelfAttention", "QAttention", "PackedAttention"}) {
    rules[name] = projecting_attention;
  }
  for (const char* name : {"MultiHeadAttention", "DecoderMaskedMultiHeadAttention",
                           "PackedMultiHeadAttention", "GroupQueryAttention", "SparseAttention"}) {
    rules[name] = attention;
  }
}

}  // namespace placeto::shape_rules
