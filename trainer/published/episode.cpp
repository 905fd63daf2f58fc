#include "trainer/published/episode.h"

#include <cassert>

#include "runtime/policy/published/pass.h"
#include "trainer/base/time_ratio.h"

namespace placeto::train {
namespace {

class EpisodeRecorder {
 public:
  EpisodeRecorder(const Course& course, const EpisodeOptions& options)
      : course_(course), problem_(*course.instance.problem), options_(options) {
    episode_.devices = problem_.device_count();
    episode_.nodes = problem_.node_count();
  }

  Episode run(const Policy& policy, const Candidate& start) {
    assert(PublishedPlacer::check(policy, problem_).ok());
    PublishedPlacer placer(policy, problem_);
    PublishedPassOptions passes;
    passes.passes = options_.passes;
    passes.seed = options_.seed;
    if (options_.sample) passes.temperature = 1.0f;
    passes.on_step = [this](const PublishedStep& step) { record(step); };
    MoveEvaluator evaluator(problem_);
    if (options_.gains) {
      judge_.emplace(problem_);
      judge_->rebase(start.assignment);
    }
    Candidate best = placer.place(start, passes, evaluator);
    episode_.cost.push_back(cost(evaluator.score()));
    episode_.best_cost = cost(best.score);
    episode_.best = std::move(best.assignment);
    return std::move(episode_);
  }

 private:
  double cost(const Score& score) const {
    return time_ratio(score.objective_us, course_.reference_us) +
           options_.memory_penalty * overflow_share(course_, score);
  }

  void record(const PublishedStep& step) {
    Episode& e = episode_;
    e.node.push_back(step.node);
    e.choice.push_back(step.choice);
    e.features.insert(e.features.end(), step.features.begin(), step.features.end());
    e.mask.insert(e.mask.end(), step.mask.begin(), step.mask.end());
    e.logits.insert(e.logits.end(), step.logits.begin(), step.logits.end());
    e.log_probability.push_back(step.log_probability);
    e.cost.push_back(cost(step.before));
    if (judge_) record_gains(step);
  }

  // The judge follows the placer one step behind, so it can ask what other devices would give.
  void record_gains(const PublishedStep& step) {
    const uint32_t current = judge_->assignment()[step.node];
    const double before = episode_.cost.back();
    for (uint32_t d = 0; d < episode_.devices; ++d) {
      const bool moves = step.mask[d] && d != current;
      episode_.gains.push_back(
          moves ? static_cast<float>(before - cost(judge_->evaluate(changes_to(step.node, d))))
                : 0.0f);
    }
    if (step.choice == current) return;
    judge_->evaluate(changes_to(step.node, step.choice));
    judge_->accept();
  }

  std::span<const Change> changes_to(uint32_t node, uint32_t device) {
    changes_.clear();
    for (const uint32_t v : problem_.members(problem_.group_of(node))) {
      changes_.push_back({v, device});
    }
    return changes_;
  }

  const Course& course_;
  const Problem& problem_;
  const EpisodeOptions& options_;
  std::optional<MoveEvaluator> judge_;
  std::vector<Change> changes_;
  Episode episode_;
};

}  // namespace

std::vector<float> Episode::returns(double discount) const {
  std::vector<float> returns(steps());
  double sum = 0;
  for (uint32_t t = steps(); t-- > 0;) {
    sum = cost[t] - cost[t + 1] + discount * sum;
    returns[t] = static_cast<float>(sum);
  }
  return returns;
}

Episode run_episode(const Course& course, const Policy& policy, const EpisodeOptions& options) {
  return EpisodeRecorder(course, options)
      .run(policy, start_of(course, options.start, options.start_seed));
}

}  // namespace placeto::train
