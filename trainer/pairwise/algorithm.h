// What algorithms of `pairwise` policies have in common: the learner, what it may begin with, and
// how it is checked.
#pragma once

#include "trainer/pairwise/learner.h"
#include "trainer/train/algorithm.h"

namespace placeto::train {

class PairwiseAlgorithm : public Algorithm {
 public:
  explicit PairwiseAlgorithm(const Config& config);

  // Takes the weights of learn.start.
  Status begin(Run& run, bool resumed) override;
  // On held-out problems: greedy passes, and a short search that the policy guides.
  Check check(const Run& run, std::shared_ptr<const Policy> policy) const override;
  std::vector<std::string> checked_names() const override { return {"greedy", "searched"}; }
  const Learner& learner() const override { return learner_; }
  std::string save() const override { return learner_.save(); }
  Status load(const std::string& bytes) override { return learner_.load(bytes); }

 protected:
  bool begins_with_a_policy() const { return !learn_.start.empty(); }

  const Config& config_;
  const LearnConfig& learn_;
  PairwiseLearner learner_;
};

}  // namespace placeto::train
