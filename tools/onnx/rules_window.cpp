// Shapes of operators on images: windows that slide over them, and resizing.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "tools/onnx/shape_rules.h"

namespace placeto::shape_rules {
namespace {

using onnx::NodeProto;
using onnx::TensorProto;

bool global_pool(const NodeProto&, Inputs inputs, Outputs outputs) {
  const Value* x = known(inputs, 0);
  if (x == nullptr || x->dims()->size() < 3) return false;
  Dims dims = *x->dims();
  for (size_t a = 2; a < dims.size(); ++a) dims[a] = 1;
  set(outputs, 0, x->element_type(), dims);
  return true;
}

int64_t entry(const std::vector<int64_t>& list, size_t i, int64_t fallback) {
  return i < list.size() ? list[i] : fallback;
}

// Positions of a window along one axis; kUnknownDim if the numbers make no sense.
int64_t positions(const NodeProto& node, size_t axis, size_t axes, int64_t length, int64_t kernel) {
  const int64_t stride = entry(ints_attribute(node, "strides"), axis, 1);
  const int64_t dilation = entry(ints_attribute(node, "dilations"), axis, 1);
  const auto pads = ints_attribute(node, "pads");
  for (int64_t number : {length, kernel, stride, dilation}) {
    if (number <= 0 || number > kMost) return kUnknownDim;
  }
  const std::string automatic = text_attribute(node, "auto_pad", "NOTSET");
  if (automatic.starts_with("SAME")) return (length - 1) / stride + 1;
  int64_t padded = length;
  if (automatic == "NOTSET") {
    const int64_t before = entry(pads, axis, 0), after = entry(pads, axis + axes, 0);
    if (!reasonable(before) || !reasonable(after)) return kUnknownDim;
    padded += before + after;
  }
  if (kernel > kMost / dilation) return kUnknownDim;
  const int64_t room = padded - ((kernel - 1) * dilation + 1);
  if (room < 0) return kUnknownDim;
  const bool ceil = int_attribute(node, "ceil_mode", 0) != 0;
  return (room + (ceil ? stride - 1 : 0)) / stride + 1;
}

// Convolutions and pools on [batch, channels, axes...]; `weights` is the shape of the filter, or
// null for a pool, which has kernel_shape.
bool window(const NodeProto& node, const Value& x, const Dims* weights, int32_t type, Outputs out) {
  const Dims in = *x.dims();
  if (in.size() < 3 || (weights != nullptr && weights->size() != in.size())) return false;
  const auto kernel = ints_attribute(node, "kernel_shape");
  Dims dims = {in[0], weights != nullptr ? (*weights)[0] : in[1]};
  for (size_t a = 0; a + 2 < in.size(); ++a) {
    const int64_t width = weights != nullptr ? (*weights)[a + 2] : entry(kernel, a, kUnknownDim);
    dims.push_back(positions(node, a, in.size() - 2, in[a + 2], width));
  }
  set(out, 0, type, dims);
  return true;
}

bool pool(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const Value* x = known(inputs, 0);
  if (x == nullptr || !window(node, *x, nullptr, x->element_type(), outputs)) return false;
  if (outputs.size() > 1) set(outputs, 1, TensorProto::INT64, *outputs[0].dims());
  return true;
}

bool convolution(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const Value *x = known(inputs, 0), *filter = known(inputs, 1);
  if (x == nullptr || filter == nullptr) return false;
  const Dims weights = *filter->dims();
  return window(node, *x, &weights, x->element_type(), outputs);
}

// Resize(X, roi, scales, sizes), in opset 10 (X, scales), with the axes of opset 18.
bool resize(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const Value* x = known(inputs, 0);
  if (x == nullptr) return false;
  Dims dims = *x->dims();
  if (text_attribute(node, "keep_aspect_ratio_policy", "stretch") != "stretch") return false;
  const Constant* sizes = constant(inputs, 3);
  const Constant* scales = constant(inputs, inputs.size() == 2 ? 1 : 2);
  const bool by_size = sizes != nullptr && sizes->size() > 0;
  const Constant* factors = by_size ? sizes : scales;
  if (factors == nullptr || factors->size() == 0 || factors->whole() != by_size) return false;
  std::vector<int64_t> axes = ints_attribute(node, "axes");
  if (axes.empty()) {
    axes.resize(dims.size());
    std::iota(axes.begin(), axes.end(), int64_t{0});
  }
  if (axes.size() != factors->size()) return false;
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto at = resolve_axis(axes[i], dims.size());
    if (!at) return false;
    int64_t& dim = dims[*at];
    const double scaled = std::floor(static_cast<double>(dim) * factors->number(i));
    if (by_size) {
      dim = factors->ints[i] >= 0 ? factors->ints[i] : kUnknownDim;
    } else if (dim >= 0) {
      dim = scaled >= 0 && scaled < 1e15 ? static_cast<int64_t>(scaled) : kUnknownDim;
    }
  }
  set(outputs, 0, x->element_type(), dims);
  return true;
}

// --- com.microsoft.nchwc: images with channels in blocks, as ONNX Runtime's optimizer for
// processors writes them. Their shapes are [batch, channels rounded up to blocks, axes...].

// Blocks have 8 or 16 channels, depending on the processor.
constexpr int64_t kMostInBlock = 16;

bool reorder_input(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const Value* x = known(inputs, 0);
  if (x == nullptr || x->dims()->size() < 3) return false;
  Dims dims = *x->dims();
  if (int_attribute(node, "channels_last", 0) != 0) {
    std::rotate(dims.begin() + 1, dims.end() - 1, dims.end());
  }
  if (dims[1] % kMostInBlock != 0) dims[1] = kUnknownDim;
  set(outputs, 0, x->element_type(), dims);
  return true;
}

bool reorder_output(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const Value* x = known(inputs, 0);
  const int64_t channels = int_attribute(node, "channels", 0);
  if (x == nullptr || x->dims()->size() < 3 || channels <= 0) return false;
  Dims dims = *x->dims();
  dims[1] = channels;
  if (int_attribute(node, "channels_last", 0) != 0) {
    std::rotate(dims.begin() + 1, dims.begin() + 2, dims.end());
  }
  set(outputs, 0, x->element_type(), dims);
  return true;
}

// Upsample by whole numbers, one for each axis.
bool upsample(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const Value* x = known(inputs, 0);
  const auto scales = ints_attribute(node, "scales");
  if (x == nullptr || scales.size() != x->dims()->size()) return false;
  Dims dims = *x->dims();
  for (size_t a = 0; a < dims.size(); ++a) {
    const bool sensible = dims[a] >= 0 && dims[a] <= kMost && scales[a] > 0 && scales[a] <= 1024;
    dims[a] = sensible ? dims[a] * scales[a] : kUnknownDim;
  }
  set(outputs, 0, x->element_type(), dims);
  return true;
}

}  // namespace

void add_windows(Rules& rules) {
  rules["Resize"] = resize;
  rules["AveragePool"] = pool;
  rules["MaxPool"] = pool;
}

void add_microsoft_windows(Rules& rules) {
  rules["FusedConv"] = convolution;
  rules["QLinearGlobalAveragePool"] = global_pool;
  rules["QLinearAveragePool"] = pool;
}

void add_blocked(Rules& rules) {
  rules["ReorderInput"] = reorder_input;
  rules["ReorderOutput"] = reorder_output;
  rules["Conv"] = convolution;
  rules["MaxPool"] = pool;
  rules["AveragePool"] = pool;
  rules["GlobalMaxPool"] = global_pool;
  rules["GlobalAveragePool"] = global_pool;
  rules["Upsample"] = upsample;
}

}  // namespace placeto::shape_rules
