#include "tools/onnx/fold.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <unordered_map>

namespace placeto {
namespace {

using onnx::NodeProto;
using onnx::TensorProto;
using Inputs = std::span<const Value* const>;
using Result1 = std::optional<Constant>;

int64_t wrap_add(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
int64_t wrap_subtract(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
int64_t wrap_multiply(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

Constant whole_numbers(std::vector<int64_t> values, bool scalar = false) {
  Constant out;
  out.type = TensorProto::INT64;
  if (!scalar) out.dims = {static_cast<int64_t>(values.size())};
  out.ints = std::move(values);
  return out;
}

const Constant* input(Inputs inputs, size_t i) {
  return i < inputs.size() && inputs[i] != nullptr ? inputs[i]->constant.get() : nullptr;
}

// A constant of that type and shape, without content yet; nullopt if it would be too large.
Result1 empty_like(int32_t type, const Dims& dims) {
  const auto count = element_count(dims);
  if (!count || *count > kMaxConstantElements || dims.size() > kMaxRank) return std::nullopt;
  Constant out;
  out.type = type;
  out.dims = dims;
  return out;
}

void append(Constant& out, const Constant& from, size_t i) {
  if (out.whole()) {
    out.ints.push_back(from.ints[i]);
  } else {
    out.reals.push_back(from.reals[i]);
  }
}

// Elements of `in` at the places that `source` gives for 0, 1, ... of the new shape.
template <class Source>
Result1 pick(const Constant& in, const Dims& dims, Source source) {
  Result1 out = empty_like(in.type, dims);
  if (!out) return out;
  const size_t count = *element_count(dims);
  for (size_t i = 0; i < count; ++i) {
    const size_t from = source(i);
    if (from >= in.size()) return std::nullopt;
    append(*out, in, from);
  }
  return out;
}

Dims strides_of(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (size_t a = dims.size(); a-- > 1;)
    strides[a - 1] = wrap_multiply(strides[a], std::max<int64_t>(dims[a], 1));
  return strides;
}

// Position of element i of the shape `out` in a tensor of shape `in` that is broadcast to it.
size_t broadcast_index(size_t i, const Dims& out, const Dims& in) {
  const Dims strides = strides_of(in);
  size_t index = 0;
  for (size_t a = out.size(); a-- > 0;) {
    const auto length = static_cast<size_t>(out[a]);
    const size_t at = i % length;
    i /= length;
    const size_t skipped = out.size() - in.size();
    if (a >= skipped && in[a - skipped] != 1)
      index += at * static_cast<size_t>(strides[a - skipped]);
  }
  return index;
}

// --- shapes

Result1 fold_shape(const NodeProto& node, Inputs inputs) {
  if (inputs.empty() || inputs[0] == nullptr) return std::nullopt;
  const auto dims = inputs[0]->dims();
  if (!dims) return std::nullopt;
  const auto rank = static_cast<int64_t>(dims->size());
  const auto clamp = [rank](int64_t x) {
    return std::clamp<int64_t>(x < 0 ? x + rank : x, 0, rank);
  };
  const int64_t begin = clamp(int_attribute(node, "start", 0));
  const int64_t end = clamp(int_attribute(node, "end", rank));
  std::vector<int64_t> values;
  for (int64_t a = begin; a < end; ++a) {
    if ((*dims)[static_cast<size_t>(a)] < 0) return std::nullopt;
    values.push_back((*dims)[static_cast<size_t>(a)]);
  }
  return whole_numbers(std::move(values));
}

Result1 fold_size(const NodeProto&, Inputs inputs) {
  if (inputs.empty() || inputs[0] == nullptr) return std::nullopt;
  const auto dims = inputs[0]->dims();
  const auto count = dims ? element_count(*dims) : std::nullopt;
  if (!count) return std::nullopt;
  return whole_numbers({static_cast<int64_t>(*count)}, true);
}

// --- arithmetic

struct Operator {
  int64_t (*whole)(int64_t, int64_t);
  double (*real)(double, double);
};

const std::unordered_map<std::string, Operator>& arithmetic() {
  // Divisions by 0 and the one that overflows are refused before these are called.
  static const std::unordered_map<std::string, Operator> table = {
      {"Add", {wrap_add, [](double a, double b) { return a + b; }}},
      {"Sub", {wrap_subtract, [](double a, double b) { return a - b; }}},
      {"Mul", {wrap_multiply, [](double a, double b) { return a * b; }}},
      {"Div",
       {[](int64_t a, int64_t b) { return a / b; }, [](double a, double b) { return a / b; }}},
      {"Mod",
       {[](int64_t a, int64_t b) {
          const int64_t rest = a % b;
          return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
        },
        [](double a, double b) { return std::fmod(a, b); }}},
      {"Pow",
       {[](int64_t a, int64_t b) {
          const double x = std::pow(static_cast<double>(a), static_cast<double>(b));
          return std::abs(x) < 9e18 ? static_cast<int64_t>(x) : int64_t{0};
        },
        [](double a, double b) { return std::pow(a, b); }}},
      {"Min",
       {[](int64_t a, int64_t b) { return std::min(a, b); },
        [](double a, double b) { return std::min(a, b); }}},
      {"Max",
       {[](int64_t a, int64_t b) { return std::max(a, b); },
        [](double a, double b) { return std::max(a, b); }}},
      {"And", {[](int64_t a, int64_t b) { return int64_t{a != 0 && b != 0}; }, nullptr}},
      {"Or", {[](int64_t a, int64_t b) { return int64_t{a != 0 || b != 0}; }, nullptr}},
  };
  return table;
}

using Comparison = bool (*)(double, double);
const std::unordered_map<std::string, Comparison>& comparisons() {
  static const std::unordered_map<std::string, Comparison> table = {
      {"Equal", [](double a, double b) { return a == b; }},
      {"Less", [](double a, double b) { return a < b; }},
      {"Greater", [](double a, double b) { return a > b; }},
      {"LessOrEqual", [](double a, double b) { return a <= b; }},
      {"GreaterOrEqual", [](double a, double b) { return a >= b; }},
  };
  return table;
}

bool divides_badly(const std::string& op, int64_t a, int64_t b) {
  return (op == "Div" || op == "Mod") &&
         (b == 0 || (b == -1 && a == std::numeric_limits<int64_t>::min()));
}

Result1 fold_binary(const NodeProto& node, Inputs inputs) {
  const Constant *a = input(inputs, 0), *b = input(inputs, 1);
  if (a == nullptr || b == nullptr || inputs.size() != 2 || a->whole() != b->whole()) return {};
  const auto dims = broadcast(a->dims, b->dims);
  if (!dims) return {};
  const auto compare = comparisons().find(node.op_type());
  const bool compares = compare != comparisons().end();
  Result1 out = empty_like(compares ? int32_t{TensorProto::BOOL} : a->type, *dims);
  if (!out) return out;
  const size_t count = *element_count(*dims);
  for (size_t i = 0; i < count; ++i) {
    const size_t x = broadcast_index(i, *dims, a->dims), y = broadcast_index(i, *dims, b->dims);
    if (compares) {
      out->ints.push_back(compare->second(a->number(x), b->number(y)));
    } else if (a->whole()) {
      if (divides_badly(node.op_type(), a->ints[x], b->ints[y])) return {};
      out->ints.push_back(arithmetic().at(node.op_type()).whole(a->ints[x], b->ints[y]));
    } else {
      const auto apply = arithmetic().at(node.op_type()).real;
      if (apply == nullptr) return {};
      out->reals.push_back(apply(a->reals[x], b->reals[y]));
    }
  }
  return out;
}

Result1 fold_unary(const NodeProto& node, Inputs inputs) {
  const Constant* in = input(inputs, 0);
  if (in == nullptr) return {};
  Constant out = *in;
  const std::string& op = node.op_type();
  for (int64_t& x : out.ints) {
    if (op == "Neg") x = wrap_subtract(0, x);
    if (op == "Abs") x = x < 0 ? wrap_subtract(0, x) : x;
    if (op == "Not") x = x == 0;
  }
  for (double& x : out.reals) {
    if (op == "Neg") x = -x;
    if (op == "Abs") x = std::abs(x);
    if (op == "Ceil") x = std::ceil(x);
    if (op == "Floor") x = std::floor(x);
    if (op == "Round") x = std::nearbyint(x);
    if (op == "Sqrt") x = std::sqrt(x);
    if (op == "Reciprocal") x = 1 / x;
  }
  return out;
}

int64_t to_whole(double x) {
  if (!(std::abs(x) < 9e18)) return 0;
  return static_cast<int64_t>(x);
}

Result1 fold_cast(const NodeProto& node, Inputs inputs) {
  const Constant* in = input(inputs, 0);
  if (in == nullptr) return {};
  Result1 out = empty_like(static_cast<int32_t>(int_attribute(node, "to", 0)), in->dims);
  if (!out || !is_constant_type(out->type)) return {};
  for (size_t i = 0; i < in->size(); ++i) {
    if (out->type == TensorProto::BOOL) {
      out->ints.push_back(in->number(i) != 0);
    } else if (out->whole()) {
      out->ints.push_back(in->whole() ? in->ints[i] : to_whole(in->reals[i]));
    } else {
      out->reals.push_back(in->number(i));
    }
  }
  return out;
}

Result1 fold_where(const NodeProto&, Inputs inputs) {
  const Constant *condition = input(inputs, 0), *a = input(inputs, 1), *b = input(inputs, 2);
  if (condition == nullptr || a == nullptr || b == nullptr || a->type != b->type) return {};
  if (!condition->whole()) return {};
  auto dims = broadcast(a->dims, b->dims);
  if (dims) dims = broadcast(*dims, condition->dims);
  Result1 out = dims ? empty_like(a->type, *dims) : std::nullopt;
  if (!out) return out;
  for (size_t i = 0, n = *element_count(*dims); i < n; ++i) {
    const bool first = condition->ints[broadcast_index(i, *dims, condition->dims)] != 0;
    append(*out, first ? *a : *b, broadcast_index(i, *dims, first ? a->dims : b->dims));
  }
  return out;
}

// --- axes, as an attribute in old operator sets and an input in new ones

std::optional<std::vector<int64_t>> axes_of(const NodeProto& node, Inputs inputs, size_t position) {
  if (position < inputs.size() && inputs[position] != nullptr) {
    const Constant* axes = input(inputs, position);
    if (axes == nullptr || !axes->whole()) return std::nullopt;
    return axes->ints;
  }
  return ints_attribute(node, "axes");
}

// A reduction over all elements: shapes are one-dimensional, so that is what models write.
Result1 fold_reduce(const NodeProto& node, Inputs inputs) {
  const Constant* in = input(inputs, 0);
  const auto axes = axes_of(node, inputs, 1);
  if (in == nullptr || !axes || in->dims.size() > 1 || in->size() == 0) return {};
  const bool keep = int_attribute(node, "keepdims", 1) != 0;
  Result1 out = empty_like(in->type, keep ? Dims(in->dims.size(), 1) : Dims{});
  const std::string& op = node.op_type();
  const Operator apply = arithmetic().at(op == "ReduceProd"  ? "Mul"
                                         : op == "ReduceMax" ? "Max"
                                         : op == "ReduceMin" ? "Min"
                                                             : "Add");
  if (in->whole()) {
    out->ints = {std::accumulate(in->ints.begin() + 1, in->ints.end(), in->ints[0], apply.whole)};
  } else {
    out->reals = {
        std::accumulate(in->reals.begin() + 1, in->reals.end(), in->reals[0], apply.real)};
  }
  return out;
}

// --- rearrangement

Result1 reshaped(const Constant& in, Dims dims) {
  if (element_count(dims) != in.size()) return {};
  Constant out = in;
  out.dims = std::move(dims);
  return out;
}

Result1 fold_unsqueeze(const NodeProto& node, Inputs inputs) {
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

Result1 fold_squeeze(const NodeProto& node, Inputs inputs) {
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

Result1 fold_reshape(const NodeProto&, Inputs inputs) {
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

Result1 fold_concat(const NodeProto& node, Inputs inputs) {
  // Along the first axis of one-dimensional inputs: what shapes are made of.
  Result1 out;
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

Result1 fold_gather(const NodeProto& node, Inputs inputs) {
  const Constant *data = input(inputs, 0), *indices = input(inputs, 1);
  if (data == nullptr || indices == nullptr || !indices->whole()) return {};
  if (data->dims.size() != 1 || !resolve_axis(int_attribute(node, "axis", 0), 1)) return {};
  const auto length = static_cast<int64_t>(data->size());
  return pick(*data, indices->dims, [&](size_t i) {
    const int64_t at = indices->ints[i];
    return static_cast<size_t>(at < 0 ? at + length : at);  // pick() refuses what is out of range
  });
}

// One end of a slice as numpy clamps it.
int64_t slice_bound(int64_t x, int64_t length, int64_t step) {
  if (x < 0) x = wrap_add(x, length);
  return step > 0 ? std::clamp<int64_t>(x, 0, length) : std::clamp<int64_t>(x, -1, length - 1);
}

Result1 fold_slice(const NodeProto& node, Inputs inputs) {
  const Constant* data = input(inputs, 0);
  if (data == nullptr || data->dims.size() != 1) return {};
  int64_t begin = 0, end = 0, step = 1;
  if (inputs.size() >= 3) {
    const Constant *starts = input(inputs, 1), *ends = input(inputs, 2), *steps = input(inputs, 4);
    if (starts == nullptr || ends == nullptr || starts->size() != 1 || ends->size() != 1) return {};
    if (!starts->whole() || !ends->whole()) return {};
    if (inputs.size() > 4 && inputs[4] != nullptr) {
      if (steps == nullptr || !steps->whole() || steps->size() != 1) return {};
      step = steps->ints[0];
    }
    begin = starts->ints[0], end = ends->ints[0];
  } else {
    const auto starts = ints_attribute(node, "starts"), ends = ints_attribute(node, "ends");
    if (starts.size() != 1 || ends.size() != 1) return {};
    begin = starts[0], end = ends[0];
  }
  const auto length = static_cast<int64_t>(data->size());
  if (step == 0 || step == std::numeric_limits<int64_t>::min()) return {};
  step = std::clamp<int64_t>(step, -length - 1, length + 1);
  std::vector<size_t> at;
  end = end <= -length - 1 && step < 0 ? -1 : slice_bound(end, length, step);
  for (int64_t i = slice_bound(begin, length, step); step > 0 ? i < end : i > end; i += step) {
    at.push_back(static_cast<size_t>(i));
  }
  return pick(*data, {static_cast<int64_t>(at.size())}, [&](size_t i) { return at[i]; });
}

Result1 fold_transpose(const NodeProto& node, Inputs inputs) {
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

// --- new content

Result1 fold_constant_of_shape(const NodeProto& node, Inputs inputs) {
  const Constant* shape = input(inputs, 0);
  if (shape == nullptr || !shape->whole()) return {};
  Constant value;
  value.type = TensorProto::FLOAT;
  value.reals = {0};
  if (const auto* attribute = find_attribute(node, "value")) {
    const auto given = read_constant(attribute->t());
    if (!given || given->size() != 1) return {};
    value = *given;
  }
  return pick(value, shape->ints, [](size_t) { return size_t{0}; });
}

Result1 fold_range(const NodeProto&, Inputs inputs) {
  const Constant *begin = input(inputs, 0), *end = input(inputs, 1), *step = input(inputs, 2);
  if (begin == nullptr || end == nullptr || step == nullptr) return {};
  if (begin->size() != 1 || end->size() != 1 || step->size() != 1) return {};
  if (begin->type != end->type || begin->type != step->type) return {};
  const double count = std::ceil((end->number(0) - begin->number(0)) / step->number(0));
  if (!(count <= double{kMaxConstantElements})) return {};
  const auto length = static_cast<int64_t>(std::max(count, 0.0));
  Result1 out = empty_like(begin->type, {length});
  for (int64_t i = 0; i < length; ++i) {
    if (out->whole()) {
      out->ints.push_back(wrap_add(begin->ints[0], wrap_multiply(i, step->ints[0])));
    } else {
      out->reals.push_back(begin->reals[0] + static_cast<double>(i) * step->reals[0]);
    }
  }
  return out;
}

Result1 fold_expand(const NodeProto&, Inputs inputs) {
  const Constant *in = input(inputs, 0), *shape = input(inputs, 1);
  if (in == nullptr || shape == nullptr || !shape->whole()) return {};
  const auto dims = broadcast(in->dims, shape->ints);
  if (!dims) return {};
  return pick(*in, *dims, [&](size_t i) { return broadcast_index(i, *dims, in->dims); });
}

Result1 fold_identity(const NodeProto&, Inputs inputs) {
  const Constant* in = input(inputs, 0);
  return in != nullptr ? Result1(*in) : std::nullopt;
}

// Parts of a one-dimensional input.
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

using Folder = Result1 (*)(const NodeProto&, Inputs);
const std::unordered_map<std::string, Folder>& folders() {
  static const std::unordered_map<std::string, Folder> table = [] {
    std::unordered_map<std::string, Folder> all = {
        {"Shape", fold_shape},         {"Size", fold_size},
        {"Cast", fold_cast},           {"Where", fold_where},
        {"Unsqueeze", fold_unsqueeze}, {"Squeeze", fold_squeeze},
        {"Reshape", fold_reshape},     {"Concat", fold_concat},
        {"Gather", fold_gather},       {"Slice", fold_slice},
        {"Transpose", fold_transpose}, {"ConstantOfShape", fold_constant_of_shape},
        {"Range", fold_range},         {"Expand", fold_expand},
        {"Identity", fold_identity}};
    for (const auto& [name, apply] : arithmetic()) all[name] = fold_binary;
    for (const auto& [name, compare] : comparisons()) all[name] = fold_binary;
    for (const char* name : {"Neg", "Abs", "Not", "Ceil", "Floor", "Round", "Sqrt", "Reciprocal"}) {
      all[name] = fold_unary;
    }
    for (const char* name : {"ReduceProd", "ReduceSum", "ReduceMax", "ReduceMin"}) {
      all[name] = fold_reduce;
    }
    return all;
  }();
  return table;
}

}  // namespace

std::vector<Constant> fold(const NodeProto& node, Inputs inputs) {
  if (!is_default_domain(node.domain())) return {};
  if (node.op_type() == "Split") return fold_split(node, inputs);
  const auto folder = folders().find(node.op_type());
  if (folder == folders().end() || node.output_size() != 1) return {};
  Result1 out = folder->second(node, inputs);
  if (!out) return {};
  std::vector<Constant> all;
  all.push_back(*std::move(out));
  return all;
}

}  // namespace placeto
