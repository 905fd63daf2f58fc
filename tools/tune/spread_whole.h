// Run times of a model's nodes on a device beside the processor, so that they agree with a run of
// the whole model there.
//
// Such a run brings the model's inputs to the device and its outputs back. Where the model is
// divided, other tensors are brought instead, and cuts have prices for that: what the inputs and
// outputs of the model take must not stay in the times of all its nodes, or it is paid twice.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "runtime/graph/graph.h"

namespace placeto {

// Of a run of the whole model, in microseconds.
struct WholeRun {
  double all_us = 0;
  double session_us = 0;                             // what a session takes beside its nodes
  double inputs_us = 0;                              // all inputs, to the device
  std::vector<std::pair<uint32_t, double>> outputs;  // the node that makes it, and its way back
};

// Scales us[node] so that all nodes take what the session and the ways of inputs and outputs leave
// of the run, then adds these ways to the nodes at its ends: inputs evenly to those without
// predecessors. Prices that leave less than a tenth of the run are lowered until they do. Absent
// and negative times are left alone.
void spread_whole(const Graph& graph, WholeRun run, std::vector<std::optional<double>>& us);

}  // namespace placeto
