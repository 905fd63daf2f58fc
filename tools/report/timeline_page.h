// A predicted run as one HTML file: an interactive timeline per device and channel, memory charts,
// and the candidates the placement was chosen from. Needs no network.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/cost/bounds.h"
#include "runtime/cost/simulator.h"

namespace placeto {

// One row of the page's table of candidates.
struct CandidateRow {
  std::string method;
  double makespan_us = 0;
  double bottleneck_us = 0;
  std::vector<uint64_t> peak_memory_bytes;  // per device
  bool feasible = false;
  bool chosen = false;
};

struct PageOptions {
  std::string method;  // that made the placement; empty if not known
  LowerBounds bounds;
  std::vector<CandidateRow> candidates;  // empty: no table
};

// Names from the input are data to the page, never markup.
std::string timeline_page(const Problem& problem, std::span<const uint32_t> assignment,
                          const Timeline& timeline, const PageOptions& options);

}  // namespace placeto
