// Shapes of operators that resize, sample, assemble or cut images.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tools/onnx/shape_rules.h"

namespace placeto::shape_rules {

const Constant* lengths(Inputs inputs, size_t i) {
  const Constant* list = constant(inputs, i);
  const bool valid = list != nullptr && list->whole() && list->size() <= kMaxRank &&
                     std::all_of(list->ints.begin(), list->ints.end(),
                                 [](int64_t length) { return length >= 0 && length <= kMost; });
  return valid ? list : nullptr;
}

namespace {

using onnx::NodeProto;

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
  if (axes.empty()) axes = first_axes(dims.size());
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

}  // namespace

void add_images(Rules& rules) {
  rules["Resize"] = resize;
  rules["GridSample"] = sampled;
  rules["AffineGrid"] = affine_grid;
  rules["Col2Im"] = blocks_to_image;
  rules["CenterCropPad"] = center_crop_pad;
}

}  // namespace placeto::shape_rules
