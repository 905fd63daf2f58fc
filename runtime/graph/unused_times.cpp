#include "runtime/graph/unused_times.h"

#include <string_view>
#include <vector>

#include "runtime/base/message.h"
#include "runtime/graph/text.h"

namespace placeto {
namespace {

using Names = std::vector<std::string_view>;

bool has(const Names& names, std::string_view name) {
  for (const std::string_view other : names) {
    if (other == name) return true;
  }
  return false;
}

bool has_times(const Graph& graph) {
  for (const NodeSpec& node : graph.spec().nodes) {
    if (!node.cost_us.empty()) return true;
  }
  return false;
}

// "'a', 'b' and 'c'"
std::string listing(const Names& names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    const char* const before = i == 0 ? "" : i + 1 == names.size() ? " and " : ", ";
    text += join({before, in_quotes(names[i])});
  }
  return text;
}

}  // namespace

std::string unused_times(const Graph& graph, const Topology& topology) {
  const Names listed(graph.kinds().begin(), graph.kinds().end());
  Names kinds;
  bool all_listed = true;
  for (const DeviceSpec& device : topology.spec().devices) {
    if (has(kinds, device.kind)) continue;
    kinds.push_back(device.kind);
    all_listed &= has(listed, device.kind);
  }
  Names unused;
  for (const std::string_view kind : listed) {
    if (!has(kinds, kind)) unused.push_back(kind);
  }
  if (all_listed || unused.empty() || !has_times(graph)) return {};
  return join({"run times on ", listing(unused), " are not used: devices are of ", listing(kinds)});
}

}  // namespace placeto
