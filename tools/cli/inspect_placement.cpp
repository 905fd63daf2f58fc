#include "tools/cli/inspect_kinds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <vector>

#include "tools/cli/sheet.h"

namespace placeto::cli {
namespace {

std::vector<uint64_t> nodes_per_device(const PlacementSpec& spec) {
  std::vector<uint64_t> nodes(spec.devices.size(), 0);
  for (const uint32_t d : spec.assignment) ++nodes[d];
  return nodes;
}

size_t stage_count(const PlacementSpec& spec) {
  return std::set(spec.stages.begin(), spec.stages.end()).size();
}

}  // namespace

Json describe(const PlacementSpec& spec) {
  return {{"kind", "placement"},
          {"graph", spec.graph},
          {"topology", spec.topology},
          {"engine", spec.engine},
          {"method", spec.method},
          {"makespan_us", spec.makespan_us},
          {"lower_bound_us", spec.lower_bound_us},
          {"proved", spec.proved},
          {"bottleneck_us", spec.bottleneck_us},
          {"replicas_us", spec.replicas_us},
          {"sequential_us", spec.sequential_us},
          {"stages", stage_count(spec)},
          {"nodes", spec.assignment.size()},
          {"devices", spec.devices},
          {"nodes_per_device", nodes_per_device(spec)},
          {"peak_memory_bytes", spec.peak_memory_bytes},
          {"dims", spec.dims}};
}

std::string summarize(const PlacementSpec& spec) {
  Sheet sheet;
  sheet.add("placement of", spec.graph);
  sheet.add("on", spec.topology);
  if (!spec.engine.empty()) sheet.add("engine", spec.engine);
  sheet.add("by", spec.method.empty() ? "(not stated)" : spec.method);
  sheet.add("nodes", format_count(spec.assignment.size()));
  if (!spec.stages.empty()) sheet.add("stages", format_count(stage_count(spec)));
  sheet.add("makespan",
            spec.makespan_us > 0 || spec.proved ? format_us(spec.makespan_us) : "(not stated)");
  if (spec.lower_bound_us > 0) sheet.add("lower bound", format_us(spec.lower_bound_us));
  if (spec.bottleneck_us > 0) sheet.add("bottleneck", format_us(spec.bottleneck_us));
  if (spec.proved) sheet.add("proved optimal", "no placement under the same rules is better");
  if (spec.replicas_us > 0) {
    sheet.add("a copy on every device", format_us(spec.replicas_us) + " a run");
  }
  if (spec.sequential_us > 0) {
    sheet.add("one run at a time", format_us(spec.sequential_us) + " a run");
  }
  if (!spec.dims.empty())
    sheet.add("free dimensions", fmt::format("{}", fmt::join(spec.dims, ", ")));
  Table devices(
      {{"device", Align::kLeft}, {"nodes", Align::kRight}, {"peak memory", Align::kRight}});
  const auto nodes = nodes_per_device(spec);
  for (size_t d = 0; d < nodes.size(); ++d) {
    devices.add_row({spec.devices[d], format_count(nodes[d]),
                     d < spec.peak_memory_bytes.size() ? format_bytes(spec.peak_memory_bytes[d])
                                                       : "(not stated)"});
  }
  return sheet.render() + "\n" + devices.render();
}

}  // namespace placeto::cli
