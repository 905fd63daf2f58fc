#include "tools/cli/node_pattern.h"

namespace placeto::cli {

static constexpr std::string_view kOperator = "op:";

bool glob_matches(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0;
  size_t star = std::string_view::npos, resume = 0;  // the last '*', and where its match may end
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p, ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool is_node_pattern(std::string_view text) {
  return text.starts_with(kOperator) || text.find_first_of("*?") != std::string_view::npos;
}

std::vector<uint32_t> matching_nodes(std::string_view pattern, const Graph& graph) {
  const bool by_operator = pattern.starts_with(kOperator);
  if (by_operator) pattern.remove_prefix(kOperator.size());
  std::vector<uint32_t> nodes;
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    const NodeSpec& node = graph.node(v);
    if (glob_matches(pattern, by_operator ? node.op : node.name)) nodes.push_back(v);
  }
  return nodes;
}

}  // namespace placeto::cli
