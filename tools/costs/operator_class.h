// Classes of operators that reach about the same share of a device's rates.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace placeto {

enum class OperatorClass : uint8_t {
  kConvolution,
  kThin,         // convolutions with few operations per element: depthwise, or few channels
  kMatrix,       // products of matrices, attention
  kQuantized,    // products and convolutions of 8-bit or smaller numbers
  kRecurrent,    // LSTM, GRU, RNN
  kElementwise,  // sums, products, comparisons, rectifiers, conversions
  kFunction,     // elementwise with a transcendental function
  kReduction,    // sums over axes, normalization, softmax, pools
  kMovement,     // transposition, concatenation, gathering, padding, resizing
  kView,         // a new shape for the same bytes
  kControl,      // If, Loop, Scan and calls of functions
  kOther,
};
inline constexpr uint32_t kOperatorClassCount = 12;

// "conv", "matrix", ...: how files and tables call them.
const char* name_of(OperatorClass operator_class);
std::optional<OperatorClass> operator_class_of_name(std::string_view name);

// By the name of an ONNX operator, in its own domain or ONNX Runtime's.
OperatorClass operator_class_of(std::string_view op);

}  // namespace placeto
