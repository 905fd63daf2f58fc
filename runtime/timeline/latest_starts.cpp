#include "runtime/timeline/latest_starts.h"

#include <algorithm>

namespace placeto {
namespace {

// The latest finish that the node's consumers allow, or `limit` if that is earlier.
double due_us(const SimulatedRun& run, uint32_t node, std::span<const double> latest_start_us,
              double limit, Stop* stop) {
  for (const OutEdge& out : watched(run.problem.graph().out_edges(node), stop)) {
    double start_by = latest_start_us[out.target];
    if (out.output != kControlEdge) {
      start_by -=
          run.problem.transfer_us(out.output, run.assignment[node], run.assignment[out.target]);
    }
    limit = std::min(limit, start_by);
  }
  return limit;
}

uint64_t work_of(const SimulatedRun& run, uint32_t node) {
  return 1 + run.problem.graph().out_edges(node).size();
}

}  // namespace

void find_latest_starts(const SimulatedRun& run, std::vector<double>& latest_start_us, Stop* stop) {
  const double makespan = *std::max_element(run.finish_us.begin(), run.finish_us.end());
  latest_start_us.resize(run.problem.node_count());
  for (auto v = run.order.rbegin(); v != run.order.rend(); ++v) {
    if (spend(stop, work_of(run, *v))) return;
    latest_start_us[*v] =
        due_us(run, *v, latest_start_us, makespan, stop) - (run.finish_us[*v] - run.start_us[*v]);
  }
}

void OrderedSlack::find(const SimulatedRun& run, double makespan_us, Stop* stop) {
  const double gap_us = run.problem.topology().spec().op_gap_us;
  slack_us_.resize(run.problem.node_count());
  latest_start_us_.resize(run.problem.node_count());
  next_on_device_us_.assign(run.problem.device_count(), makespan_us + gap_us);
  for (auto v = run.order.rbegin(); v != run.order.rend(); ++v) {
    double& next_us = next_on_device_us_[run.assignment[*v]];
    const double latest =
        due_us(run, *v, latest_start_us_, std::min(makespan_us, next_us - gap_us), stop);
    slack_us_[*v] = std::max(latest - run.finish_us[*v], 0.0);
    next_us = latest_start_us_[*v] = std::max(latest - (run.finish_us[*v] - run.start_us[*v]), 0.0);
    if (spend(stop, work_of(run, *v))) return;
  }
}

}  // namespace placeto
