// If nodes that stay one node each, for nobody said which branch they take: those who place would
// rather have their operators.
#pragma once

#include <vector>

#include "tools/onnx/graph_order.h"
#include "tools/onnx/import.h"
#include "tools/onnx/model.h"

namespace placeto {

// Those of the main graph whose condition follows from nothing but single numbers or booleans among
// the inputs of the model, which a caller could set (ModelSettings); `producers` are of the main
// graph. Nodes inside nodes do not count.
std::vector<UndecidedIf> undecided_branches(const OnnxModel& model, const Producers& producers);

}  // namespace placeto
