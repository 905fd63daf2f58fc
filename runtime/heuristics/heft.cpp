// `heft`: Topcuoglu, Hariri and Wu, "Performance-effective and low-complexity task scheduling for
// heterogeneous computing", IEEE TPDS 2002. Nodes by descending upward rank, each to the device
// where it finishes first. Without the paper's insertion into idle slots: the cost model's queues
// are first in, first out.
#include "runtime/heuristics/earliest_finish.h"
#include "runtime/heuristics/heuristics.h"
#include "runtime/timeline/order.h"

namespace placeto {
namespace {

class Heft final : public Method {
 public:
  std::string_view name() const override { return "heft"; }
  std::string_view summary() const override {
    return "earliest finish, by descending upward rank (HEFT)";
  }
  bool in_auto() const override { return true; }
  Result<Candidate> place(Workbench& bench) const override {
    const Problem& problem = bench.problem();
    Stop* const stop = bench.stop();
    EarliestFinish rule(problem, stop);
    const std::vector<uint32_t> order =
        order_by(problem.graph(), problem.upward_rank(), Direction::kDescending, stop);
    if (stopped(stop)) return Status::stopped();
    return unless_stopped(
        place_within_memory(problem, bench.evaluator(), "heft",
                            [&](MemoryPlan& plan) { return rule.place_all(order, {}, {}, plan); }));
  }
};

}  // namespace

const Method& heft_method() {
  static constexpr Heft method;
  return method;
}

}  // namespace placeto
