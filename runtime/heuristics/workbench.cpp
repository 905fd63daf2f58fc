#include "runtime/heuristics/workbench.h"

#include <algorithm>

#include "runtime/groups/uncut_parts.h"

namespace placeto {

Evaluator& Workbench::evaluator() {
  if (!evaluator_) evaluator_.emplace(*problem_, stop());
  return *evaluator_;
}

const Hierarchy& Workbench::hierarchy() {
  if (!hierarchy_) hierarchy_.emplace(*problem_, stop());
  return *hierarchy_;
}

void Workbench::regroup() {
  constexpr double kGood = 1.3;  // of the best; with 1.1 and 2 searches gain a little less
  const double most_us = kGood * best().score.objective_us;
  std::vector<std::span<const uint32_t>> good;
  for (const Candidate& c : candidates_) {
    if (c.score.feasible() && c.score.objective_us <= most_us) good.emplace_back(c.assignment);
  }
  hierarchy_.emplace(*problem_, stop(), uncut_parts(*problem_, good, stop()));
}

MoveEvaluator& Workbench::move_evaluator() {
  if (!move_evaluator_) move_evaluator_.emplace(*problem_, stop());
  return *move_evaluator_;
}

size_t Workbench::best_index() const {
  const auto best = std::min_element(candidates_.begin(), candidates_.end(), is_better);
  return static_cast<size_t>(best - candidates_.begin());
}

const Candidate& Workbench::best() const {
  return candidates_[best_index()];
}

const Candidate* Workbench::best_alone() const {
  const Candidate* found = nullptr;
  for (const Candidate& candidate : candidates_) {
    if (!only_device(candidate.assignment) || !candidate.score.feasible()) continue;
    if (found == nullptr || candidate.score < found->score) found = &candidate;
  }
  return found;
}

double Workbench::tolerated_us() const {
  const double factor = 1 + options_->tolerance;
  const double within_us = best().score.objective_us * factor;
  const Candidate* const alone = best_alone();
  if (alone == nullptr || alone->score.objective_us <= within_us) return within_us;
  return std::min(within_us, alone->score.objective_us / factor);
}

const Candidate* Workbench::find(std::string_view method) const {
  for (const Candidate& candidate : candidates_) {
    if (candidate.method == method) return &candidate;
  }
  return nullptr;
}

void Workbench::add(Candidate candidate) {
  if (options_->progress != nullptr && candidate.score.feasible()) {
    options_->progress->note_best(candidate.score.objective_us);
  }
  candidates_.push_back(std::move(candidate));
}

void Workbench::add_if_better(Candidate candidate) {
  Candidate& known = candidates_[best_index()];
  if (candidate.score < known.score) return add(std::move(candidate));
  if (candidate.assignment == known.assignment) {
    known.one_move_optimal |= candidate.one_move_optimal;
  }
}

}  // namespace placeto
