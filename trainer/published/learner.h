// PlacetoLearner: the networks of a `placeto` policy in LibTorch, their optimizer, and the losses
// of `reinforce` and `group`. Nothing of LibTorch shows here, see learner.h.
//
// Of a batch of steps, each with an advantage A (from reinforce.h or group.h):
//   policy       minus the mean of log pi(a) A (`reinforce`), or of min(r A, clip(r) A) with r the
//                ratio of pi(a) to what it was when the step was taken (`group`; Schulman et al.,
//                "Proximal policy optimization algorithms", 2017, eq. 7)
//   entropy      minus the mean entropy of pi, times a weight that decays
//   all-action   minus the mean over steps of sum_d pi(d) gain(d): the gradient of the next reward
//                without sampling noise ("mean actor-critic", Allen et al., 2017), times a weight
//                that decays; only for episodes with gains
// and a little of the mean square of the logits, which keeps them in bounds.
// pi is the softmax of the logits over the devices that the step's mask allows.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "runtime/policy/file/policy_spec.h"
#include "trainer/base/config.h"
#include "trainer/published/episode.h"

namespace placeto::train {

struct PolicyLosses {
  double policy = 0, entropy = 0, all_action = 0;  // means over steps; entropy in nats
  double clipped = 0;                              // share of steps where the clip cuts
  double gradient = 0;                             // norm, before it is clipped
};

struct LossWeights {
  double entropy = 0, all_action = 0;
  double clip = 0;  // 0: log pi(a) A
};

// Widths as published: as many floats per node as features, hidden layers as wide as their input;
// the head narrows from 8 times that. `devices` of the policy, without tensors.
PolicySpec published_spec(const PlacetoConfig& config, uint32_t devices);

class PlacetoLearner {
 public:
  // Weights are drawn by seed. LibTorch computes with one thread.
  PlacetoLearner(const PlacetoConfig& config, uint32_t devices, uint64_t seed);
  ~PlacetoLearner();
  PlacetoLearner(const PlacetoLearner&) = delete;
  PlacetoLearner& operator=(const PlacetoLearner&) = delete;

  // Prepares what steps on the graph share; episodes name it by the number returned: 0, 1, ...
  uint32_t add_graph(const Problem& problem);

  // Adds the gradient of an episode's losses, each step weighing 1 / total_steps. Of the steps
  // those are learned from that `steps` lists.
  void accumulate(uint32_t graph, const Episode& episode, std::span<const float> advantages,
                  std::span<const uint32_t> steps, double total_steps, const LossWeights& weights);
  // What has been added, as numbers that hosts can sum: the gradient, then the losses.
  std::vector<float> added() const;
  // Replaces what has been added.
  void set_added(std::span<const float> sum);
  // One step of the optimizer with what has been added; its losses.
  PolicyLosses apply(double learning_rate, double most_gradient);

  // Logits [steps, devices] of every step of the episode, by the network that ships.
  std::vector<float> logits(uint32_t graph, const Episode& episode) const;

  // The network as a policy, without provenance: the average of the weights over steps.
  PolicySpec policy() const;
  // The weights that act while training.
  PolicySpec acting_policy() const;

  // Parameters, averages, optimizer and the random state of LibTorch.
  std::string save() const;
  // kBadInput if the bytes are not of a learner of this configuration.
  Status load(const std::string& bytes);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> self_;
};

}  // namespace placeto::train
