#include "tools/onnx/einsum.h"

#include <algorithm>

namespace placeto {
namespace {

constexpr char kDots = '.';  // stands for all three

struct Terms {
  std::vector<std::string> operands;
  std::string result;
  bool has_result = false;
};

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::optional<Terms> read_terms(const std::string& equation) {
  Terms terms;
  terms.operands.emplace_back();
  for (size_t i = 0; i < equation.size(); ++i) {
    const char c = equation[i];
    std::string& term = terms.has_result ? terms.result : terms.operands.back();
    if (c == ' ') continue;
    if (c == ',' && !terms.has_result) {
      terms.operands.emplace_back();
    } else if (c == '-' && equation.compare(i, 2, "->") == 0 && !terms.has_result) {
      terms.has_result = true;
      ++i;
    } else if (c == '.' && equation.compare(i, 3, "...") == 0) {
      if (term.find(kDots) != std::string::npos) return std::nullopt;
      term += kDots;
      i += 2;
    } else if (is_letter(c)) {
      term += c;
    } else {
      return std::nullopt;
    }
  }
  return terms;
}

// Without an arrow: the dots, and every letter that stands once, in the order of the alphabet.
std::string implied_result(const std::vector<std::string>& operands) {
  std::map<char, int> count;
  for (const std::string& term : operands) {
    for (const char c : term) ++count[c];
  }
  std::string result;
  for (const auto& [c, times] : count) {
    if (c == kDots || times == 1) result += c;
  }
  return result;
}

// One is broadcast to the other.
int64_t common_extent(int64_t a, int64_t b) {
  return a == 1 || b == 1 ? a * b : std::max(a, b);
}

}  // namespace

std::optional<EinsumAxes> einsum_axes(const std::string& equation,
                                      const std::vector<Dims>& operands) {
  const std::optional<Terms> terms = read_terms(equation);
  if (!terms || terms->operands.size() != operands.size()) return std::nullopt;
  EinsumAxes axes;
  for (size_t i = 0; i < operands.size(); ++i) {
    const std::string& term = terms->operands[i];
    const Dims& dims = operands[i];
    const bool has_dots = term.find(kDots) != std::string::npos;
    const size_t letters = term.size() - (has_dots ? 1 : 0);
    if (has_dots ? dims.size() < letters : dims.size() != letters) return std::nullopt;
    size_t axis = 0;
    for (const char c : term) {
      if (c != kDots) {
        const auto [at, is_new] = axes.extent.emplace(c, dims[axis]);
        at->second = common_extent(at->second, dims[axis++]);
        continue;
      }
      const auto begin = dims.begin() + static_cast<std::ptrdiff_t>(axis);
      const size_t count = dims.size() - letters;
      const auto together =
          broadcast(axes.dots, {begin, begin + static_cast<std::ptrdiff_t>(count)});
      if (!together) return std::nullopt;
      axes.dots = *together;
      axis += count;
    }
  }
  axes.result = terms->has_result ? terms->result : implied_result(terms->operands);
  for (const char c : axes.result) {
    if (c != kDots && !axes.extent.contains(c)) return std::nullopt;
  }
  axes.operands = terms->operands;
  return axes;
}

}  // namespace placeto
