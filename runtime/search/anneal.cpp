// `anneal`: multilevel simulated annealing from the better of one device and earliest finish.
// Kirkpatrick, Gelatt and Vecchi, "Optimization by simulated annealing", Science 1983.
#include "runtime/heuristics/heuristics.h"
#include "runtime/search/search.h"

namespace placeto {
namespace {

constexpr uint64_t kDefaultEvaluations = 10'000;

class Anneal final : public Method {
 public:
  std::string_view name() const override { return "anneal"; }
  std::string_view summary() const override {
    return "simulated annealing with moves of groups of all sizes; takes a budget";
  }
  Result<Candidate> place(const Problem& problem, const MethodOptions& options) const override {
    Stop* const stop = options.budget.stop;
    Result<Candidate> start = single_method().place(problem, options);
    if (!start.ok() || stopped(stop)) return start;
    Result<Candidate> other = heft_method().place(problem, options);
    if (!other.ok()) return stopped(stop) ? start : other;
    if (other->score < start->score) start = std::move(other);
    Budget budget = options.budget;
    if (!budget.limited()) budget.evaluations = kDefaultEvaluations;
    const Hierarchy hierarchy(problem, stop, options.grouping);
    MoveEvaluator evaluator(problem, stop);
    start->method = "anneal";
    multilevel_search(hierarchy, budget, options.seed, evaluator, *start);
    return start;
  }
};

}  // namespace

const Method& anneal_method() {
  static constexpr Anneal method;
  return method;
}

}  // namespace placeto
