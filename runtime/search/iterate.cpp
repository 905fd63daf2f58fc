// `iterate`: earliest-finish passes over the whole timeline in three chains, from HEFT's order,
// from ETF's timeline and from a balanced partition, and then passes over windows of the best
// one's. The chains end in different places: on 16 random graphs of 800 to 1,600 nodes, 18 passes
// over the three reach 1.174 of the best known, 18 of ETF's chain 1.196; on 40 to 160 nodes that
// chain alone does as well. A window is worth more than a whole pass once the first few are made.
// Makespan over ETF's, and ms of all heuristics, 120 random graphs each:
//   passes, windows    40 to 160 nodes    passes, windows    800 to 1,600
//   4, 0                 0.897  0.7       1, 0                 0.961  5
//   4, 16                0.875  0.8       1, 16                0.931  8
//   4, 32                0.871  0.9       1, 32                0.916 10
//   4, 64                0.867  1.3       1, 64                0.900 16
#include <algorithm>
#include <cmath>

#include "runtime/heuristics/heuristics.h"
#include "runtime/heuristics/passes.h"
#include "runtime/search/partition.h"
#include "runtime/search/search.h"

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
  // Windows are a better use of time than passes, the more so the larger the graph.
  constexpr uint32_t kAllPasses = 160, kAllWindows = 1'500;  // up to so many nodes
  constexpr uint64_t kWindowsPerPass = 8;
  constexpr uint32_t kNodesPerWindow = 200;  // that makes one more for each pass
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
