#include "tools/costs/joined_names.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <unordered_set>

#include "tools/costs/engine_nodes.h"

namespace placeto {
namespace {

constexpr std::string_view kSeparators[] = {" + ", " || ", ", "};
constexpr std::string_view kPointwise = "PWN(", kForeign = "ForeignNode[", kRange = "...";

// Without what is around a name: "PWN(" before it, and the parentheses that this closes.
std::string_view bare(std::string_view name) {
  while (name.starts_with(kPointwise)) name.remove_prefix(kPointwise.size());
  auto open = std::count(name.begin(), name.end(), ')') - std::count(name.begin(), name.end(), '(');
  for (; open > 0 && name.ends_with(')'); --open) name.remove_suffix(1);
  return name;
}

// Reads the text once: where a separator comes next is looked for only when that lies behind.
std::vector<uint32_t> listed(std::string_view text, const NodeLookup& lookup) {
  std::vector<uint32_t> nodes;
  std::array<size_t, std::size(kSeparators)> at;
  std::transform(std::begin(kSeparators), std::end(kSeparators), at.begin(),
                 [text](std::string_view separator) { return text.find(separator); });
  for (size_t begin = 0; begin < text.size();) {
    size_t end = text.size(), next = text.size();
    for (size_t s = 0; s < at.size(); ++s) {
      if (at[s] < begin) at[s] = text.find(kSeparators[s], begin);
      if (at[s] < end) end = at[s], next = end + kSeparators[s].size();
    }
    const uint32_t v = lookup(bare(text.substr(begin, end - begin)));
    if (v != kNoIndex) nodes.push_back(v);
    begin = next;
  }
  return nodes;
}

// What stands in the brackets of a ForeignNode: a list, or two with all between them.
std::vector<uint32_t> foreign(std::string_view text, const NodeLookup& lookup, RangeWalk& walk) {
  const size_t dots = text.find(kRange);
  if (dots == std::string_view::npos) return listed(text, lookup);
  std::vector<uint32_t> nodes = listed(text.substr(0, dots), lookup);
  const std::vector<uint32_t> last = listed(text.substr(dots + kRange.size()), lookup);
  if (!nodes.empty() && !last.empty()) {
    const std::vector<uint32_t> inner = walk.between(nodes.front(), last.back());
    nodes.insert(nodes.end(), inner.begin(), inner.end());
  }
  nodes.insert(nodes.end(), last.begin(), last.end());
  return nodes;
}

void keep_first(std::vector<uint32_t>& nodes) {
  std::unordered_set<uint32_t> seen;
  std::erase_if(nodes, [&](uint32_t v) { return !seen.insert(v).second; });
}

}  // namespace

std::vector<bool> RangeWalk::reached(uint32_t from, bool forward) {
  std::vector<bool> seen(graph_.node_count(), false);
  std::vector<uint32_t> open{from};
  seen[from] = true;
  const auto visit = [&](uint32_t v) {
    if (!seen[v]) open.push_back(v);
    seen[v] = true;
  };
  while (!open.empty()) {
    const uint32_t v = open.back();
    open.pop_back();
    if (forward) {
      for (const OutEdge& edge : graph_.out_edges(v)) visit(edge.target);
    } else {
      for (const InEdge& edge : graph_.in_edges(v)) visit(edge.source);
    }
  }
  return seen;
}

std::vector<uint32_t> RangeWalk::between(uint32_t first, uint32_t last) {
  const uint64_t work = 2 * graph_.size();
  if (left_ < work) return {first, last};
  left_ -= work;
  const std::vector<bool> after = reached(first, true), before = reached(last, false);
  std::vector<uint32_t> nodes;
  for (const uint32_t v : graph_.topological_order()) {
    if (after[v] && before[v]) nodes.push_back(v);
  }
  return nodes;
}

std::vector<uint32_t> joined_nodes(std::string_view name, const NodeLookup& lookup,
                                   RangeWalk& walk) {
  std::vector<uint32_t> nodes;
  const size_t begin = name.find(kForeign), end = name.rfind(']');
  if (begin != std::string_view::npos && end != std::string_view::npos && end > begin) {
    const size_t inside = begin + kForeign.size();
    nodes = foreign(name.substr(inside, end - inside), lookup, walk);
  } else {
    nodes = listed(name, lookup);
  }
  keep_first(nodes);
  return nodes;
}

}  // namespace placeto
