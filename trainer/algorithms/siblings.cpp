// `siblings`: several episodes on one graph from one start are each other's baseline.
//
// The advantage of a step is its undiscounted return minus what the siblings gained from there on,
// in the mean: no history of returns is needed, and so no start and no graph has to come back
// (Kool et al., "Buy 4 REINFORCE samples, get a baseline for free", 2019; Shao et al.,
// "DeepSeekMath", 2024, call it group-relative). Advantages of an iteration are scaled to unit
// variance: what is left to gain shrinks as a policy improves, and steps should not.
//
// The episodes of an iteration are learned from in several epochs of minibatches. With r the ratio
// of pi(choice) to what it was when the step was taken, and A the advantage, the loss is the sum of
//   policy      minus the mean of min(r A, clip(r) A) (Schulman et al., "Proximal policy
//               optimization algorithms", 2017, eq. 7)
//   entropy     minus the mean entropy of pi, times a weight that decays
//   all-action  the exact gains of every alternative of every step (credit.cpp), likewise
//
// Both architectures can learn so. The passes of a `pairwise` policy go coarse to fine and may skip
// groups (pairwise/rollouts.h); those of a `placeto` policy visit every node (published/episode.h).
#include "trainer/algorithms/siblings.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "trainer/algorithms/losses.h"
#include "trainer/algorithms/make_algorithm.h"
#include "trainer/base/parallel.h"
#include "trainer/pairwise/algorithm.h"
#include "trainer/published/algorithm.h"
#include "trainer/published/training.h"

namespace placeto::train {

// exp() of larger logits adds nothing but overflow.
static constexpr double kMostLogit = 60;

std::vector<std::vector<float>> sibling_advantages(const std::vector<std::vector<float>>& returns) {
  assert(returns.size() > 1);
  std::vector<std::vector<float>> advantages = returns;
  const auto others = static_cast<float>(returns.size() - 1);
  for (size_t t = 0; t < returns[0].size(); ++t) {
    float sum = 0;
    for (const auto& r : returns) sum += r[t];
    for (size_t i = 0; i < returns.size(); ++i) {
      advantages[i][t] = returns[i][t] - (sum - returns[i][t]) / others;
    }
  }
  return advantages;
}

// The factor that gives advantages unit variance.
static double unit_scale(double squares, double count) {
  return 1 / std::sqrt(std::max(1e-12, squares / count));
}

Clipped clipped_loss(const torch::Tensor& log_pi, const torch::Tensor& log_pi_before,
                     const torch::Tensor& advantage, double clip) {
  const torch::Tensor ratio = torch::exp(log_pi - log_pi_before);
  const torch::Tensor cut = torch::clamp(ratio, 1 - clip, 1 + clip);
  return {-torch::minimum(ratio * advantage, cut * advantage), ratio != cut};
}

RolloutLosses sibling_step(PairwiseLearner& learner, const Rollouts& rollouts,
                           std::span<const uint32_t> steps, const RolloutWeights& weights,
                           double learning_rate) {
  PairwiseTraining& training = learner.training();
  Samples batch;
  std::vector<uint32_t> choice;
  std::vector<float> before, advantage;
  for (const uint32_t i : steps) {
    batch.append_decision(rollouts.samples, i);
    choice.push_back(rollouts.choice[i]);
    before.push_back(rollouts.log_probability[i]);
    advantage.push_back(rollouts.advantage[i]);
  }
  RolloutLosses losses;
  const Candidates c(batch, training.nets.network->forward(batch));
  const torch::Tensor logits =
      torch::clamp(c.scores * (kScoreUnit / weights.temperature), -kMostLogit, kMostLogit);
  const torch::Tensor likelihood = torch::exp(logits);
  const torch::Tensor total = 1 + c.sum(likelihood);
  const torch::Tensor log_pi = c.pick(logits, batch, choice) - torch::log(total);
  const Clipped clipped =
      clipped_loss(log_pi, c.here(before), c.here(advantage) * weights.advantage, weights.clip);
  const torch::Tensor policy = clipped.loss.mean();
  const torch::Tensor entropy = (torch::log(total) - c.sum(likelihood * logits) / total).mean();
  torch::Tensor loss = policy - weights.entropy * entropy;
  if (weights.credit > 0) {
    loss = loss + weights.credit * credit_loss(c, training.config, losses.credit);
  }
  losses.policy = policy.item<double>();
  losses.entropy = entropy.item<double>();
  losses.clipped = clipped.cut.to(torch::kFloat).mean().item<double>();
  training.descend(loss, learning_rate);
  return losses;
}

PolicyLoss clipped_policy_loss(double clip) {
  return [clip](const Chosen& c) {
    const Clipped clipped = clipped_loss(c.log_pi, c.log_pi_before, c.advantage, clip);
    return ChosenLoss{clipped.loss.sum(), clipped.cut.sum().item<double>()};
  };
}

namespace {

double mean_of(const std::vector<float>& list) {
  return std::accumulate(list.begin(), list.end(), 0.0) / double(list.size());
}

// Sampled passes of a `pairwise` policy.
class PairwiseSiblings final : public PairwiseAlgorithm {
 public:
  explicit PairwiseSiblings(const Config& config)
      : PairwiseAlgorithm(config), with_(config.episodes) {}

  Result<Iteration> iterate(Run& run) override {
    const Stopwatch watch;
    if (run.state.iteration == 0 && !begins_with_a_policy()) {
      if (Status s = measure_features(run); !s.ok()) return s;
    }
    const Result<Rollouts> rollouts = roll_out_all(run);
    if (!rollouts.ok()) return rollouts.status();
    if (rollouts->steps() == 0) return Status::invalid("rollouts found nothing to decide");
    const double collected = watch.seconds();
    const RolloutLosses losses = learn(run, *rollouts);
    return Iteration{rollouts->steps(),
                     fmt::format("sampled {:.4f}", std::exp(mean_of(rollouts->last))),
                     {{"steps", rollouts->steps()},
                      {"collect_seconds", collected},
                      {"first_cost", mean_of(rollouts->first)},
                      {"last_cost", mean_of(rollouts->last)},
                      {"best_cost", mean_of(rollouts->best)},
                      {"policy_loss", losses.policy},
                      {"entropy", losses.entropy},
                      {"clipped", losses.clipped},
                      {"regression", losses.credit.regression},
                      {"all_action", losses.credit.all_action}}};
  }

 private:
  // By the weights as drawn.
  Status measure_features(Run& run) {
    const Result<Rollouts> first = roll_out_all(run);
    if (!first.ok()) return first.status();
    learner_.set_normalisation(measure_normalisation(first->samples));
    return run.act_by(acting_policy());
  }

  // This host's share of the rollouts, and those of all hosts.
  Result<Rollouts> roll_out_all(Run& run) const {
    const auto [first, last] = run.share(with_.graphs);
    const bool gains = run.faded(with_.all_action, with_.final_all_action) > 0;
    std::vector<Rollouts> parts(last - first);
    parallel_for(last - first, config_.threads, [&, first = first](uint32_t i) {
      const uint64_t seed = problem_seed(Split::kTrain, config_.seed,
                                         uint64_t{run.state.iteration} * with_.graphs + first + i);
      parts[i] = roll_out(run.problems.draw(seed), *run.policy, with_, gains ? &learn_ : nullptr,
                          seed + 1);
    });
    Rollouts mine;
    for (const Rollouts& part : parts) mine.append(part);
    return run.exchange_records(std::move(mine));
  }

  RolloutLosses learn(const Run& run, const Rollouts& rollouts) {
    double squares = 0;
    for (const float a : rollouts.advantage) squares += double(a) * double(a);
    const RolloutWeights weights{.temperature = with_.temperature,
                                 .clip = with_.clip,
                                 .entropy = run.faded(with_.entropy, with_.final_entropy),
                                 .credit = run.faded(with_.all_action, with_.final_all_action),
                                 .advantage = unit_scale(squares, rollouts.steps())};
    Random random(Random(config_.seed + 0x10000).next() ^ run.state.iteration);
    std::vector<uint32_t> order(rollouts.steps());
    std::iota(order.begin(), order.end(), 0u);
    const auto batches = std::min(with_.batches, rollouts.steps());
    const double share = 1.0 / (with_.epochs * batches);
    RolloutLosses mean;
    for (uint32_t epoch = 0; epoch < with_.epochs; ++epoch) {
      shuffle(order, random);
      for (uint64_t b = 0; b < batches; ++b) {
        const uint64_t begin = order.size() * b / batches, end = order.size() * (b + 1) / batches;
        const RolloutLosses l =
            sibling_step(learner_, rollouts, std::span(order).subspan(begin, end - begin), weights,
                         run.faded(with_.learning_rate, with_.final_learning_rate));
        mean.policy += share * l.policy;
        mean.entropy += share * l.entropy;
        mean.clipped += share * l.clipped;
        mean.credit.regression += share * l.credit.regression;
        mean.credit.all_action += share * l.credit.all_action;
      }
    }
    return mean;
  }

  const EpisodesConfig& with_;
};

// Episodes of a `placeto` policy.
class PublishedSiblings final : public PublishedAlgorithm {
 public:
  using PublishedAlgorithm::PublishedAlgorithm;

 private:
  void find_advantages(std::vector<Siblings>& all) override {
    double squares = 0, count = 0;
    for (Siblings& siblings : all) {
      siblings.advantages = sibling_advantages(returns_of(siblings, with_.discount));
      for (const auto& list : siblings.advantages) {
        for (const float a : list) squares += double(a) * double(a);
        count += double(list.size());
      }
    }
    scale_advantages(all, unit_scale(squares, count));
  }

  Result<PolicyLosses> learn(Run& run, const std::vector<Siblings>& all) override {
    return descend(run, all, with_.epochs, clipped_policy_loss(with_.clip));
  }
};

}  // namespace

std::unique_ptr<Algorithm> make_pairwise_siblings(const Config& config) {
  return std::make_unique<PairwiseSiblings>(config);
}

std::unique_ptr<Algorithm> make_published_siblings(const Config& config) {
  return std::make_unique<PublishedSiblings>(config);
}

}  // namespace placeto::train
