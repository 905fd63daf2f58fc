// Evaluation of arithmetic, comparisons, casts, choices and reductions.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "tools/onnx/folding.h"

namespace placeto::folding {
namespace {

using onnx::NodeProto;
using onnx::TensorProto;

struct Operator {
  int64_t (*whole)(int64_t, int64_t);
  double (*real)(double, double);
};

const std::map<std::string, Operator>& arithmetic() {
  // Divisions by 0 and the one that overflows are refused before these are called.
  static const std::map<std::string, Operator> table = {
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
      // No number is the least or largest of some if one of them is none.
      {"Min",
       {[](int64_t a, int64_t b) { return std::min(a, b); },
        [](double a, double b) { return std::isnan(a) || a <= b ? a : b; }}},
      {"Max",
       {[](int64_t a, int64_t b) { return std::max(a, b); },
        [](double a, double b) { return std::isnan(a) || a >= b ? a : b; }}},
      {"And", {[](int64_t a, int64_t b) { return int64_t{a != 0 && b != 0}; }, nullptr}},
      {"Or", {[](int64_t a, int64_t b) { return int64_t{a != 0 || b != 0}; }, nullptr}},
  };
  return table;
}

// Whole numbers are compared as such: large ones are not all reals.
struct Comparison {
  bool (*whole)(int64_t, int64_t);
  bool (*real)(double, double);
};

template <typename Compare>
constexpr Comparison comparison(Compare compare) {
  return {compare, compare};
}

const std::map<std::string, Comparison>& comparisons() {
  static const std::map<std::string, Comparison> table = {
      {"Equal", comparison([](auto a, auto b) { return a == b; })},
      {"Less", comparison([](auto a, auto b) { return a < b; })},
      {"Greater", comparison([](auto a, auto b) { return a > b; })},
      {"LessOrEqual", comparison([](auto a, auto b) { return a <= b; })},
      {"GreaterOrEqual", comparison([](auto a, auto b) { return a >= b; })},
  };
  return table;
}

bool divides_badly(const std::string& op, int64_t a, int64_t b) {
  return (op == "Div" || op == "Mod") &&
         (b == 0 || (b == -1 && a == std::numeric_limits<int64_t>::min()));
}

// The remainder has the sign of the divisor; with `fmod`, as in C, that of the dividend.
int64_t remainder(int64_t a, int64_t b) {
  return a % b;
}

Folded fold_binary(const NodeProto& node, Inputs inputs) {
  const Constant *a = input(inputs, 0), *b = input(inputs, 1);
  if (a == nullptr || b == nullptr || inputs.size() != 2 || a->whole() != b->whole()) return {};
  const auto dims = broadcast(a->dims, b->dims);
  if (!dims) return {};
  const auto compare = comparisons().find(node.op_type());
  const bool compares = compare != comparisons().end();
  const bool fmod = node.op_type() == "Mod" && int_attribute(node, "fmod", 0) != 0;
  Folded out = empty_like(compares ? int32_t{TensorProto::BOOL} : a->type, *dims);
  if (!out) return out;
  const size_t count = *element_count(*dims);
  for (size_t i = 0; i < count; ++i) {
    const size_t x = broadcast_index(i, *dims, a->dims), y = broadcast_index(i, *dims, b->dims);
    if (compares) {
      const Comparison& holds = compare->second;
      out->ints.push_back(a->whole() ? holds.whole(a->ints[x], b->ints[y])
                                     : holds.real(a->reals[x], b->reals[y]));
    } else if (a->whole()) {
      if (divides_badly(node.op_type(), a->ints[x], b->ints[y])) return {};
      const auto apply = fmod ? remainder : arithmetic().at(node.op_type()).whole;
      out->ints.push_back(apply(a->ints[x], b->ints[y]));
    } else {
      const auto apply = arithmetic().at(node.op_type()).real;
      if (apply == nullptr) return {};
      out->reals.push_back(apply(a->reals[x], b->reals[y]));
    }
  }
  return out;
}

Folded fold_unary(const NodeProto& node, Inputs inputs) {
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

Folded fold_cast(const NodeProto& node, Inputs inputs) {
  const Constant* in = input(inputs, 0);
  if (in == nullptr) return {};
  Folded out = empty_like(static_cast<int32_t>(int_attribute(node, "to", 0)), in->dims);
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

Folded fold_where(const NodeProto&, Inputs inputs) {
  const Constant *condition = input(inputs, 0), *a = input(inputs, 1), *b = input(inputs, 2);
  if (condition == nullptr || a == nullptr || b == nullptr || a->type != b->type) return {};
  if (!condition->whole()) return {};
  auto dims = broadcast(a->dims, b->dims);
  if (dims) dims = broadcast(*dims, condition->dims);
  Folded out = dims ? empty_like(a->type, *dims) : std::nullopt;
  if (!out) return out;
  for (size_t i = 0, n = *element_count(*dims); i < n; ++i) {
    const bool first = condition->ints[broadcast_index(i, *dims, condition->dims)] != 0;
    append(*out, first ? *a : *b, broadcast_index(i, *dims, first ? a->dims : b->dims));
  }
  return out;
}

// A reduction over all elements: shapes are one-dimensional, so that is what models write.
Folded fold_reduce(const NodeProto& node, Inputs inputs) {
  const Constant* in = input(inputs, 0);
  const auto axes = axes_of(node, inputs, 1);
  if (in == nullptr || !axes || in->dims.size() > 1 || in->size() == 0) return {};
  if (axes->empty() && int_attribute(node, "noop_with_empty_axes", 0) != 0) return *in;
  const bool keep = int_attribute(node, "keepdims", 1) != 0;
  Folded out = empty_like(in->type, keep ? Dims(in->dims.size(), 1) : Dims{});
  const std::string& op = node.op_type();
  const Operator apply = arithmetic().at(op == "ReduceProd"  ? "Mul"
                                         : op == "ReduceMax" ? "Max"
                                         : op == "ReduceMin" ? "Min"
                                                             : "Add");
  const auto reduce = [&](const auto& numbers, auto step) {
    return std::accumulate(numbers.begin() + 1, numbers.end(), numbers[0],
                           [&](auto a, auto b) { return held(in->type, step(a, b)); });
  };
  if (in->whole()) {
    out->ints = {reduce(in->ints, apply.whole)};
  } else {
    out->reals = {reduce(in->reals, apply.real)};
    // Engines differ, by where in the list it is, in whether they notice what is no number.
    if ((op == "ReduceMax" || op == "ReduceMin") && std::isnan(out->reals[0])) return {};
  }
  return out;
}

}  // namespace

void add_arithmetic(Folders& folders) {
  for (const auto& [name, apply] : arithmetic()) folders[name] = fold_binary;
  for (const auto& [name, compare] : comparisons()) folders[name] = fold_binary;
  for (const char* name : {"Neg", "Abs", "Not", "Ceil", "Floor", "Round", "Sqrt", "Reciprocal"}) {
    folders[name] = fold_unary;
  }
  for (const char* name : {"ReduceProd", "ReduceSum", "ReduceMax", "ReduceMin"}) {
    folders[name] = fold_reduce;
  }
  folders["Cast"] = fold_cast;
  folders["Where"] = fold_where;
}

}  // namespace placeto::folding
