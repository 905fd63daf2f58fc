// Shapes of operators that cut, lengthen, join, drop or add axes.
#include <algorithm>
#include <numeric>
#include <optional>

#include "tools/onnx/folding.h"
#include "tools/onnx/shape_rules.h"

namespace placeto::shape_rules {

std::vector<int64_t> first_axes(size_t count) {
  std::vector<int64_t> axes(count);
  std::iota(axes.begin(), axes.end(), int64_t{0});
  return axes;
}

namespace {

using onnx::NodeProto;
using onnx::TensorProto;

// As many axes, of which the `changed` ones, or all if it is not known which, have lengths that are
// computed while the model runs.
Dims opened(Dims dims, const std::optional<std::vector<int64_t>>& changed) {
  if (!changed) return Dims(dims.size(), kUnknownDim);
  for (const int64_t axis : *changed) {
    if (const auto at = resolve_axis(axis, dims.size())) dims[*at] = kUnknownDim;
  }
  return dims;
}

// The elements of an input that is a list of whole numbers; nullopt if they are not known.
std::optional<std::vector<int64_t>> numbers(Inputs inputs, size_t i) {
  const Constant* list = constant(inputs, i);
  return list != nullptr && list->whole() ? std::optional(list->ints) : std::nullopt;
}

// Slice, its lists attributes or inputs (starts, ends, axes, steps).
bool slice(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const Value* x = known(inputs, 0);
  if (x == nullptr) return false;
  auto dims = folding::sliced(node, inputs, *x->dims());
  if (!dims && !given(inputs, 1)) return false;
  if (!dims) {
    auto axes = numbers(inputs, 3);
    const Value* starts = known(inputs, 1);
    const bool counted = starts != nullptr && starts->dims()->size() == 1;
    const int64_t count = counted ? starts->dims()->front() : kUnknownDim;
    if (!given(inputs, 3) && count >= 0 && count <= static_cast<int64_t>(kMaxRank)) {
      axes = first_axes(static_cast<size_t>(count));
    }
    dims = opened(*x->dims(), axes);
  }
  set(outputs, 0, x->element_type(), *dims);
  return true;
}

// Squeeze(data) without axes: the library leaves it out before operator set 13.
bool squeeze(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const Value* x = known(inputs, 0);
  if (x == nullptr || given(inputs, 1) || !ints_attribute(node, "axes").empty()) return false;
  Dims dims = *x->dims();
  if (std::find(dims.begin(), dims.end(), kUnknownDim) != dims.end()) return false;
  std::erase(dims, 1);
  set(outputs, 0, x->element_type(), dims);
  return true;
}

// Pad(data, pads, value, axes)
bool pad(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const Value* x = known(inputs, 0);
  if (x == nullptr) return false;
  Dims dims = *x->dims();
  const auto axes = given(inputs, 3) ? numbers(inputs, 3) : first_axes(dims.size());
  const auto pads = given(inputs, 1) ? numbers(inputs, 1) : ints_attribute(node, "pads");
  if (!axes || !pads) {
    set(outputs, 0, x->element_type(), opened(dims, axes));
    return true;
  }
  if (pads->size() != 2 * axes->size()) return false;
  for (size_t i = 0; i < axes->size(); ++i) {
    const auto at = resolve_axis((*axes)[i], dims.size());
    const int64_t before = (*pads)[i], after = (*pads)[i + axes->size()];
    if (!at || !reasonable(before) || !reasonable(after)) return false;
    int64_t& dim = dims[*at];
    if (dim >= 0 && dim <= kMost) dim = std::max<int64_t>(dim + before + after, 0);
  }
  set(outputs, 0, x->element_type(), dims);
  return true;
}

// Split by lengths, or into equal parts of which the last may be shorter (opset 18).
bool split(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const Value* x = known(inputs, 0);
  if (x == nullptr || outputs.empty()) return false;
  Dims dims = *x->dims();
  const auto at = resolve_axis(int_attribute(node, "axis", 0), dims.size());
  if (!at) return false;
  std::vector<int64_t> lengths = ints_attribute(node, "split");
  if (given(inputs, 1)) {
    lengths = numbers(inputs, 1).value_or(std::vector<int64_t>(outputs.size(), kUnknownDim));
  }
  const auto parts = static_cast<int64_t>(outputs.size());
  const int64_t whole = dims[*at], each = whole < 0 ? kUnknownDim : (whole - 1) / parts + 1;
  if (!lengths.empty() && lengths.size() != outputs.size()) return false;
  for (int64_t i = 0; i < parts; ++i) {
    dims[*at] = whole < 0 ? kUnknownDim : std::clamp<int64_t>(whole - i * each, 0, each);
    if (!lengths.empty()) dims[*at] = std::max(lengths[static_cast<size_t>(i)], kUnknownDim);
    set(outputs, static_cast<size_t>(i), x->element_type(), dims);
  }
  return true;
}

// GatherND(data, indices): each last row of indices is a place in data, behind the batch axes.
bool gather_places(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const Value *data = known(inputs, 0), *indices = known(inputs, 1);
  if (data == nullptr || indices == nullptr || indices->dims()->empty()) return false;
  const Dims from = *data->dims();
  Dims dims = *indices->dims();
  const int64_t depth = dims.back(), batch = int_attribute(node, "batch_dims", 0);
  const auto rank = static_cast<int64_t>(from.size());
  if (depth < 0 || batch < 0 || depth > rank || batch > rank - depth) return false;
  dims.pop_back();
  dims.insert(dims.end(), from.begin() + batch + depth, from.end());
  set(outputs, 0, data->element_type(), dims);
  return true;
}

// Compress(x, condition): the entries of an axis, or of x as a list, for which the condition is
// true.
bool compress(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const Value* x = known(inputs, 0);
  if (x == nullptr) return false;
  Dims dims(1);
  size_t at = 0;
  if (find_attribute(node, "axis") != nullptr) {
    dims = *x->dims();
    const auto axis = resolve_axis(int_attribute(node, "axis", 0), dims.size());
    if (!axis) return false;
    at = *axis;
  }
  const Constant* chosen = constant(inputs, 1);
  dims[at] = kUnknownDim;
  if (chosen != nullptr && chosen->whole()) {
    dims[at] =
        std::count_if(chosen->ints.begin(), chosen->ints.end(), [](auto c) { return c != 0; });
  }
  set(outputs, 0, x->element_type(), dims);
  return true;
}

// OneHot(indices, depth, values): an axis as long as the depth says, which may be a real number.
bool one_hot(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const Value* indices = known(inputs, 0);
  const Constant* depth = constant(inputs, 1);
  if (indices == nullptr || !given(inputs, 2)) return false;
  Dims dims = *indices->dims();
  const auto axis = resolve_axis(int_attribute(node, "axis", -1), dims.size() + 1);
  if (!axis) return false;
  const double length = depth != nullptr && depth->size() == 1 ? depth->number(0) : kUnknownDim;
  const bool is_known = length >= 0 && length <= static_cast<double>(kMost);
  dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(*axis),
              is_known ? static_cast<int64_t>(length) : kUnknownDim);
  set(outputs, 0, inputs[2]->element_type(), dims);
  return true;
}

// Along axes that are computed, as many as their list has entries, which may be none for all.
bool reduce_somewhere(const Value& x, const std::optional<Dims>& list, bool keep, Outputs outputs) {
  Dims dims = opened(*x.dims(), std::nullopt);
  const bool counted = list && list->size() == 1 && list->front() > 0 &&
                       list->front() <= static_cast<int64_t>(dims.size());
  if (!keep && !counted) return false;
  if (!keep) dims.resize(dims.size() - static_cast<size_t>(list->front()));
  set(outputs, 0, x.element_type(), dims);
  return true;
}

// Axes as an attribute or an input.
bool reduce(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const Value* x = known(inputs, 0);
  if (x == nullptr) return false;
  const Dims in = *x->dims();
  std::vector<int64_t> axes = ints_attribute(node, "axes");
  const bool keep = int_attribute(node, "keepdims", 1) != 0;
  if (given(inputs, 1)) {
    const auto wanted = numbers(inputs, 1);
    if (!wanted) return reduce_somewhere(*x, inputs[1]->dims(), keep, outputs);
    axes = *wanted;
  }
  const bool nothing = axes.empty() && int_attribute(node, "noop_with_empty_axes", 0) != 0;
  std::vector<bool> reduced(in.size(), axes.empty() && !nothing);
  for (int64_t axis : axes) {
    const auto at = resolve_axis(axis, in.size());
    if (!at) return false;
    reduced[*at] = true;
  }
  Dims dims;
  for (size_t a = 0; a < in.size(); ++a) {
    if (!reduced[a]) dims.push_back(in[a]);
    if (reduced[a] && keep) dims.push_back(1);
  }
  set(outputs, 0, x->element_type(), dims);
  return true;
}

// --- com.microsoft

// QLinearReduceMean(data, data_scale, ...): axes as an attribute. Other inputs are no axes.
bool quantized_reduce(const NodeProto& node, Inputs inputs, Outputs outputs) {
  return reduce(node, inputs.first(std::min<size_t>(inputs.size(), 1)), outputs);
}

// GatherBlockQuantized(data, indices, scales): rows of a quantized table, dequantized. Bytes hold
// several numbers.
bool quantized_gather(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const Value *data = known(inputs, 0), *indices = known(inputs, 1);
  if (data == nullptr || indices == nullptr || !given(inputs, 2)) return false;
  Dims table = *data->dims();
  const auto axis = resolve_axis(int_attribute(node, "gather_axis", 0), table.size());
  if (!axis) return false;
  const int64_t bits = int_attribute(node, "bits", 4);
  const bool packed = data->element_type() == TensorProto::UINT8 && bits > 0 && bits < 8;
  if (packed && table.back() >= 0 && table.back() <= kMost) table.back() *= 8 / bits;
  Dims dims(table.begin(), table.begin() + static_cast<std::ptrdiff_t>(*axis));
  const Dims places = *indices->dims();
  dims.insert(dims.end(), places.begin(), places.end());
  dims.insert(dims.end(), table.begin() + static_cast<std::ptrdiff_t>(*axis) + 1, table.end());
  set(outputs, 0, inputs[2]->element_type(), dims);
  return true;
}

// QLinearConcat(y_scale, y_zero, x0, x0_scale, x0_zero, x1, ...)
bool quantized_concat(const NodeProto& node, Inputs inputs, Outputs outputs) {
  const Value* first = known(inputs, 2);
  if (first == nullptr) return false;
  Dims dims = *first->dims();
  const auto at = resolve_axis(int_attribute(node, "axis", 0), dims.size());
  if (!at) return false;
  for (size_t i = 5; i < inputs.size(); i += 3) {
    const Value* x = known(inputs, i);
    if (x == nullptr || x->dims()->size() != dims.size()) return false;
    const int64_t more = (*x->dims())[*at];
    if (more < 0 || more > kMost || dims[*at] < 0 || dims[*at] > kMost) return false;
    dims[*at] += more;
  }
  set(outputs, 0, first->element_type(), dims);
  return true;
}

// BiasSplitGelu: half of the last axis times the GELU of the other.
bool split_gelu(const NodeProto&, Inputs inputs, Outputs outputs) {
  const Value* x = known(inputs, 0);
  if (x == nullptr || x->dims()->empty()) return false;
  Dims dims = *x->dims();
  if (dims.back() >= 0) dims.back() /= 2;
  set(outputs, 0, x->element_type(), dims);
  return true;
}

}  // namespace

void add_axes(Rules& rules) {
  rules["Pad"] = pad;
  rules["GatherND"] = gather_places;
  rules["Split"] = split;
  rules["OneHot"] = one_hot;
  rules["Slice"] = slice;
  rules["Squeeze"] = squeeze;
  rules["Compress"] = compress;
  for (const char* name :
       {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
        "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"}) {
    rules[name] = reduce;
  }
}

void add_microsoft_axes(Rules& rules) {
  rules["QLinearReduceMean"] = quantized_reduce;
  rules["GatherBlockQuantized"] = quantized_gather;
  rules["QLinearConcat"] = quantized_concat;
  rules["BiasSplitGelu"] = split_gelu;
}

}  // namespace placeto::shape_rules
