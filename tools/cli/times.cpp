#include "tools/cli/times.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "tools/cli/common.h"
#include "tools/cli/graph_input.h"
#include "tools/machine/machine.h"
#include "tools/report/time_sources.h"

namespace placeto::cli {
namespace {

const std::string kCompared = "numbers of unlike sources are compared: ";
const std::string kRunTimes = "run times: ";

}  // namespace

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

std::string note_on_numbers(const Graph& graph, const Topology& topology) {
  std::string found = mixed_sources(topology.spec());
  const std::string times = unlike_times(graph, topology);
  if (!times.empty()) found += (found.empty() ? "" : "; ") + kRunTimes + times;
  if (!found.empty()) found = kCompared + found;
  const std::string lacking = lacking_rates(graph, topology);
  return found + (found.empty() || lacking.empty() ? "" : "; ") + lacking;
}

void note_times(const std::string& graph_path, const Graph& graph, const std::string& topology_path,
                const Topology& topology) {
  const std::string place = graph_path + " on " + topology_path + ": ";
  const std::string unlike = unlike_times(graph, topology);
  if (!unlike.empty()) note(as_given(place + kCompared + kRunTimes + unlike));
  const std::string lacking = lacking_rates(graph, topology);
  if (!lacking.empty()) note(as_given(place + lacking));
}

}  // namespace placeto::cli
