// What an operator does: floating-point operations and bytes, from the shapes of its tensors.
#pragma once

#include <cstdint>
#include <span>

#include "tools/costs/operator_class.h"
#include "tools/onnx/value.h"

namespace placeto {

// More than kMostSize (runtime/base/saturating.h) counts as that.
struct Work {
  uint64_t flops = 0;     // a multiply-add counts 2, a transcendental function kFunctionFlops
  uint64_t bytes = 0;     // read and written, at least 1: a graph takes 0 as "not counted"
  uint64_t launches = 0;  // of operators inside it, each time that they run, and its own; 0: one
  OperatorClass operator_class = OperatorClass::kOther;
};

// Counts a node without subgraphs. Inputs that are not given are null; sizes that are not known
// count 0.
Work count_work(const onnx::NodeProto& node, std::span<const Value* const> inputs,
                std::span<const Value> outputs);

}  // namespace placeto
