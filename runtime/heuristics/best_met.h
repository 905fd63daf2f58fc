// The best placement that passes or a search meet on their way.
#pragma once

#include <string>
#include <utility>

#include "runtime/cost/move_evaluator.h"
#include "runtime/heuristics/method.h"

namespace placeto {

// `start`, under the method's name: it becomes the evaluator's base and, unless stopped, is scored
// as divided by rule.
inline Candidate begin_at(const Candidate& start, std::string method, MoveEvaluator& evaluator) {
  Candidate best = start;
  best.method = std::move(method);
  const Score score = evaluator.rebase(start.assignment);
  if (!stopped(evaluator.stop())) best.take(evaluator.assignment(), score);
  return best;
}

// Takes over the evaluator's base placement if it is better.
inline void keep_better(const MoveEvaluator& evaluator, Candidate& best) {
  if (evaluator.score() < best.score) best.take(evaluator.assignment(), evaluator.score());
}

}  // namespace placeto
