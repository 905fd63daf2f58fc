#include "tools/cli/times.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "runtime/graph/unused_times.h"
#include "tools/cli/common.h"
#include "tools/cli/graph_input.h"
#include "tools/machine/machine.h"
#include "tools/machine/unused_settings.h"
#include "tools/report/table.h"
#include "tools/report/time_sources.h"

namespace placeto::cli {
namespace {

const std::string kCompared = "numbers of unlike sources are compared: ";
const std::string kRunTimes = "run times: ";

// Where the times of a graph, each on its slowest kind of device, are so short or so long in all
// that they were probably given in another unit.
std::string implausible_times(const Graph& graph) {
  constexpr double kShortest = 1e-3, kLongest = 7 * 86'400e6;  // a nanosecond, a week
  double all_us = 0;
  for (const NodeSpec& node : graph.spec().nodes) {
    if (node.cost_us.empty()) return "";  // estimated
    all_us += std::max(0.0, *std::ranges::max_element(node.cost_us));
  }
  if (all_us == 0 || (all_us >= kShortest && all_us <= kLongest)) return "";
  return fmt::format("all run times of the graph together are {}: files give microseconds",
                     format_us(all_us));
}

// What is wrong beside unlike sources.
std::vector<std::string> other_notes(const Graph& graph, const Topology& topology) {
  std::vector<std::string> notes = unused_settings(topology);
  notes.push_back(unused_times(graph, topology));
  notes.push_back(lacking_rates(graph, topology));
  notes.push_back(implausible_times(graph));
  return notes;
}

}  // namespace

void check_cost_kinds(const CostSources& costs, const Graph& graph,
                      const std::vector<const Topology*>& topologies) {
  std::set<std::string> kinds;
  for (const Topology* topology : topologies) {
    for (const DeviceSpec& device : topology->spec().devices) kinds.insert(device.kind);
  }
  const auto refuse = [&](const std::string& option, const std::string& kind) {
    throw Failure(
        kBadUsage,
        fmt::format("{}: the {} no device of kind '{}'; devices are of {}{}", option,
                    topologies.size() == 1 ? "topology has" : "topologies have", kind,
                    fmt::join(kinds, ", "), suggestion(kind, {kinds.begin(), kinds.end()})));
  };
  for (const std::string& profile : costs.profiles) {
    const std::string kind = profile.substr(0, profile.find('='));
    if (!kinds.contains(kind)) refuse("--profile '" + profile + "'", kind);
  }
  const auto known = [&](const std::string& kind) { return kinds.contains(kind); };
  const auto& given = graph.kinds();
  if (!costs.any() || given.empty() || std::ranges::any_of(given, known)) return;
  refuse(costs.tables.empty() ? "--efficiencies" : "--costs", given.front());
}

std::string note_on_numbers(const Graph& graph, const Topology& topology) {
  std::string found = mixed_sources(topology.spec());
  const std::string times = unlike_times(graph, topology);
  if (!times.empty()) found += (found.empty() ? "" : "; ") + kRunTimes + times;
  if (!found.empty()) found = kCompared + found;
  for (const std::string& other : other_notes(graph, topology)) {
    found += (found.empty() || other.empty() ? "" : "; ") + other;
  }
  return found;
}

void note_times(const std::string& graph_path, const Graph& graph, const std::string& topology_path,
                const Topology& topology) {
  const std::string place = graph_path + " on " + topology_path + ": ";
  const std::string unlike = unlike_times(graph, topology);
  if (!unlike.empty()) note(as_given(place + kCompared + kRunTimes + unlike));
  for (const std::string& other : other_notes(graph, topology)) {
    if (!other.empty()) note(as_given(place + other));
  }
}

}  // namespace placeto::cli
