#include "runtime/heuristics/window_pass.h"

#include <algorithm>

#include "runtime/heuristics/order.h"

namespace placeto {
namespace {

// Nodes in a window: at least kLeast, at most that share of the graph, small ones more often.
// Shares of 0.1, 0.2 and 0.4 are equally good.
constexpr double kLeast = 8, kMostShare = 0.3;

uint32_t draw_length(uint32_t nodes, Random& random) {
  const double u = random.uniform(), most = std::max(kLeast, kMostShare * nodes);
  return static_cast<uint32_t>(kLeast + (most - kLeast) * u * u * u);
}

}  // namespace

WindowPass::WindowPass(const Problem& problem, Stop* stop)
    : problem_(&problem), stop_(stop), builder_(problem, stop), plan_(problem) {}

void WindowPass::propose(const MoveEvaluator& evaluator, Random& random,
                         std::vector<Change>& changes) {
  changes.clear();
  if (timeline_is_old_) {
    order_ = order_by(problem_->graph(), evaluator.start_us(), std::less<>(), stop_);
    if (stopped(stop_)) return;
    find_latest_starts(*problem_, evaluator.assignment(), order_, evaluator.start_us(),
                       evaluator.finish_us(), latest_start_us_, stop_);
    if (stopped(stop_)) return;
    timeline_is_old_ = false;
  }
  // It may hang over at either end, so that all nodes are equally often in one.
  const uint32_t nodes = problem_->node_count(), length = draw_length(nodes, random);
  const uint32_t end = 1 + random.below(nodes + length - 1);
  const Window window{end - std::min(end, length), std::min(end, nodes)};
  const PassRule rule = PassRule::draw(random);
  builder_.place_window(order_, window, {evaluator.assignment(), latest_start_us_}, rule, plan_,
                        changes);
}

}  // namespace placeto
