#include "runtime/policy/published/pass.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/base/message.h"
#include "runtime/heuristics/best_met.h"
#include "runtime/policy/gumbel.h"

namespace placeto {
namespace {

// Rows of features and inputs, and what the network keeps.
size_t bytes_of_rows(const Policy& policy, const Problem& problem) {
  const size_t floats =
      step_columns(problem.device_count()) + policy.find_network("encoder")->inputs();
  return floats * sizeof(float) * problem.node_count() +
         PublishedNetwork::bytes(policy, problem.node_count());
}

// Only reported: no decision depends on it.
float log_probability(std::span<const float> logits, std::span<const uint8_t> mask, uint32_t choice,
                      float temperature) {
  const auto scaled = [&](uint32_t d) {
    return static_cast<double>(logits[d]) / static_cast<double>(temperature);
  };
  double top = -std::numeric_limits<double>::infinity(), sum = 0;
  for (uint32_t d = 0; d < logits.size(); ++d) {
    if (mask[d]) top = std::max(top, scaled(d));
  }
  for (uint32_t d = 0; d < logits.size(); ++d) {
    if (mask[d]) sum += std::exp(scaled(d) - top);
  }
  return static_cast<float>(scaled(choice) - top - std::log(sum));
}

}  // namespace

Status PublishedPlacer::check(const Policy& policy, const Problem& problem, size_t most_bytes) {
  if (policy.architecture() != Architecture::kPlaceto) {
    return Status::invalid(join({"the policy is of the architecture '",
                                 name_of(policy.architecture()), "', expected 'placeto'"}));
  }
  if (policy.dimensions().devices != problem.device_count()) {
    return Status::invalid(join({"the policy places on ", policy.dimensions().devices,
                                 " devices, the topology has ", problem.device_count()}));
  }
  const size_t bytes = bytes_of_rows(policy, problem);
  if (bytes > most_bytes) {
    return Status(StatusCode::kOutOfMemory,
                  join({"the policy needs ", bytes_text(bytes), " for a graph of ",
                        problem.node_count(), " nodes, allowed are ", bytes_text(most_bytes)}));
  }
  return Status();
}

PublishedPlacer::PublishedPlacer(const Policy& policy, const Problem& problem, KernelChoice kernels,
                                 Stop* stop)
    : problem_(&problem),
      features_(problem),
      scorer_(policy, problem, kernels, stop),
      decided_(problem.group_count()),
      held_(problem.device_count()),
      mask_(problem.device_count()),
      preference_(problem.device_count()) {}

Candidate PublishedPlacer::place(const Candidate& start, const PublishedPassOptions& options,
                                 MoveEvaluator& evaluator) {
  random_ = Random(options.seed);
  Candidate best = begin_at(start, "policy", evaluator);
  if (stopped(evaluator.stop())) return best;
  for (uint32_t pass = 0; pass < options.passes; ++pass) {
    begin_pass(evaluator);
    for (const uint32_t node : problem_->graph().topological_order()) {
      if (decided_[problem_->group_of(node)]) continue;
      step(pass, node, options, evaluator);
      keep_better(evaluator, best);
      // The forward pass of a step goes through the graph several times and is not interrupted.
      if (evaluator.stop() != nullptr && evaluator.stop()->requested()) return best;
    }
  }
  return best;
}

void PublishedPlacer::begin_pass(const MoveEvaluator& evaluator) {
  features_.begin_pass(evaluator.assignment());
  std::fill(decided_.begin(), decided_.end(), uint8_t{0});
  std::fill(held_.begin(), held_.end(), uint64_t{0});
  for (uint32_t g = 0; g < problem_->group_count(); ++g) {
    held_[evaluator.assignment()[problem_->members(g)[0]]] += problem_->resident_bytes(g);
  }
}

void PublishedPlacer::step(uint32_t pass, uint32_t node, const PublishedPassOptions& options,
                           MoveEvaluator& evaluator) {
  const uint32_t group = problem_->group_of(node);
  const uint32_t current = evaluator.assignment()[node];
  const Score before = evaluator.score();
  features_.begin_step(node, evaluator.start_us());
  const std::span<const float> logits = scorer_.score(features_);
  mask_devices(group, current);
  // Who learns from a step is to be told of a choice among what could be chosen.
  if (options.on_step && problem_->may_overflow()) mask_overflows(group, current, evaluator);
  set_preferences(logits, options);
  uint32_t choice = preferred();
  while (choice != current && !try_move(group, choice, evaluator)) {
    mask_[choice] = 0;
    choice = preferred();
  }
  if (options.on_step) {
    const float log_p =
        options.temperature ? log_probability(logits, mask_, choice, *options.temperature) : 0;
    options.on_step(
        {pass, node, features_.rows(), mask_, logits, choice, log_p, before, evaluator.score()});
  }
  features_.decide(problem_->members(group), choice);
  decided_[group] = 1;
}

void PublishedPlacer::mask_devices(uint32_t group, uint32_t current) {
  const uint64_t bytes = problem_->resident_bytes(group);
  for (uint32_t d = 0; d < mask_.size(); ++d) {
    const uint64_t limit = problem_->memory_limit(d);
    const bool has_room = bytes <= limit && held_[d] <= limit - bytes;
    mask_[d] = d == current || (has_room && problem_->allowed(group, d));
  }
}

// Those that would hold too much at some time, not only all of the time.
void PublishedPlacer::mask_overflows(uint32_t group, uint32_t current, MoveEvaluator& evaluator) {
  for (uint32_t d = 0; d < mask_.size(); ++d) {
    if (mask_[d] && d != current && !fits(group, d, evaluator)) mask_[d] = 0;
  }
}

// What the arg max is taken of. When sampling, each logit is perturbed once, so that a device may
// still be masked after it was drawn (gumbel.h).
void PublishedPlacer::set_preferences(std::span<const float> logits,
                                      const PublishedPassOptions& options) {
  for (uint32_t d = 0; d < logits.size(); ++d) {
    preference_[d] = static_cast<double>(logits[d]);
    if (!options.temperature) continue;
    preference_[d] = preference_[d] / static_cast<double>(*options.temperature) + gumbel(random_);
  }
}

uint32_t PublishedPlacer::preferred() const {
  auto choice = static_cast<uint32_t>(std::find(mask_.begin(), mask_.end(), 1) - mask_.begin());
  for (uint32_t d = choice + 1; d < mask_.size(); ++d) {
    if (mask_[d] && preference_[d] > preference_[choice]) choice = d;
  }
  return choice;
}

// False if the devices would hold more beyond their limits than they do. Evaluates the move.
bool PublishedPlacer::fits(uint32_t group, uint32_t device, MoveEvaluator& evaluator) {
  changes_.clear();
  for (const uint32_t v : problem_->members(group)) changes_.push_back({v, device});
  const Score score = evaluator.evaluate(changes_);
  return score.overflow_bytes <= evaluator.score().overflow_bytes;
}

bool PublishedPlacer::try_move(uint32_t group, uint32_t device, MoveEvaluator& evaluator) {
  const uint32_t current = evaluator.assignment()[problem_->members(group)[0]];
  if (!fits(group, device, evaluator)) return false;
  evaluator.accept();
  held_[current] -= problem_->resident_bytes(group);
  held_[device] += problem_->resident_bytes(group);
  return true;
}

}  // namespace placeto
