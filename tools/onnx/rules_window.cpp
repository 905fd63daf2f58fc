// Shapes of operators with windows that slide over images: convolutions and pools.
#include <algorithm>

#include "tools/onnx/shape_rules.h"

namespace placeto::shape_rules {
namespace {

using onnx::NodeProto;
using onnx::TensorProto;

// Images with their channels behind the other axes, as [batch, channels, axes...] and back.
Dims channels_first(Dims dims) {
  std::rotate(dims.begin() + 1, dims.end() - 1, dims.end());
  return dims;
}
Dims channels_last(Dims dims) {
  std::rotate(dims.begin() + 1, dims.begin() + 2, dims.end());
  return dims;
}

// Whether the operator's images have their channels last.
bool is_channels_last(const NodeProto& node) {
  return node.op_type().starts_with("Nhwc") || int_attribute(node, "channels_last", 0) != 0;
}

bool global_pool(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const Value* x = known(inputs, 0);
  if (x == nullptr || x->dims()->size() < 3) return false;
  const bool last = is_channels_last(node);
  Dims dims = last ? channels_first(*x->dims()) : *x->dims();
  for (size_t a = 2; a < dims.size(); ++a) dims[a] = 1;
  set(outputs, 0, x->element_type(), last ? channels_last(dims) : dims);
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
  int64_t before = 0, after = 0;
  if (automatic == "NOTSET") {
    before = entry(pads, axis, 0), after = entry(pads, axis + axes, 0);
    if (!reasonable(before) || !reasonable(after)) return kUnknownDim;
  }
  const int64_t padded = before + length + after;
  if (kernel > kMost / dilation) return kUnknownDim;
  const int64_t room = padded - ((kernel - 1) * dilation + 1);
  if (room < 0) return kUnknownDim;
  if (int_attribute(node, "ceil_mode", 0) == 0) return room / stride + 1;
  // One more for what is left, unless it would begin in the padding behind.
  const int64_t windows = (room + stride - 1) / stride + 1;
  return (windows - 1) * stride >= before + length ? windows - 1 : windows;
}

// Convolutions and pools on [batch, channels, axes...]; `weights` is the shape of the filter, or
// null for a pool, which has kernel_shape.
bool window(const NodeProto& node, const Value& x, const Dims* weights, int32_t type, Outputs out) {
  const bool last = is_channels_last(node);
  const Dims in = last && x.dims()->size() >= 3 ? channels_first(*x.dims()) : *x.dims();
  if (in.size() < 3 || (weights != nullptr && weights->size() != in.size())) return false;
  const auto kernel = ints_attribute(node, "kernel_shape");
  Dims dims = {in[0], weights != nullptr ? (*weights)[0] : in[1]};
  for (size_t a = 0; a + 2 < in.size(); ++a) {
    const int64_t width = weights != nullptr ? (*weights)[a + 2] : entry(kernel, a, kUnknownDim);
    dims.push_back(positions(node, a, in.size() - 2, in[a + 2], width));
  }
  set(out, 0, type, last ? channels_last(dims) : dims);
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

// The length of an axis that a window with these numbers would have made `length` of; kUnknownDim
// if they make no sense. As in ONNX Runtime, padding that is the same is never negative.
int64_t spread(const NodeProto& node, size_t axis, size_t axes, int64_t length, int64_t kernel,
               const std::vector<int64_t>& pads) {
  const int64_t stride = entry(ints_attribute(node, "strides"), axis, 1);
  const int64_t dilation = entry(ints_attribute(node, "dilations"), axis, 1);
  const int64_t added = entry(ints_attribute(node, "output_padding"), axis, 0);
  for (int64_t number : {length, kernel, stride, dilation}) {
    if (number <= 0 || number > kMost) return kUnknownDim;
  }
  constexpr int64_t kMostStep = 1 << 20;  // products stay below 2^61
  if (stride > kMostStep || dilation > kMostStep || !reasonable(added)) return kUnknownDim;
  const int64_t full = (length - 1) * stride + added + (kernel - 1) * dilation + 1;
  const std::string automatic = text_attribute(node, "auto_pad", "NOTSET");
  if (automatic.starts_with("SAME")) return std::min(full, length * stride);
  if (automatic != "NOTSET") return full;
  const int64_t before = entry(pads, axis, 0), after = entry(pads, axis + axes, 0);
  if (!reasonable(before) || !reasonable(after)) return kUnknownDim;
  return std::max(full - before - after, kUnknownDim);
}

// ConvTranspose(x [batch, channels, axes...], w [channels, channels of a group's output, axes...]).
// ConvTransposeWithDynamicPads(x, w, pads, ...) is given what it leaves out.
bool transposed_convolution(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const Value *x = known(inputs, 0), *filter = known(inputs, 1);
  if (x == nullptr || filter == nullptr) return false;
  const Dims in = *x->dims(), weights = *filter->dims();
  const int64_t groups = int_attribute(node, "group", 1);
  if (in.size() < 3 || weights.size() != in.size() || groups <= 0 || groups > kMost) return false;
  const auto wanted = ints_attribute(node, "output_shape");
  const size_t axes = in.size() - 2;
  if (!wanted.empty() && wanted.size() != axes) return false;
  const bool has_channels = weights[1] >= 0 && weights[1] <= kMost / groups;
  Dims dims = {in[0], has_channels ? weights[1] * groups : kUnknownDim};
  const bool computes_pads = node.op_type() == "ConvTransposeWithDynamicPads";
  const Constant* list = computes_pads ? constant(inputs, 2) : nullptr;
  const bool has_pads = !computes_pads || !given(inputs, 2) ||
                        (list != nullptr && list->whole() && list->size() == 2 * axes);
  const auto pads = list != nullptr ? list->ints : ints_attribute(node, "pads");
  for (size_t a = 0; a < axes; ++a) {
    const int64_t length = has_pads ? in[a + 2] : kUnknownDim;
    dims.push_back(wanted.empty() ? spread(node, a, axes, length, weights[a + 2], pads)
                                  : std::max(wanted[a], kUnknownDim));
  }
  set(outputs, 0, x->element_type(), dims);
  return true;
}

// MaxUnpool(x, places, lengths): as many positions as the pool read that made x, unless it says.
bool unpool(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const Value* x = known(inputs, 0);
  if (x == nullptr || x->dims()->size() < 3) return false;
  Dims dims = *x->dims();
  const Constant* wanted = lengths(inputs, 2);
  const auto kernel = ints_attribute(node, "kernel_shape"), pads = ints_attribute(node, "pads");
  for (size_t a = 2; a < dims.size(); ++a) {
    dims[a] =
        spread(node, a - 2, dims.size() - 2, dims[a], entry(kernel, a - 2, kUnknownDim), pads);
    if (given(inputs, 2)) dims[a] = kUnknownDim;
  }
  if (wanted != nullptr && wanted->size() == dims.size()) dims = wanted->ints;
  set(outputs, 0, x->element_type(), dims);
  return true;
}

// QLinearConv(x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, B)
bool quantized_convolution(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const Value *x = known(inputs, 0), *filter = known(inputs, 3);
  if (x == nullptr || filter == nullptr) return false;
  const Dims weights = *filter->dims();
  const int32_t type = given(inputs, 7) ? inputs[7]->element_type() : x->element_type();
  return window(node, *x, &weights, type, outputs);
}

// --- com.microsoft.nchwc: images with channels in blocks, as ONNX Runtime's optimizer for
// processors writes them. Their shapes are [batch, channels rounded up to blocks, axes...].

// Blocks have 8 or 16 channels, depending on the processor that the model was optimized for, which
// the operator does not say: for odd channels the larger block is assumed.
constexpr int64_t kMostInBlock = 16;

bool reorder_input(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const Value* x = known(inputs, 0);
  if (x == nullptr || x->dims()->size() < 3) return false;
  Dims dims = *x->dims();
  if (is_channels_last(node)) dims = channels_first(dims);
  if (dims[1] >= 0 && dims[1] <= kMost) {
    dims[1] = (dims[1] + kMostInBlock - 1) / kMostInBlock * kMostInBlock;
  }
  set(outputs, 0, x->element_type(), dims);
  return true;
}

bool reorder_output(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const Value* x = known(inputs, 0);
  const int64_t channels = int_attribute(node, "channels", 0);
  if (x == nullptr || x->dims()->size() < 3 || channels <= 0) return false;
  Dims dims = *x->dims();
  dims[1] = channels;
  if (is_channels_last(node)) dims = channels_last(dims);
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
  rules["AveragePool"] = pool;
  rules["MaxPool"] = pool;
  rules["LpPool"] = pool;
  rules["DeformConv"] = convolution;
  rules["ConvTranspose"] = transposed_convolution;
  rules["MaxUnpool"] = unpool;
}

void add_microsoft_windows(Rules& rules) {
  for (const char* name : {"FusedConv", "NhwcConv", "NhwcFusedConv"}) rules[name] = convolution;
  rules["ConvTransposeWithDynamicPads"] = transposed_convolution;
  rules["QLinearConv"] = quantized_convolution;
  rules["NhwcMaxPool"] = pool;
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
