// The decision that HEFT and the repeated passes share: the device on which a node, or the whole
// group it is colocated with, does best given what is placed so far.
#pragma once

#include <span>

#include "runtime/heuristics/list_schedule.h"
#include "runtime/heuristics/memory_plan.h"

namespace placeto {

class EarliestFinish {
 public:
  explicit EarliestFinish(const Problem& problem, Stop* stop = nullptr);

  // Places every node in `order` (predecessors first) at its earliest finish. `previous` is a
  // placement to predict the devices of nodes that are not placed yet, or empty. `lookahead` is the
  // share of the transfer time to predicted consumers that counts against a device. Incomplete once
  // stopped.
  Assignment place_all(std::span<const uint32_t> order, std::span<const uint32_t> previous,
                       double lookahead, MemoryPlan& plan);

 private:
  uint32_t choose(uint32_t node, std::span<const uint32_t> previous, double lookahead,
                  const MemoryPlan& plan);
  void add_transfer(uint32_t output, uint32_t producer_device, uint32_t consumer_device,
                    double weight);
  void add_neighbours(uint32_t node, uint32_t group, bool sources, double weight,
                      std::span<const uint32_t> previous);

  const Problem* problem_;
  Stop* stop_;
  ListSchedule schedule_;
  std::vector<uint32_t> group_device_;
  std::vector<double> ready_, penalty_;
};

}  // namespace placeto
