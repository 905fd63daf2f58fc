#include "runtime/cost/outlook.h"

#include <algorithm>

namespace placeto {

Outlook::Outlook(const Problem& problem, uint32_t stride, Stop* stop)
    : problem_(&problem),
      stride_(stride),
      stop_(stop),
      tail_us_(problem.node_count()),
      block_left_us_(size_t{(problem.node_count() - 1) / stride + 1} * problem.device_count()),
      left_us_(problem.device_count()) {}

void Outlook::rebase(std::span<const uint32_t> assignment,
                     std::span<const uint32_t> dispatch_index) {
  assignment_ = assignment;
  dispatch_index_ = dispatch_index;
  const Graph& graph = problem_->graph();
  const uint32_t devices = problem_->device_count();
  const auto order = graph.topological_order();
  std::fill(block_left_us_.begin(), block_left_us_.end(), 0);
  for (auto v = order.rbegin(); v != order.rend(); ++v) {
    const uint32_t device = assignment[*v];
    double tail = 0;
    for (const OutEdge& out : watched(graph.out_edges(*v), stop_)) {
      const uint32_t there = assignment[out.target];
      const double transfer =
          out.output == kControlEdge ? 0 : problem_->transfer_us(out.output, device, there);
      tail = std::max(tail, transfer + problem_->run_us(out.target, there) + tail_us_[out.target]);
    }
    tail_us_[*v] = rounded_down(tail);
    const uint32_t block = dispatch_index[*v] / stride_;
    block_left_us_[size_t{block} * devices + device] += problem_->occupied_us(*v, device);
    if (spend(stop_, 1 + 2 * graph.out_edges(*v).size())) return;
  }
  for (size_t i = block_left_us_.size() - devices; i-- > 0;) {
    block_left_us_[i] += block_left_us_[i + devices];
  }
}

void Outlook::begin(uint32_t block, std::span<const Change> changes) {
  const uint32_t devices = problem_->device_count();
  const double gap = problem_->op_gap_us();
  const auto left = block_left_us_.begin() + size_t{block} * devices;
  for (uint32_t d = 0; d < devices; ++d) left_us_[d] = left[d] - gap;
  last_change_ = 0;
  for (const Change& change : changes) {
    const uint32_t from = assignment_[change.node];
    left_us_[from] -= problem_->occupied_us(change.node, from);
    left_us_[change.device] += problem_->occupied_us(change.node, change.device);
    last_change_ = std::max(last_change_, dispatch_index_[change.node]);
    if (spend(stop_, 1)) return;
  }
}

}  // namespace placeto
