#include "runtime/search/window_pass.h"

#include <algorithm>

#include "runtime/search/tuning.h"

namespace placeto {
namespace {

uint32_t draw_length(uint32_t nodes, Random& random) {
  using namespace tuning;  // NOLINT
  const double most =
      std::max(kLeastWindow, std::min(kMostShare * nodes, kLargeMost + kLargeShare * nodes));
  const double u = random.uniform();
  return static_cast<uint32_t>(kLeastWindow + (most - kLeastWindow) * u * u * u);
}

}  // namespace

WindowPass::WindowPass(CurrentRun& run)
    : run_(run),
      problem_(run.evaluator().problem()),
      stop_(run.evaluator().stop()),
      builder_(problem_, stop_),
      plan_(problem_) {}

bool WindowPass::load() {
  const Queues& queues = run_.queues();
  if (stopped(stop_)) return false;
  latest_start_us_.resize(problem_.node_count());
  for (uint32_t v = 0; v < problem_.node_count(); ++v) {
    latest_start_us_[v] = queues.latest_start_us(v);
  }
  if (spend(stop_, Stop::looked_up(problem_.node_count()))) return false;
  builder_.load(queues, {run_.evaluator().assignment(), latest_start_us_}, plan_);
  return !stopped(stop_);
}

// Takes that one of a few windows behind which everything could start earliest, if that is earlier.
// Where lateness tells nothing, any.
void WindowPass::propose(Random& random, std::vector<Change>& changes) {
  changes.clear();
  if (timeline_is_old_ && !load()) return;
  timeline_is_old_ = false;
  const bool telling = run_.evaluator().times_can_tell();
  const uint32_t nodes = problem_.node_count();
  double least_us = telling ? 0 : kNever;
  share_ = 0;
  for (uint32_t i = telling ? tuning::window_draws(nodes) : 1; i > 0; --i) {
    // It may hang over at either end, so that all nodes are equally often in one.
    const uint32_t length = draw_length(nodes, random);
    const uint32_t end = 1 + random.below(nodes + length - 1);
    const Window window{end - std::min(end, length), std::min(end, nodes)};
    share_ += static_cast<double>(window.end - window.begin) / nodes;
    const PassRule rule = PassRule::draw(random);
    const double late_us = builder_.place_window(
        window, rule, telling ? EarliestFinish::Keep::kLeastLate : EarliestFinish::Keep::kAll,
        drawn_, least_us);
    if (stopped(stop_)) return changes.clear();
    if (drawn_.empty()) continue;
    least_us = late_us;
    changes.swap(drawn_);
  }
}

}  // namespace placeto
