// EventTables: a problem as the event engine reads it. A problem compiles them once, and every
// engine that simulates it shares them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/base/stop.h"
#include "runtime/graph/graph.h"

namespace placeto {

class Problem;

struct EventTables {
  struct Rules {
    uint32_t devices = 0, channels = 0;
    bool unicast = false, contended = false, priority = false, uniform_links = false;
    bool overtake = false;  // arrivals may overtake one another
    double op_gap_us = 0;
  };
  struct NodeRow {                  // what starting a node reads, side by side
    uint32_t edge_begin, edge_end;  // out-edges by ascending target
    uint32_t output_begin, output_end;
    bool single;  // one output and no control edge: one look at the edges books it
  };
  struct Consumers {
    std::vector<uint32_t> begin;          // output -> first of its entries
    std::vector<uint32_t> node;           // ascending for each output
    std::vector<uint32_t> output;         // of each entry
    std::vector<uint32_t> file_position;  // of each entry, among its producer's out-edges
  };

  // False if stopped: then they are incomplete.
  bool compile(const Problem& problem, Stop* stop);

  // What a delivery is: an output under broadcast, an entry of `consumers` under unicast.
  uint32_t delivery_count() const {
    return static_cast<uint32_t>(rules.unicast ? consumers.node.size()
                                               : consumers.begin.size() - 1);
  }

  Rules rules;
  std::vector<NodeRow> rows;
  std::vector<OutEdge> edges;  // by source, then target
  Consumers consumers;
  std::vector<uint32_t> dependencies;       // in-edges of each node
  std::vector<uint32_t> roots;              // nodes without any
  std::vector<uint32_t> rank_position;      // by descending upward rank; under dispatch priority
  std::vector<double> uniform_transfer_us;  // per output, where every link is alike
  std::vector<double> tail_us;              // least time from a node's finish to the end
  size_t most_bookings = 0;                 // deliveries that one node may need

 private:
  bool compile_edges(const Graph& graph, Stop* stop);
  bool find_tails(const Problem& problem, Stop* stop);
};

}  // namespace placeto
