// `leaps`: where to go at once, for a `pairwise` policy.
//
// Where no move of one group gains, a policy that ranks moves has nothing to say, and what a long
// search finds from there takes several moves together. So a network of its own, which sees the
// graph's embedding, is asked of every group where a good placement has it; all go there at once,
// unchecked, and what comes of it is polished (runtime/policy/pairwise/leap.cpp). It learns from a
// long search of each problem, by cross entropy (expert iteration without the iteration: Anthony,
// Tian and Barber, "Thinking fast and slow with deep learning and tree search", 2017), in states
// between where `place` ends without a budget and where the search ended. The weights of the head,
// which ranks moves, stay as they began.
#include <algorithm>
#include <functional>
#include <numeric>

#include <fmt/format.h>

#include "runtime/placer/placer.h"
#include "trainer/algorithms/losses.h"
#include "trainer/algorithms/make_algorithm.h"
#include "trainer/base/parallel.h"
#include "trainer/base/time_ratio.h"
#include "trainer/pairwise/algorithm.h"
#include "trainer/pairwise/leap_states.h"
#include "trainer/pairwise/training.h"

namespace placeto::train {
namespace {

constexpr uint32_t kStates = 4;  // of each problem, in an iteration

// The cross entropy before it.
double leap_step(PairwiseLearner& learner, const Samples& batch, double learning_rate) {
  PairwiseTraining& training = learner.training();
  const Candidates candidates(batch, training.nets.network->leap_logits(batch));
  const torch::Tensor loss = imitation_loss(candidates, batch);
  training.descend(loss, learning_rate);
  return loss.item<double>();
}

// In how many decisions the highest logit, or 0 for staying, is where the search had the group.
uint32_t right_decisions(const Samples& samples, const std::vector<float>& logits) {
  uint32_t right = 0;
  for (uint32_t i = 0; i < samples.decisions(); ++i) {
    const auto from = logits.begin() + samples.offset[i],
               to = logits.begin() + samples.offset[i + 1];
    const auto best = std::max_element(from, to);
    const auto choice = static_cast<uint32_t>((*best > 0 ? best : to) - from);
    right += choice == samples.expert[i] ? 1 : 0;
  }
  return right;
}

class Leaps final : public PairwiseAlgorithm {
 public:
  using PairwiseAlgorithm::PairwiseAlgorithm;

  Status begin(Run& run, bool resumed) override {
    if (run.options.hosts != nullptr) {
      return Status::invalid("algorithm: leaps are learned on one host, expected no --hosts");
    }
    if (const OwnSplit* own = run.problems.own(); own != nullptr) {
      lessons_.resize(own->train.count());
      checked_ = {"learned"};
      if (own->held_out.count() > 0) checked_.push_back("held_out");
    }
    return PairwiseAlgorithm::begin(run, resumed);
  }

  Result<Iteration> iterate(Run& run) override {
    const Stopwatch watch;
    const std::vector<Samples> states = record(run);
    if (run.state.iteration == 0) {
      Samples all;
      for (const Samples& one : states) all.append(one);
      learner_.set_normalisation(measure_normalisation(all));
    }
    uint32_t decisions = 0, right = 0;
    for (const Samples& one : states) {
      if (one.decisions() == 0) continue;
      decisions += one.decisions();
      right += right_decisions(one, learner_.score_leaps(one));
    }
    if (decisions == 0 && run.state.iteration == 0) {
      return Status::bad_input(
          "no decision was recorded: expected more of collect.decisions or collect.problems, or "
          "graphs of which more is to be decided");
    }
    const double share = decisions == 0 ? 0 : double(right) / decisions;
    const double collected = watch.seconds();
    const double loss = decisions == 0 ? 0 : learn(run, states);
    return Iteration{decisions,
                     fmt::format("right {:.3f}", share),
                     {{"decisions", double(decisions)},
                      {"right", share},
                      {"collect_seconds", collected},
                      {"cross_entropy", loss}}};
  }

  // All of `place`, without a budget: on what is learned from, if that is one's own, and on what is
  // held out, if anything is. The first decides.
  Check check(const Run& run, std::shared_ptr<const Policy> policy) const override {
    const OwnSplit* own = run.problems.own();
    std::vector<double> measured;
    if (own != nullptr) {
      const auto learned = [&](uint32_t i) { return own->train.problem(i); };
      measured.push_back(placed(own->train.count(), learned, *policy));
    }
    if (measured.size() < checked_.size()) {
      const auto held_out = [&](uint32_t i) { return run.problems.held_out(i); };
      measured.push_back(placed(run.problems.held_out_count(), held_out, *policy));
    }
    return {measured[0], measured};
  }
  std::vector<std::string> checked_names() const override { return checked_; }

 private:
  // What is recorded of this iteration's problems: some of one's own, or new ones.
  std::vector<Samples> record(const Run& run) {
    const OwnSplit* own = run.problems.own();
    const uint32_t most = config_.collect.problems;
    Random random(Random(config_.seed + 0x20000).next() ^ run.state.iteration);
    std::vector<uint32_t> order(own == nullptr ? most : own->train.count());
    std::iota(order.begin(), order.end(), 0u);
    if (own != nullptr) shuffle(order, random);
    std::vector<Samples> states(std::min<size_t>(order.size(), most));
    std::vector<uint64_t> seeds(states.size());
    for (uint64_t& seed : seeds) seed = random.next();
    parallel_for(static_cast<uint32_t>(states.size()), config_.threads, [&](uint32_t i) {
      const uint64_t number = uint64_t{run.state.iteration} * most + i;
      const Instance instance =
          own == nullptr ? run.problems.draw(problem_seed(Split::kTrain, config_.seed, number))
                         : own->train.problem(order[i]);
      Known fresh;
      Known& known = own == nullptr ? fresh : lessons_[order[i]];
      if (!known.searched) {
        known = {true, prepare_lesson(*instance.problem, config_.collect.expert_evaluations)};
      }
      if (!known.lesson) return;
      states[i] = record_leaps(*instance.problem, *known.lesson, kStates, config_.collect.decisions,
                               seeds[i]);
    });
    return states;
  }

  // On decisions of states drawn at random: all of a state, or as many as a minibatch has room for.
  double learn(const Run& run, const std::vector<Samples>& states) {
    std::vector<std::pair<uint32_t, uint32_t>> all;  // problem, first decision
    for (uint32_t i = 0; i < states.size(); ++i) {
      for (uint32_t d = 0; d < states[i].decisions(); d = states[i].same_graph(d).second) {
        all.emplace_back(i, d);
      }
    }
    Random random(Random(config_.seed + 0x30000).next() ^ run.state.iteration);
    double loss = 0;
    for (uint32_t step = 0; step < learn_.steps; ++step) {
      const double done = (run.state.iteration + double(step) / learn_.steps) / config_.iterations;
      const double rate =
          learn_.learning_rate + done * (learn_.final_learning_rate - learn_.learning_rate);
      Samples batch;
      for (uint32_t i = 0; i < learn_.states; ++i) {
        const auto [problem, first] = all[random.below(static_cast<uint32_t>(all.size()))];
        const auto [from, to] = states[problem].same_graph(first);
        const uint32_t most = std::max(1u, learn_.decisions / learn_.states), count = to - from;
        for (uint32_t k = 0; k < std::min(most, count); ++k) {
          const uint32_t d = count <= most ? k : random.below(count);
          batch.append_decision(states[problem], from + d);
        }
      }
      loss += leap_step(learner_, batch, rate) / learn_.steps;
    }
    return loss;
  }

  // Mean logarithm of makespan over that of `auto` without a policy, of as many of the problems as
  // checks take; not a number if nothing fits.
  double placed(uint32_t count, const std::function<Instance(uint32_t)>& problem,
                const Policy& policy) const {
    const uint32_t checked = std::min(count, config_.check.problems);
    const auto ratios = parallel_collect<double>(
        checked, config_.threads, [&](uint32_t i) -> std::optional<double> {
          const Instance instance = problem(i);
          const PlaceOutcome without = place_auto(*instance.problem, {});
          const PlaceOutcome with = place_auto(*instance.problem, {}, {.policy = &policy});
          if (!without.ok() || !with.ok()) return std::nullopt;
          return log_ratio(with->best.score.objective_us, without->best.score.objective_us);
        });
    return std::accumulate(ratios.begin(), ratios.end(), 0.0) / double(ratios.size());
  }

  struct Known {
    bool searched = false;
    std::optional<Lesson> lesson;
  };
  std::vector<Known> lessons_;  // of each problem of one's own
  std::vector<std::string> checked_ = {"held_out"};
};

}  // namespace

std::unique_ptr<Algorithm> make_leaps(const Config& config) {
  return std::make_unique<Leaps>(config);
}

}  // namespace placeto::train
