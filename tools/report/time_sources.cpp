#include "tools/report/time_sources.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "runtime/cost/estimate.h"
#include "runtime/graph/text.h"

namespace placeto {
namespace {

bool allows(const NodeSpec& node, const DeviceSpec& device) {
  const auto& kinds = node.allowed_kinds;
  return kinds.empty() || std::find(kinds.begin(), kinds.end(), device.kind) != kinds.end();
}

// Whether the device may run the node: a run time is listed, or rates are there to estimate from.
bool runs(const NodeSpec& node, size_t column, const DeviceSpec& device) {
  if (!allows(node, device)) return false;
  if (column < node.cost_us.size()) return node.cost_us[column] >= 0;
  return device.peak_flops > 0 && device.memory_bandwidth > 0;
}

// Nodes that the device may run, but for a rate that it lacks.
uint32_t not_estimated(const Graph& graph, const TimeSources& sources, const DeviceSpec& device) {
  const size_t column = sources.column_of(device.kind);
  uint32_t count = 0;
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    const NodeSpec& node = graph.node(v);
    const bool wanted = allows(node, device) && node.cost_us.size() <= column;
    if (wanted && !estimate_run_us(node, bytes_moved(graph, v), device)) ++count;
  }
  return count;
}

// "" where the device runs nothing.
const char* source_of(const Graph& graph, const TimeSources& sources, const DeviceSpec& device) {
  const size_t column = sources.column_of(device.kind);
  const bool is_listed = graph.kinds().empty() || column < graph.kinds().size();
  bool found[3] = {};  // by source
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    if (runs(graph.node(v), column, device))
      found[static_cast<size_t>(sources.at(v, column))] = true;
    if (!is_listed && found[0]) break;
  }
  const auto [estimated, given, measured] = found;
  if (measured) return estimated || given ? "measured in part" : "measured";
  if (given) return estimated ? "given in part" : "given";
  return estimated ? "estimated" : "";
}

}  // namespace

TimeSources::TimeSources(const Graph& graph) : graph_(graph) {
  const auto& nodes = graph.spec().nodes;
  any_measured_ = std::any_of(nodes.begin(), nodes.end(),
                              [](const NodeSpec& node) { return node.measured != 0; });
}

size_t TimeSources::column_of(std::string_view kind) const {
  const auto kinds = graph_.kinds();
  if (kinds.empty()) return 0;
  return static_cast<size_t>(std::find(kinds.begin(), kinds.end(), kind) - kinds.begin());
}

TimeSource TimeSources::at(uint32_t node, size_t column) const {
  const NodeSpec& spec = graph_.node(node);
  if (spec.cost_us.size() <= column) return TimeSource::kEstimated;
  if (column < 64 && (spec.measured >> column & 1) != 0) return TimeSource::kMeasured;
  return any_measured_ ? TimeSource::kEstimated : TimeSource::kGiven;
}

std::string unlike_times(const Graph& graph, const Topology& topology) {
  const TimeSources sources(graph);
  std::vector<std::pair<std::string, std::string>> found;  // by kind
  for (const DeviceSpec& device : topology.spec().devices) {
    const auto seen = [&](const auto& other) { return other.first == device.kind; };
    if (std::any_of(found.begin(), found.end(), seen)) continue;
    found.emplace_back(device.kind, source_of(graph, sources, device));
  }
  std::erase_if(found, [](const auto& kind) { return kind.second.empty(); });
  const auto other = [&](const auto& kind) { return kind.second != found.front().second; };
  if (std::none_of(found.begin(), found.end(), other)) return "";
  std::string text;
  for (const auto& [kind, source] : found) {
    text += (text.empty() ? "" : ", ") + kind + " " + source;
  }
  return text;
}

std::string lacking_rates(const Graph& graph, const Topology& topology) {
  constexpr uint32_t kShown = 3;
  const TimeSources sources(graph);
  std::map<std::tuple<std::string, bool, bool>, uint32_t> counts;  // a thousand devices are alike
  std::string text;
  uint32_t found = 0;
  for (const DeviceSpec& device : topology.spec().devices) {
    const bool has_flops = device.peak_flops > 0, has_bandwidth = device.memory_bandwidth > 0;
    if (has_flops && has_bandwidth) continue;
    const auto [known, is_new] = counts.try_emplace({device.kind, has_flops, has_bandwidth}, 0);
    if (is_new) known->second = not_estimated(graph, sources, device);
    const uint32_t count = known->second;
    if (count == 0) continue;
    if (found++ == kShown) return text + ", ...";
    const char* lacks = has_flops       ? "memory_bandwidth"
                        : has_bandwidth ? "peak_flops"
                                        : "peak_flops and memory_bandwidth";
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " of " +
            std::to_string(graph.node_count()) + " nodes cannot run on " + in_quotes(device.name) +
            ", which lacks " + lacks + " to estimate run times from";
  }
  return text;
}

}  // namespace placeto
