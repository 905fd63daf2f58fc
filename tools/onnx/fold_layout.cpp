// Evaluation of operators that rearrange elements or choose among them.
#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <limits>

#include "tools/onnx/folding.h"

namespace placeto::folding {
namespace {

using onnx::NodeProto;

Folded reshaped(const Constant& in, Dims dims) {
  if (element_count(dims) != in.size()) return {};
  Constant out = in;
  out.dims = std::move(dims);
  return out;
}

Folded fold_unsqueeze(const NodeProto& node, Inputs inputs) {
  const Constant* in = input(inputs, 0);
  const auto axes = axes_of(node, inputs, 1);
  if (in == nullptr || !axes || axes->size() > 8) return {};
  std::vector<bool> added(in->dims.size() + axes->size(), false);
  for (int64_t axis : *axes) {
    const auto at = resolve_axis(axis, added.size());
    if (!at || added[*at]) return {};
    added[*at] = true;
  }
  Dims dims;
  for (size_t a = 0, from = 0; a < added.size(); ++a)
    dims.push_back(added[a] ? 1 : in->dims[from++]);
  return reshaped(*in, dims);
}

Folded fold_squeeze(const NodeProto& node, Inputs inputs) {
  const Constant* in = input(inputs, 0);
  const auto axes = axes_of(node, inputs, 1);
  if (in == nullptr || !axes) return {};
  std::vector<bool> gone(in->dims.size(), false);
  for (size_t a = 0; a < gone.size(); ++a) gone[a] = axes->empty() && in->dims[a] == 1;
  for (int64_t axis : *axes) {
    const auto at = resolve_axis(axis, gone.size());
    if (!at) return {};
    gone[*at] = true;
  }
  Dims dims;
  for (size_t a = 0; a < gone.size(); ++a) {
    if (!gone[a]) dims.push_back(in->dims[a]);
  }
  return reshaped(*in, dims);
}

Folded fold_reshape(const NodeProto&, Inputs inputs) {
  const Constant *in = input(inputs, 0), *shape = input(inputs, 1);
  if (in == nullptr || shape == nullptr || !shape->whole() || shape->size() > 8) return {};
  Dims dims = shape->ints;
  int64_t known = 1;
  for (size_t a = 0; a < dims.size(); ++a) {
    if (dims[a] == 0 && a < in->dims.size()) dims[a] = in->dims[a];
    if (dims[a] > int64_t{kMaxConstantElements}) return {};
    if (dims[a] > 0) known = std::min<int64_t>(known * dims[a], kMaxConstantElements + 1);
  }
  for (int64_t& dim : dims) {
    if (dim == -1) dim = static_cast<int64_t>(in->size()) / known;
  }
  return reshaped(*in, dims);
}

Folded fold_concat(const NodeProto& node, Inputs inputs) {
  // Along the first axis of one-dimensional inputs: what shapes are made of.
  Folded out;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Constant* in = input(inputs, i);
    if (in == nullptr || in->dims.size() != 1 || !resolve_axis(int_attribute(node, "axis", 0), 1)) {
      return {};
    }
    if (!out) {
      out = *in;
      continue;
    }
    if (in->type != out->type || out->size() + in->size() > kMaxConstantElements) return {};
    for (size_t k = 0; k < in->size(); ++k) append(*out, *in, k);
    out->dims = {static_cast<int64_t>(out->size())};
  }
  return out;
}

Folded fold_gather(const NodeProto& node, Inputs inputs) {
  const Constant *data = input(inputs, 0), *indices = input(inputs, 1);
  if (data == nullptr || indices == nullptr || !indices->whole()) return {};
  if (data->dims.size() != 1 || !resolve_axis(int_attribute(node, "axis", 0), 1)) return {};
  const auto length = static_cast<int64_t>(data->size());
  return pick(*data, indices->dims, [&](size_t i) {
    const int64_t at = indices->ints[i];
    return static_cast<size_t>(at < 0 ? at + length : at);  // pick() refuses what is out of range
  });
}

// The end of a slice as numpy clamps it. Its begin is the same forwards; backwards the operator
// begins at the first element at least, where numpy would take nothing.
int64_t slice_bound(int64_t x, int64_t length, int64_t step) {
  if (x < 0) x = wrap_add(x, length);
  return step > 0 ? std::clamp<int64_t>(x, 0, length) : std::clamp<int64_t>(x, -1, length - 1);
}

struct Range {
  int64_t begin, step, count;
};

std::optional<Range> slice_range(int64_t begin, int64_t end, int64_t step, int64_t length) {
  if (step == 0 || step == std::numeric_limits<int64_t>::min()) return std::nullopt;
  step = std::clamp<int64_t>(step, -length - 1, length + 1);
  if (length == 0) return Range{0, step, 0};
  begin = slice_bound(begin, length, step);
  if (step < 0) begin = std::max<int64_t>(begin, 0);
  // The largest number of 32 or 64 bits is no end in ONNX Runtime, backwards, too.
  const bool endless = end == std::numeric_limits<int32_t>::max() ||
                       end == std::numeric_limits<int64_t>::max() || end <= -length - 1;
  end = endless && step < 0 ? -1 : slice_bound(end, length, step);
  const int64_t span = step > 0 ? end - begin : begin - end;
  const int64_t stride = std::abs(step);
  return Range{begin, step, span > 0 ? (span + stride - 1) / stride : 0};
}

// Slice(data, starts, ends, axes, steps), or with the first three lists as attributes. Exporters
// turn pads around with it, as a matrix of two columns.
struct SliceLists {
  std::vector<int64_t> starts, ends, axes, steps;
};

std::optional<SliceLists> slice_lists(const NodeProto& node, Inputs inputs) {
  if (inputs.size() < 3) {
    return SliceLists{ints_attribute(node, "starts"),
                      ints_attribute(node, "ends"),
                      ints_attribute(node, "axes"),
                      {}};
  }
  SliceLists lists;
  std::vector<int64_t>* const targets[] = {&lists.starts, &lists.ends, &lists.axes, &lists.steps};
  for (size_t i = 1; i < inputs.size() && i <= std::size(targets); ++i) {
    if (inputs[i] == nullptr) continue;
    const Constant* list = input(inputs, i);
    if (list == nullptr || !list->whole()) return std::nullopt;
    *targets[i - 1] = list->ints;
  }
  return lists;
}

// One for each axis; of an axis that is not known, and of which something is taken, kUnknownDim
// places.
std::optional<std::vector<Range>> slice_ranges(const NodeProto& node, Inputs inputs,
                                               const Dims& dims) {
  constexpr int64_t kLongest = int64_t{1} << 40;  // sums of longer ones might overflow
  const auto lists = slice_lists(node, inputs);
  if (!lists) return std::nullopt;
  const auto& [starts, ends, axes, steps] = *lists;
  const size_t count = starts.size();
  const auto fits = [count](const auto& list) { return list.empty() || list.size() == count; };
  if (ends.size() != count || !fits(axes) || !fits(steps)) return std::nullopt;
  std::vector<Range> ranges;
  for (const int64_t length : dims) ranges.push_back({0, 1, length});
  for (size_t i = 0; i < count; ++i) {
    const auto axis = resolve_axis(axes.empty() ? static_cast<int64_t>(i) : axes[i], dims.size());
    if (!axis) return std::nullopt;
    if (dims[*axis] < 0) continue;
    if (dims[*axis] > kLongest) return std::nullopt;
    const auto range = slice_range(starts[i], ends[i], steps.empty() ? 1 : steps[i], dims[*axis]);
    if (!range) return std::nullopt;
    ranges[*axis] = *range;
  }
  return ranges;
}

Folded fold_slice(const NodeProto& node, Inputs inputs) {
  const Constant* data = input(inputs, 0);
  if (data == nullptr) return {};
  const auto found = slice_ranges(node, inputs, data->dims);
  if (!found) return {};
  const std::vector<Range>& ranges = *found;
  const Dims strides = strides_of(data->dims);
  Dims dims;
  for (const Range& range : ranges) dims.push_back(range.count);
  return pick(*data, dims, [&](size_t i) {
    int64_t at = 0;
    for (size_t a = dims.size(); a-- > 0;) {
      const auto length = static_cast<size_t>(dims[a]);
      at += (ranges[a].begin + static_cast<int64_t>(i % length) * ranges[a].step) * strides[a];
      i /= length;
    }
    return static_cast<size_t>(at);
  });
}

Folded fold_transpose(const NodeProto& node, Inputs inputs) {
  const Constant* in = input(inputs, 0);
  if (in == nullptr) return {};
  const size_t rank = in->dims.size();
  std::vector<int64_t> order = ints_attribute(node, "perm");
  if (order.empty()) {
    for (size_t a = rank; a-- > 0;) order.push_back(static_cast<int64_t>(a));
  }
  std::vector<bool> seen(rank, false);
  if (order.size() != rank) return {};
  Dims dims(rank), strides(rank);
  const Dims from = strides_of(in->dims);
  for (size_t a = 0; a < rank; ++a) {
    if (order[a] < 0 || order[a] >= static_cast<int64_t>(rank)) return {};
    const auto axis = static_cast<size_t>(order[a]);
    if (seen[axis]) return {};
    seen[axis] = true;
    dims[a] = in->dims[axis], strides[a] = from[axis];
  }
  return pick(*in, dims, [&](size_t i) {
    size_t at = 0;
    for (size_t a = rank; a-- > 0;) {
      const auto length = static_cast<size_t>(dims[a]);
      at += i % length * static_cast<size_t>(strides[a]);
      i /= length;
    }
    return at;
  });
}

}  // namespace

std::optional<Dims> sliced(const NodeProto& node, Inputs inputs, Dims dims) {
  const auto ranges = slice_ranges(node, inputs, dims);
  if (!ranges) return std::nullopt;
  for (size_t a = 0; a < dims.size(); ++a) dims[a] = (*ranges)[a].count;
  return dims;
}

std::vector<Constant> fold_split(const NodeProto& node, Inputs inputs) {
  const Constant* in = input(inputs, 0);
  const auto parts = static_cast<size_t>(node.output_size());
  if (in == nullptr || in->dims.size() != 1 || parts == 0) return {};
  std::vector<int64_t> lengths = ints_attribute(node, "split");
  if (inputs.size() > 1 && inputs[1] != nullptr) {
    const Constant* given = input(inputs, 1);
    if (given == nullptr || !given->whole()) return {};
    lengths = given->ints;
  }
  if (lengths.empty()) {
    const size_t each = (in->size() + parts - 1) / parts;
    for (size_t i = 0, left = in->size(); i < parts; ++i) {
      lengths.push_back(static_cast<int64_t>(std::min(each, left)));
      left -= std::min(each, left);
    }
  }
  if (lengths.size() != parts) return {};
  std::vector<Constant> out;
  size_t begin = 0;
  for (int64_t length : lengths) {
    if (length < 0 || static_cast<size_t>(length) > in->size() - begin) return {};
    out.push_back(*pick(*in, {length}, [begin](size_t i) { return begin + i; }));
    begin += static_cast<size_t>(length);
  }
  return out;
}

void add_layout(Folders& folders) {
  folders["Unsqueeze"] = fold_unsqueeze;
  folders["Squeeze"] = fold_squeeze;
  folders["Reshape"] = fold_reshape;
  folders["Concat"] = fold_concat;
  folders["Gather"] = fold_gather;
  folders["Slice"] = fold_slice;
  folders["Transpose"] = fold_transpose;
}

}  // namespace placeto::folding
