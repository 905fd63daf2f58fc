// What algorithms of `placeto` policies have in common: graphs to learn on, episodes sampled on
// them, steps of the optimizer, checks. An algorithm says what advantages are and how an
// iteration's episodes are learned from.
#pragma once

#include <span>
#include <vector>

#include "runtime/base/random.h"
#include "trainer/published/learner.h"
#include "trainer/published/siblings.h"
#include "trainer/published/stuck.h"
#include "trainer/train/algorithm.h"

namespace placeto::train {

class PublishedAlgorithm : public Algorithm {
 public:
  explicit PublishedAlgorithm(const Config& config);

  Status begin(Run& run, bool resumed) override;
  Result<Iteration> iterate(Run& run) override;
  // The best makespan of a greedy episode, for every kind of start, on the graphs that it learns
  // from: graphs never seen are for the test.
  Check check(const Run& run, std::shared_ptr<const Policy> policy) const override;
  std::vector<std::string> checked_names() const override;
  const Learner& learner() const override { return learner_; }
  std::string save() const override { return learner_.save(); }
  Status load(const std::string& bytes) override { return learner_.load(bytes); }

 protected:
  virtual void find_advantages(std::vector<Siblings>& all) = 0;
  virtual Result<PolicyLosses> learn(Run& run, const std::vector<Siblings>& all) = 0;

  // Steps of the optimizer on the iteration's episodes, shuffled into batches, so many times over.
  Result<PolicyLosses> descend(Run& run, const std::vector<Siblings>& all, uint32_t epochs,
                               const PolicyLoss& policy_loss);

  const Config& config_;
  const EpisodesConfig& with_;
  PublishedLearner learner_;

 private:
  uint32_t episode_count() const { return with_.graphs * with_.rollouts; }
  // A stream of draws for this iteration, whatever came before it.
  enum Purpose : uint64_t { kStartsAndGraphs = 1, kChoices, kMinibatches };
  Random draws(const Run& run, Purpose purpose) const;
  // One step of the optimizer on the episodes listed, each a number through all siblings: every
  // host adds the gradient of those it ran. `random` draws the steps that are learned from.
  Result<PolicyLosses> step(Run& run, const std::vector<Siblings>& all,
                            std::span<const uint32_t> episodes, const PolicyLoss& policy_loss,
                            Random& random);
  std::vector<Siblings> sample(const Run& run) const;
  std::vector<Siblings> draw_starts(const Run& run) const;

  std::vector<Course> courses_;
  Stuck stuck_;
  uint32_t gradients_at_once_ = 1;
};

}  // namespace placeto::train
