#include "runtime/policy/pairwise/pass.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/base/stoppable_sort.h"
#include "runtime/heuristics/best_met.h"
#include "runtime/policy/gumbel.h"

namespace placeto {

PairwisePlacer::PairwisePlacer(const Policy& policy, const Problem& problem,
                               const Hierarchy& hierarchy, KernelChoice kernels, Stop* stop)
    : problem_(&problem),
      least_score_(pairwise::least_score(problem.node_count())),
      hierarchy_(&hierarchy),
      scorer_(policy, problem, kernels, stop),
      features_(problem, hierarchy),
      state_(problem, stop) {
  for (uint32_t level = hierarchy.level_count(); level-- > 0;) {
    const uint32_t groups = hierarchy.group_count(level);
    if (pairwise::scores_level(level, groups, problem.node_count())) levels_.push_back(level);
  }
}

Candidate PairwisePlacer::place(const Candidate& start, const PairwisePassOptions& options,
                                MoveEvaluator& evaluator) {
  random_ = Random(options.seed);
  Candidate best = begin_at(start, "policy", evaluator);
  if (stopped(evaluator.stop())) return best;
  for (uint32_t pass = 0; pass < options.passes; ++pass) {
    const Score before = best.score;
    state_.refresh(evaluator);
    scorer_.embed(state_, evaluator.stop());
    if (stopped(evaluator.stop())) return best;
    for (const uint32_t level : levels_) {
      run_level(pass, level, options, evaluator);
      keep_better(evaluator, best);
      if (stopped(evaluator.stop())) return best;
    }
    if (!options.temperature && !(best.score < before)) break;  // the next pass would repeat it
  }
  return best;
}

void PairwisePlacer::run_level(uint32_t pass, uint32_t level, const PairwisePassOptions& options,
                               MoveEvaluator& evaluator) {
  Stop* const stop = evaluator.stop();
  order_groups(pass, level, stop);
  const uint32_t groups = hierarchy_->group_count(level);
  const uint32_t batches = pairwise::batches_per_level(
      problem_->node_count(), static_cast<uint32_t>(levels_.size()), options.passes);
  const uint32_t batch = options.temperature ? groups : (groups + batches - 1) / batches;
  const bool all = pass > 0 && !problem_->topology().uniform_links();
  uint32_t visited = 0;
  for (uint32_t group : order_) {
    if (spend(stop, 1)) return;
    if (all || awaited(level, group)) step(pass, level, group, options, stop);
    if (++visited % batch == 0) settle(level, !options.temperature, evaluator);
  }
  settle(level, !options.temperature, evaluator);
}

void PairwisePlacer::order_groups(uint32_t pass, uint32_t level, Stop* stop) {
  const uint32_t groups = hierarchy_->group_count(level);
  order_.resize(groups);
  key_.resize(groups);
  std::iota(order_.begin(), order_.end(), 0u);
  for (uint32_t g = 0; g < groups; ++g) {
    double key = std::numeric_limits<double>::infinity();
    for (uint32_t v : watched(hierarchy_->nodes(level, g), stop)) {
      key = std::min(key, pass == 0 ? -problem_->upward_rank()[v] : state_.start_us(v));
    }
    key_[g] = key;
    if (spend(stop, hierarchy_->nodes(level, g).size())) return;
  }
  stoppable_sort(
      order_.begin(), order_.end(), [this](uint32_t a, uint32_t b) { return key_[a] < key_[b]; },
      stop);
}

bool PairwisePlacer::awaited(uint32_t level, uint32_t group) const {
  const auto nodes = hierarchy_->nodes(level, group);
  return std::any_of(nodes.begin(), nodes.end(), [&](uint32_t v) { return state_.critical(v); });
}

void PairwisePlacer::step(uint32_t pass, uint32_t level, uint32_t group,
                          const PairwisePassOptions& options, Stop* stop) {
  const auto nodes = hierarchy_->nodes(level, group);
  features_.begin(state_, level, group);
  const auto devices = features_.candidates();
  spend(stop, pairwise::kWorkPerScore * devices.size());
  if (devices.empty()) return;
  const std::span<const float> scores = scorer_.score(features_, devices);
  float log_probability = 0;
  const uint32_t choice = choose(scores, options, log_probability);
  if (options.on_step) {
    options.on_step(
        {pass, level, group, nodes, devices, scorer_.rows(), scores, choice, log_probability});
  }
  if (choice == devices.size()) return;
  decisions_.push_back({group, devices[choice], scores[choice]});
  for (uint32_t v : watched(nodes, stop)) state_.note(v, devices[choice]);
}

// Index of the chosen score, or scores.size() to stay.
uint32_t PairwisePlacer::choose(std::span<const float> scores, const PairwisePassOptions& options,
                                float& log_probability) {
  const auto stay = static_cast<uint32_t>(scores.size());
  const auto best =
      static_cast<uint32_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
  if (!options.temperature) return scores[best] > least_score_ ? best : stay;
  const auto scaled = [&](uint32_t i) {
    return static_cast<double>(i == stay ? 0 : scores[i]) /
           static_cast<double>(*options.temperature);
  };
  uint32_t chosen = stay;
  double highest = -std::numeric_limits<double>::infinity();
  const double top = std::max(scaled(best), 0.0);
  double sum = 0;
  for (uint32_t i = 0; i <= stay; ++i) {
    const double perturbed = scaled(i) + gumbel(random_);
    if (perturbed > highest) {
      highest = perturbed;
      chosen = i;
    }
    sum += std::exp(scaled(i) - top);  // only reported: no decision depends on it
  }
  log_probability = static_cast<float>(scaled(chosen) - top - std::log(sum));
  return chosen;
}

// Evaluates what has been decided since the last call and keeps it, or, when `check` is set and it
// does not help, the most promising part of it, or nothing.
void PairwisePlacer::settle(uint32_t level, bool check, MoveEvaluator& evaluator) {
  if (decisions_.empty()) return;
  bool kept = try_decisions(level, decisions_, check, evaluator);
  if (!kept && decisions_.size() > 1) {
    const Decision best =
        *std::max_element(decisions_.begin(), decisions_.end(),
                          [](const Decision& a, const Decision& b) { return a.score < b.score; });
    kept = try_decisions(level, {&best, 1}, check, evaluator);
  }
  if (kept) {
    state_.refresh(evaluator);
  } else {  // back to what the state was made from, without going through the whole graph
    for (const Decision& decision : decisions_) {
      for (uint32_t v : hierarchy_->nodes(level, decision.group)) {
        state_.note(v, evaluator.assignment()[v]);
      }
    }
  }
  decisions_.clear();
}

bool PairwisePlacer::try_decisions(uint32_t level, std::span<const Decision> decisions, bool check,
                                   MoveEvaluator& evaluator) {
  changes_.clear();
  for (const Decision& decision : decisions) {
    for (uint32_t v : hierarchy_->nodes(level, decision.group)) {
      if (evaluator.assignment()[v] != decision.device) changes_.push_back({v, decision.device});
    }
  }
  const Score before = evaluator.score();
  const double cutoff = check && before.feasible() ? before.objective_us : kNever;
  const Score score = evaluator.evaluate(changes_, cutoff);
  if (check && !(score < before)) return false;
  evaluator.accept();
  return true;
}

}  // namespace placeto
