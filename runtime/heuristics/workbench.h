// Workbench: what the methods of one placing share: the problem and the options, the candidates so
// far, and what takes long to make, made when it is first asked for.
#pragma once

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/cost/move_evaluator.h"
#include "runtime/groups/hierarchy.h"
#include "runtime/heuristics/method.h"

namespace placeto {

// Serves one placing: not shareable between threads. Problem and options must outlive it.
class Workbench {
 public:
  Workbench(const Problem& problem, const MethodOptions& options)
      : problem_(&problem), options_(&options) {}

  const Problem& problem() const { return *problem_; }
  const MethodOptions& options() const { return *options_; }
  Stop* stop() const { return options_->stop; }

  // Incomplete, once stopped.
  Evaluator& evaluator();
  const Hierarchy& hierarchy();
  // The hierarchy anew: merged first is what no good candidate cuts, of those there are by now.
  void regroup();
  MoveEvaluator& move_evaluator();

  const std::vector<Candidate>& candidates() const { return candidates_; }
  // The one tried first wins ties. There is one.
  const Candidate& best() const;
  // The best of those that put everything on one device and fit; nullptr: none does.
  const Candidate* best_alone() const;
  // The longest that the answer may take to be simpler than the best: longer than that by the
  // tolerance, but where the best leaves a single device, still faster than on that by as much.
  double tolerated_us() const;
  // nullptr: none of that method yet.
  const Candidate* find(std::string_view method) const;
  void add(Candidate candidate);
  // What a search made of the best candidate; if that is no better, it is not worth a row. That no
  // move gains is kept, if that was all that it found.
  void add_if_better(Candidate candidate);
  // Leaves none behind.
  std::vector<Candidate> take_candidates() { return std::exchange(candidates_, {}); }

 private:
  size_t best_index() const;

  const Problem* problem_;
  const MethodOptions* options_;
  std::optional<Evaluator> evaluator_;
  std::optional<Hierarchy> hierarchy_;
  std::optional<MoveEvaluator> move_evaluator_;
  std::vector<Candidate> candidates_;  // in the order tried
};

}  // namespace placeto
