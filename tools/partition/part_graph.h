// What a partitioner is given, and how its answer becomes a placement.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/heuristics/method.h"

namespace placeto {

// The problem as an undirected weighted graph in compressed sparse rows: one vertex per group of
// the problem, without loops or parallel edges. Weights are whole numbers, as both libraries want
// them: times in units that make the largest sum fit kWeightSum.
struct PartGraph {
  static constexpr double kWeightSum = 1e8;  // both libraries add weights in 32 bits
  std::vector<int32_t> offset;               // vertex -> first of its neighbours
  std::vector<int32_t> neighbour;            // every edge appears at both of its ends
  std::vector<int32_t> edge_weight;          // transfer time, at least 1
  std::vector<int32_t> vertex_weight;        // mean run time, at least 1
  std::vector<uint32_t> devices;             // device of part p: those that some group may use
  std::vector<double> share;                 // of the work that part p should get; sums to 1

  int32_t vertex_count() const { return static_cast<int32_t>(vertex_weight.size()); }
  int32_t part_count() const { return static_cast<int32_t>(devices.size()); }
};

PartGraph build_part_graph(const Problem& problem);

// A placement from one part per vertex: parts are given to the devices where they do best, groups
// that may not run there move to the allowed device that suits them, and groups leave devices whose
// memory they overflow. Obeys allowed devices, colocation and pins; fits memory if it can.
Assignment place_parts(const Problem& problem, const PartGraph& graph,
                       std::span<const int32_t> part);

}  // namespace placeto
