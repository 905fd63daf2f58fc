// Shapes of operators on signals.

#include "tools/onnx/shape_rules.h"

namespace placeto::shape_rules {
namespace {

// The one whole number that an input holds; kUnknownDim if it is not known.
int64_t whole_number(Inputs inputs, size_t i) {
  const Constant* number = constant(inputs, i);
  const bool is_one = number != nullptr && number->whole() && number->size() == 1;
  return is_one && number->ints[0] >= 0 && number->ints[0] <= kMost ? number->ints[0] : kUnknownDim;
}

// STFT(signal [batch, positions, 1 or 2], step, window, length of a frame): as many frames as fit,
// of each half of its frequencies, or all. A window is as long as a frame.
bool short_transform(const onnx::NodeProto& node, Inputs inputs, Outputs outputs) {
  const Value *signal = known(inputs, 0), *window = known(inputs, 2);
  if (signal == nullptr || signal->dims()->size() != 3) return false;
  const Dims in = *signal->dims();
  const int64_t step = whole_number(inputs, 1);
  int64_t frame = whole_number(inputs, 3);
  if (frame < 0 && window != nullptr && window->dims()->size() == 1)
    frame = window->dims()->front();
  const bool halves = int_attribute(node, "onesided", 1) != 0;
  const bool fits = step > 0 && frame > 0 && in[1] >= frame;
  set(outputs, 0, signal->element_type(),
      {in[0], fits ? (in[1] - frame) / step + 1 : kUnknownDim,
       frame > 0 && halves ? frame / 2 + 1 : frame, 2});
  return true;
}

}  // namespace

void add_signals(Rules& rules) {
  rules["STFT"] = short_transform;
}

}  // namespace placeto::shape_rules
