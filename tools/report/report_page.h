// Placements of one graph as one HTML file for people: a headline, timelines on one axis, memory,
// the graph in colours of devices, candidates, reasons, and what differs. Needs no network.
//
// The page is text in page/ and two libraries in vendor/, embedded at build time; what it shows
// travels as JSON inside it (report_data.h).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/cost/bounds.h"
#include "runtime/cost/simulator.h"
#include "tools/report/reasons.h"

namespace placeto {

// One row of the table of candidates.
struct CandidateRow {
  std::string method;
  double makespan_us = 0;
  double bottleneck_us = 0;
  std::vector<uint64_t> peak_memory_bytes;  // per device; empty: not known
  bool feasible = false;
  bool chosen = false;
  std::optional<uint32_t> only_device = {};  // that everything is on; not known of files
};

struct ReportPlacement {
  std::string label;   // what the page calls it; distinct within a report
  std::string method;  // that made it; empty if not known
  Assignment assignment;
  Timeline timeline;                     // of the assignment
  std::string note;                      // on how it was found; "": none
  bool proved = false;                   // to be the best, as far as whoever placed it knows
  std::string bound_file;                // that records this, or its lower bound; "": none
  std::vector<std::string> violations;   // what makes it infeasible, one sentence each
  std::vector<CandidateRow> candidates;  // empty: no table
  double replicas_us = 0;                // a run, with a copy on every device; 0: not known
  Reasons reasons;                       // empty: none
};

// The first placement is the one that the others are compared with. At least one. Names from the
// input are data to the page, never markup.
std::string report_page(const Problem& problem, const LowerBounds& bounds,
                        std::span<const ReportPlacement> placements);

}  // namespace placeto
