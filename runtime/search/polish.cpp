// First-improvement descent. Most moves need no simulation: path_bound.h rules them out.
#include "runtime/search/polish.h"

#include "runtime/heuristics/best_met.h"
#include "runtime/search/path_bound.h"

namespace placeto {
namespace {

class Descent {
 public:
  // Moves start from where the evaluator is; one counts if it is better than `than`, too.
  explicit Descent(MoveEvaluator& evaluator, const Score& than = Score::worst())
      : problem_(evaluator.problem()),
        evaluator_(evaluator),
        than_(than),
        paths_(problem_, evaluator.stop()) {}

  // Rounds over the groups until none of them has a better device. False if stopped.
  bool run(uint32_t groups, auto nodes_of, auto allowed) {
    uint32_t settled = 0;  // groups looked at since the last improvement
    for (uint32_t g = 0; settled < groups; g = (g + 1) % groups, ++settled) {
      while (move(g, nodes_of(g), allowed)) settled = 0;
      if (stopped(evaluator_.stop())) return false;
    }
    return true;
  }

  bool move(uint32_t group, std::span<const uint32_t> nodes, auto allowed) {
    for (uint32_t d = 0; d < problem_.device_count(); ++d) {
      if (stopped(evaluator_.stop())) return false;
      if (!allowed(group, d) || !improves(nodes, d)) continue;
      evaluator_.accept();
      paths_.base_changed();
      return true;
    }
    return false;
  }

 private:
  bool improves(std::span<const uint32_t> nodes, uint32_t device) {
    changes_.clear();
    for (const uint32_t v : nodes) {
      if (evaluator_.assignment()[v] != device) changes_.push_back({v, device});
    }
    if (changes_.empty()) return false;
    const Score least = std::min(than_, evaluator_.score());
    const double cutoff_us = least.objective_us;
    // What does not fit is improved by whatever fits better, however long it takes.
    if (least.feasible() && paths_.least_us(evaluator_.assignment(), changes_) >= cutoff_us) {
      return false;
    }
    return evaluator_.evaluate(changes_, cutoff_us) < least;
  }

  const Problem& problem_;
  MoveEvaluator& evaluator_;
  const Score than_;
  PathBound paths_;
  std::vector<Change> changes_;
};

// Of a round.
uint64_t moves(const Problem& problem) {
  return uint64_t{problem.group_count()} * (problem.device_count() - 1);
}

}  // namespace

bool always_polished(const Problem& problem) {
  constexpr uint64_t kMostWork = 400'000;
  const Graph& graph = problem.graph();
  return moves(problem) * graph.size() / 2 <= kMostWork;
}

// As many as a round has moves. In stages each of these takes as long as an evaluation, since no
// bound rules it out.
uint64_t evaluations_to_polish(const Problem& problem) {
  constexpr uint64_t kStagedRounds = 10;
  return problem.is_staged() ? kStagedRounds * moves(problem) : moves(problem);
}

bool polish_pays(const Problem& problem, uint64_t evaluations) {
  return always_polished(problem) || evaluations_to_polish(problem) <= evaluations;
}

void polish(const Hierarchy* hierarchy, MoveEvaluator& evaluator, Candidate& start) {
  const Problem& problem = evaluator.problem();
  start.one_move_optimal = problem.device_count() == 1;
  if (start.one_move_optimal) return;
  evaluator.rebase(start.assignment);
  if (stopped(evaluator.stop())) return;
  Descent descent(evaluator);
  // Large groups first: they gain most. Only levels that are cheap beside the groups themselves.
  for (uint32_t level = hierarchy == nullptr ? 0 : hierarchy->level_count(); level-- > 0;) {
    const uint32_t groups = hierarchy->group_count(level);
    if (groups > problem.group_count() / 4) break;
    descent.run(
        groups, [&](uint32_t g) { return hierarchy->nodes(level, g); },
        [&](uint32_t g, uint32_t d) { return hierarchy->allowed(level, g, d); });
  }
  const bool done = descent.run(
      problem.group_count(), [&](uint32_t g) { return problem.members(g); },
      [&](uint32_t g, uint32_t d) { return problem.allowed(g, d); });
  keep_better(evaluator, start);
  start.one_move_optimal = done;
}

bool make_better_move(MoveEvaluator& evaluator, Candidate& candidate) {
  const Problem& problem = evaluator.problem();
  evaluator.rebase(candidate.assignment);
  if (stopped(evaluator.stop())) return false;
  Descent descent(evaluator, candidate.score);
  for (uint32_t g = 0; g < problem.group_count(); ++g) {
    if (!descent.move(g, problem.members(g),
                      [&](uint32_t of, uint32_t d) { return problem.allowed(of, d); })) {
      continue;
    }
    candidate.take(evaluator.assignment(), evaluator.score());
    return true;
  }
  return false;
}

}  // namespace placeto
