#include <algorithm>

#include "runtime/base/saturating.h"
#include "tools/costs/function_flops.h"
#include "tools/onnx/attention.h"
#include "tools/onnx/counting.h"

namespace placeto::counting {
namespace {

uint64_t known_part(int64_t size) {
  return static_cast<uint64_t>(std::max<int64_t>(size, 0));
}

}  // namespace

// Products of queries and keys, a softmax of each, sums of values; before them the product with the
// weights, if there are any. Where it is not known how much of a buffer is filled, all of it is.
uint64_t attention_flops(const onnx::NodeProto& node, Inputs inputs, Outputs) {
  const auto sizes = attention_sizes(node, inputs);
  if (!sizes) return 0;
  int64_t keys = sizes->total >= 0 ? sizes->total : sizes->present;
  if (sizes->window > 0) keys = std::min(keys, sizes->window);
  const uint64_t rows = saturating_product(known_part(sizes->batch), known_part(sizes->queries));
  const uint64_t scores =
      saturating_product(saturating_product(rows, known_part(sizes->heads)), known_part(keys));
  const uint64_t widths = saturating_add(known_part(sizes->width), known_part(sizes->value_width));
  const uint64_t attended =
      saturating_product(scores, saturating_add(saturating_product(2, widths), kFunctionFlops + 3));
  const uint64_t weights = sizes->projects ? count_at(inputs, 1) : 0;
  return saturating_add(attended, saturating_product(saturating_product(2, rows), weights));
}

}  // namespace placeto::counting
