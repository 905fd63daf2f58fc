#include "tests/fuzz/judge.h"

#include <algorithm>
#include <cmath>

#include "runtime/base/saturating.h"
#include "runtime/placer/methods.h"
#include "tests/fuzz/check.h"

namespace placeto::fuzz {
namespace {

void check_timeline(const Problem& problem, const Timeline& timeline) {
  for (const double us : {timeline.makespan_us, timeline.drain_us, timeline.bottleneck_us}) {
    check(std::isfinite(us) && us >= 0, "the whole takes a time");
  }
  for (uint32_t v = 0; v < problem.node_count(); ++v) {
    const double start = timeline.start_us[v], finish = timeline.finish_us[v];
    check(start >= 0 && start <= finish && finish <= timeline.makespan_us,
          "nodes run within the makespan");
    for (const InEdge& in : problem.graph().in_edges(v)) {
      check(timeline.finish_us[in.source] <= start, "nodes start after what they read");
    }
  }
}

// From the simulator alone.
void check_candidate(const Problem& problem, const Candidate& candidate, Simulator& simulator) {
  check(obeys_rules(problem, candidate.assignment), "the rules hold");
  const Timeline& timeline = simulator.run(candidate.assignment, candidate.division);
  check_timeline(problem, timeline);
  uint64_t overflow = 0;
  for (const uint64_t lacking : memory_shortfall(problem, timeline.peak_memory_bytes)) {
    overflow = saturating_add(overflow, lacking);
  }
  const bool latency = problem.objective() == Objective::kLatency;
  check(candidate.score.overflow_bytes == overflow, "memory is what the simulator says");
  check(candidate.score.objective_us == (latency ? timeline.makespan_us : timeline.bottleneck_us),
        "the score is the simulator's, bit for bit");
  const LowerBounds bounds = lower_bounds(problem);
  check(bounds.best_us() <= timeline.makespan_us * (1 + 1e-9), "no placement beats the bounds");
}

// `auto` twice, and against what the methods found alone.
void check_auto(const Problem& problem, const MethodOptions& options, const PlacerOptions& placer,
                const std::vector<Candidate>& found, Simulator& simulator) {
  const auto placed = place_auto(problem, options, placer);
  const auto fits = [](const Candidate& candidate) { return candidate.score.feasible(); };
  if (!placed.ok()) {
    const StatusCode code = placed.status().code();
    check(code == StatusCode::kInfeasible || code == StatusCode::kNotFound,
          "without an answer nothing fits, or nothing that fits was found");
    check(std::none_of(found.begin(), found.end(), fits), "what a method places is placed");
    return;
  }
  check(placed->best.score.feasible(), "what is handed out fits");
  check_candidate(problem, placed->best, simulator);
  for (const Candidate& other : found) {
    check(!fits(other) || !(other.score < placed->best.score), "no heuristic is better");
  }
  const auto again = place_auto(problem, options, placer);
  check(again.ok() && again->best.assignment == placed->best.assignment &&
            again->best.score == placed->best.score,
        "equal inputs give equal answers");
}

}  // namespace

void judge(const Problem& problem, const MethodOptions& options, const PlacerOptions& placer) {
  Simulator simulator(problem);
  std::vector<Candidate> found;
  for (const Method* method : builtin_methods()) {
    const auto candidate = method->place(problem, options);
    check(candidate.ok(), "every method places");
    check_candidate(problem, *candidate, simulator);
    if (method->in_auto()) found.push_back(*candidate);
  }
  check_auto(problem, options, placer, found, simulator);
}

}  // namespace placeto::fuzz
