#include "tools/cli/times.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "tools/cli/common.h"
#include "tools/cli/graph_input.h"
#include "tools/report/time_sources.h"

namespace placeto::cli {

void check_profile_kinds(const CostSources& costs, const std::vector<const Topology*>& topologies) {
  std::set<std::string> kinds;
  for (const Topology* topology : topologies) {
    for (const DeviceSpec& device : topology->spec().devices) kinds.insert(device.kind);
  }
  for (const std::string& profile : costs.profiles) {
    const std::string kind = profile.substr(0, profile.find('='));
    if (kinds.contains(kind)) continue;
    throw Failure(kBadUsage,
                  fmt::format("--profile '{}': the {} no device of kind '{}'; devices are of {}",
                              profile, topologies.size() == 1 ? "topology has" : "topologies have",
                              kind, fmt::join(kinds, ", ")));
  }
}

void note_unlike_times(const std::string& graph_path, const Graph& graph,
                       const std::string& topology_path, const Topology& topology) {
  const std::string unlike = unlike_times(graph, topology);
  if (unlike.empty()) return;
  note(as_given(graph_path + " on " + topology_path +
                ": numbers of unlike sources are compared: run times: " + unlike));
}

}  // namespace placeto::cli
