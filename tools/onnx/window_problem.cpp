#include "tools/onnx/window_problem.h"

#include <string_view>

#include "tools/onnx/shape_rules.h"

namespace placeto {
namespace {

// Which input holds the filter of a window; 0: none does.
size_t filter_of(std::string_view op) {
  return op == "Conv" || op == "ConvInteger" ? 1 : op == "QLinearConv" ? 3 : 0;
}

bool slides_alone(std::string_view op) {
  return op == "MaxPool" || op == "AveragePool" || op == "LpPool";
}

}  // namespace

std::string window_problem(const onnx::NodeProto& node, std::span<const Value* const> inputs) {
  constexpr int64_t kMostPixels = int64_t{1} << 30;  // along one axis
  if (!is_default_domain(node.domain())) return "";
  const size_t filter = filter_of(node.op_type());
  const bool pools = slides_alone(node.op_type());
  const Value *image = shape_rules::known(inputs, 0), *weights = shape_rules::known(inputs, filter);
  Dims window = pools ? ints_attribute(node, "kernel_shape") : Dims{};
  if (filter != 0 && weights != nullptr && weights->dims()->size() > 2) {
    window = *weights->dims();
    window.erase(window.begin(), window.begin() + 2);
  }
  const size_t axes = window.size();
  const std::string automatic = text_attribute(node, "auto_pad", "NOTSET");
  if (image == nullptr || axes == 0 || automatic.starts_with("SAME")) return "";
  const Dims lengths = *image->dims();
  if (lengths.size() != axes + 2) return "";
  const auto pads = ints_attribute(node, "pads"), dilations = ints_attribute(node, "dilations");
  for (size_t a = 0; a < axes; ++a) {
    const int64_t length = lengths[a + 2], kernel = window[a];
    if (length < 0 || length > kMostPixels || kernel < 0 || kernel > kMostPixels) continue;
    const int64_t dilation = dilations.size() == axes ? dilations[a] : 1;
    if (dilation < 0 || dilation > kMostPixels) continue;
    const bool padded = automatic == "NOTSET" && pads.size() == 2 * axes;
    const int64_t before = padded ? pads[a] : 0, after = padded ? pads[a + axes] : 0;
    if (!shape_rules::reasonable(before) || !shape_rules::reasonable(after)) continue;
    if ((kernel - 1) * dilation + 1 > length + before + after) {
      return "its window is larger than its input, padding included";
    }
  }
  return "";
}

}  // namespace placeto
