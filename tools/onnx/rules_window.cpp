// Shapes of operators on images: windows that slide over them, resizing, sampling.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

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

// Input i if it is a known list of lengths, else null.
const Constant* lengths(Inputs inputs, size_t i) {
  const Constant* list = constant(inputs, i);
  const bool valid = list != nullptr && list->whole() && list->size() <= kMaxRank &&
                     std::all_of(list->ints.begin(), list->ints.end(),
                                 [](int64_t length) { return length >= 0 && length <= kMost; });
  return valid ? list : nullptr;
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

// What all axes of a Resize are multiplied with so that none is longer, or shorter, than wanted.
float common_scale(const Dims& dims, const std::vector<int64_t>& axes,
                   const std::vector<int64_t>& sizes, bool not_larger) {
  float scale = not_larger ? std::numeric_limits<float>::infinity() : 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto at = resolve_axis(axes[i], dims.size());
    if (!at || dims[*at] <= 0 || sizes[i] < 0) return -1;
    const float wanted = static_cast<float>(sizes[i]) / static_cast<float>(dims[*at]);
    scale = not_larger ? std::min(scale, wanted) : std::max(scale, wanted);
  }
  return scale;
}

// Resize(X, roi, scales, sizes), in opset 10 (X, scales), with the axes of opset 18. Scales and the
// lengths that come of them are single precision, as in ONNX Runtime: 10 x 0.7 is 7.
bool resize(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const Value* x = known(inputs, 0);
  if (x == nullptr) return false;
  Dims dims = *x->dims();
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
  const std::string policy = text_attribute(node, "keep_aspect_ratio_policy", "stretch");
  const bool keeps_ratio = by_size && (policy == "not_larger" || policy == "not_smaller");
  const float common =
      keeps_ratio ? common_scale(dims, axes, factors->ints, policy == "not_larger") : 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto at = resolve_axis(axes[i], dims.size());
    if (!at) return false;
    int64_t& dim = dims[*at];
    const auto length = static_cast<float>(dim);
    const float scaled = std::floor(length * static_cast<float>(factors->number(i)));
    if (keeps_ratio) {
      const float rounded = std::round(length * common);
      dim = common >= 0 && rounded < 1e15 ? static_cast<int64_t>(rounded) : kUnknownDim;
    } else if (by_size) {
      dim = factors->ints[i] >= 0 ? factors->ints[i] : kUnknownDim;
    } else if (dim >= 0) {
      dim = scaled >= 0 && scaled < 1e15 ? static_cast<int64_t>(scaled) : kUnknownDim;
    }
  }
  set(outputs, 0, x->element_type(), dims);
  return true;
}

// GridSample(X [batch, channels, axes...], grid [batch, places..., axes]): a number per channel and
// place.
bool sampled(const NodeProto&, Inputs inputs, Outputs outputs) {
  const Value *x = known(inputs, 0), *grid = known(inputs, 1);
  if (x == nullptr || grid == nullptr) return false;
  Dims dims = *x->dims();
  const Dims places = *grid->dims();
  if (dims.size() < 3 || places.size() != dims.size()) return false;
  std::copy(places.begin() + 1, places.end() - 1, dims.begin() + 2);
  set(outputs, 0, x->element_type(), dims);
  return true;
}

// AffineGrid(theta [batch, axes, axes + 1], size [batch, channels, axes...]): a place per position.
bool affine_grid(const NodeProto&, Inputs inputs, Outputs outputs) {
  const Constant* size = lengths(inputs, 1);
  if (!given(inputs, 0) || size == nullptr || size->size() < 3) return false;
  Dims dims = size->ints;
  dims.erase(dims.begin() + 1);
  dims.push_back(static_cast<int64_t>(dims.size()) - 1);
  set(outputs, 0, inputs[0]->element_type(), dims);
  return true;
}

// Col2Im(blocks [batch, channels x a block's positions, blocks], image_shape, block_shape)
bool blocks_to_image(const NodeProto&, Inputs inputs, Outputs outputs) {
  const Value* x = known(inputs, 0);
  const Constant *image = lengths(inputs, 1), *block = lengths(inputs, 2);
  if (x == nullptr || image == nullptr || block == nullptr || x->dims()->size() != 3) return false;
  const auto in_block = element_count(block->ints);
  if (!in_block || *in_block == 0) return false;
  const int64_t rows = (*x->dims())[1];
  Dims dims = {(*x->dims())[0], rows < 0 ? kUnknownDim : rows / static_cast<int64_t>(*in_block)};
  dims.insert(dims.end(), image->ints.begin(), image->ints.end());
  set(outputs, 0, x->element_type(), dims);
  return true;
}

// CenterCropPad(data, shape): the lengths of the axes that it names, or of all.
bool center_crop_pad(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const Value* x = known(inputs, 0);
  const Constant* shape = lengths(inputs, 1);
  if (x == nullptr) return false;
  Dims dims = *x->dims();
  const bool names_axes = find_attribute(node, "axes") != nullptr;
  const auto axes = names_axes ? ints_attribute(node, "axes") : first_axes(dims.size());
  if (shape != nullptr && axes.size() != shape->size()) return false;
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto at = resolve_axis(axes[i], dims.size());
    if (!at) return false;
    dims[*at] = shape != nullptr ? shape->ints[i] : kUnknownDim;
  }
  set(outputs, 0, x->element_type(), dims);
  return true;
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
  rules["Resize"] = resize;
  rules["AveragePool"] = pool;
  rules["MaxPool"] = pool;
  rules["LpPool"] = pool;
  rules["DeformConv"] = convolution;
  rules["ConvTranspose"] = transposed_convolution;
  rules["MaxUnpool"] = unpool;
  rules["GridSample"] = sampled;
  rules["AffineGrid"] = affine_grid;
  rules["Col2Im"] = blocks_to_image;
  rules["CenterCropPad"] = center_crop_pad;
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
