#include "runtime/placer/explain.h"

namespace placeto {

Explainer::Explainer(const Problem& problem, std::span<const uint32_t> assignment,
                     const Division& division, Stop* stop)
    : evaluator_(problem, stop), here_(evaluator_.rebase(assignment)) {
  if (!division.empty()) here_ = evaluator_.evaluate(division);
}

Reason Explainer::explain(uint32_t node) {
  const Problem& problem = evaluator_.problem();
  const uint32_t group = problem.group_of(node);
  Reason reason{evaluator_.assignment()[node], here_, std::nullopt};
  for (uint32_t d = 0; d < problem.device_count(); ++d) {
    if (d == reason.device || !problem.allowed(group, d)) continue;
    changes_.clear();
    for (uint32_t v : problem.members(group)) changes_.push_back({v, d});
    const Score score = evaluator_.evaluate(changes_);
    if (!reason.second || score < reason.second->score) reason.second = {d, score};
  }
  return reason;
}

}  // namespace placeto
