// `credit`: exact credit for a `pairwise` policy.
//
// The reward of the paper is the decrease of the makespan that a move causes (Addanki et al.,
// section 3.1). The cost model gives it for every candidate device of a group, not only for the one
// that was chosen, so nothing has to be sampled: a decision's record is what the policy saw of each
// candidate, and g, the exact decrease of log makespan of moving there.
//
// An iteration records decisions in states that the current policy causes (pairwise/collect.h),
// then takes steps of Adam on decisions drawn from the last iterations' records. With s the scores,
// both in units of kScoreUnit, and staying at g = s = 0, the loss is the sum of
//   regression   mean of w smooth_l1(s - g), w = 1 + improving_weight where g > 0
//   all-action   minus the mean over decisions of sum_d softmax(s)_d g_d: the expected gain, whose
//                gradient is the exact policy gradient of one step (Allen et al., "Mean
//                actor-critic", 2017)
//   imitation    minus the mean of log softmax(s) of what a search made of the group, where known
#include "trainer/algorithms/credit.h"

#include <algorithm>
#include <cmath>
#include <deque>

#include <fmt/format.h>

#include "trainer/algorithms/losses.h"
#include "trainer/algorithms/make_algorithm.h"
#include "trainer/base/parallel.h"
#include "trainer/pairwise/algorithm.h"
#include "trainer/pairwise/collect.h"

namespace placeto::train {

torch::Tensor credit_loss(const Candidates& c, const LearnConfig& config, CreditLosses& losses) {
  const torch::Tensor errors = torch::smooth_l1_loss(c.scores, c.gains, torch::Reduction::None);
  const torch::Tensor weights = 1 + config.improving_weight * (c.gains > 0).to(torch::kFloat);
  const torch::Tensor regression = (errors * weights).mean();

  const torch::Tensor likelihood = torch::exp(torch::clamp_max(c.scores, kMostScore));
  const torch::Tensor expected = c.sum(likelihood * c.gains) / (1 + c.sum(likelihood));
  const torch::Tensor all_action = -expected.mean();
  losses.regression = regression.item<double>();
  losses.all_action = all_action.item<double>();
  return regression + config.all_action_weight * all_action;
}

// Cross entropy of softmax(scores), staying included, and what the search made of the group.
torch::Tensor imitation_loss(const Candidates& c, const Samples& batch) {
  std::vector<float> known;
  for (const uint32_t e : batch.expert) known.push_back(e == Samples::kNoExpert ? 0.0f : 1.0f);
  const torch::Tensor scores = torch::clamp_max(c.scores, kMostScore);
  const torch::Tensor log_pi =
      c.pick(scores, batch, batch.expert) - torch::log(1 + c.sum(torch::exp(scores)));
  const torch::Tensor weight = c.here(known);
  return -(log_pi * weight).sum() / weight.sum().clamp_min(1);
}

CreditLosses credit_step(PairwiseLearner& learner, const Samples& batch, double learning_rate) {
  PairwiseTraining& training = learner.training();
  CreditLosses losses;
  const Candidates candidates(batch, training.nets.network->forward(batch));
  torch::Tensor loss = credit_loss(candidates, training.config, losses);
  if (training.config.imitation > 0) {
    const torch::Tensor imitation = imitation_loss(candidates, batch);
    losses.imitation = imitation.item<double>();
    loss = loss + training.config.imitation * imitation;
  }
  training.descend(loss, learning_rate);
  return losses;
}

namespace {

// How well scores foretell exact gains.
struct Agreement {
  double correlation = 0;
  double found = 0;      // of decisions where a candidate improves: arg max improves, too
  double improving = 0;  // share of moves that improve
};

Agreement agreement(const Samples& samples, const std::vector<float>& scores) {
  double s = 0, g = 0, ss = 0, gg = 0, sg = 0, improving = 0;
  const double n = std::max(1u, samples.row_count());
  for (uint32_t r = 0; r < samples.row_count(); ++r) {
    const double x = scores[r], y = samples.gains[r];
    s += x, g += y, ss += x * x, gg += y * y, sg += x * y;
    improving += y > 0 ? 1 : 0;
  }
  uint32_t offered = 0, taken = 0;
  for (uint32_t i = 0; i < samples.decisions(); ++i) {
    const auto from = samples.offset[i], to = samples.offset[i + 1];
    if (*std::max_element(&samples.gains[from], samples.gains.data() + to) <= 0) continue;
    ++offered;
    const auto best = std::max_element(scores.begin() + from, scores.begin() + to);
    if (*best > 0 && samples.gains[static_cast<size_t>(best - scores.begin())] > 0) ++taken;
  }
  const double spread = std::sqrt(std::max(1e-30, (ss - s * s / n) * (gg - g * g / n)));
  return {(sg - s * g / n) / spread, offered == 0 ? 0 : double(taken) / offered, improving / n};
}

class Credit final : public PairwiseAlgorithm {
 public:
  using PairwiseAlgorithm::PairwiseAlgorithm;

  bool acts_at_once() const override { return begins_with_a_policy(); }
  // The one that ships: policies learn on the states that they will cause.
  PolicySpec acting_policy() const override { return learner_.policy(); }
  uint32_t records_kept() const override { return learn_.window; }

  Status begin(Run& run, bool resumed) override {
    if (!resumed) return PairwiseAlgorithm::begin(run, resumed);
    // The next iteration's own records push the oldest of a full window out.
    const uint32_t before = run.state.iteration + 1;
    for (uint32_t i = before > learn_.window ? before - learn_.window : 0; i < run.state.iteration;
         ++i) {
      Result<Samples> records = run.kept_records<Samples>(i);
      if (!records.ok()) return records.status();
      window_.push_back(std::move(*records));
    }
    return {};
  }

  Result<Iteration> iterate(Run& run) override {
    const Stopwatch watch;
    Result<Samples> fresh = record_decisions(run);
    if (!fresh.ok()) return fresh.status();
    if (run.state.iteration == 0) learner_.set_normalisation(measure_normalisation(*fresh));
    const Agreement agreed = agreement(*fresh, learner_.score(*fresh));
    const uint32_t decisions = fresh->decisions(), moves = fresh->row_count();
    if (Status s = keep(run, std::move(*fresh)); !s.ok()) return s;
    const double collected = watch.seconds();
    const CreditLosses losses = learn(run);
    return Iteration{moves,
                     fmt::format("correlation {:.3f}", agreed.correlation),
                     {{"decisions", decisions},
                      {"moves", moves},
                      {"collect_seconds", collected},
                      {"improving", agreed.improving},
                      {"correlation", agreed.correlation},
                      {"improving_found", agreed.found},
                      {"regression", losses.regression},
                      {"all_action", losses.all_action},
                      {"imitation", losses.imitation}}};
  }

 private:
  // This host's share of the iteration's problems, and the records of all hosts.
  Result<Samples> record_decisions(Run& run) const {
    const uint32_t count = config_.collect.problems;
    const auto [first, last] = run.share(count);
    std::vector<Samples> parts(last - first);
    parallel_for(last - first, config_.threads, [&, first = first](uint32_t i) {
      const uint64_t seed = problem_seed(Split::kTrain, config_.seed,
                                         uint64_t{run.state.iteration} * count + first + i);
      const Instance instance = run.problems.draw(seed);
      parts[i] = collect(instance, run.policy.get(), config_.collect, learn_, seed + 1);
    });
    Samples mine;
    for (const Samples& part : parts) mine.append(part);
    return run.exchange_records(std::move(mine));
  }

  Status keep(Run& run, Samples fresh) {
    if (Status s = run.keep_records(fresh); !s.ok()) return s;
    window_.push_back(std::move(fresh));
    if (window_.size() > learn_.window) window_.pop_front();
    const bool nothing = std::all_of(window_.begin(), window_.end(),
                                     [](const Samples& s) { return s.decisions() == 0; });
    return nothing ? Status::bad_input(
                         "no decision was recorded: expected more of "
                         "collect.decisions or collect.problems, or larger graphs")
                   : Status{};
  }

  // The stream of draws follows from the seed and the iteration, so a run that continues draws the
  // same.
  CreditLosses learn(const Run& run) {
    Random random(Random(config_.seed + 0x10000).next() ^ run.state.iteration);
    std::vector<uint32_t> end;  // of each part of the window, in decisions
    uint32_t total = 0;
    for (const Samples& part : window_) end.push_back(total += part.decisions());
    CreditLosses mean;
    for (uint32_t step = 0; step < learn_.steps; ++step) {
      const double done = (run.state.iteration + double(step) / learn_.steps) / config_.iterations;
      const double rate =
          learn_.learning_rate + done * (learn_.final_learning_rate - learn_.learning_rate);
      const CreditLosses losses = credit_step(learner_, draw_batch(end, random), rate);
      mean.regression += losses.regression / learn_.steps;
      mean.all_action += losses.all_action / learn_.steps;
      mean.imitation += losses.imitation / learn_.steps;
    }
    return mean;
  }

  // Decisions drawn uniformly from the window, whose parts end at `end`; with a graph network,
  // several on each state of a graph that comes up, so that fewer are to be embedded.
  Samples draw_batch(std::span<const uint32_t> end, Random& random) const {
    const uint32_t alike = learn_.embedding > 0 ? (learn_.decisions - 1) / learn_.states + 1 : 1;
    Samples batch;
    while (batch.decisions() < learn_.decisions) {
      const uint32_t pick = random.below(end.back());
      const auto at = std::upper_bound(end.begin(), end.end(), pick) - end.begin();
      const Samples& part = window_[size_t(at)];
      const uint32_t decision = pick - (at == 0 ? 0 : end[size_t(at) - 1]);
      batch.append_decision(part, decision);
      for (uint32_t i = 1; i < alike; ++i) {
        const auto [first, last] = part.same_graph(decision);
        batch.append_decision(part, first + random.below(last - first));
      }
    }
    return batch;
  }

  std::deque<Samples> window_;  // of the last iterations
};

}  // namespace

std::unique_ptr<Algorithm> make_credit(const Config& config) {
  return std::make_unique<Credit>(config);
}

}  // namespace placeto::train
