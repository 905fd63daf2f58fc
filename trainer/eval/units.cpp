#include "trainer/eval/units.h"

#include <algorithm>
#include <map>
#include <string>

namespace placeto::train {
namespace {

// Of each node, the unit that it belongs to.
std::vector<uint32_t> number_units(const Problem& problem, Units& units) {
  constexpr uint32_t kNone = 0xffffffffu;
  std::vector<uint32_t> of_group(problem.group_count(), kNone), of_node(problem.node_count());
  for (const uint32_t v : problem.graph().topological_order()) {
    uint32_t& unit = of_group[problem.group_of(v)];
    if (unit == kNone) {
      unit = units.count();
      units.group.push_back(problem.group_of(v));
    }
    of_node[v] = unit;
  }
  return of_node;
}

std::array<float, kUnitSizes> sizes_of(const Problem& problem, uint32_t group) {
  const Graph& graph = problem.graph();
  std::array<float, kUnitSizes> sizes{0, 0, static_cast<float>(problem.resident_bytes(group))};
  for (const uint32_t v : problem.members(group)) {
    sizes[0] += static_cast<float>(problem.mean_run_us(v));
    for (uint32_t o = graph.output_begin(v); o < graph.output_end(v); ++o) {
      sizes[1] += static_cast<float>(problem.mean_transfer_us(o));
    }
  }
  return sizes;
}

void scale_by_largest(std::vector<std::array<float, kUnitSizes>>& sizes) {
  std::array<float, kUnitSizes> most{1e-9f, 1e-9f, 1e-9f};
  for (const auto& row : sizes) {
    for (size_t i = 0; i < kUnitSizes; ++i) most[i] = std::max(most[i], row[i]);
  }
  for (auto& row : sizes) {
    for (size_t i = 0; i < kUnitSizes; ++i) row[i] /= most[i];
  }
}

}  // namespace

Units read_units(const Problem& problem) {
  const Graph& graph = problem.graph();
  Units units;
  const std::vector<uint32_t> unit_of = number_units(problem, units);
  std::map<std::string, int64_t> numbers;
  for (const uint32_t group : units.group) {
    const auto members = problem.members(group);
    const uint32_t longest = *std::max_element(
        members.begin(), members.end(),
        [&](uint32_t a, uint32_t b) { return problem.mean_run_us(a) < problem.mean_run_us(b); });
    const auto number = numbers.insert({graph.node(longest).op, units.types}).first;
    units.types = static_cast<int64_t>(numbers.size());
    units.type.push_back(number->second);
    units.sizes.push_back(sizes_of(problem, group));
  }
  scale_by_largest(units.sizes);
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    for (const OutEdge& e : graph.out_edges(v)) {
      if (unit_of[v] != unit_of[e.target]) units.edges.emplace_back(unit_of[v], unit_of[e.target]);
    }
  }
  std::sort(units.edges.begin(), units.edges.end());
  units.edges.erase(std::unique(units.edges.begin(), units.edges.end()), units.edges.end());
  return units;
}

Assignment placement_of(const Problem& problem, const Units& units,
                        const std::vector<uint32_t>& devices) {
  Assignment assignment(problem.node_count());
  for (uint32_t u = 0; u < units.count(); ++u) {
    for (const uint32_t v : problem.members(units.group[u])) assignment[v] = devices[u];
  }
  return assignment;
}

}  // namespace placeto::train
