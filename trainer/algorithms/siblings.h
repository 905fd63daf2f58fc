// Episodes that judge each other: advantages, and one step of the optimizer, for tests.
// siblings.cpp explains it.
#pragma once

#include <span>
#include <vector>

#include "trainer/algorithms/credit.h"
#include "trainer/pairwise/learner.h"
#include "trainer/pairwise/rollouts.h"
#include "trainer/published/learner.h"

namespace placeto::train {

// One list of advantages per episode; all have as many steps. At least two.
std::vector<std::vector<float>> sibling_advantages(const std::vector<std::vector<float>>& returns);

struct RolloutLosses {
  double policy = 0, entropy = 0, clipped = 0;  // clipped: share of steps
  CreditLosses credit;
};

struct RolloutWeights {
  double temperature = 0, clip = 0;
  double entropy = 0, credit = 0;  // credit: of regression and all-action, which need gains
  double advantage = 1;            // factor
};

// On some steps of sampled passes of a `pairwise` policy.
RolloutLosses sibling_step(PairwiseLearner& learner, const Rollouts& rollouts,
                           std::span<const uint32_t> steps, const RolloutWeights& weights,
                           double learning_rate);

// The loss of the choices in episodes of a `placeto` policy.
PolicyLoss clipped_policy_loss(double clip);

}  // namespace placeto::train
