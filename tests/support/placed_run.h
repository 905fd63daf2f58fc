// A placement with its run, for tests of what is read from runs.
#pragma once

#include <utility>
#include <vector>

#include "runtime/cost/move_evaluator.h"
#include "runtime/timeline/queues.h"
#include "tests/support/random_problem.h"

namespace placeto::test {

// a -> b and e -> f, 100 bytes each. With a and e on device 0 and the others on device 1:
//   device 0   a 0-10, e 10-20
//   its egress a 10-20, e 20-30
//   device 1   b 20-40, f 40-41
inline GraphSpec two_pairs() {
  GraphSpec graph;
  for (const auto& [name, cost] : {std::pair{"a", 10.0}, {"b", 20.0}, {"e", 10.0}, {"f", 1.0}}) {
    graph.nodes.emplace_back();
    graph.nodes.back().name = name;
    graph.nodes.back().cost_us = {cost};
    graph.nodes.back().outputs = {100};
  }
  graph.edges = {{0, 0, 1}, {2, 0, 3}};
  return graph;
}

// A placement of a problem, and its run.
struct PlacedRun {
  explicit PlacedRun(const Problem& problem, Assignment from)
      : assignment(std::move(from)), evaluator(problem), queues(problem) {
    evaluator.rebase(assignment);
    evaluator.start_order(order);
    queues.load({problem, assignment, order, evaluator.start_us(), evaluator.finish_us()});
  }

  Assignment assignment;
  MoveEvaluator evaluator;
  std::vector<uint32_t> order;
  Queues queues;
};

}  // namespace placeto::test
