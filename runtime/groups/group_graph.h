// An undirected weighted graph of groups: what partitioners and matchings look at.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/cost/problem.h"

namespace placeto {

struct GroupGraph {
  std::vector<uint32_t> offset, neighbour;  // rows of neighbours, each in ascending order
  std::vector<double> weight;               // mean transfer time between the two groups
  std::vector<double> work;                 // mean run time of each group
  // What counts for nothing beside these, whatever the unit: the weight of control edges, which tie
  // a little, and the work of groups that have none.
  double little_us = 0;
  uint32_t size() const { return static_cast<uint32_t>(work.size()); }
};

// The problem's own groups. Incomplete, as all here, once stopped.
GroupGraph group_graph(const Problem& problem, Stop* stop = nullptr);

// Groups of groups: coarse_of[g] < coarse_count for every g of `fine`.
GroupGraph contract(const GroupGraph& fine, const std::vector<uint32_t>& coarse_of,
                    uint32_t coarse_count, Stop* stop = nullptr);

// Devices allowed to each group; no rows at all if everything is allowed everywhere.
using DeviceRows = std::vector<std::vector<bool>>;
DeviceRows device_rows(const Problem& problem, Stop* stop = nullptr);
// Whether some device is allowed to both.
bool share_device(const DeviceRows& rows, uint32_t a, uint32_t b);
// Rows of groups of groups.
DeviceRows contract(const DeviceRows& fine, const std::vector<uint32_t>& coarse_of,
                    uint32_t coarse_count, Stop* stop = nullptr);

}  // namespace placeto
