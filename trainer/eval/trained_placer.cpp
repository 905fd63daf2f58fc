#include "trainer/eval/trained_placer.h"

#include <algorithm>

#include "trainer/algorithms/make_algorithm.h"
#include "trainer/data/merge.h"
#include "trainer/published/episode.h"

namespace placeto::train {
namespace {

// The recipes in models/, for one graph.
Config config_for(const Instance& instance, const OneGraphOptions& options) {
  Config config;
  config.algorithm = "reinforce";
  config.architecture = "placeto";
  config.seed = options.seed;
  config.threads = 1;
  config.data.devices = instance.problem->device_count();
  config.data.merged_nodes = 0;  // it is merged already
  EpisodesConfig& episodes = config.episodes;
  episodes.starts = {"single", "random"};
  episodes.steps = 16;
  episodes.discount = 0.9;
  episodes.entropy = 0.03;
  episodes.final_entropy = 0.001;
  episodes.learning_rate = 3e-3;
  episodes.final_learning_rate = 2e-4;
  const uint64_t steps =
      uint64_t{episodes.graphs} * episodes.rollouts * instance.problem->group_count();
  config.iterations = static_cast<uint32_t>((options.placements + steps - 1) / steps);
  return config;
}

// Follows the episodes and keeps the best placement of operators among those that were the best of
// theirs.
class Follower {
 public:
  explicit Follower(const Instance& instance)
      : instance_(instance), evaluator_(judged_problem(instance)) {}

  void see(const Episode& episode) {
    const Score score = judge(instance_, episode.best, evaluator_);
    const auto best = std::min_element(episode.cost.begin(), episode.cost.end());
    if (score.feasible() && score.objective_us < sampled_.makespan_us) {
      sampled_.makespan_us = score.objective_us;
      sampled_.assignment = episode.best;
      const auto step = static_cast<uint64_t>(best - episode.cost.begin());
      sampled_.curve.push_back({count_ + step, sampled_.makespan_us, -episode.cost.back()});
    }
    count_ += episode.steps();
    sampled_.curve.push_back({count_, sampled_.makespan_us, -episode.cost.back()});
  }
  Sampled take() { return std::move(sampled_); }

 private:
  const Instance& instance_;
  Evaluator evaluator_;
  uint64_t count_ = 0;
  Sampled sampled_;
};

}  // namespace

Result<Sampled> place_by_training(const Instance& instance, const OneGraphOptions& options) {
  const Config config = config_for(instance, options);
  Follower follower(instance);
  TrainOptions train_options;
  train_options.on_episode = [&follower](const Episode& episode) { follower.see(episode); };
  RunFolder nowhere("");
  OwnProblems one{{{"graph", instance.graph->spec()}}, {instance.topology->spec()}, {}};
  Run run{config, "",     nowhere, train_options, ProblemSource::of(config, std::move(one)),
          {},     nullptr};
  const std::unique_ptr<Algorithm> algorithm = make_algorithm(config);
  if (Status s = algorithm->begin(run, false); !s.ok()) return s;
  for (; run.state.iteration < config.iterations; ++run.state.iteration) {
    if (Status s = run.act_by(algorithm->acting_policy()); !s.ok()) return s;
    const Result<Iteration> done = algorithm->iterate(run);
    if (!done.ok()) return done.status();
  }
  return follower.take();
}

}  // namespace placeto::train
