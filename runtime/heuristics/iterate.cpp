// `iterate`: repeated earliest-finish passes. Each pass re-places every node in the order in which
// the previous pass's simulated timeline started them, and the best pass is kept. One pass costs
// one list schedule and is worth thousands of random moves.
#include "runtime/heuristics/earliest_finish.h"
#include "runtime/heuristics/heuristics.h"
#include "runtime/heuristics/order.h"

namespace placeto {
namespace {

// Share of the transfer to consumers, as placed by the previous pass, that counts against a device:
// without it a node leaves for a small gain that its consumers pay back. Passes alternate, because
// no single share wins on every graph.
constexpr double kLookaheads[] = {0, 0.25, 0.5, 1};

class Iterate final : public Method {
 public:
  std::string_view name() const override { return "iterate"; }
  std::string_view summary() const override {
    return "earliest-finish passes in the order of the previous timeline";
  }
  Result<Candidate> place(const Problem& problem, const MethodOptions& options) const override {
    Evaluator evaluator(problem);
    EarliestFinish rule(problem);
    std::vector<uint32_t> order =
        order_by(problem.graph(), problem.upward_rank(), std::greater<>());
    Assignment previous;
    Candidate best{"iterate", {}, {}};
    for (uint32_t pass = 0; pass < std::max(1u, options.passes); ++pass) {
      const double lookahead = previous.empty() ? 0 : kLookaheads[pass % std::size(kLookaheads)];
      Candidate candidate = place_within_memory(
          problem, evaluator, "iterate",
          [&](MemoryPlan& plan) { return rule.place_all(order, previous, lookahead, plan); });
      evaluator.evaluate(candidate.assignment);
      order = order_by(problem.graph(), evaluator.start_us(), std::less<>());
      previous = candidate.assignment;
      if (best.assignment.empty() || candidate.score < best.score) best = std::move(candidate);
    }
    return best;
  }
};

}  // namespace

const Method& iterate_method() {
  static constexpr Iterate method;
  return method;
}

}  // namespace placeto
