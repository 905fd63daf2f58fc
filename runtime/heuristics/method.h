// Method: one way to find a placement that has a name of its own and can be run alone: a heuristic,
// or a search with where it begins (placer/methods.h), or a partitioner of the tools. What only
// improves the placement of another, as polishing and most searches do, is a function.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/base/progress.h"
#include "runtime/cost/evaluator.h"

namespace placeto {

// When a search ends: after that many evaluations or that much time, whichever comes first; with
// neither set, methods that need a budget use their default number of evaluations. Prefer
// evaluations: the answer then does not depend on the machine.
struct Budget {
  uint64_t evaluations = 0;  // 0: not limited
  double milliseconds = 0;   // 0: not limited
  bool limited() const { return evaluations != 0 || milliseconds > 0; }
};

struct MethodOptions {
  Budget budget = {};
  Stop* stop = nullptr;                 // end now, with the best so far
  PlacingProgress* progress = nullptr;  // noted meanwhile
  uint64_t seed = 1;
  // For methods that repeat passes: how many each of their chains makes, with about ten evaluations
  // of windows for each. Graphs of more than 160 nodes get fewer, by the square root, for passes
  // cost more there and leave less to gain; those of more than 1,500 get fewer windows.
  uint32_t passes = 4;
  uint32_t samples = 0;  // placements a policy draws by chance, beside its greedy one
  // A share of the makespan: what differs by less counts as equal, as predictions are no better. Of
  // all candidates within it of the best, `auto` hands out the one with the fewest stages. Leaving
  // one device must gain more than it, for the best and for what is handed out instead of the best.
  // At 0 only exact ties are decided so.
  double tolerance = 0;
};

struct Candidate {
  // A name, with a detail where one name covers several: "single gpu:1", or "mostly gpu:1" where
  // rules put some of it elsewhere.
  std::string method;
  Assignment assignment;   // obeys allowed devices, colocation and pins
  Score score;             // score.feasible(): also fits memory
  Division division = {};  // under staged execution; empty: by the best rule
  // No group of the problem does better on another device (search/polish.h); false: not known.
  bool one_move_optimal = false;

  // Becomes another placement, whose score is of that division. What was known of the last one does
  // not hold of this one.
  void take(std::span<const uint32_t> placement, const Score& its_score,
            Division its_division = {}) {
    assignment.assign(placement.begin(), placement.end());
    score = its_score;
    division = std::move(its_division);
    one_move_optimal = false;
  }
};

inline bool is_better(const Candidate& a, const Candidate& b) {
  return a.score < b.score;
}

// The one that everything is on, if it is one.
inline std::optional<uint32_t> only_device(const Assignment& assignment) {
  const auto elsewhere = [&](uint32_t d) { return d != assignment[0]; };
  if (assignment.empty() || std::ranges::any_of(assignment, elsewhere)) return std::nullopt;
  return assignment[0];
}

class Workbench;  // workbench.h: what the methods of one placing share

class Method {
 public:
  virtual std::string_view name() const = 0;
  // One line for --help and reports.
  virtual std::string_view summary() const = 0;
  // Whether `auto` tries it, always.
  virtual bool in_auto() const { return false; }
  // How many it spends where no budget is given; 0: it takes none.
  virtual uint64_t default_evaluations() const { return 0; }
  bool takes_budget() const { return default_evaluations() > 0; }

  // The best placement this method finds. It always obeys allowed devices, colocation and pins; if
  // memory is tight it may not fit, which score says. Deterministic for equal arguments unless a
  // time budget is set.
  //
  // Once options.stop says so, the best that was evaluated to the end; kStopped if there is
  // none yet.
  virtual Result<Candidate> place(Workbench& bench) const = 0;
  // The same at a bench of its own.
  Result<Candidate> place(const Problem& problem, const MethodOptions& options) const;
  // As a step of `auto`: adds what it finds to the bench's candidates.
  virtual Status add_to(Workbench& bench) const;

 protected:
  // Methods are constants that nobody owns: no virtual destructor, so that they need no
  // registration at exit and live in read-only memory.
  ~Method() = default;

  // What place() returns of a candidate whose making may have been stopped.
  static Result<Candidate> unless_stopped(Candidate candidate) {
    if (candidate.assignment.empty()) return Status::stopped();
    return candidate;
  }
};

}  // namespace placeto
