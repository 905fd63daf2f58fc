// PairwiseLearner: the `pairwise` networks under training. What they learn from is in
// trainer/algorithms.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "trainer/base/config.h"
#include "trainer/nn/learner.h"
#include "trainer/pairwise/normalisation.h"
#include "trainer/pairwise/samples.h"

namespace placeto::train {

struct PairwiseTraining;  // pairwise/training.h, for files that see LibTorch

class PairwiseLearner final : public Learner {
 public:
  // Weights are drawn by seed. LibTorch computes with one thread.
  PairwiseLearner(const LearnConfig& config, uint64_t seed);
  ~PairwiseLearner() override;
  PairwiseLearner(const PairwiseLearner&) = delete;
  PairwiseLearner& operator=(const PairwiseLearner&) = delete;

  // For the features that begin_with has not set.
  void set_normalisation(const Normalisation& normalisation);

  // Scores of the averaged network, one per row of the samples.
  std::vector<float> score(const Samples& samples) const;

  // Logits of its leaps, if it has a network for them.
  std::vector<float> score_leaps(const Samples& samples) const;

  // Its normalisation, too. It may lack a graph network: scores are then its own until one has been
  // learned. It may lack leaps, too: everything stays at first.
  Status begin_with(const PolicySpec& policy) override;

  PolicySpec policy() const override;  // scores are decreases of log makespan
  PolicySpec current_policy() const override;
  std::string save() const override;
  Status load(const std::string& bytes) override;

  PairwiseTraining& training() { return *self_; }

 private:
  std::unique_ptr<PairwiseTraining> self_;
};

}  // namespace placeto::train
