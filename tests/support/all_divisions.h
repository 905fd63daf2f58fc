// The best of all placements of a tiny staged problem in all divisions, by looking at every one.
#pragma once

#include <algorithm>
#include <set>
#include <vector>

#include "runtime/cost/evaluator.h"
#include "runtime/cost/staged.h"

namespace placeto::test {

// Calls visit with the division and with each order of its stages that puts makers before readers.
template <typename Visit>
inline void for_every_order(const Problem& problem, Division division, const Visit& visit) {
  visit(division);
  const uint32_t stages = division.stage_count();
  std::vector<std::set<uint32_t>> reads(stages);
  for (uint32_t v = 0; v < problem.node_count(); ++v) {
    for (const OutEdge& e : problem.graph().out_edges(v)) {
      reads[division.stage_of[e.target]].insert(division.stage_of[v]);
    }
  }
  std::vector<uint32_t>& order = division.order;
  const auto extend = [&](const auto& self) -> void {
    if (order.size() == stages) return visit(division);
    for (uint32_t s = 0; s < stages; ++s) {
      const auto taken = [&](uint32_t r) {
        return r == s || std::find(order.begin(), order.end(), r) != order.end();
      };
      if (std::find(order.begin(), order.end(), s) != order.end()) continue;
      if (!std::all_of(reads[s].begin(), reads[s].end(), taken)) continue;
      order.push_back(s);
      self(self);
      order.pop_back();
    }
  };
  extend(extend);
}

// The least score of all placements in all divisions; for latency the stages of a device in every
// order.
inline Score least_of_all_divisions(const Problem& problem) {
  const StageTables tables(problem);
  const uint32_t nodes = problem.node_count();
  Evaluator evaluator(problem);
  Score least = Score::worst();
  Assignment assignment(nodes);
  Division division;
  const auto look = [&](const Division& divided) {
    least = std::min(least, evaluator.evaluate(assignment, divided));
  };
  const auto divide = [&](const auto& self, uint32_t v) -> void {
    if (v == nodes) {
      Division trial = division;
      if (!renumber_stages(tables.graph(), trial)) return;
      return problem.is_for_latency() ? for_every_order(problem, trial, look) : look(trial);
    }
    const uint32_t stages = division.stage_count(), group = problem.group_of(v);
    const uint32_t first = problem.members(group)[0];
    for (uint32_t d = 0; d < problem.device_count(); ++d) {
      if (!problem.allowed(group, d) || (first < v && assignment[first] != d)) continue;
      assignment[v] = d;
      for (uint32_t s = 0; s <= stages; ++s) {
        if (s < stages && division.device[s] != d) continue;
        if (s == stages) division.device.push_back(d);
        division.stage_of[v] = s;
        self(self, v + 1);
        division.device.resize(stages);
      }
    }
  };
  division.stage_of.assign(nodes, 0);
  divide(divide, 0);
  return least;
}

}  // namespace placeto::test
