// The input of a node that arrives last in a simulated run.
#pragma once

#include <span>

#include "runtime/base/no_index.h"
#include "runtime/cost/problem.h"

namespace placeto {

struct LastInput {
  uint32_t source = kNoIndex;  // of several, the first
  double arrival_us = -1;
};

// As far as finishes and transfers tell: a transfer takes its own time, whoever held its channel.
inline LastInput last_input(const Problem& problem, std::span<const uint32_t> assignment,
                            std::span<const double> finish_us, uint32_t node,
                            Stop* stop = nullptr) {
  LastInput last;
  for (const InEdge& in : watched(problem.graph().in_edges(node), stop)) {
    double arrival = finish_us[in.source];
    if (in.output != kControlEdge) {
      arrival += problem.transfer_us(in.output, assignment[in.source], assignment[node]);
    }
    if (arrival > last.arrival_us) last = {in.source, arrival};
  }
  return last;
}

}  // namespace placeto
