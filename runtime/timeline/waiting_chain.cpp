#include "runtime/timeline/waiting_chain.h"

#include "runtime/cost/rounding.h"
#include "runtime/timeline/last_input.h"

namespace placeto {
void WaitingChain::update(const MoveEvaluator& evaluator) {
  const Problem& problem = evaluator.problem();
  const auto start = evaluator.start_us(), finish = evaluator.finish_us();
  evaluator.start_order(order_);
  last_on_device_.assign(problem.device_count(), kNoIndex);
  before_on_device_.resize(problem.node_count());
  uint32_t node = order_[0];
  Stop* const stop = evaluator.stop();
  for (uint32_t v : order_) {
    if (spend(stop, 1)) break;
    uint32_t& last = last_on_device_[evaluator.assignment()[v]];
    before_on_device_[v] = last;
    last = v;
    if (finish[v] > finish[node] || (finish[v] == finish[node] && v < node)) node = v;
  }
  nodes_.clear();
  const double slack_us = kRounding * finish[node];
  while (node != kNoIndex && nodes_.size() < problem.node_count()) {
    nodes_.push_back(node);
    if (spend(stop, 1 + problem.graph().in_edges(node).size())) return;
    const uint32_t before = before_on_device_[node];
    const auto free_us = [&](uint32_t v) {  // what takes no time leaves no gap
      return finish[v] + problem.gap_after_us(finish[v] - start[v]);
    };
    const bool device_was_busy = before != kNoIndex && free_us(before) >= start[node] - slack_us;
    node = device_was_busy ? before
                           : last_input(problem, evaluator.assignment(), finish, node, stop).source;
  }
}

}  // namespace placeto
