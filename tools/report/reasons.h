// Why every node is where it is, as far as a budget of work allows: for reports.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/cost/problem.h"
#include "runtime/cost/stages.h"

namespace placeto {

struct Reasons {
  static constexpr uint32_t kNoOther = 0xffffffffu;   // no other device may run the node
  static constexpr uint32_t kNotAsked = 0xfffffffeu;  // the budget ended before
  std::vector<uint32_t> second;     // per node: the best of the other devices, or one of the above
  std::vector<double> there_us;     // per node: the objective with the node moved there, else 0
  std::vector<uint8_t> there_fits;  // per node: 1 if memory suffices then
  double here_us = 0;               // the objective as it is
  size_t asked = 0;                 // nodes with an answer
};

// What an answer for one node takes: one evaluation per device, and that time grows with the graph
// and with what an evaluation has to look at. The unit is some 0.1 us.
uint64_t work_of_reason(const Problem& problem);

// Asks for the nodes in `first`, then for the others, those that run longest first, as far as
// `work` suffices. `assignment` obeys the rules of the problem, and `division` is as in explain.h.
Reasons explain_nodes(const Problem& problem, std::span<const uint32_t> assignment,
                      const Division& division, std::span<const uint32_t> first, uint64_t work);

}  // namespace placeto
