// What place, simulate and compare do alike with a placement: its figures, tables and reports.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/cost/problem.h"
#include "runtime/cost/simulator.h"
#include "runtime/format/placement.h"
#include "tools/cli/candidate_table.h"
#include "tools/cli/common.h"
#include "tools/cli/files.h"
#include "tools/report/report_page.h"
#include "tools/report/table.h"

namespace placeto::cli {

// One line per device: nodes, busy time, memory.
std::string device_table(const Problem& problem, std::span<const uint32_t> assignment,
                         const Timeline& timeline);

// "gpu:0 to gpu:7", or one name.
std::string device_range(const Topology& topology, uint32_t first, uint32_t last);

// What the entries of lists per channel belong to.
std::vector<std::string> channel_names(const Topology& topology);

// One line per stage of a staged run, in the order in which they start.
std::string stage_table(const Problem& problem, const Timeline& timeline);
// What staged runs have: "stages" (device, nodes, start, end), "stage_of" each node, "stage_order".
void add_stages(Json& object, const Problem& problem, const Timeline& timeline);

// The fields that place and simulate share: busy times, bottleneck and bounds.
void add_figures(Json& object, const Timeline& timeline, const LowerBounds& bounds);

// Where reports go; empty: not wanted.
struct Reports {
  std::string page;   // HTML report
  std::string trace;  // Chrome trace JSON
};
void add_reports(Command& command, Reports& reports);
// `placement` as for simulate_for_report; `timeline`: of its run.
void add_reports(OutputFiles& files, const Reports& reports, const Problem& problem,
                 const LowerBounds& bounds, const Timeline& timeline, ReportPlacement placement);
// Whether there is time for them. They are made in one go, but for reasons; those of small graphs
// are made even when it is over, others only if they surely are done before.
bool reports_fit(const Problem& problem, double left_ms);

// Adds to a placement, of which the assignment and whatever is known of how it was found are set,
// what a report shows of its run: simulated, checked, with reasons for as many nodes as `work`
// allows (explain_nodes). It must be runnable, and the division fit it.
void simulate_for_report(const Problem& problem, const Division& division, uint64_t work,
                         ReportPlacement& placement);
// To spend on reasons (work_of_reason): at most a second, at most about five.
inline constexpr uint64_t kLittleReasonWork = 8'000'000, kReasonWork = 40'000'000;

// "inception_v3 (345 nodes, 480 edges) on 2xk80 (2 devices)".
std::string heading(const Problem& problem);

}  // namespace placeto::cli
