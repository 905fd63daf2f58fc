// `anneal`: multilevel simulated annealing from the better of one device and earliest finish.
// Kirkpatrick, Gelatt and Vecchi, "Optimization by simulated annealing", Science 1983.
#include "runtime/heuristics/heuristics.h"
#include "runtime/search/search.h"

namespace placeto {
namespace {

class Anneal final : public Method {
 public:
  std::string_view name() const override { return "anneal"; }
  std::string_view summary() const override {
    return "simulated annealing with moves of groups of all sizes; takes a budget";
  }
  uint64_t default_evaluations() const override { return 10'000; }
  Result<Candidate> place(Workbench& bench) const override {
    Stop* const stop = bench.stop();
    Result<Candidate> start = single_method().place(bench);
    if (!start.ok() || stopped(stop)) return start;
    Result<Candidate> other = heft_method().place(bench);
    if (!other.ok()) return stopped(stop) ? start : other;
    if (other->score < start->score) start = std::move(other);
    Budget budget = bench.options().budget;
    if (!budget.limited()) budget.evaluations = default_evaluations();
    start->method = "anneal";
    const Hierarchy& hierarchy = bench.hierarchy();
    multilevel_search(hierarchy, budget, bench.options().seed, bench.move_evaluator(), *start,
                      {.progress = bench.options().progress});
    return start;
  }
};

}  // namespace

const Method& anneal_method() {
  static constexpr Anneal method;
  return method;
}

}  // namespace placeto
