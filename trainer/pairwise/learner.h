// Learner: the `pairwise` networks in LibTorch, their optimizer, and the losses of exact credit.
//
// Nothing of LibTorch shows here: its headers cost twelve seconds and a gigabyte for every file
// that includes them.
//
// Loss, with g the exact gains of a decision's candidates (decrease of log makespan) and s the
// scores, both in hundredths; staying has g = s = 0:
//   regression   mean of w smooth_l1(s - g), w = 1 + improving_weight where g > 0
//   all-action   minus the mean over decisions of sum_d softmax(s)_d g_d: the expected gain, whose
//                gradient is the exact policy gradient of one step (Addanki et al., section 3.1,
//                reward = decrease of makespan; Allen et al., "Mean actor-critic", 2017)
//
// Of rollouts (`group`), each step with an advantage A, and pi = softmax(s / temperature) over
// staying and all candidates, besides:
//   policy       minus the mean of min(r A, clip(r) A), r the ratio of pi(choice) to what it was
//                (Schulman et al., "Proximal policy optimization algorithms", 2017, eq. 7)
//   entropy      minus the mean entropy of pi, times a weight that decays
//
// Imitation: minus the mean of log softmax(s) of what a search made of the group, where known.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/policy/file/policy_spec.h"
#include "trainer/base/config.h"
#include "trainer/pairwise/normalisation.h"
#include "trainer/pairwise/rollouts.h"
#include "trainer/pairwise/samples.h"

namespace placeto::train {

struct Losses {
  double regression = 0, all_action = 0, imitation = 0;
  double policy = 0, entropy = 0, clipped = 0;  // of rollouts; clipped: share of steps
};

struct RolloutWeights {
  double temperature = 0, clip = 0;
  double entropy = 0, credit = 0;  // credit: of regression and all-action, which need gains
  double advantage = 1;            // factor
};

class Learner {
 public:
  // Weights are drawn by seed. LibTorch computes with one thread.
  Learner(const LearnConfig& config, uint64_t seed);
  ~Learner();
  Learner(const Learner&) = delete;
  Learner& operator=(const Learner&) = delete;

  // Of the features that begin_with has not set.
  void set_normalisation(const Normalisation& normalisation);

  // One step of the optimizer on a minibatch.
  Losses step(const Samples& batch, double learning_rate);
  // One on some steps of rollouts.
  Losses step(const Rollouts& rollouts, std::span<const uint32_t> steps,
              const RolloutWeights& weights, double learning_rate);

  // Scores of the averaged network, one per row of the samples.
  std::vector<float> score(const Samples& samples) const;

  // The averaged network as a policy, without provenance. Scores are decreases of log makespan.
  PolicySpec policy() const;

  // Begins with this policy's weights and normalisation. kBadInput if it has another shape, unless
  // all it lacks is a graph network: scores are then its own until one has been learned.
  Status begin_with(const PolicySpec& policy);

  // Parameters, averages, optimizer, normalisation and the random state of LibTorch.
  std::string save() const;
  // kBadInput if the bytes are not of a learner of this configuration.
  Status load(const std::string& bytes);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> self_;
};

}  // namespace placeto::train
