#include "runtime/timeline/loads.h"

#include <algorithm>

namespace placeto {

void Loads::sum(const Problem& problem, std::span<const uint32_t> assignment, Stop* stop) {
  const Graph& graph = problem.graph();
  run_us.assign(problem.device_count(), 0);
  egress_us.assign(problem.device_count(), 0);
  resident_bytes.assign(problem.device_count(), 0);
  for (uint32_t v = 0; v < graph.node_count(); ++v) {
    const uint32_t device = assignment[v];
    run_us[device] += problem.run_us(v, device);
    resident_bytes[device] += static_cast<double>(graph.node(v).resident_bytes);
    for (uint32_t o = graph.output_begin(v); o < graph.output_end(v); ++o) {
      for (uint32_t w : watched(graph.consumers(o), stop)) {
        if (assignment[w] == device) continue;
        egress_us[device] += problem.transfer_us(o, device, assignment[w]);
        break;
      }
    }
    if (spend(stop, graph.out_work(v))) return;
  }
}

void Loads::move(const Problem& problem, uint32_t node, uint32_t from, uint32_t to) {
  const auto bytes = static_cast<double>(problem.graph().node(node).resident_bytes);
  run_us[from] -= problem.run_us(node, from);
  run_us[to] += problem.run_us(node, to);
  resident_bytes[from] -= bytes;
  resident_bytes[to] += bytes;
}

void DeviceRuns::index(const Problem& problem, std::span<const uint32_t> assignment,
                       std::span<const uint32_t> order, std::span<const double> start_us,
                       Stop* stop) {
  const uint32_t devices = problem.device_count();
  begin_.assign(devices + 1, 0);
  for (uint32_t device : watched(assignment, stop)) ++begin_[device + 1];
  for (uint32_t d = 0; d < devices; ++d) begin_[d + 1] += begin_[d];
  end_.assign(begin_.begin(), begin_.end() - 1);
  // Row d of work_before_us_ has one entry more than there are nodes: it starts at begin_[d] + d.
  start_us_.resize(order.size());
  work_before_us_.resize(order.size() + devices);
  for (uint32_t d = 0; d < devices; ++d) work_before_us_[begin_[d] + d] = 0;
  for (uint32_t v : order) {
    const uint32_t d = assignment[v], i = end_[d]++;
    start_us_[i] = start_us[v];
    work_before_us_[i + d + 1] = work_before_us_[i + d] + problem.run_us(v, d);
    if (spend(stop, 1)) return;
  }
}

double DeviceRuns::busy_us(uint32_t device, double from, double to) const {
  const auto first = start_us_.begin() + begin_[device];
  const auto last = start_us_.begin() + begin_[device + 1];
  const auto a = std::lower_bound(first, last, from) - first;
  const auto b = std::lower_bound(first, last, to) - first;
  const double* work = work_before_us_.data() + begin_[device] + device;
  return b > a ? work[b] - work[a] : 0;
}

}  // namespace placeto
