// The equation of Einsum (https://onnx.ai/onnx/operators/onnx__Einsum.html): which axes of its
// operands are the same, and which of them are left.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/onnx/value.h"

namespace placeto {

// What the letters stand for, and the dots.
struct EinsumAxes {
  std::map<char, int64_t> extent;     // of each letter; kUnknownDim: not known
  Dims dots;                          // axes that "..." stands for, of all operands together
  std::string result;                 // letters and '.' of the output, in order
  std::vector<std::string> operands;  // the same of what is read
};

// nullopt if the equation does not fit the operands: as many, each with as many axes.
std::optional<EinsumAxes> einsum_axes(const std::string& equation,
                                      const std::vector<Dims>& operands);

}  // namespace placeto
