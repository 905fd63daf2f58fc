// The halves of a transformer layer. Vaswani et al., "Attention Is All You Need", NeurIPS 2017.
#pragma once

#include "tools/workloads/layers.h"

namespace placeto {

inline constexpr uint64_t kHeadSize = 64;  // in BERT, GPT-2 and the mixture here

// Multi-head self-attention of x, [batch, length, hidden]: query, key and value projections,
// scores, softmax, weighted values, output projection. Splitting into heads is a view: products
// read the projections with strides. The scaling (and mask) belong to the softmax.
Tensor self_attention(NetworkBuilder& b, const std::string& name, Tensor x);

// Two dense layers with a GELU between them, four times as wide inside.
Tensor feed_forward(NetworkBuilder& b, const std::string& name, Tensor x);

// Rows out of each sample of x, [batch, length, hidden]: [batch, rows..., hidden].
Tensor take_rows(NetworkBuilder& b, const std::string& name, Tensor x, Shape rows);

// kInvalidArgument unless hidden is a multiple of the head size.
Status check_heads(uint64_t hidden);

}  // namespace placeto
