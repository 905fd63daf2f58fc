// `iterate`: earliest-finish passes over the whole timeline in three chains, from HEFT's order,
// from ETF's timeline and from a balanced partition, and then passes over windows of the best
// one's. The chains end in different places, and a window is worth more than a whole pass once the
// first few are made.
#include <algorithm>
#include <cmath>

#include "runtime/heuristics/heuristics.h"
#include "runtime/heuristics/passes.h"
#include "runtime/search/partition.h"
#include "runtime/search/search.h"
#include "runtime/search/tuning.h"

namespace placeto {
namespace {

constexpr uint64_t kSeed = 1;  // a heuristic: the same whatever the seed of a search

// `count` on graphs of up to `whole` nodes, fewer on larger ones, which take longer.
uint64_t scaled(uint64_t count, uint32_t nodes, uint32_t whole) {
  if (nodes <= whole) return count;
  return static_cast<uint64_t>(static_cast<double>(count) *
                               std::sqrt(static_cast<double>(whole) / nodes));
}

class Iterate final : public Method {
 public:
  std::string_view name() const override { return "iterate"; }
  std::string_view summary() const override {
    return "earliest-finish passes over the last timeline, then over windows of it";
  }
  bool in_auto() const override { return true; }
  Result<Candidate> place(Workbench& bench) const override;
};

Candidate best_of_passes(Workbench& bench, const Assignment& etf, uint32_t count) {
  Stop* const stop = bench.stop();
  Passes passes(bench.evaluator(), kSeed);
  if (stopped(stop)) return {};
  passes.begin();
  passes.begin("iterate", etf);
  if (!stopped(stop)) {
    const Assignment partition = balanced_partition(bench.problem(), bench.hierarchy(), stop);
    if (!partition.empty()) passes.begin("iterate", partition);
  }
  for (uint32_t pass = 0; pass < count && !stopped(stop); ++pass) passes.run("iterate");
  return passes.best();
}

// The bench's, if ETF was tried there.
Result<Assignment> etf_assignment(Workbench& bench) {
  if (const Candidate* found = bench.find("etf")) return found->assignment;
  Result<Candidate> etf = etf_method().place(bench);
  if (!etf.ok()) return etf.status();
  return std::move(etf->assignment);
}

Result<Candidate> Iterate::place(Workbench& bench) const {
  using namespace tuning;  // NOLINT
  const Problem& problem = bench.problem();
  const MethodOptions& options = bench.options();
  const uint32_t nodes = problem.node_count();
  Stop* const stop = bench.stop();
  const Result<Assignment> etf = etf_assignment(bench);
  if (!etf.ok()) return etf.status();
  bench.hierarchy();
  if (stopped(stop)) return Status::stopped();
  const uint64_t count = std::max(scaled(options.passes, nodes, kAllPasses), uint64_t{1});
  Candidate best =
      best_of_passes(bench, *etf, static_cast<uint32_t>(std::min<uint64_t>(count, options.passes)));
  if (best.assignment.empty()) return Status::stopped();
  Budget windows;  // what they start from is the first evaluation
  const uint64_t more = std::min(nodes, kAllWindows) / kNodesPerWindow;
  windows.evaluations = scaled((kWindowsPerPass + more) * options.passes, nodes, kAllWindows);
  if (windows.evaluations > 1 && problem.device_count() > 1 && !stopped(stop)) {
    MoveEvaluator& evaluator = bench.move_evaluator();
    if (!stopped(stop)) window_search(windows, kSeed, evaluator, best);
  }
  return best;
}

}  // namespace

const Method& iterate_method() {
  static constexpr Iterate method;
  return method;
}

}  // namespace placeto
