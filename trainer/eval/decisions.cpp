#include "trainer/eval/decisions.h"

#include <algorithm>
#include <map>
#include <string>

#include "runtime/base/no_index.h"

namespace placeto::train {
namespace {

// The decision that each node belongs to.
std::vector<uint32_t> number_decisions(const Problem& problem, Decisions& decisions) {
  std::vector<uint32_t> of_group(problem.group_count(), kNoIndex), of_node(problem.node_count());
  for (const uint32_t v : problem.graph().topological_order()) {
    uint32_t& decision = of_group[problem.group_of(v)];
    if (decision == kNoIndex) {
      decision = decisions.count();
      decisions.group.push_back(problem.group_of(v));
    }
    of_node[v] = decision;
  }
  return of_node;
}

std::array<float, kDecisionSizes> sizes_of(const Problem& problem, uint32_t group) {
  const Graph& graph = problem.graph();
  std::array<float, kDecisionSizes> sizes{0, 0, static_cast<float>(problem.resident_bytes(group))};
  for (const uint32_t v : problem.members(group)) {
    sizes[0] += static_cast<float>(problem.mean_run_us(v));
    for (uint32_t o = graph.output_begin(v); o < graph.output_end(v); ++o) {
      sizes[1] += static_cast<float>(problem.mean_transfer_us(o));
    }
  }
  return sizes;
}

void scale_by_largest(std::vector<std::array<float, kDecisionSizes>>& sizes) {
  std::array<float, kDecisionSizes> most{1e-9f, 1e-9f, 1e-9f};
  for (const auto& row : sizes) {
    for (size_t i = 0; i < kDecisionSizes; ++i) most[i] = std::max(most[i], row[i]);
  }
  for (auto& row : sizes) {
    for (size_t i = 0; i < kDecisionSizes; ++i) row[i] /= most[i];
  }
}

}  // namespace

Decisions read_decisions(const Problem& problem) {
  const Graph& graph = problem.graph();
  Decisions decisions;
  const std::vector<uint32_t> decision_of = number_decisions(problem, decisions);
  std::map<std::string, int64_t> numbers;
  for (const uint32_t group : decisions.group) {
    const auto members = problem.members(group);
    const uint32_t longest = *std::max_element(
        members.begin(), members.end(),
        [&](uint32_t a, uint32_t b) { return problem.mean_run_us(a) < problem.mean_run_us(b); });
    const auto number = numbers.insert({graph.node(longest).op, decisions.types}).first;
    decisions.types = static_cast<int64_t>(numbers.size());
    decisions.type.push_back(number->second);
    decisions.sizes.push_back(sizes_of(problem, group));
  }
  scale_by_largest(decisions.sizes);
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    for (const OutEdge& e : graph.out_edges(v)) {
      if (decision_of[v] != decision_of[e.target])
        decisions.edges.emplace_back(decision_of[v], decision_of[e.target]);
    }
  }
  std::sort(decisions.edges.begin(), decisions.edges.end());
  decisions.edges.erase(std::unique(decisions.edges.begin(), decisions.edges.end()),
                        decisions.edges.end());
  return decisions;
}

Assignment placement_of(const Problem& problem, const Decisions& decisions,
                        const std::vector<uint32_t>& devices) {
  Assignment assignment(problem.node_count());
  for (uint32_t u = 0; u < decisions.count(); ++u) {
    for (const uint32_t v : problem.members(decisions.group[u])) assignment[v] = devices[u];
  }
  return assignment;
}

}  // namespace placeto::train
