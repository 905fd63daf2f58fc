// PublishedLearner: the networks of a `placeto` policy under training.
//
// A step of the optimizer goes down a sum of gradients, one of each episode, so that threads and
// hosts can share them out. The loss of the choices is the algorithm's (trainer/algorithms); to it
// come, with pi the softmax of the logits over the devices that a step's mask allows,
//   entropy      minus the mean entropy of pi, times a weight that decays
//   all-action   minus the mean over steps of sum_d pi(d) gain(d): the gradient of the next reward
//                without sampling noise ("mean actor-critic", Allen et al., 2017), times a weight
//                that decays; only for episodes with gains
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "trainer/base/config.h"
#include "trainer/nn/learner.h"
#include "trainer/published/episode.h"

namespace placeto::train {

struct PolicyLosses {
  double policy = 0, entropy = 0, all_action = 0;  // means over steps; entropy in nats
  double clipped = 0;                              // share of steps where a clip cuts
  double gradient = 0;                             // norm, before it is clipped

  void add(const PolicyLosses& other, double share) {
    policy += share * other.policy;
    entropy += share * other.entropy;
    all_action += share * other.all_action;
    clipped += share * other.clipped;
    gradient += share * other.gradient;
  }
};

struct LossWeights {
  double entropy = 0, all_action = 0;
};

// The loss of what steps chose; published/training.h has the types.
struct Chosen;
struct ChosenLoss;
using PolicyLoss = std::function<ChosenLoss(const Chosen&)>;

// Widths as published: as many floats per node and direction as features, hidden layers as wide as
// their input, the head's first twice that. `devices` of the policy, without tensors.
PolicySpec published_spec(const PlacetoConfig& config, uint32_t devices);

class PublishedLearner final : public Learner {
 public:
  // Weights are drawn by seed. LibTorch computes on `processor`, as learn.processor names it; on
  // the CPU with one thread.
  PublishedLearner(const PlacetoConfig& config, uint32_t devices, uint64_t seed,
                   const std::string& processor = "cpu");
  ~PublishedLearner() override;
  PublishedLearner(const PublishedLearner&) = delete;
  PublishedLearner& operator=(const PublishedLearner&) = delete;

  // Prepares what steps on the graph share; episodes name it by the number returned: 0, 1, ...
  uint32_t add_graph(const Problem& problem);

  // The gradient of an episode's losses, each step weighing 1 / total_steps, and then the losses.
  // Learns from the steps that `steps` lists. Any number of threads may ask at once.
  std::vector<float> gradient(uint32_t graph, const Episode& episode,
                              std::span<const float> advantages, std::span<const uint32_t> steps,
                              double total_steps, const PolicyLoss& policy_loss,
                              const LossWeights& weights) const;
  // What is there to add them to: as many zeros.
  std::vector<float> no_gradient() const;
  // One step of the optimizer down a sum of them; its losses.
  PolicyLosses descend(std::span<const float> sum, double learning_rate, double most_gradient);

  // Logits [steps, devices] of every step of the episode, by the network that ships.
  std::vector<float> logits(uint32_t graph, const Episode& episode) const;

  PolicySpec policy() const override;
  PolicySpec current_policy() const override;
  Status begin_with(const PolicySpec& policy) override;
  std::string save() const override;
  Status load(const std::string& bytes) override;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> self_;
};

}  // namespace placeto::train
